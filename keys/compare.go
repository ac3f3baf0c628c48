package keys

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/rules"
)

const (
	maxExamples = 5
	maxSteps    = 6
)

// sets are how many pairs, or operations, each set of keys finds; bit i of a set is the
// i-th of the keys that are compared.
type sets map[uint64]int64

// comparison is of the keys of a report that are compared.
type comparison struct {
	keys       []*Key
	related    []uint64 // of each key: itself and the keys made of the same fields
	pairs      sets
	operations sets
}

// compare fills in what the keys say about each other, and the cascades.
func (m *measuring) compare(ctx context.Context, rep *Report) error {
	c := &comparison{}
	for i := range rep.Keys {
		if rep.Keys[i].Compared {
			c.keys = append(c.keys, &rep.Keys[i])
		}
	}
	for _, k := range c.keys {
		var same uint64
		for j, d := range c.keys {
			if k.of.related(d.of) {
				same |= 1 << j
			}
		}
		c.related = append(c.related, same)
	}
	if err := m.find(ctx, c); err != nil {
		return err
	}
	linked := int64(0)
	for _, n := range c.operations {
		linked += n
	}
	rep.LinkedByNone = m.rows[0] - linked
	for i := range c.keys {
		c.judge(i)
	}
	if err := m.examples(ctx, c); err != nil {
		return err
	}
	var declared []*Key
	for _, k := range c.keys {
		if k.Pass != "" && !k.Suggest {
			declared = append(declared, k)
		}
	}
	var err error
	if rep.Declared, err = m.cascade(ctx, declared, 0); err != nil {
		return err
	}
	least := max(1, m.rows[0]/1000)
	order, disagreeing := c.order(least)
	for _, k := range disagreeing {
		rep.Disagreeing = append(rep.Disagreeing, k.Name)
	}
	rep.Suggested, err = m.cascade(ctx, order, least)
	return err
}

// find makes pairs (o_rid, r_rid, keys) and by_operation (o_rid, keys): the sets of keys
// that find a pair, and that find an operation at all.
func (m *measuring) find(ctx context.Context, c *comparison) error {
	if err := m.db.Exec(ctx, "CREATE OR REPLACE TABLE found (o_rid BIGINT, r_rid BIGINT, keys UBIGINT)"); err != nil {
		return err
	}
	for i, k := range c.keys {
		if err := m.db.Exec(ctx, fmt.Sprintf("INSERT INTO found SELECT o_rid, r_rid, %d FROM (%s)", uint64(1)<<i, m.pairs(k.of, ""))); err != nil {
			return err
		}
	}
	for _, q := range []string{
		"CREATE OR REPLACE TABLE pairs AS SELECT o_rid, r_rid, bit_or(keys) AS keys FROM found GROUP BY o_rid, r_rid",
		"DROP TABLE found",
		"CREATE OR REPLACE TABLE by_operation AS SELECT o_rid, bit_or(keys) AS keys FROM pairs GROUP BY o_rid",
	} {
		if err := m.db.Exec(ctx, q); err != nil {
			return err
		}
	}
	var err error
	if c.pairs, err = m.sets(ctx, "pairs"); err != nil {
		return err
	}
	c.operations, err = m.sets(ctx, "by_operation")
	return err
}

func (m *measuring) sets(ctx context.Context, table string) (sets, error) {
	rows, err := m.db.Query(ctx, "SELECT keys, count(*) FROM "+table+" GROUP BY keys")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := sets{}
	for rows.Next() {
		var set uint64
		var n int64
		if err := rows.Scan(&set, &n); err != nil {
			return nil, err
		}
		out[set] = n
	}
	return out, rows.Err()
}

// both counts those that two keys find.
func (s sets) both(i, j int) (n int64) {
	want := uint64(1)<<i | 1<<j
	for set, k := range s {
		if set&want == want {
			n += k
		}
	}
	return n
}

