package pipeline

import (
	"database/sql"
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// passes tells what each pass saw under the key of the row.
func (x *explainer) passes(side rules.Side, rid int64, values []Value) ([]PassTrace, error) {
	var out []PassTrace
	for i, p := range x.b.Match {
		t := PassTrace{Pass: p.Name, Words: passWords(p), Key: keyText(p, side, values), Rows: []Place{}}
		var key sql.NullString
		k := fmt.Sprintf("k%d", i)
		if err := x.db.Scan(x.ctx, explainSQL("values").Render(duck.Slots{"columns": k, "side": string(side), "rid": fmt.Sprint(rid)}), &key); err != nil {
			return nil, err
		}
		t.Usable = key.Valid
		if !key.Valid {
			out = append(out, t)
			continue
		}
		same := "s." + k + " = " + duck.Literal(key.String)
		inside := same
		for _, w := range p.Within {
			inside += " AND " + withinSQL(x.b.Job, side, rid, w)
		}
		var all int64
		for _, c := range []struct {
			side rules.Side
			cond string
			n    *int64
		}{{side, same, &t.Same}, {side.Other(), inside, &t.Candidates}, {side.Other(), same, &all}} {
			if err := x.db.Scan(x.ctx, explainSQL("count").Render(duck.Slots{"side": string(c.side), "condition": c.cond}), c.n); err != nil {
				return nil, err
			}
		}
		t.Outside = all - t.Candidates
		var err error
		if t.Rows, err = x.others(side.Other(), inside); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// withinSQL is true where a row s of the other side lies within the window of the
// row: instants by microseconds, dates by days.
func withinSQL(job *rules.Job, side rules.Side, rid int64, w rules.Within) string {
	col := duck.Ident("f_" + w.Field)
	own := fmt.Sprintf("(SELECT %s FROM %s WHERE rid = %d)", col, side, rid)
	limit := w.Max.Microseconds()
	if f := job.Spec(side).Field(w.Field); f != nil && f.Type == rules.Date {
		limit = int64(w.Max.Hours()) / 24
	}
	return fmt.Sprintf("coalesce(abs(s.%s - %s) <= %d, false)", col, own, limit)
}

// keyText writes the parts of a key with their values.
func keyText(p rules.Pass, side rules.Side, values []Value) string {
	var parts []string
	for _, k := range p.On {
		field := k.Operations
		if side == rules.Results {
			field = k.Results
		}
		text := "(empty)"
		if v := valueOf(values, field); v != nil {
			text = *v
		}
		parts = append(parts, field+" = "+text)
	}
	return strings.Join(parts, ", ")
}

// others lists the first rows of a side under a condition.
func (x *explainer) others(side rules.Side, cond string) ([]Place, error) {
	rowsView, _ := tables(side)
	return x.list(side, explainSQL("others").Render(duck.Slots{"side": string(side), "rows": rowsView, "condition": cond}))
}

func (x *explainer) list(side rules.Side, q string) ([]Place, error) {
	rows, err := x.db.Query(x.ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []Place{}
	for rows.Next() {
		var rid int64
		var class, reason string
		if err := rows.Scan(&rid, &class, &reason); err != nil {
			return nil, err
		}
		out = append(out, x.place(side, rid, class, reason))
	}
	return out, rows.Err()
}

// partners lists the rows of the other side under the link, each with every
// compared field.
func (x *explainer) partners(side rules.Side, rid int64, link string, values []Value) ([]Partner, error) {
	rowsView, _ := tables(side.Other())
	places, err := x.list(side.Other(), explainSQL("linked").Render(duck.Slots{"rows": rowsView, "link": duck.Literal(link)}))
	if err != nil {
		return nil, err
	}
	out := []Partner{}
	for _, p := range places {
		other, err := x.values(side.Other(), p.rid)
		if err != nil {
			return nil, err
		}
		op, res, oRid, rRid := values, other, rid, p.rid
		if side == rules.Results {
			op, res, oRid, rRid = other, values, p.rid, rid
		}
		codes, err := x.codes(oRid, rRid)
		if err != nil {
			return nil, err
		}
		out = append(out, Partner{Row: p, Fields: x.fields(op, res, codes)})
	}
	return out, nil
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

// set lists the other rows of an unresolved set.
func (x *explainer) set(side rules.Side, rid int64, set string) ([]Place, error) {
	out := []Place{}
	for _, s := range rules.Sides {
		_, verdicts := tables(s)
		list, err := x.others(s, fmt.Sprintf("s.rid IN (SELECT rid FROM %s WHERE set_id = CAST(%s AS BIGINT))", verdicts, duck.Literal(set)))
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			if p.Side != side || p.rid != rid {
				out = append(out, p)
			}
		}
	}
	return out, nil
}
