package pipeline

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// partners lists the rows of the other side under the link, each with every
// compared field. Of a group, whose sums are compared, it lists the first ones.
func (x *explainer) partners(side rules.Side, rid int64, link string, e *Explanation) ([]Partner, error) {
	rowsView, _ := tables(side.Other())
	places, err := x.list(side.Other(), explainSQL("linked").Render(duck.Slots{"rows": rowsView, "link": duck.Literal(link)}))
	if err != nil {
		return nil, err
	}
	out := []Partner{}
	if e.Group != nil {
		for _, p := range places[:min(len(places), shownRows)] {
			out = append(out, Partner{Row: p, Keys: []FieldTrace{}, Fields: []FieldTrace{}})
		}
		return out, nil
	}
	for _, p := range places {
		partner, err := x.partner(side, rid, p, e.Values, x.codes)
		if err != nil {
			return nil, err
		}
		out = append(out, *partner)
	}
	return out, nil
}

// partner compares the row with one of the other side; codes tells what the
// comparators say about the pair.
func (x *explainer) partner(side rules.Side, rid int64, p Place, values []Value, codes func(o, r int64) ([]int, error)) (*Partner, error) {
	other, err := x.values(side.Other(), p.rid)
	if err != nil {
		return nil, err
	}
	op, res, o, r := values, other, rid, p.rid
	if side == rules.Results {
		op, res, o, r = other, values, p.rid, rid
	}
	c, err := codes(o, r)
	if err != nil {
		return nil, err
	}
	keys, err := x.keys(o, r, op, res)
	return &Partner{Row: p, Keys: keys, Fields: x.fields(op, res, c)}, err
}

// codes are those that the comparators gave the pair, whatever its verdict became;
// all equal for a pair that needed no comparison.
func (x *explainer) codes(o, r int64) ([]int, error) {
	codes := make([]int, len(x.b.Compare))
	if len(codes) == 0 {
		return codes, nil
	}
	columns, dest := make([]string, len(codes)), make([]any, len(codes))
	for i := range codes {
		columns[i], dest[i] = classify.CodeColumn(i), &codes[i]
	}
	rows, err := x.db.Query(x.ctx, explainSQL("codes").Render(duck.Slots{
		"columns": strings.Join(columns, ", "), "o": fmt.Sprint(o), "r": fmt.Sprint(r)}))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
	}
	return codes, rows.Err()
}

// fields lists every compared field of a pair with what its comparator said.
func (x *explainer) fields(op, res []Value, codes []int) []FieldTrace {
	var out []FieldTrace
	for i, c := range x.b.Compare {
		t := FieldTrace{Field: c.Name, Comparator: compareWords(c), Operations: valueOf(op, c.Operations), Results: valueOf(res, c.Results)}
		switch codes[i] {
		case compare.CodeEqual:
			t.Result = "equal"
		case compare.CodeTolerance:
			t.Result = "within tolerance"
		case compare.CodeUnreadable:
			t.Result = "unreadable"
		case compare.CodeAmbiguous:
			t.Result = "ambiguous time"
		case compare.CodeSkipped:
			t.Result = "not compared"
		default:
			t.Result = "differs"
		}
		if c.As == rules.AsStatus {
			expected := string(c.Expect)
			t.Operations = &expected
		}
		out = append(out, t)
	}
	return out
}

// keys lists the identity keys that one or both of two rows carry, each with both
// values as found; they are compared as the pass does.
func (x *explainer) keys(o, r int64, op, res []Value) ([]FieldTrace, error) {
	var columns []string
	var passes []rules.Pass
	for i, p := range x.b.Match {
		if p.Identity {
			passes = append(passes, p)
			columns = append(columns, fmt.Sprintf("CASE WHEN o.k%[1]d IS NULL AND r.k%[1]d IS NULL THEN '' WHEN o.k%[1]d IS NULL OR r.k%[1]d IS NULL THEN 'on one side only' "+
				"WHEN o.k%[1]d = r.k%[1]d THEN 'equal' ELSE 'differs' END", i))
		}
	}
	out := []FieldTrace{}
	if len(passes) == 0 {
		return out, nil
	}
	results, dest := make([]string, len(passes)), make([]any, len(passes))
	for i := range results {
		dest[i] = &results[i]
	}
	if err := x.pair(o, r, columns, dest); err != nil {
		return nil, err
	}
	for i, p := range passes {
		if results[i] != "" {
			out = append(out, FieldTrace{Field: p.Name, Comparator: "key " + p.Name,
				Operations: keyValue(p, rules.Operations, op), Results: keyValue(p, rules.Results, res), Result: results[i]})
		}
	}
	return out, nil
}

// pair reads columns over any two rows of both sides.
func (x *explainer) pair(o, r int64, columns []string, dest []any) error {
	return x.db.Scan(x.ctx, explainSQL("pair").Render(duck.Slots{
		"columns": strings.Join(columns, ", "), "o": fmt.Sprint(o), "r": fmt.Sprint(r)}), dest...)
}

// keyValue is the key of a row as people read it, nil where it has no part of it.
func keyValue(p rules.Pass, side rules.Side, values []Value) *string {
	var parts []string
	for _, k := range p.On {
		field := k.Operations
		if side == rules.Results {
			field = k.Results
		}
		if v := valueOf(values, field); v != nil {
			parts = append(parts, *v)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	text := strings.Join(parts, ", ")
	return &text
}