// judge sets a key against the others that are not made of the same fields.
func (c *comparison) judge(i int) {
	k := c.keys[i]
	for j := range c.keys {
		if c.related[i]>>j&1 == 0 {
			k.Also += c.operations.both(i, j)
			k.Agree += c.pairs.both(i, j)
		}
	}
	for set, n := range c.operations {
		if set>>i&1 == 1 && set&^c.related[i] == 0 {
			k.Only += n
		}
	}
}

// trusted: of what other keys find too, nine in ten agree.
func (k Key) trusted() bool { return 10*k.Agree >= 9*k.Also }

// order suggests passes: keys that tell rows apart come first, then the others, each time
// the one that finds most of what none before it does. Keys that other keys contradict
// are left out and named. A key that finds fewer than least is no pass of its own.
func (c *comparison) order(least int64) (out, disagreeing []*Key) {
	var found uint64
	for _, ids := range []bool{true, false} {
		for len(out) < maxSteps {
			best, most := -1, int64(0)
			for i, k := range c.keys {
				if k.id() != ids || k.Suggest || !k.trusted() || slices.Contains(out, k) {
					continue
				}
				var fresh int64
				for set, n := range c.operations {
					if set>>i&1 == 1 && set&found == 0 {
						fresh += n
					}
				}
				if fresh >= least && fresh > most {
					best, most = i, fresh
				}
			}
			if best < 0 {
				break
			}
			out, found = append(out, c.keys[best]), found|1<<best
		}
	}
	for _, k := range c.keys {
		if !k.trusted() {
			disagreeing = append(disagreeing, k)
		}
	}
	return out, disagreeing
}

// id: declared as an identity key, or a field that looks like an id and tells rows apart.
func (k Key) id() bool { return k.Identity || k.of.id && k.nearUnique() }

// cascade counts what each pass links of the rows that are free when its turn comes, and
// leaves out those that link fewer than least: their results may be claimed already.
func (m *measuring) cascade(ctx context.Context, list []*Key, least int64) ([]Step, error) {
	out := []Step{}
	for s := range rules.Sides {
		if err := m.db.Exec(ctx, fmt.Sprintf("CREATE OR REPLACE TABLE claimed_%d (rid BIGINT)", s)); err != nil {
			return nil, err
		}
	}
	free := m.rows[0]
	for _, k := range list {
		if err := m.db.Exec(ctx, "CREATE OR REPLACE TABLE step AS "+m.pairs(k.of, "claimed")); err != nil {
			return nil, err
		}
		step := Step{Key: k.Name, Pass: k.text()}
		if err := m.db.Scan(ctx, "SELECT count(*) FROM step", &step.Linked); err != nil {
			return nil, err
		}
		if step.Linked < least {
			continue
		}
		for s, rid := range []string{"o_rid", "r_rid"} {
			if err := m.db.Exec(ctx, fmt.Sprintf("INSERT INTO claimed_%d SELECT %s FROM step", s, rid)); err != nil {
				return nil, err
			}
		}
		free -= step.Linked
		step.Free, step.Why = free, why(k, len(out), step.Linked)
		out = append(out, step)
	}
	return out, nil
}

// text is the pass as it would stand under match.
func (k Key) text() string {
	var on []string
	for _, p := range k.On {
		switch {
		case p.Nullable || p.Operations != p.Results:
			text := "operations: " + p.Operations + ", results: " + p.Results
			if p.Nullable {
				text += ", nullable: true"
			}
			on = append(on, "{"+text+"}")
		default:
			on = append(on, p.Operations)
		}
	}
	name := k.Pass
	if name == "" {
		var fields []string
		for _, p := range k.On {
			fields = append(fields, p.Operations)
		}
		name = strings.Join(fields, "_")
	}
	text := "{pass: " + name + ", on: [" + strings.Join(on, ", ") + "]"
	if k.id() {
		text += ", identity: true"
	}
	if p := k.of.pass; p != nil && len(p.Within) > 0 {
		var bounds []string
		for _, w := range p.Within {
			bounds = append(bounds, w.Field+": "+durationText(w.Max))
		}
		text += ", within: {" + strings.Join(bounds, ", ") + "}"
	}
	return text + "}"
}

