package extract

import (
	"context"
	"path/filepath"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Watermark is what an input says that its data reach to, where that is before the end of
// what the job declares.
type Watermark struct {
	Source  string
	Date    string // {file_date}, or ""
	Through int64  // microseconds: the first instant of which it says nothing
	Until   int64  // as declared
}

// judgeThrough reads what a file, or its name, says that its data reach to.
func (l *loader) judgeThrough(f *foundFile, s *sidecar) error {
	w := f.source.Coverage.Through
	if w == nil || w.Latest != "" || w.At.In == rules.InFile {
		return nil
	}
	if w.At.Stated() {
		at, err := l.watermarkIn(f.rel, f.source, s.stated(s.Trailer))
		f.through = &at
		return err
	}
	re := w.Pattern()
	m := re.FindStringSubmatch(filepath.Base(f.rel))
	if m == nil {
		return fail.New(fail.Input, "%s: the name does not say what the data reach to, as coverage.through.name would have it", f.rel).
			WithHint("correct the expression in the job file, or have the file delivered under its full name")
	}
	at, ok := l.watermark(w, m[re.SubexpIndex("through")])
	if !ok {
		return l.noWatermark(f.rel, "what its name says that the data reach to")
	}
	f.through = &at
	return nil
}

// watermarkIn reads the watermark out of a line, or a row of a control file.
func (l *loader) watermarkIn(name string, src *rules.Source, r statedRow) (int64, error) {
	p := src.Coverage.Through.At
	text, ok := r(p)
	if !ok {
		return 0, fail.New(fail.Input, "%s: the %s has no %s, which should say what the data reach to", name, lineName(p.In), fieldName(p)).
			WithHint("correct coverage.through in the job file, or have the file sent again whole")
	}
	at, ok := l.watermark(src.Coverage.Through, text)
	if !ok {
		return 0, l.noWatermark(name, placeName(p)+", which should say what the data reach to")
	}
	return at, nil
}

func (l *loader) noWatermark(name, what string) error {
	return fail.New(fail.Input, "%s: %s, is no time as declared", name, what).
		WithHint("correct layout and zone of coverage.through in the job file, or have the file sent again")
}

// watermark reads a time. Of a local time that exists twice the first one counts: silence
// after it proves nothing. One that the zone skips is none.
func (l *loader) watermark(w *rules.Watermark, text string) (int64, bool) {
	zone := w.Zone
	if zone == nil {
		zone = l.job.Zone
	}
	if w.Days {
		day, ok := parseDateLayouts([]string{w.Layout}, []byte(text))
		if !ok {
			return 0, false
		}
		if w.Last {
			day++
		}
		d := time.Unix(day*secPerDay, 0).UTC()
		return time.Date(d.Year(), d.Month(), d.Day(), 0, 0, 0, 0, zone).UnixMicro(), true
	}
	f := rules.Field{Zone: zone}
	if w.Layout != "" {
		f.Layouts = []string{w.Layout}
	}
	form := newTimeForm(f)
	v := form.parse([]byte(text))
	return v.us, v.present && !v.never
}

// latestRecords takes the watermark from the records: the greatest value of a field. A
// file without one reaches to the beginning of what its input declares, and so covers nothing.
func (l *loader) latestRecords(ctx context.Context) error {
	for j, found := range l.found {
		w, in := found.source.Coverage.Through, &l.inputs[found.input]
		if w == nil || w.Latest == "" || l.staged[j] == nil || l.rel.Files[j].Status != FileStaged || in.From == nil {
			continue
		}
		at := *in.From
		var latest *int64
		q := latestSQL.Render(duck.Slots{"rows": l.layout.Relation(l.staged[j].path), "field": duck.Ident("f_" + w.Latest)})
		if err := l.db.Scan(ctx, q, &latest); err != nil {
			return err
		}
		if latest != nil {
			at = *latest
		}
		found.through = &at
	}
	return nil
}

// watermarks brings together what the files of an input, its control file and its pull
// say: the earliest counts.
func (l *loader) watermarks() {
	for i := range l.inputs {
		in := &l.inputs[i]
		if in.Through != nil {
			l.through = earliest(l.through, i, *in.Through)
		}
		for j, f := range l.found {
			if f.input == i && f.through != nil && l.rel.Files[j].Status == FileStaged {
				l.through = earliest(l.through, i, *f.through)
			}
		}
		at, ok := l.through[i]
		if !ok || in.Until == nil || at >= *in.Until {
			continue
		}
		at = max(at, *in.From)
		l.through[i] = at
		l.rel.Watermarks = append(l.rel.Watermarks, Watermark{Source: in.Source.Name, Date: in.FileDate, Through: at, Until: *in.Until})
		l.rel.Findings = append(l.rel.Findings, Finding{
			Code: "coverage_shortened", Source: in.Source.Name,
			Text: "the data of source " + in.Source.Name + " reach to " + describeInstant(at) + " by its own word: its silence from then until " + describeInstant(*in.Until) + " proves nothing",
		})
	}
}

func earliest(m map[int]int64, i int, at int64) map[int]int64 {
	if m == nil {
		m = map[int]int64{}
	}
	if was, ok := m[i]; !ok || at < was {
		m[i] = at
	}
	return m
}
