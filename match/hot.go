package match

import (
	"fmt"
	"sort"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// hotRow is a free row of a business key that very many rows share.
type hotRow struct {
	rid    int64
	filled int      // keys of the identity passes before this one that it carries, a bit each
	later  []string // keys of the identity passes after it, "" where it has none
	t      []int64  // times of the pass's windows: microseconds, or days
}

// hotGroups judges the candidates of keys under which so many rows stand that
// their pairs cannot be written out. For each row two uncontradicted candidates
// are enough to know that there are several, and one contradicted one to know that
// there is one: it adds so many pairs a row to the table into, so that the
// statements after it count rightly. It looks at contradicted pairs only once the
// others are decided (V14), among the rows that are still free.
func (c *cascade) hotGroups(pass int, later []int, contradicted bool, into string) error {
	var n int64
	if err := c.db.Scan(c.ctx, "SELECT count(*) FROM key_groups WHERE hot", &n); err != nil || n == 0 {
		return err
	}
	groups := map[string]*[2][]hotRow{}
	for side, nm := range both {
		if err := c.readHot(pass, later, nm, side, groups); err != nil {
			return err
		}
	}
	out := newPairs()
	for _, g := range groups {
		judgeHot(contradicted, c.windowUnits(pass), g, out.add)
	}
	return c.db.CopyBatch(c.ctx, out.b, "INSERT INTO "+into+" SELECT DISTINCT o_rid, r_rid, contradicted FROM arrow_in")
}

func (c *cascade) readHot(pass int, later []int, nm names, side int, groups map[string]*[2][]hotRow) error {
	within := c.job.Match[pass].Within
	cols := ""
	for _, w := range within {
		col := duck.Ident("f_" + w.Field)
		if f := c.job.Operations.Field(w.Field); f != nil && f.Type == rules.Date {
			col = "date_diff('day', DATE '1970-01-01', " + col + ")"
		}
		cols += ", " + col
	}
	for _, j := range later {
		cols += ", coalesce(" + key(j) + ", '')"
	}
	rows, err := c.db.Query(c.ctx, fmt.Sprintf("SELECT rid, %s, filled%s FROM %s WHERE %s IN (SELECT k FROM key_groups WHERE hot) "+
		"AND rid NOT IN (SELECT rid FROM %s) AND rid NOT IN (SELECT %s FROM links)",
		key(pass), cols, nm.free, key(pass), nm.marks, nm.link))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r hotRow
		var k string
		times := make([]*int64, len(within))
		dest := []any{&r.rid, &k, &r.filled}
		for i := range times {
			dest = append(dest, &times[i])
		}
		r.later = make([]string, len(later))
		for i := range later {
			dest = append(dest, &r.later[i])
		}
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		for _, t := range times {
			if t != nil {
				r.t = append(r.t, *t)
			}
		}
		g := groups[k]
		if g == nil {
			g = new([2][]hotRow)
			groups[k] = g
		}
		if len(r.t) == len(within) { // without its time a row is nobody's candidate
			g[side] = append(g[side], r)
		}
	}
	return rows.Err()
}

// windowUnits are the greatest differences of the pass's windows, in the units of
// hotRow.t.
func (c *cascade) windowUnits(pass int) []int64 {
	var out []int64
	for _, w := range c.job.Match[pass].Within {
		u := w.Max.Microseconds()
		if f := c.job.Operations.Field(w.Field); f != nil && f.Type == rules.Date {
			u = int64(w.Max.Hours() / 24)
		}
		out = append(out, u)
	}
	return out
}

// judgeHot finds the first candidates of each row of a group: two uncontradicted
// ones, or one contradicted one. Rows are kept by the identity keys that they
// carry, so that a whole class is contradicted or none of it.
func judgeHot(contradicted bool, max []int64, g *[2][]hotRow, add func(o, r int64, contradicted bool)) {
	wanted := 2
	if contradicted {
		wanted = 1
	}
	for side := range 2 {
		classes := map[int][]hotRow{}
		for _, r := range g[1-side] {
			classes[r.filled] = append(classes[r.filled], r)
		}
		masks := make([]int, 0, len(classes))
		for m, rows := range classes {
			masks = append(masks, m)
			sort.Slice(rows, func(a, b int) bool { return less(rows[a], rows[b]) })
		}
		sort.Ints(masks)
		for _, r := range g[side] {
			left := wanted
			for _, m := range masks {
				// Where no later key can tell, a class is contradicted whole or not at all.
				if len(r.later) == 0 && (m&r.filled != 0) != contradicted {
					continue
				}
				left = candidatesOf(r, classes[m], max, contradicted, left, func(other int64) {
					if side == 0 {
						add(r.rid, other, contradicted)
					} else {
						add(other, r.rid, contradicted)
					}
				})
			}
		}
	}
}

// candidatesOf calls found for at most `left` rows within the windows of r that it
// contradicts, or does not, and returns how many more are wanted. rows are ordered
// by the first time.
func candidatesOf(r hotRow, rows []hotRow, max []int64, contradicted bool, left int, found func(rid int64)) int {
	from := 0
	if len(max) > 0 {
		from = sort.Search(len(rows), func(i int) bool { return rows[i].t[0] >= r.t[0]-max[0] })
	}
	for _, o := range rows[from:] {
		if left == 0 || (len(max) > 0 && o.t[0] > r.t[0]+max[0]) {
			break
		}
		if inWindows(r, o, max) && contradicts(r, o) == contradicted {
			left--
			found(o.rid)
		}
	}
	return left
}

func contradicts(a, b hotRow) bool {
	if a.filled&b.filled != 0 {
		return true
	}
	for i, k := range a.later {
		if k != "" && b.later[i] != "" && k != b.later[i] {
			return true
		}
	}
	return false
}

func less(a, b hotRow) bool {
	if len(a.t) > 0 && a.t[0] != b.t[0] {
		return a.t[0] < b.t[0]
	}
	return a.rid < b.rid
}

func inWindows(a, b hotRow, max []int64) bool {
	for i, m := range max {
		d := a.t[i] - b.t[i]
		if d > m || -d > m {
			return false
		}
	}
	return true
}