// durationText writes a duration as a job file does.
func durationText(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day == 0 && d > 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	text := strings.TrimSuffix(d.String(), "m0s")
	if text != d.String() {
		text = strings.TrimSuffix(text+"m", "h0m")
		if !strings.HasSuffix(text, "m") {
			text += "h"
		}
	}
	return text
}

// why says what speaks for a pass, behind so many others.
func why(k *Key, place int, linked int64) string {
	text := fmt.Sprintf("links %d", linked)
	if place > 0 {
		text += " that no pass before it does"
	}
	if k.id() {
		text += fmt.Sprintf("; of the rows with a key, %s of the operations and %s of the results have one of their own",
			Percent(k.Operations.Unique, k.Operations.Filled), Percent(k.Results.Unique, k.Results.Filled))
	}
	if k.Also > 0 {
		text += "; other keys agree on " + Percent(k.Agree, k.Also)
	} else {
		text += "; no other key says anything about its rows"
	}
	return text
}

// Percent is a share for people: only what is whole is 100%, and only nothing is 0%.
func Percent(n, of int64) string {
	switch p := 100 * n / max(of, 1); {
	case of == 0:
		return "-"
	case n > 0 && p == 0:
		return "<1%"
	default:
		return fmt.Sprintf("%d%%", p)
	}
}

// examples fills in operations that only one key finds, by row id.
func (m *measuring) examples(ctx context.Context, c *comparison) error {
	type at struct{ o, r int64 }
	of := make([][]at, len(c.keys))
	wanted := [2][]int64{}
	for i, k := range c.keys {
		if k.Only == 0 {
			continue
		}
		rows, err := m.db.Query(ctx, statement("only").Render(duck.Slots{"key": fmt.Sprint(uint64(1) << i), "same": fmt.Sprint(c.related[i]), "most": fmt.Sprint(maxExamples)}))
		if err != nil {
			return err
		}
		for rows.Next() {
			var x at
			if err := rows.Scan(&x.o, &x.r); err != nil {
				rows.Close()
				return err
			}
			of[i] = append(of[i], x)
			wanted[0], wanted[1] = append(wanted[0], x.o), append(wanted[1], x.r)
		}
		if err := cmp.Or(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	var places [2]map[int64]Place
	for s := range wanted {
		var err error
		if places[s], err = m.places(ctx, s, wanted[s]); err != nil {
			return err
		}
	}
	for i, list := range of {
		for _, x := range list {
			c.keys[i].Examples = append(c.keys[i].Examples, Example{places[0][x.o], places[1][x.r]})
		}
	}
	return nil
}

// idFields name the id of a row to people, in this order.
var idFields = [2][]string{{"operation_id", "idempotency_key"}, {"remote_id", "operation_id", "idempotency_key"}}

// places reads where rows of a side stand, and their ids.
func (m *measuring) places(ctx context.Context, s int, rids []int64) (map[int64]Place, error) {
	out := map[int64]Place{}
	if len(rids) == 0 {
		return out, nil
	}
	side := rules.Sides[s]
	var id rules.Field
	column := "CAST(NULL AS VARCHAR)"
	for _, name := range idFields[s] {
		if f := m.job.Spec(side).Field(name); f != nil {
			id, column = *f, "CAST("+duck.Ident("f_"+name)+" AS VARCHAR)"
			break
		}
	}
	texts := make([]string, len(rids))
	for i, rid := range rids {
		texts[i] = fmt.Sprint(rid)
	}
	rows, err := m.db.Query(ctx, statement("places").Render(duck.Slots{"id": column, "side": string(side), "rids": strings.Join(texts, ", ")}))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var rid int64
		var text *string
		if err := rows.Scan(&rid, &text); err != nil {
			return nil, err
		}
		p := m.place(s, rid)
		if text != nil {
			p.ID = pipeline.Visible(m.job, id, *text)
		}
		out[rid] = p
	}
	return out, rows.Err()
}

func (m *measuring) place(s int, rid int64) Place {
	p := Place{Record: rid & (extract.RowID(1, 0) - 1)}
	for _, f := range m.reading.Rels[s].Files {
		if extract.RowID(f.No, p.Record) == rid {
			p.File = f.Name
		}
	}
	return p
}
