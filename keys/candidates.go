package keys

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// Bounds of what is measured.
const (
	maxFields   = 40      // of a side
	maxIDs      = 8       // fields of a side that look like ids
	maxCross    = 8       // pairs of ids of different names
	maxBusiness = 6       // fields that keys of several fields are made of
	maxSample   = 200_000 // values of a field by which pairs of ids are found
	maxCompared = 20      // keys that are compared with each other; a set of them is a number of so many bits
)

// candidate is a key before it is measured. columns of a side are those of its view, all
// of which must be filled.
type candidate struct {
	parts   []rules.KeyPart
	pass    *rules.Pass // declared
	columns [2][]string
	id      bool // one field on each side, which looks like an id
}

func (c candidate) name() string {
	if c.pass != nil {
		return c.pass.Name
	}
	return partsText(c.parts)
}

func partsText(parts []rules.KeyPart) string {
	var out []string
	for _, p := range parts {
		text := p.Operations
		if p.Results != p.Operations {
			text += " = " + p.Results
		}
		out = append(out, text)
	}
	return strings.Join(out, " + ")
}

// related tells whether one of two keys is made of fields of the other: then both find
// the same rows for one reason.
func (c candidate) related(d candidate) bool {
	within := func(a, b []rules.KeyPart) bool {
		return !slices.ContainsFunc(a, func(p rules.KeyPart) bool {
			return !slices.ContainsFunc(b, func(q rules.KeyPart) bool { return p.Operations == q.Operations && p.Results == q.Results })
		})
	}
	return within(c.parts, d.parts) || within(d.parts, c.parts)
}

// probing is the job with a pass for each field, behind its own, so that extraction makes
// the canonical key of each. fields of a side are in the order of the passes: those of
// both sides come first, in one order. Of comparing there is nothing to stage.
func probing(job *rules.Job) (probe *rules.Job, fields [2][]rules.Field, left []string) {
	usable := func(f rules.Field) bool { return f.Type != rules.Boolean && f.Map == nil && f.Name != "status" }
	ops, res := &job.Operations, &job.Results
	for i, side := range rules.Sides {
		other := []*rules.SideSpec{res, ops}[i]
		list := slices.DeleteFunc(slices.Clone(job.Spec(side).Fields), func(f rules.Field) bool { return !usable(f) })
		shared := func(f rules.Field) bool { return other.Field(f.Name) != nil && usable(*other.Field(f.Name)) }
		slices.SortStableFunc(list, func(a, b rules.Field) int {
			switch x, y := shared(a), shared(b); {
			case x && y:
				return strings.Compare(a.Name, b.Name)
			case x:
				return -1
			case y:
				return 1
			}
			return 0
		})
		if len(list) > maxFields {
			left = append(left, fmt.Sprintf("%s: only the first %d fields were looked at", side, maxFields))
			list = list[:maxFields]
		}
		fields[i] = list
	}
	copied := *job
	copied.Compare = nil
	copied.Match = slices.Clone(job.Match)
	if len(fields[0]) > 0 && len(fields[1]) > 0 {
		for i := range max(len(fields[0]), len(fields[1])) {
			copied.Match = append(copied.Match, rules.Pass{
				Name: fmt.Sprintf("probe_%d", i), On: []rules.KeyPart{{Operations: at(fields[0], i).Name, Results: at(fields[1], i).Name}},
			})
		}
	}
	return &copied, fields, left
}

// at is the i-th field, or the last one.
func at(list []rules.Field, i int) rules.Field { return list[min(i, len(list)-1)] }

// column is the canonical key of the i-th field of a side.
func (m *measuring) column(i int) string { return fmt.Sprintf("k%d", len(m.job.Match)+i) }

// field is what is known of a field of one side before keys are measured.
type field struct {
	rules.Field
	column   string
	filled   int64
	distinct int64 // about
}

// idName tells names that people give to ids.
var idName = regexp.MustCompile(`(^|_)(id|key|ref|reference|number|no|uuid|guid|code|token)$`)

// noIDs are fields that many rows share by their meaning, whatever the files hold.
var noIDs = []string{"entity", "type", "account", "destination"}

// looksLikeID: by its name, or because most of its values tell rows apart.
func (f field) looksLikeID() bool {
	return f.filled > 0 && (f.Type == rules.Text || f.Type == rules.Integer) && !slices.Contains(noIDs, f.Name) &&
		(idName.MatchString(f.Name) || 2*f.distinct >= f.filled)
}

// look counts the fields of both sides.
func (m *measuring) look(ctx context.Context, fields [2][]rules.Field) error {
	for s, side := range rules.Sides {
		columns := []string{"count(*)"}
		dest := []any{&m.rows[s]}
		m.fields[s] = make([]field, len(fields[s]))
		for i, f := range fields[s] {
			m.fields[s][i] = field{Field: f, column: m.column(i)}
			columns = append(columns, "count("+m.column(i)+")", "approx_count_distinct("+m.column(i)+")")
			dest = append(dest, &m.fields[s][i].filled, &m.fields[s][i].distinct)
		}
		if err := m.db.Scan(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM "+string(side), dest...); err != nil {
			return err
		}
	}
	return nil
}

