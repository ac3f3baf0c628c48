package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// Plan is what a run would do, found out without reading data.
type Plan struct {
	Job           string      `json:"job"`
	BusinessDate  string      `json:"business_date"`
	ReferenceTime string      `json:"reference_time"`
	Period        string      `json:"period,omitempty"`
	Files         []Found     `json:"files"`
	Ready         []PlanReady `json:"ready,omitempty"` // of sources with ready rules
	Coverage      []string    `json:"coverage"`        // in words, a line for each source and date
	Passes        []string    `json:"passes"`          // in words
	Compared      []string    `json:"compared"`
	Writes        []string    `json:"writes"`
	Memory        string      `json:"memory"`
	Threads       int         `json:"threads"`
	Disk          string      `json:"disk"` // room that the run wants
	SQL           []string    `json:"sql,omitempty"`
}

// MakePlan resolves the job for the date and looks at the files' names and sizes.
// With sql it also runs the engine's statements on empty relations and lists them.
func MakePlan(ctx context.Context, o Options, sql bool) (*Plan, error) {
	b, err := o.Job.Bind(o.BusinessDate, o.AsOf)
	if err != nil {
		return nil, err
	}
	dir, err := newOutDir(o.OutPath(), Series(o.Job), o.BusinessDate)
	if err != nil {
		return nil, err
	}
	budget, err := NewBudget(o.Memory)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Job: b.Name, BusinessDate: b.Date, ReferenceTime: b.AsOfTime.UTC().Format(time.RFC3339Nano),
		Files: find(b, o.baseDir()), Memory: budget.String(), Threads: o.threads(),
	}
	stage := o.StageDir
	if stage == "" {
		stage = filepath.Join(o.OutPath(), ".stage")
	}
	markStaged(p.Files, b, filepath.Join(stage, "files"))
	if b.Period != nil {
		p.Period = fmt.Sprintf("%s from %s until %s", b.Period.By, instant(b.PeriodFrom), instant(b.PeriodUntil))
	}
	p.Disk = sizeText(inputBytes(p.Files)*diskFactor + diskReserve)
	p.Coverage = coverageWords(b)
	if p.Ready, err = planReady(ctx, &run{Options: o, bound: b}); err != nil {
		return nil, err
	}
	for i, pass := range b.Match {
		p.Passes = append(p.Passes, fmt.Sprintf("%d. %s", i+1, passWords(pass)))
	}
	for _, c := range b.Compare {
		p.Compared = append(p.Compared, compareWords(c))
	}
	if len(p.Compared) == 0 {
		p.Compared = []string{"nothing: a link alone counts"}
	}
	current, err := dir.currentID()
	if err != nil {
		return nil, err
	}
	p.Writes = []string{
		filepath.Join(displayPath(dir.date), "<run id>") + ", a name that follows from job, date, inputs and reference time",
		"formats: " + strings.Join(b.Outputs.Formats, ", "),
	}
	if to := b.Outputs.Target; to != nil {
		p.Writes = append(p.Writes, "and sends it to "+to.Address+"/"+Series(o.Job)+"/"+b.Date+"/<run id>")
	}
	if current != "" {
		p.Writes = append(p.Writes, "run "+current+" is current; the same inputs again are a no-op, others supersede it")
	}
	if sql {
		if p.SQL, err = planSQL(ctx, b, o.threads(), budget); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Missing is the error with which a run would end for want of files, nil if it
// has all that it requires.
func (p *Plan) Missing() error {
	var list []string
	for _, f := range p.Files {
		if f.Missing && f.Need == rules.Required {
			list = append(list, fmt.Sprintf("%s (%s)", f.Path, f.Source))
		}
	}
	if late := p.late(); late != nil && len(list) == 0 {
		return late
	}
	if len(list) == 0 {
		return nil
	}
	return fail.New(fail.Input, "required input is missing: %s", strings.Join(list, ", ")).
		WithHint("wait for the file, or correct its path; a source that may be missing is declared need: late-ok")
}

func coverageWords(b *rules.Bound) []string {
	var out []string
	var last *rules.Source
	for _, side := range rules.Sides {
		for _, in := range b.Inputs[side] {
			c := in.Source.Coverage
			if in.Source != last {
				out = append(out, fmt.Sprintf("%s/%s is %s", side, in.Source.Name, report.NeedText(in.Source.Need)))
				last = in.Source
			}
			name := fmt.Sprintf("%s/%s", side, in.Source.Name)
			if in.FileDate != "" {
				name += " " + in.FileDate
			}
			switch {
			case in.Source.IsLookup():
				out = append(out, name+": "+lookupPlan(in.Source))
			case c.Complete:
				out = append(out, name+": covers everything")
			case in.From != nil && in.Until != nil:
				line := fmt.Sprintf("%s: covers %s until %s", name, instant(*in.From), instant(*in.Until))
				if c.Lag > 0 {
					line += fmt.Sprintf(", results may be %s late", durationText(c.Lag))
				}
				out = append(out, line+provesWords(c))
			default:
				out = append(out, name+": declares no time, so that its silence proves nothing")
			}
		}
	}
	return out
}

func provesWords(c rules.Coverage) string {
	text := ""
	switch c.Proves {
	case rules.SettledOnly:
		text = "; its silence proves settlements only"
	case rules.FailuresOnly:
		text = "; its silence proves failures only"
	case rules.PresenceOnly:
		text = "; its silence proves nothing"
	}
	if len(c.Types) > 0 {
		text += "; for " + strings.Join(c.Types, ", ")
	}
	return text
}

func passWords(p rules.Pass) string {
	var parts []string
	for _, k := range p.On {
		text := k.Operations
		if k.Results != k.Operations {
			text += " = " + k.Results + " of the results"
		}
		if k.Nullable {
			text += " (may be empty)"
		}
		parts = append(parts, text)
	}
	text := p.Name + ": rows that are free and equal in " + strings.Join(parts, ", ")
	for _, w := range p.Within {
		text += fmt.Sprintf(", with %s at most %s apart", w.Field, durationText(w.Max))
	}
	switch {
	case p.Suggest:
		return text + "; links nothing, suggests"
	case p.Group != nil:
		return p.Name + ": " + groupPassWords(p, parts)
	case p.Identity:
		return text + "; an identity"
	}
	return text + "; only where each is the other's only candidate"
}

func compareWords(c rules.Compare) string {
	text := fmt.Sprintf("%s as %s", c.Name, c.As)
	if c.Expect != "" {
		text += ", expected " + string(c.Expect)
	}
	if c.Absolute != "" {
		text += ", tolerance " + c.Absolute
		if c.As == rules.AsInstant {
			text += " µs"
		}
	}
	if c.Relative != "" {
		text += ", tolerance " + c.Relative + " of the larger"
	}
	if c.OnlyIfEqual != "" {
		text += ", only if " + c.OnlyIfEqual + " is equal"
	}
	return text
}

// durationText writes a duration without the parts that are zero: 6h, not 6h0m0s.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
