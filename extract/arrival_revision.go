package extract

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Revision is a file that took the place of a former one with the same identity, whole.
type Revision struct {
	Side         rules.Side `json:"side"`
	Source       string     `json:"source"`
	Key          string     `json:"key"`
	File         string     `json:"file"`          // path of the file that counts
	Former       string     `json:"former"`        // path of the one that does not
	FormerSHA256 string     `json:"former_sha256"` // of its bytes
	FormerRun    string     `json:"former_run,omitempty"`
	Rows         int64      `json:"rows"`
	FormerRows   int64      `json:"former_rows"`
	Compared     bool       `json:"compared"` // row by row; false: the former rows are not to be had any more
	Added        int64      `json:"added"`
	Gone         int64      `json:"gone"`
	Changed      int64      `json:"changed"` // with another content under the same record id
	Sums         []SumsOf   `json:"sums"`
}

// SumsOf are the sums of one currency, "" where there is none.
type SumsOf struct {
	Currency string `json:"currency"`
	Former   string `json:"former"`
	Now      string `json:"now"`
}

// superseded keeps what is needed of a file that is left out.
type superseded struct {
	file, by int // index in found
	staged   *staged
}

// findRevisions finds, among the files of each identity with different contents, the one
// that is the latest; where nothing says which, all of them are at fault.
func (l *loader) findRevisions() {
	groups := map[[2]string][]int{}
	var order [][2]string
	for i, a := range l.arrived {
		if a == nil || l.errs[i] != nil || l.wasRead(i) {
			continue
		}
		k := [2]string{l.found[i].source.Name, a.Key}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], i)
	}
	for _, k := range order {
		group := groups[k]
		if !slices.ContainsFunc(group, func(i int) bool { return l.staged[i].Content != l.staged[group[0]].Content }) {
			continue // copies: V6
		}
		latest := group[0]
		for _, i := range group[1:] {
			if order, ok := compareRevisions(l.arrived[i].Revision, l.arrived[latest].Revision); ok && order > 0 {
				latest = i
			}
		}
		if err := l.unordered(k[1], group, latest); err != nil {
			for _, i := range group {
				l.errs[i] = err
			}
			continue
		}
		for _, i := range group {
			if i != latest && (l.staged[i].Content != l.staged[latest].Content || l.arrived[i].Revision != l.arrived[latest].Revision) {
				l.newer[i] = latest
			}
		}
	}
}

// unordered refuses a group of files in which it is not certain which is the latest.
func (l *loader) unordered(key string, group []int, latest int) error {
	for _, i := range group {
		order, ok := compareRevisions(l.arrived[latest].Revision, l.arrived[i].Revision)
		if i == latest || l.staged[i].Content == l.staged[latest].Content || ok && order > 0 {
			continue
		}
		e := fail.New(fail.Input, "%s and %s are the same report, %s, with different contents, and nothing says which is the latest", l.found[min(i, latest)].rel, l.found[max(i, latest)].rel, key)
		if l.found[i].source.Identity.Part(rules.PartRevision) == nil {
			return e.WithHint("declare identity.revision of the source %s, or take one of the two away; if they are two reports, declare what tells them apart", l.found[i].source.Name)
		}
		return e.WithHint("their revisions are %q and %q: take one of the two away", l.arrived[min(i, latest)].Revision, l.arrived[max(i, latest)].Revision)
	}
	return nil
}

// compareRevisions orders two revisions: none comes first, numbers by their value, other
// texts as texts. A number and another text have no order.
func compareRevisions(a, b string) (order int, ok bool) {
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	switch {
	case a == "" || b == "" || !digits(a) && !digits(b):
		return strings.Compare(a, b), true
	case digits(a) != digits(b):
		return 0, false
	}
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) - len(b), true
	}
	return strings.Compare(a, b), true
}

func (l *loader) isSuperseded(i int) bool {
	_, ok := l.newer[i]
	return ok
}

// supersede leaves a file out for a later revision.
func (l *loader) supersede(i int, file *File) {
	by := l.newer[i]
	file.Status, file.Problem = FileSuperseded, "superseded by "+l.found[by].rel
	if r := l.arrived[by].Revision; r != "" {
		file.Problem += ", revision " + keyText(r)
	} else {
		file.Problem += ", a later revision"
	}
	l.replaced = append(l.replaced, superseded{file: i, by: by, staged: l.staged[i]})
	l.staged[i] = nil
	l.find("file_superseded", l.found[i], "%s is %s of the same report: none of its rows counts", l.found[i].rel, file.Problem)
}

// supersededEvidence says what a superseded file, or the one that took its place, leaves of
// the proof of inputs of their own.
func (l *loader) supersededEvidence(i int, e *evidence) bool {
	if l.rel.Files[i].Status == FileSuperseded {
		e.missing, e.noFile = l.found[i].rel+" is superseded by "+l.found[l.newer[i]].rel+", the file of another date", true
		return true
	}
	for _, s := range l.replaced {
		if s.by == i && l.found[s.file].input != l.found[i].input {
			e.spoiled = l.found[i].rel + " is a revision of " + l.found[s.file].rel + ", the file of another date"
			return true
		}
	}
	return false
}

