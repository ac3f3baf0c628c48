package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// outcomeOf is how one check came out.
type outcomeOf string

const (
	checkPassed  outcomeOf = "passed"
	checkFailed  outcomeOf = "failed"
	checkUnknown outcomeOf = "unknown" // it could not be evaluated: never as good as passed
	checkSkipped outcomeOf = "skipped" // it does not apply to this run
)

// check is one thing that a run was asked and answered, as build servers list them.
type check struct {
	Group  string // gates, limits, queues, canaries, sources
	Name   string // unique in its group; names of the job may hold any character
	How    outcomeOf
	Text   string   // one sentence; "" where it passed and nothing is to be said
	Detail []string // more lines, bounded
	Asked  string   // of sources: what is asked of each of them
}

// checkGroups is the order of the groups.
var checkGroups = []string{"gates", "limits", "queues", "canaries", "sources"}

// maxDetail bounds the lines of one check.
const maxDetail = 10

// checksOf lists every gate, limit of the blast radius, acting queue, canary, and what
// is asked of each source, in a fixed order. It decides nothing: the summary has.
func checksOf(s *Summary, job *rules.Job) []check {
	var out []check
	for i, g := range s.Gates {
		out = append(out, gateCheck(s, g, job.Gates[i]))
	}
	for _, l := range s.Limits {
		out = append(out, limitCheck(l))
	}
	for _, q := range s.Queues {
		if !q.Acting {
			continue
		}
		c := check{Group: "queues", Name: q.Queue, How: checkPassed}
		if !q.Written {
			c.How, c.Text, c.Detail = checkFailed, fmt.Sprintf("the queue %s is withheld: %s", q.Queue, count(q.Items, "item")), bounded(s.Outcome.Reasons)
		}
		out = append(out, c)
	}
	for _, c := range s.Canaries {
		x := check{Group: "canaries", Name: c.OperationID, How: checkPassed}
		if !c.OK {
			x.How, x.Text = checkFailed, fmt.Sprintf("it should come out as %s, and %s", c.Expect, c.came())
		}
		out = append(out, x)
	}
	for i, side := range s.Sides {
		for j, src := range side.Sources {
			out = append(out, sourceChecks(side.Side, src, &job.Spec(rules.Sides[i]).Sources[j])...)
		}
	}
	return out
}

// gateCheck: a gate that had nothing to measure does not apply; one that asks for the
// age of items of which none has a time could not be evaluated.
func gateCheck(s *Summary, g Gate, rule rules.Gate) check {
	c := check{Group: "gates", Name: g.Name, How: checkPassed}
	measured := fmt.Sprintf("%s (%s)", g.Value, g.Basis)
	switch {
	case g.Failed:
		c.How, c.Text = checkFailed, fmt.Sprintf("%s: it fails when %s", measured, g.FailWhen)
	case g.Value == "none" && rule.Func == "oldest" && s.itemsOf(rule.Arg) > 0:
		c.How, c.Text = checkUnknown, fmt.Sprintf("%s: none of %s has a time to tell its age by; it fails when %s", measured, count(s.itemsOf(rule.Arg), "item"), g.FailWhen)
	case g.Value == "none":
		c.How, c.Text = checkSkipped, measured+": there is nothing to measure"
	}
	return c
}

// itemsOf counts the items of a queue, a class or a class/reason.
func (s *Summary) itemsOf(arg string) (n int64) {
	if q := s.queue(arg); q != nil {
		return q.Items
	}
	class, reason, _ := strings.Cut(arg, "/")
	for _, q := range s.Queues {
		for _, r := range q.Reasons {
			if r.Class == class && (reason == "" || r.Reason == reason) {
				n += r.Items
			}
		}
	}
	return n
}

func limitCheck(l Limit) check {
	c := check{Group: "limits", Name: l.Name, How: checkPassed}
	text := fmt.Sprintf("%s, the limit is %s", l.Value, l.Limit)
	if l.Note != "" {
		text += " (" + l.Note + ")"
	}
	switch {
	case l.Lifted:
		c.How, c.Text = checkSkipped, "exceeded, and lifted for this run: "+text
	case l.Exceeded:
		c.How, c.Text = checkFailed, text
	case l.Limit == "none": // too few former runs: see againstBaseline
		c.How, c.Text = checkSkipped, text
	}
	return c
}

// sourceChecks are what is asked of a source: are its files there, were they read whole,
// do the totals agree that they state, could every record be read.
func sourceChecks(side string, src Source, spec *rules.Source) []check {
	var missing, refused []string
	read := 0
	for _, f := range src.Files {
		switch extract.FileStatus(f.Status) {
		case extract.FileMissing:
			missing = append(missing, f.Name+": "+f.Problem)
		case extract.FileRefused:
			refused = append(refused, f.Name+": "+f.Problem)
		case extract.FileStaged:
			read++
		}
	}
	ask := func(what string) check {
		return check{Group: "sources", Name: side + " " + src.Name + ": " + what, How: checkPassed, Asked: what}
	}
	there, whole, totals, records := ask("files are there"), ask("read whole"), ask("stated totals"), ask("every record could be read")
	left := bounded(refused)
	absent := len(missing) > 0 && read == 0 && len(refused) == 0
	if len(missing) > 0 {
		there.How, there.Text, there.Detail = checkFailed, count(int64(len(missing)), "file")+" missing: the source proves nothing for that time", bounded(missing)
		if absent && spec.Need == rules.Optional && spec.Dates == nil {
			there.How, there.Text = checkSkipped, "the source is optional, and not there: it proves nothing"
		}
	}
	switch {
	case len(refused) > 0:
		whole.How, whole.Text, whole.Detail = checkFailed, count(int64(len(refused)), "file")+" refused: the source proves nothing for that time", left
	case read == 0:
		whole.How, whole.Text = checkSkipped, "no file of the source was read"
	}
	switch {
	case !statesTotals(spec):
		totals.How, totals.Text = checkSkipped, "the job declares no total that the files state"
	case len(refused) > 0:
		totals.How, totals.Text, totals.Detail = checkUnknown, "a file was refused", left
	case read == 0:
		totals.How, totals.Text = checkSkipped, "no file of the source was read"
	}
	switch {
	case src.Rejected > 0:
		records.How, records.Text = checkFailed, count(src.Rejected, "record")+" could not be read: see rejects.parquet"
	case len(refused) > 0:
		records.How, records.Text, records.Detail = checkUnknown, "a file was refused", left
	case read == 0:
		records.How, records.Text = checkSkipped, "no file of the source was read"
	}
	return []check{there, whole, totals, records}
}

// statesTotals tells whether files of the source state counts or sums that the job has
// checked. A file that states others than it holds is refused.
func statesTotals(src *rules.Source) bool {
	kinds := src.Typed != nil && slices.ContainsFunc(src.Typed.Kinds, func(k rules.RecordKind) bool { return k.Count != nil || len(k.Sums) > 0 })
	return src.Controls != nil || len(src.StatedDistinct) > 0 || len(src.Ties) > 0 || len(src.ZeroSums) > 0 || src.Bank != nil || kinds
}

// bounded cuts a list of lines and says how many are left.
func bounded(lines []string) []string {
	if len(lines) <= maxDetail {
		return lines
	}
	return append(slices.Clone(lines[:maxDetail]), fmt.Sprintf("… and %d more", len(lines)-maxDetail))
}