// declared are the passes of the job.
func (m *measuring) declared() []candidate {
	var out []candidate
	for i := range m.job.Match {
		p := &m.job.Match[i]
		columns := []string{fmt.Sprintf("k%d", i)}
		if p.Group != nil && len(p.Group.Same) > 0 {
			columns = append(columns, fmt.Sprintf("s%d", i))
		}
		out = append(out, candidate{parts: p.On, pass: p, columns: [2][]string{columns, columns}})
	}
	return out
}

// single are the keys of one field: those of one name, and pairs that look like ids.
func (m *measuring) single(ctx context.Context) ([]candidate, error) {
	var out []candidate
	for _, o := range m.fields[0] {
		for _, r := range m.fields[1] {
			if o.Name == r.Name && o.Type == r.Type {
				out = append(out, pair(o, r))
			}
		}
	}
	cross, err := m.cross(ctx)
	return append(out, cross...), err
}

func pair(o, r field) candidate {
	return candidate{parts: []rules.KeyPart{{Operations: o.Name, Results: r.Name}}, columns: [2][]string{{o.column}, {r.column}}, id: o.looksLikeID() && r.looksLikeID()}
}

// cross finds the pairs of ids of different names that have values in common, by a sample
// of all values: one join, whatever the number of fields.
func (m *measuring) cross(ctx context.Context) ([]candidate, error) {
	var ids [2][]field
	step := max(1, max(m.rows[0], m.rows[1])/maxSample)
	parts := []string{}
	for s, side := range rules.Sides {
		for _, f := range m.fields[s] {
			if f.looksLikeID() {
				ids[s] = append(ids[s], f)
			}
		}
		slices.SortStableFunc(ids[s], func(a, b field) int { return cmp.Compare(b.distinct, a.distinct) })
		if len(ids[s]) > maxIDs {
			m.note("%s: only the %d of its fields that look like ids and have most values were paired with fields of other names", side, maxIDs)
			ids[s] = ids[s][:maxIDs]
		}
		for i, f := range ids[s] {
			parts = append(parts, statement("sampled").Render(duck.Slots{
				"side": fmt.Sprint(s), "field": fmt.Sprint(i), "column": f.column, "rows": string(side), "step": fmt.Sprint(step)}))
		}
	}
	if len(ids[0]) == 0 || len(ids[1]) == 0 {
		return nil, nil
	}
	if err := m.db.Exec(ctx, "CREATE OR REPLACE TABLE sampled AS "+strings.Join(parts, " UNION ALL ")); err != nil {
		return nil, err
	}
	rows, err := m.db.Query(ctx, statement("in_common").Render(nil))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []candidate
	for rows.Next() {
		var o, r int
		var common int64
		if err := rows.Scan(&o, &r, &common); err != nil {
			return nil, err
		}
		f, g := ids[0][o], ids[1][r]
		// One in a hundred: a number that stands in both by chance is no key.
		if f.Name == g.Name || f.Type != g.Type || common*step*100 < min(f.distinct, g.distinct) {
			continue
		}
		if len(out) == maxCross {
			m.note("more than %d pairs of fields with different names have values in common: those with most were measured", maxCross)
			break
		}
		out = append(out, pair(f, g))
	}
	return out, rows.Err()
}

// composite are the keys of two and three business fields: fields of one name that both
// sides fill, and that tell no rows apart by themselves.
func (m *measuring) composite(measured []Key) []candidate {
	var parts []Key
	for _, k := range measured {
		if p := k.of.parts; len(p) == 1 && k.Pass == "" && p[0].Operations == p[0].Results && k.Common > 0 && !k.nearUnique() {
			parts = append(parts, k)
		}
	}
	slices.SortStableFunc(parts, func(a, b Key) int { return cmp.Compare(b.Operations.Distinct, a.Operations.Distinct) })
	if len(parts) > maxBusiness {
		m.note("keys of several fields were made of the %d with most values only", maxBusiness)
		parts = parts[:maxBusiness]
	}
	var out []candidate
	for i := range parts {
		for j := i + 1; j < len(parts); j++ {
			out = append(out, joined(parts[i].of, parts[j].of))
			for l := j + 1; l < len(parts); l++ {
				out = append(out, joined(parts[i].of, parts[j].of, parts[l].of))
			}
		}
	}
	return out
}

func joined(list ...candidate) candidate {
	var out candidate
	for _, c := range list {
		out.parts = append(out.parts, c.parts...)
		for s := range c.columns {
			out.columns[s] = append(out.columns[s], c.columns[s]...)
		}
	}
	return out
}
