package pipeline

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// Diff is what two runs of a job differ in.
type Diff struct {
	A      RunRef       `json:"a"`
	B      RunRef       `json:"b"`
	Same   bool         `json:"same"`   // the same content: every row has the same verdict
	Made   []string     `json:"made"`   // what they were made of, in words
	Inputs []InputDiff  `json:"inputs"` // files that only one of them read, or with other content
	Counts []CountDelta `json:"counts"` // verdicts whose number differs
	// Open is what became of the open items of A in B: new, gone, of another class or
	// queue, older. null where the runs are of different jobs.
	Open *report.Changes `json:"open_items"`
}

// InputDiff is a file of one run that the other did not read.
type InputDiff struct {
	Side   rules.Side `json:"side"`
	Source string     `json:"source"`
	Name   string     `json:"name"`
	A      string     `json:"a,omitempty"` // digest
	B      string     `json:"b,omitempty"`
}

// CountDelta compares the rows of one verdict.
type CountDelta struct {
	Count
	Other int64 `json:"other_rows"`
}

// DiffRuns compares two published runs by their manifests. Content digests are
// independent of the order, the split and the names of the inputs, so that equal
// ones prove the same verdicts for the same rows. Their open items are compared one by
// one; a queue that was withheld by an older version is in no file, so that its items
// count as not open.
func DiffRuns(ctx context.Context, a, b string) (*Diff, error) {
	da, ma, err := FindRun(a)
	if err != nil {
		return nil, err
	}
	db, mb, err := FindRun(b)
	if err != nil {
		return nil, err
	}
	d := diffManifests(ma, mb)
	if _, d.A.ManifestSHA256, err = ReadManifest(da); err != nil {
		return nil, err
	}
	if _, d.B.ManifestSHA256, err = ReadManifest(db); err != nil {
		return nil, err
	}
	if ma.Job == mb.Job {
		d.Open, err = diffOpen(ctx, da, ma, db, mb)
	}
	return &d, err
}

// diffOpen compares the open items of two runs.
func diffOpen(ctx context.Context, da string, ma *Manifest, db string, mb *Manifest) (_ *report.Changes, err error) {
	var open [2]*report.FormerOpen
	hidden := false
	for i, run := range []struct {
		dir string
		m   *Manifest
	}{{da, ma}, {db, mb}} {
		s, err := reportOf(run.dir, run.m)
		if err != nil {
			return nil, err
		}
		for _, r := range s.Redacted {
			hidden = hidden || r.Field == "amount" || r.Field == "currency"
		}
		if open[i], err = openOf(run.dir, run.m, s); err != nil {
			return nil, err
		}
	}
	scratch, err := duck.Open(ctx, duck.Options{Allowed: []string{da, db}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	return report.CompareOpen(ctx, scratch, open[0], open[1], hidden)
}

func diffManifests(a, b *Manifest) Diff {
	d := Diff{
		A: RunRef{BusinessDate: a.BusinessDate, RunID: a.RunID}, B: RunRef{BusinessDate: b.BusinessDate, RunID: b.RunID},
		Same: a.ContentDigest == b.ContentDigest && a.Job == b.Job && a.BusinessDate == b.BusinessDate,
		Made: []string{}, Inputs: []InputDiff{}, Counts: []CountDelta{},
	}
	for _, m := range []struct{ what, a, b string }{
		{"job", a.Job, b.Job},
		{"business date", a.BusinessDate, b.BusinessDate},
		{"job digest", short(a.JobDigest), short(b.JobDigest)},
		{"reference time", a.ReferenceTime, b.ReferenceTime},
		{"semantics", itoa(a.Versions.Semantics), itoa(b.Versions.Semantics)},
		{"program", a.Versions.Program, b.Versions.Program},
		{"engine", a.Versions.DuckDB, b.Versions.DuckDB},
	} {
		if m.a != m.b {
			d.Made = append(d.Made, m.what+": "+m.a+" and "+m.b)
		}
	}
	type file struct {
		side         rules.Side
		source, name string
	}
	files := map[file]*InputDiff{}
	for i, m := range []*Manifest{a, b} {
		for _, in := range m.Inputs {
			k := file{in.Side, in.Source, in.Name}
			if files[k] == nil {
				files[k] = &InputDiff{Side: in.Side, Source: in.Source, Name: in.Name}
			}
			if i == 0 {
				files[k].A = in.SHA256
			} else {
				files[k].B = in.SHA256
			}
		}
	}
	for _, f := range files {
		if f.A != f.B {
			d.Inputs = append(d.Inputs, *f)
		}
	}
	slices.SortFunc(d.Inputs, func(x, y InputDiff) int {
		return cmp.Or(cmp.Compare(x.Side, y.Side), cmp.Compare(x.Source, y.Source), cmp.Compare(x.Name, y.Name))
	})
	counts := map[Count]*CountDelta{}
	for i, m := range []*Manifest{a, b} {
		for _, c := range m.Counts {
			k := c
			k.Rows = 0
			if counts[k] == nil {
				counts[k] = &CountDelta{Count: k}
			}
			if i == 0 {
				counts[k].Rows += c.Rows
			} else {
				counts[k].Other += c.Rows
			}
		}
	}
	for _, c := range counts {
		if c.Rows != c.Other {
			d.Counts = append(d.Counts, *c)
		}
	}
	slices.SortFunc(d.Counts, func(x, y CountDelta) int {
		return cmp.Or(cmp.Compare(x.Side, y.Side), cmp.Compare(x.Class, y.Class), cmp.Compare(x.Reason, y.Reason), cmp.Compare(boolText(y.InPeriod), boolText(x.InPeriod)))
	})
	return d
}

func boolText(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
