package keys

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

func statement(name string) *duck.Template { return duck.MustParse(sqlFiles, "sql/"+name+".sql") }

// measuring is one report in the making.
type measuring struct {
	db      *duck.DB
	job     *rules.Job // as declared
	reading *pipeline.Reading
	rows    [2]int64
	fields  [2][]field
	notes   []string
}

func (m *measuring) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.notes, text) {
		m.notes = append(m.notes, text)
	}
}

// Measure reads what a run of the business date would read now and measures what could
// link it. Errors are those of [pipeline.ReadNow].
func Measure(ctx context.Context, o pipeline.Options) (*Report, error) {
	job := o.Job
	probe, fields, left := probing(job)
	o.Job = probe
	var out *Report
	err := pipeline.ReadNow(ctx, o, func(r *pipeline.Reading) (err error) {
		m := &measuring{db: r.DB, job: job, reading: r, notes: left}
		out, err = m.report(ctx, fields)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Job, out.BusinessDate = job.Name, o.BusinessDate
	return out, nil
}

func (m *measuring) report(ctx context.Context, fields [2][]rules.Field) (*Report, error) {
	if err := m.look(ctx, fields); err != nil {
		return nil, err
	}
	declared, err := m.measureAll(ctx, m.declared())
	if err != nil {
		return nil, err
	}
	candidates, err := m.single(ctx)
	if err != nil {
		return nil, err
	}
	single, err := m.measureAll(ctx, candidates)
	if err != nil {
		return nil, err
	}
	composite, err := m.measureAll(ctx, m.composite(single))
	if err != nil {
		return nil, err
	}
	rep := &Report{Operations: m.rows[0], Results: m.rows[1], Warnings: []Warning{}, Disagreeing: []string{}}
	rep.Keys = m.worth(declared, single, composite)
	if err := m.compare(ctx, rep); err != nil {
		return nil, err
	}
	if rep.Warnings, err = m.warnings(ctx, rep.Keys); err != nil {
		return nil, err
	}
	if rep.Notes = m.notes; rep.Notes == nil {
		rep.Notes = []string{}
	}
	return rep, nil
}

func (m *measuring) measureAll(ctx context.Context, list []candidate) ([]Key, error) {
	out := make([]Key, len(list))
	for i, c := range list {
		k := Key{Name: c.name(), On: []Part{}, Examples: []Example{}, of: c, Operations: Side{Rows: m.rows[0]}, Results: Side{Rows: m.rows[1]}}
		for _, p := range c.parts {
			k.On = append(k.On, Part{p.Operations, p.Results, p.Nullable})
		}
		if p := c.pass; p != nil {
			k.Pass, k.Identity, k.Suggest, k.Group = p.Name, p.Identity, p.Suggest, p.Group != nil
		}
		o, r := &k.Operations, &k.Results
		q := statement("measure").Render(duck.Slots{"both_sides": c.bothSides(""), "columns": c.groupBy()})
		err := m.db.Scan(ctx, q, &o.Filled, &o.Unique, &o.Distinct, &o.Most, &r.Filled, &r.Unique, &r.Distinct, &r.Most,
			&k.Common, &k.Linked, &k.Several, &k.SharedOperations)
		if err != nil {
			return nil, err
		}
		if c.pass != nil && len(c.pass.Within) > 0 {
			if err := m.db.Scan(ctx, "SELECT count(*) FROM ("+m.pairs(c, "")+")", &k.Linked); err != nil {
				return nil, err
			}
			m.note("%s: `within` was asked of rows whose key stands once on each side; where it repeats, a pass may tell more apart by the time", k.Name)
		}
		out[i] = k
	}
	return out, nil
}

// bothSides are the rows of both sides that have the key, as a0, a1, …. claimed names
// tables <claimed>_0 and <claimed>_1 of row ids that are left out; "" none.
func (c candidate) bothSides(claimed string) string {
	var columns, filled [2]string
	for s, list := range c.columns {
		var as, not []string
		for i, column := range list {
			as, not = append(as, fmt.Sprintf("%s AS a%d", column, i)), append(not, column+" IS NOT NULL")
		}
		if claimed != "" {
			not = append(not, fmt.Sprintf("rid NOT IN (SELECT rid FROM %s_%d)", claimed, s))
		}
		columns[s], filled[s] = strings.Join(as, ", "), strings.Join(not, " AND ")
	}
	return statement("both_sides").Render(duck.Slots{"columns_o": columns[0], "filled_o": filled[0], "columns_r": columns[1], "filled_r": filled[1]})
}

func (c candidate) groupBy() string {
	var out []string
	for i := range c.columns[0] {
		out = append(out, fmt.Sprintf("a%d", i))
	}
	return strings.Join(out, ", ")
}

// pairs are the rows that the key links one to one.
func (m *measuring) pairs(c candidate, claimed string) string {
	q := statement("pairs").Render(duck.Slots{"both_sides": c.bothSides(claimed), "columns": c.groupBy()})
	if c.pass == nil || len(c.pass.Within) == 0 {
		return q
	}
	return statement("pairs_within").Render(duck.Slots{"pairs": q, "within": match.Within(m.job, *c.pass)})
}

// nearUnique: most rows of both sides that have a key have one of their own. The most
// frequent value may be none at all, and is left aside.
func (k Key) nearUnique() bool {
	near := func(s Side) bool {
		rest := s.Filled
		if s.Most > 1 {
			rest -= s.Most
		}
		return s.Filled > 0 && 2*s.Unique >= s.Filled && 10*s.Unique >= 9*rest
	}
	return near(k.Operations) && near(k.Results)
}

// worth chooses what is reported: the passes, the keys of one field that are no pass
// already, and of keys of several fields those that link more than each key within them.
func (m *measuring) worth(declared, single, composite []Key) []Key {
	out := declared
	known := func(k Key) bool {
		return slices.ContainsFunc(out, func(d Key) bool { return len(d.of.parts) == len(k.of.parts) && d.of.related(k.of) })
	}
	better := func(k Key, least int64) bool {
		return k.Linked > 0 && !slices.ContainsFunc(slices.Concat(single, composite), func(d Key) bool {
			return len(d.of.parts) < len(k.of.parts) && d.of.related(k.of) && d.Linked+least >= k.Linked
		})
	}
	var rest []Key
	for _, k := range single {
		if !known(k) {
			rest = append(rest, k)
		}
	}
	for _, k := range composite {
		if !known(k) && better(k, k.Linked/100) {
			rest = append(rest, k)
		}
	}
	slices.SortStableFunc(rest, func(a, b Key) int { return cmp.Or(cmp.Compare(b.Linked, a.Linked), cmp.Compare(b.Common, a.Common)) })
	out = append(out, rest...)
	n := 0
	for i := range out {
		k := &out[i]
		if k.Compared = !k.Group && k.Linked > 0 && n < maxCompared; k.Compared {
			n++
		} else if k.Linked > 0 && !k.Group {
			m.note("%s links rows too, and was not compared: only %d keys are", k.Name, maxCompared)
		}
	}
	return out
}
