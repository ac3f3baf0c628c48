package rules

import (
	"fmt"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// Bound is a job whose templates are resolved for one business date.
type Bound struct {
	*Job
	Date     string    // business date, 2006-01-02
	AsOfTime time.Time // reference time of windows and ages
	// The period, half-open, in microseconds since 1970-01-01T00:00:00Z; meaningful
	// where Job.Period is set. Where its field is a date: the UTC midnights of the
	// days, so that dividing by 86,400,000,000 gives days since 1970-01-01.
	PeriodFrom  int64
	PeriodUntil int64
	Inputs      map[Side][]Input
}

// Input is one path to read: a source has one, or one for each of its dates.
type Input struct {
	Source   *Source
	Path     string      // pattern or exact path, dates filled in, relative to the job file's folder; of a remote source its address or the name of its files
	Ready    *ReadyPaths // nil: the source has no ready rules
	Judged   *Judged     // what was found by them; nil before
	Pulled   *Pulled     // the files of a remote source, once they are here; nil before, and for local files
	FileDate string      // 2006-01-02, or ""
	Reach    string      // path of Source.Bank.Reach, dates filled in; "" none
	From     *int64      // declared coverage of this input, microseconds; nil where not declared
	Until    *int64
	Through  *int64        // what the source said that its data reach to when it was pulled; nil: nothing
	Control  *ControlInput // nil: no control file
}

// ControlInput is the control file of one input, dates filled in.
type ControlInput struct {
	Path  string
	Where []ControlWhere // texts as they are to be found
}

// Pulled is where the files of a remote source lie.
type Pulled struct {
	Dir   string   // folder
	Names []string // of the files in it, in the order in which they are read
	// Digests are the SHA-256 of their bytes as they were pulled, in the same order; nil
	// where nobody knows.
	Digests []string
}

// maxDays bounds the days of one source: ten years of daily files.
const maxDays = 3660

// Bind resolves the templates for a business date (2006-01-02). asOf replaces the
// declared reference time; nil keeps it. Instants without an offset are local
// times in the job's zone; one that exists twice or never is refused. The error
// has class fail.Usage.
func (j *Job) Bind(date string, asOf *time.Time) (*Bound, error) {
	if !isDay(date) {
		return nil, fail.New(fail.Usage, "%q is no business date", date).WithHint("a business date is written 2026-08-20")
	}
	b := &Bound{Job: j, Date: date, Inputs: map[Side][]Input{}}
	if asOf != nil {
		b.AsOfTime = asOf.UTC()
	} else {
		t, err := j.instant(j.AsOf, date, "", "as_of")
		if err != nil {
			return nil, err
		}
		b.AsOfTime = t
	}
	if err := b.period(); err != nil {
		return nil, err
	}
	for _, s := range Sides {
		spec := j.Spec(s)
		for i := range spec.Sources {
			in, err := j.inputs(&spec.Sources[i], s, date)
			if err != nil {
				return nil, err
			}
			b.Inputs[s] = append(b.Inputs[s], in...)
		}
	}
	return b, nil
}

// instant fills a template and resolves it; what names it in messages.
func (j *Job) instant(t Template, date, fileDate, what string) (time.Time, error) {
	text, err := t.fill(date, fileDate)
	if err != nil {
		return time.Time{}, fail.Wrap(fail.Usage, err, "%s of the job %s", what, j.Name)
	}
	x, err := parseInstantText(text)
	if err != nil {
		return time.Time{}, fail.Wrap(fail.Usage, err, "%s of the job %s", what, j.Name)
	}
	at, err := x.instant(j.Zone)
	if err != nil {
		return time.Time{}, fail.Wrap(fail.Usage, err, "%s of the job %s", what, j.Name).
			WithHint("write it with its offset, as %s+01:00 or …Z", text)
	}
	return at.UTC(), nil
}

func (b *Bound) period() error {
	p := b.Period
	if p == nil {
		return nil
	}
	zone := b.Job
	if f := b.Operations.Field(p.By); f != nil && f.Type == Date {
		// Days are compared as days, whatever the zone.
		utc := *b.Job
		utc.Zone = time.UTC
		zone = &utc
	}
	from, err := zone.instant(p.From, b.Date, "", "period.from")
	if err != nil {
		return err
	}
	until, err := zone.instant(p.Until, b.Date, "", "period.until")
	if err != nil {
		return err
	}
	if !from.Before(until) {
		return fail.New(fail.Usage, "the period of the job %s is empty: from %s until %s", b.Name, from.Format(time.RFC3339), until.Format(time.RFC3339)).
			WithHint("`until` is the first instant after the period; a day is from {date} until {date+1}")
	}
	b.PeriodFrom, b.PeriodUntil = from.UnixMicro(), until.UnixMicro()
	return nil
}

// inputs of one source: one, or one a day.
func (j *Job) inputs(src *Source, s Side, date string) ([]Input, error) {
	what := fmt.Sprintf("the source %s of the %s", src.Name, s)
	days := []string{""}
	if src.Dates != nil {
		var err error
		if days, err = src.Dates.days(date); err != nil {
			return nil, fail.Wrap(fail.Usage, err, "%s", what)
		}
	}
	out := make([]Input, 0, len(days))
	dayOf := map[string]string{}
	for _, day := range days {
		in := Input{Source: src, FileDate: day}
		var err error
		if in.Path, err = src.Path.fill(date, day); err != nil {
			return nil, fail.Wrap(fail.Usage, err, "the path of %s", what)
		}
		if b := src.Bank; b != nil && b.Reach != nil {
			if in.Reach, err = b.Reach.Path.fill(date, day); err != nil {
				return nil, fail.Wrap(fail.Usage, err, "bank.reach of %s", what)
			}
		}
		if in.Control, err = src.controlInput(date, day); err != nil {
			return nil, fail.Wrap(fail.Usage, err, "controls.file of %s", what)
		}
		if in.Ready, err = src.Ready.paths(date, day); err != nil {
			return nil, fail.Wrap(fail.Usage, err, "ready of %s", what)
		}
		if other, ok := dayOf[in.Path]; ok && (src.Remote == nil || src.Remote.Addressed()) {
			return nil, fail.New(fail.Usage, "%s has the same path on %s and %s: %s", what, other, day, in.Path).
				WithHint("put the whole day in the path: {file_date}")
		}
		dayOf[in.Path] = day
		if src.Coverage.From != "" && src.Coverage.Until != "" {
			from, err := j.instant(src.Coverage.From, date, day, "coverage.from of "+what)
			if err != nil {
				return nil, err
			}
			until, err := j.instant(src.Coverage.Until, date, day, "coverage.until of "+what)
			if err != nil {
				return nil, err
			}
			if !from.Before(until) {
				return nil, fail.New(fail.Usage, "%s covers no time: from %s until %s", what, from.Format(time.RFC3339), until.Format(time.RFC3339)).
					WithHint("`until` is the first instant that is not covered")
			}
			f, u := from.UnixMicro(), until.UnixMicro()
			in.From, in.Until = &f, &u
		}
		out = append(out, in)
	}
	return out, nil
}

// controlInput fills the dates into the control file of a source; nil where there is none.
func (s *Source) controlInput(date, day string) (*ControlInput, error) {
	if s.Controls == nil || s.Controls.File == nil {
		return nil, nil
	}
	f := s.Controls.File
	path, err := f.Path.fill(date, day)
	if err != nil {
		return nil, err
	}
	out := &ControlInput{Path: path}
	for _, w := range f.Where {
		text, err := w.Text.fill(date, day)
		if err != nil {
			return nil, err
		}
		out.Where = append(out.Where, ControlWhere{w.Column, Template(text)})
	}
	return out, nil
}

// days lists the days of a range, both included.
func (r *DateRange) days(date string) ([]string, error) {
	var ends [2]time.Time
	for i, t := range []Template{r.From, r.Until} {
		text, err := t.fill(date, "")
		if err != nil {
			return nil, err
		}
		if ends[i], err = time.Parse(dateLayout, text); err != nil {
			return nil, fmt.Errorf("%q is no day", text)
		}
	}
	if ends[1].Before(ends[0]) {
		return nil, fmt.Errorf("its dates end (%s) before they begin (%s)", ends[1].Format(dateLayout), ends[0].Format(dateLayout))
	}
	var out []string
	for d := ends[0]; !d.After(ends[1]); d = d.AddDate(0, 0, 1) {
		if len(out) == maxDays {
			return nil, fmt.Errorf("its dates are more than %d days", maxDays)
		}
		out = append(out, d.Format(dateLayout))
	}
	return out, nil
}
