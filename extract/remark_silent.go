package extract

import (
	"fmt"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// listControls brings the totals that were judged into the order of the files.
func (l *loader) listControls() {
	var own []Control
	for i, f := range l.found {
		if l.rel.Files[i].Status == FileStaged {
			for _, c := range f.controls {
				c.File = l.rel.Files[i].Name
				own = append(own, c)
			}
		}
	}
	l.rel.Controls = append(own, l.rel.Controls...)
}

// remarkSilent finds sources that say nothing beside others that do: one without a record,
// by far most often an export that broke, and one that covers no time that the period asks
// for.
func (l *loader) remarkSilent() {
	sources := l.sources()
	if len(sources) < 2 {
		return
	}
	for _, src := range sources {
		if src.IsLookup() {
			continue // that nothing is found is an answer, and it covers operations, not times
		}
		var records int64
		files := 0
		l.of(src.Name, func(_ int, s *staged) { records, files = records+s.Records, files+1 })
		if files > 0 && records == 0 && l.rel.Records > 0 {
			l.rel.Findings = append(l.rel.Findings, Finding{
				Code: "source_empty", Source: src.Name,
				Text: fmt.Sprintf("source %s has no record, although other sources of the %s do; if that is never right, declare minimum_records: 1", src.Name, l.rel.Side),
			})
		}
		if from, until, ok := l.outsidePeriod(src); ok {
			l.rel.Findings = append(l.rel.Findings, Finding{
				Code: "covers_nothing", Source: src.Name,
				Text: fmt.Sprintf("source %s covers %s, where no operation of the period could show: it proves nothing for this run", src.Name, describeSpan(&from, &until)),
			})
		}
	}
}

// outsidePeriod tells whether the whole time that a source declares lies where nothing of
// the period can be seen. A day more on both sides allows for days of any zone.
func (l *loader) outsidePeriod(src *rules.Source) (from, until int64, outside bool) {
	if l.job.Period == nil {
		return 0, 0, false
	}
	const day = int64(24 * time.Hour / time.Microsecond)
	longest := l.job.ClockSkew + src.Coverage.Lag
	for _, p := range l.job.Types {
		longest = max(longest, l.job.ClockSkew+src.Coverage.Lag+p.Deadline+time.Duration(p.DeadlineDays)*14*24*time.Hour)
	}
	first, last := l.job.PeriodFrom-longest.Microseconds()-day, l.job.PeriodUntil+longest.Microseconds()+day
	for i := range l.inputs {
		in := &l.inputs[i]
		if in.Source.Name != src.Name {
			continue
		}
		if in.From == nil || in.Until == nil || *in.From < last && *in.Until > first {
			return 0, 0, false
		}
		if !outside {
			from, until = *in.From, *in.Until
		}
		outside = true
		from, until = min(from, *in.From), max(until, *in.Until)
	}
	return from, until, outside
}
