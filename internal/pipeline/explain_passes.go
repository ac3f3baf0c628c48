package pipeline

import (
	"database/sql"
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// never is later than any pass: the row was free to the end.
const never = 999

// shownRows bounds the rows that are listed under one heading.
const shownRows = 10

// letter is the first letter of a side, as in the names of the relations of match and
// of the columns of the wide files.
func letter(side rules.Side) string { return string(side)[:1] }

// claimed makes the relations that tell when each residual row stopped being free.
func (x *explainer) claimed(outcome *match.Outcome) error {
	x.plain = outcome.PlainPass
	settle, identity := never, []string{"-1"}
	for i, p := range x.b.Match {
		if p.Identity {
			settle = i
			identity = append(identity, fmt.Sprint(i))
		}
	}
	// Nothing was judged where no two rows are linked by an identity key.
	err := x.db.Exec(x.ctx, "CREATE TABLE IF NOT EXISTS judged (o_rid BIGINT, r_rid BIGINT, pass INTEGER)")
	for _, side := range rules.Sides {
		if err != nil {
			return err
		}
		s := letter(side)
		err = x.db.Exec(x.ctx, explainSQL("claimed").Render(duck.Slots{
			"table": "claimed_" + s, "marks": "marks_" + s, "link_rid": s + "_rid", "settle": fmt.Sprint(settle), "identity": strings.Join(identity, ", ")}))
	}
	return err
}

// claimedSlots are those that explain_candidates and explain_others share.
func (x *explainer) claimedSlots(side rules.Side, cond string) duck.Slots {
	return duck.Slots{"side": string(side), "condition": cond, "claimed": "claimed_" + letter(side), "residual": "res_" + letter(side),
		"plain": fmt.Sprint(x.plain)}
}

// passes tells what each pass saw under the key of the row.
func (x *explainer) passes(side rules.Side, rid int64, values []Value) ([]PassTrace, error) {
	own, err := x.others(side, fmt.Sprintf("s.rid = %d", rid))
	if err != nil || len(own) != 1 {
		return nil, err
	}
	var out []PassTrace
	for i, p := range x.b.Match {
		t := PassTrace{Pass: p.Name, Words: passWords(p), Key: keyText(p, side, values), Rows: []Place{}, Tried: own[0].at >= i && !p.Suggest}
		var key sql.NullString
		k := fmt.Sprintf("k%d", i)
		if err := x.db.Scan(x.ctx, explainSQL("values").Render(duck.Slots{"columns": k, "side": string(side), "rid": fmt.Sprint(rid)}), &key); err != nil {
			return nil, err
		}
		t.Usable = key.Valid
		if !key.Valid {
			t.Tried = false
			out = append(out, t)
			continue
		}
		same := "s." + k + " = " + duck.Literal(key.String)
		inside := same
		for _, w := range p.Within {
			inside += " AND " + withinSQL(x.b.Job, side, rid, w)
		}
		var all, ignore int64
		for _, c := range []struct {
			side    rules.Side
			cond    string
			n, free *int64
		}{{side, same, &t.Same, &ignore}, {side.Other(), inside, &t.Candidates, &t.Free}, {side.Other(), same, &all, &ignore}} {
			s := x.claimedSlots(c.side, c.cond)
			s["pass"] = fmt.Sprint(i)
			if err := x.db.Scan(x.ctx, explainSQL("candidates").Render(s), c.n, c.free); err != nil {
				return nil, err
			}
		}
		t.Outside = all - t.Candidates
		if t.Rows, err = x.others(side.Other(), inside); err != nil {
			return nil, err
		}
		for j := range t.Rows {
			free := t.Rows[j].at >= i
			t.Rows[j].Free = &free
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
	s := x.claimedSlots(side, cond)
	s["rows"], _ = tables(side)
	s["limit"] = fmt.Sprint(shownRows)
	return x.list(side, explainSQL("others").Render(s))
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
		var at int
		var class, reason string
		if err := rows.Scan(&rid, &class, &reason, &at); err != nil {
			return nil, err
		}
		p := x.place(side, rid, class, reason)
		p.at = at
		out = append(out, p)
	}
	return out, rows.Err()
}