// revisions compares each file that took the place of another one with that: of this run,
// or of the last run of the date that read another content.
func (l *loader) revisions(ctx context.Context) error {
	done := map[[2]string]bool{} // file, former digest
	for _, s := range l.replaced {
		if l.rel.Files[s.by].Status != FileStaged {
			continue // said of that one
		}
		r := l.revision(s.by, l.arrived[s.file].Sums)
		r.Former, r.FormerSHA256, r.FormerRows = filepath.ToSlash(l.found[s.file].rel), s.staged.SHA256, s.staged.Records
		if err := l.difference(ctx, r, s.staged.path, l.staged[s.by].path); err != nil {
			return err
		}
		done[[2]string{r.File, r.FormerSHA256}] = true
		l.rel.Revisions = append(l.rel.Revisions, *r)
	}
	for i, a := range l.arrived {
		if a == nil || l.rel.Files[i].Status != FileStaged {
			continue
		}
		at := slices.IndexFunc(l.opt.Former, func(e Arrived) bool {
			return e.Side == l.rel.Side && e.Source == l.found[i].source.Name && e.Date == l.found[i].date && e.Arrival != nil && e.Arrival.Key == a.Key && e.Content != l.staged[i].Content
		})
		if at < 0 {
			continue
		}
		e := &l.opt.Former[at]
		r := l.revision(i, e.Arrival.Sums)
		if done[[2]string{r.File, e.SHA256}] {
			continue
		}
		r.Former, r.FormerSHA256, r.FormerRows, r.FormerRun = e.Path, e.SHA256, e.Records, e.RunID
		former, err := l.formerStaged(ctx, i, e)
		if err != nil {
			return err
		}
		if former != nil {
			if err := l.difference(ctx, r, former.path, l.staged[i].path); err != nil {
				return err
			}
		}
		l.rel.Revisions = append(l.rel.Revisions, *r)
	}
	return nil
}

// revision begins the summary of a file that took the place of one with these sums.
func (l *loader) revision(i int, former []Sum) *Revision {
	a, f := l.arrived[i], l.found[i]
	r := &Revision{Side: l.rel.Side, Source: f.source.Name, Key: a.Key, File: filepath.ToSlash(f.rel), Rows: l.staged[i].Records, Sums: []SumsOf{}}
	at := func(currency string) *SumsOf {
		k := slices.IndexFunc(r.Sums, func(s SumsOf) bool { return s.Currency == currency })
		if k < 0 {
			k = len(r.Sums)
			r.Sums = append(r.Sums, SumsOf{Currency: currency})
		}
		return &r.Sums[k]
	}
	for _, s := range former {
		at(s.Currency).Former = s.Sum
	}
	for _, s := range a.Sums {
		at(s.Currency).Now = s.Sum
	}
	slices.SortFunc(r.Sums, func(a, b SumsOf) int { return strings.Compare(a.Currency, b.Currency) })
	return r
}

// formerStaged finds the staged rows of a file as a former run read it, or stages them from
// the bytes that are kept; nil where neither is to be had.
func (l *loader) formerStaged(ctx context.Context, i int, e *Arrived) (*staged, error) {
	f := *l.found[i]
	f.rel, f.sha256, f.kept = filepath.FromSlash(e.Path), e.SHA256, ""
	if s := l.kept(&f, planDigest(newStagePlan(l.layout, f.source), f.rel)); s != nil {
		return s, nil
	}
	if l.opt.Kept != nil {
		f.kept = l.opt.Kept(e.SHA256)
	}
	if f.kept == "" {
		return nil, nil
	}
	s, err := l.file(ctx, &f)
	if err != nil && fail.ClassOf(err) == fail.Input { // kept under other declarations, or damaged: said by verify and replay
		return nil, nil
	}
	return s, err
}

// difference counts the rows that came, went and changed.
func (l *loader) difference(ctx context.Context, r *Revision, former, now string) error {
	column, _ := l.distinctKey()
	q := revisedSQL.Render(duck.Slots{"key": duck.Ident(column), "former": l.layout.Relation(former), "now": l.layout.Relation(now)})
	if err := l.db.Scan(ctx, q, &r.Added, &r.Gone, &r.Changed); err != nil {
		return err
	}
	r.Compared = true
	return nil
}

// Says tells of a revision in one sentence.
func (r *Revision) Says() string {
	by := ""
	if r.FormerRun != "" {
		by = ", which run " + r.FormerRun + " read"
	}
	text := fmt.Sprintf("%s supersedes %s%s: %d records, %d before", r.File, r.Former, by, r.Rows, r.FormerRows)
	if r.Compared {
		text += fmt.Sprintf("; %d added, %d gone, %d changed", r.Added, r.Gone, r.Changed)
	} else {
		text += "; the former rows are not kept any more, so that rows were not compared"
	}
	for _, s := range r.Sums {
		if s.Former != s.Now {
			text += fmt.Sprintf("; %s %s, before %s", orNone(s.Currency), orNone(s.Now), orNone(s.Former))
		}
	}
	return text
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
