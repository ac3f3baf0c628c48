package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// assumeForms says how each file is read.
func (p *Pair) assumeForms() {
	for _, r := range []*Report{p.Left, p.Right} {
		var parts []string
		for _, m := range r.Remarks {
			switch m.Topic {
			case "form", "encoding", "header", "footer", "numbers", "sheet", "member", "kinds":
				if m.Sure != Fact || m.Topic == "form" {
					text := m.Text
					if m.Topic != "form" {
						text = m.Topic + ": " + text
					}
					if m.Sure == Unsure {
						text += " (unsure)"
					}
					parts = append(parts, text)
				}
			}
		}
		if b := r.Best(); b != nil {
			parts = append(parts, "preset "+b.Preset)
		}
		p.assume("%s, %s: %s", quoted(r.File), plural(r.Records, "record"), strings.Join(parts, "; "))
	}
	p.assumeCoverage()
}

// assumeCoverage says what the silence of the two files is taken for.
func (p *Pair) assumeCoverage() {
	for _, r := range []*Report{p.Left, p.Right} {
		if r.look.d.format == string(rules.FormatPain002) {
			p.assume("%s may list only what was refused: its silence proves nothing (coverage: {proves: presence-only})", quoted(r.File))
			return
		}
	}
	p.assume("both files are whole: what is not in them does not exist (coverage: complete)")
}

// days finds the newest day of the records, which is a business date to run with.
func (p *Pair) days() {
	for _, r := range []*Report{p.Left, p.Right} {
		for _, c := range r.Columns {
			if (c.Field == "created_at" || fieldOfName(c.Name) == "created_at") && len(c.Until) >= 10 {
				if _, err := time.Parse("2006-01-02", c.Until[:10]); err == nil {
					p.Day = max(p.Day, c.Until[:10])
				}
			}
		}
	}
}

// write makes the job, and makes sure that it is valid.
func (p *Pair) write() error {
	var err error
	for range 3 {
		p.Job = p.text()
		if _, err = rules.Parse([]byte(p.Job), "the job"); err == nil {
			return nil
		}
		changed := false
		for _, l := range []*look{p.Left.look, p.Right.look} {
			if l.d.preset != nil {
				l.d.preset, l.d.fields, l.d.notes, changed = nil, nil, nil, true
				l.assign()
			}
		}
		if !changed {
			break
		}
		p.keys, p.match, p.compare, p.Assumed = nil, nil, nil, p.Assumed[:1]
		if err := p.key(); err != nil {
			return err
		}
		if err := p.compared(); err != nil {
			return err
		}
		if err := p.signs(); err != nil {
			return err
		}
		p.assumeForms()
	}
	return fail.Wrap(fail.Internal, err, "the job that was made of the two files is not valid")
}

var jobLetters = strings.NewReplacer("_", "-", ".", "-")

// name of the job.
func (p *Pair) name() string {
	if p.opt.Name != "" {
		return p.opt.Name
	}
	base := func(r *Report) string {
		name, _, _ := strings.Cut(r.look.name, ".")
		name = jobLetters.Replace(plainName(name))
		name = strings.Trim(strings.TrimRight(name, "0123456789-"), "-")
		if name == "" || name[0] < 'a' {
			name = "file"
		}
		return name[:min(len(name), 24)]
	}
	return strings.Trim(base(p.Left)+"-"+base(p.Right), "-")
}

// text is the job file.
func (p *Pair) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A job of two files, %s and %s, made by recon-batch.\n", oneLine(quoted(p.Left.File)), oneLine(quoted(p.Right.File)))
	b.WriteString("# Each GUESS is for you to confirm: a run takes what is written here, and guesses nothing.\n")
	b.WriteString("# Every key is explained in rules/REFERENCE.md; `recon-batch schema` gives them to editors.\n")
	head := []line{
		{"job: " + p.name(), "the folder of its runs, and the name in all outputs"},
		{"timezone: UTC", "GUESS, unsure: the business calendar"},
	}
	b.WriteString(write(head, ""))
	b.WriteString("\n# What was intended: one record an operation.\n")
	b.WriteString(p.Left.look.d.side(rules.Operations, true))
	b.WriteString("\n# What happened, as the other side says it.\n")
	b.WriteString(p.Right.look.d.side(rules.Results, true))
	b.WriteString("\n# Passes in order: a record that one claimed is not offered to the next.\nmatch:\n")
	b.WriteString(write(p.match, "  "))
	if len(p.compare) > 0 {
		b.WriteString("\ncompare:\n")
		b.WriteString(write(p.compare, "  "))
	}
	b.WriteString("\n# When a missing result becomes meaningful, and what may be sent again: nothing is, until you say so.\n")
	b.WriteString("# types: {\"*\": {window: {expected: 15m, deadline: 6h}, idempotent: true}}\n")
	b.WriteString("\ngates:\n")
	b.WriteString(write([]line{{`- {gate: nothing-open, fail_when: "differences > 0"}`, "the run ends with 3 where anything differs"}}, "  "))
	b.WriteString("outputs: {dir: out}\n")
	return b.String()
}
