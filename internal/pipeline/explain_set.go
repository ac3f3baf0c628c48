package pipeline

import (
	"fmt"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// set lists the other rows of an unresolved set: those of the other side as candidates,
// with every compared field, those of its own side with the fields in which they differ.
func (x *explainer) set(side rules.Side, rid int64, id string, values []Value) (*Set, error) {
	out := &Set{Candidates: []Partner{}, Fellows: []Fellow{}}
	for _, s := range []struct {
		side rules.Side
		n    *int64
	}{{rules.Operations, &out.Operations}, {rules.Results, &out.Results}} {
		_, verdicts := tables(s.side)
		if err := x.db.Scan(x.ctx, explainSQL("set").Render(duck.Slots{"verdicts": verdicts, "set": duck.Literal(id)}), s.n); err != nil {
			return nil, err
		}
	}
	members := func(side rules.Side, but int64) ([]Place, error) {
		_, verdicts := tables(side)
		return x.others(side, fmt.Sprintf("s.rid <> %d AND s.rid IN (SELECT rid FROM %s WHERE set_id = CAST(%s AS BIGINT))", but, verdicts, duck.Literal(id)))
	}
	others, err := members(side.Other(), -1)
	if err != nil {
		return nil, err
	}
	for _, p := range others {
		c, err := x.partner(side, rid, p, values, x.compared)
		if err != nil {
			return nil, err
		}
		out.Candidates = append(out.Candidates, *c)
	}
	fellows, err := members(side, rid)
	if err != nil {
		return nil, err
	}
	for _, p := range fellows {
		fields, err := x.differing(side, rid, p.rid)
		if err != nil {
			return nil, err
		}
		out.Fellows = append(out.Fellows, Fellow{Row: p, Fields: fields})
	}
	items, err := x.items("set_id = CAST(" + duck.Literal(id) + " AS BIGINT)")
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		out.Item, out.Queue = i.Item, i.Queue
	}
	return out, nil
}

// compared runs every comparator of the job on two rows that nothing has linked.
func (x *explainer) compared(o, r int64) ([]int, error) {
	codes := make([]int, len(x.b.Compare))
	if len(codes) == 0 {
		return codes, nil
	}
	scale := map[int]int{}
	for i := range x.b.Compare {
		if !compare.NeedsScale(x.b.Job, i) {
			continue
		}
		digits, err := x.decimals(o, r, i)
		if err != nil {
			return nil, err
		}
		scale[i] = digits
	}
	s := compare.Sides{Job: x.b.Job, Operations: x.rels[0].Layout, Results: x.rels[1].Layout, Scale: scale}
	columns, dest := make([]string, len(codes)), make([]any, len(codes))
	for i := range codes {
		columns[i], dest[i] = "CAST("+x.codeSQL(s, i)+" AS TINYINT)", &codes[i]
	}
	return codes, x.pair(o, r, columns, dest)
}

// codeSQL nests the code of the guarding field (only_if_equal) into its own.
func (x *explainer) codeSQL(s compare.Sides, i int) string {
	for g, c := range x.b.Compare {
		if name := x.b.Compare[i].OnlyIfEqual; name != "" && c.Name == name {
			return s.SQL(i, x.codeSQL(s, g))
		}
	}
	return s.SQL(i, "")
}

// decimals is the number of decimals that holds both values of a compared field whose
// scale is not declared; at most those that leave 38 digits in all.
func (x *explainer) decimals(o, r int64, i int) (int, error) {
	var columns []string
	for _, s := range []struct{ alias, column string }{{"o", x.rels[0].Layout.CompareColumn(i)}, {"r", x.rels[1].Layout.CompareColumn(i)}} {
		text := "CAST(" + s.alias + "." + duck.Ident(s.column) + " AS VARCHAR)"
		columns = append(columns, "coalesce(length(split_part(ltrim("+text+", '-'), '.', 1)), 0)", "coalesce(length(split_part("+text+", '.', 2)), 0)")
	}
	var wholeO, decO, wholeR, decR int
	if err := x.pair(o, r, columns, []any{&wholeO, &decO, &wholeR, &decR}); err != nil {
		return 0, err
	}
	return max(0, min(max(decO, decR), 38-max(wholeO, wholeR))), nil
}

// differing lists the product fields in which two rows of one side differ.
func (x *explainer) differing(side rules.Side, a, b int64) ([]FellowField, error) {
	ta, err := x.texts(side, a)
	if err != nil {
		return nil, err
	}
	tb, err := x.texts(side, b)
	if err != nil {
		return nil, err
	}
	out := []FellowField{}
	for i, f := range x.b.Spec(side).Fields {
		if ta[i] != tb[i] {
			out = append(out, FellowField{Field: f.Name, Own: x.visible(f, ta[i]), Other: x.visible(f, tb[i])})
		}
	}
	return out, nil
}
