package match

import (
	"fmt"
	"sort"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// views makes operations and results readable as relations.
func (c *cascade) views() error {
	for _, n := range both {
		if err := c.exec("side_view", duck.Slots{"side": n.view, "files": c.viewSQL(n)}); err != nil {
			return err
		}
	}
	return nil
}

// viewSQL reads the staged files of a side. Beside the staged columns it has, for
// each key that tells records apart (V5), that key within its account: two
// providers may use the same ids.
func (c *cascade) viewSQL(n names) string {
	r := c.relation(n.side)
	accounts, several := map[string]string{}, map[string]bool{}
	for _, s := range c.job.Spec(n.side).Sources {
		accounts[s.Name] = s.Coverage.Account
		several[s.Coverage.Account] = true
	}
	var parts []string
	for _, f := range r.Files {
		if f.Staged == "" {
			continue
		}
		var records strings.Builder
		for _, k := range c.recordKeys(n) {
			within := ""
			if len(several) > 1 {
				within = duck.Literal(accounts[f.Source]+"/") + " || "
			}
			fmt.Fprintf(&records, ", %s%s AS %s", within, k, recordColumn(k))
		}
		parts = append(parts, fmt.Sprintf(
			"SELECT CAST(%d AS INTEGER) AS file_no, CAST(%d AS BIGINT) + rec AS rid, *%s FROM %s",
			f.No, int64(f.No)<<40, records.String(), r.Layout.Relation(f.Staged)))
	}
	if len(parts) == 0 {
		cols := []string{"CAST(NULL AS INTEGER) AS file_no", "CAST(NULL AS BIGINT) AS rid"}
		for _, col := range r.Layout.Columns {
			cols = append(cols, fmt.Sprintf("CAST(NULL AS %s) AS %s", col.Type, duck.Ident(col.Name)))
		}
		for _, k := range c.recordKeys(n) {
			cols = append(cols, "CAST(NULL AS VARCHAR) AS "+recordColumn(k))
		}
		return "SELECT " + strings.Join(cols, ", ") + " WHERE false"
	}
	return strings.Join(parts, "\nUNION ALL BY NAME ")
}

func recordColumn(key string) string { return "record_" + key }

// residual finds the rows that are not in a plain pair, and fetches them.
func (c *cascade) residual() error {
	c.out.PlainPass = -1
	id := c.identity()
	way := c.opt.Way
	if way == Auto && c.ops.Records+c.res.Records <= smallSide {
		way = Residual
	}
	if len(id) == 0 || id[0] != 0 || way == Residual {
		for _, n := range both {
			if err := c.exec("residual_all", duck.Slots{"table": n.residual, "side": n.view}); err != nil {
				return err
			}
		}
		return nil
	}
	c.out.PlainPass = 0
	if err := c.repeated(id); err != nil {
		return err
	}
	if err := c.notPlain(id); err != nil {
		return err
	}
	return c.closure(id)
}

// repeated makes, for each identity key and each record id, the table of the
// fingerprints that occur more than once on a side.
func (c *cascade) repeated(id []int) error {
	var cols []string
	for _, i := range id {
		cols = append(cols, fmt.Sprintf("h%d", i))
	}
	for _, col := range append(cols, "hx") {
		var files []string
		for _, n := range both {
			if p := c.relation(n.side).Repeated[col]; p != "" {
				files = append(files, duck.Literal(p))
			}
		}
		q := duck.Slots{"table": "rep_" + col, "files": "[" + strings.Join(files, ", ") + "]"}
		if len(files) == 0 {
			if err := c.db.Exec(c.ctx, "CREATE OR REPLACE TABLE rep_"+col+" (h UBIGINT)"); err != nil {
				return err
			}
			continue
		}
		if err := c.exec("repeated", q); err != nil {
			return err
		}
	}
	return nil
}

func (c *cascade) notPlain(id []int) error {
	cols := []string{"h0", "g0", "p1", "p2"}
	differs := []string{"o.g0 <> r.g0", "o.p1 <> r.p1", "o.p2 <> r.p2"}
	var keys strings.Builder
	for _, i := range id[1:] {
		h, g := fmt.Sprintf("h%d", i), fmt.Sprintf("g%d", i)
		cols = append(cols, h, g)
		// NULL on one side says nothing; unequal halves contradict.
		differs = append(differs, fmt.Sprintf("o.%s <> r.%s", h, h), fmt.Sprintf("o.%s <> r.%s", g, g))
		fmt.Fprintf(&keys, ", o.%s AS o_%s, r.%s AS r_%s", h, h, h, h)
	}
	slots := duck.Slots{
		"keys": keys.String(), "h": "h0", "differs": strings.Join(differs, " OR "),
		"columns_o": strings.Join(cols, ", "), "columns_r": strings.Join(cols, ", "),
		"special_o": c.specialOperation(), "special_r": c.specialResult(),
		"norep_o": "", "norep_r": "",
	}
	n, err := c.count("rep_h0")
	if err != nil {
		return err
	}
	if n > 0 {
		// A NULL key stays: it joins nothing and comes out one-sided.
		w := " WHERE h0 IS NULL OR h0 NOT IN (SELECT h FROM rep_h0)"
		slots["norep_o"], slots["norep_r"] = w, w
	}
	return c.exec("not_plain", slots)
}

// specialOperation is true for operations whose verdict needs more than equal
// fingerprints even where they are plainly linked: outside the period, under a
// scope rule, or at a time that is not completely covered (V23).
func (c *cascade) specialOperation() string {
	var or []string
	cols := Columns(c.job.Job, c.ops.Layout, "")
	if p := c.job.Period; p != nil {
		or = append(or, "NOT "+InPeriod(c.job, cols))
	}
	for _, r := range c.job.Scope {
		if r.Side == rules.Operations {
			or = append(or, "coalesce("+r.When.SQL(cols.Field)+", false)")
		}
	}
	if cov := Covered(c.job, cols, c.res.Coverage); cov != "true" {
		or = append(or, "NOT coalesce("+cov+", false)")
	}
	return orFalse(or)
}

// specialResult is true for results under a scope rule, or whose status says
// anything but success where no comparison looks at it.
func (c *cascade) specialResult() string {
	var or []string
	cols := Columns(c.job.Job, c.res.Layout, "")
	for _, r := range c.job.Scope {
		if r.Side == rules.Results {
			or = append(or, "coalesce("+r.When.SQL(cols.Field)+", false)")
		}
	}
	if c.res.Layout.HasStatus() {
		or = append(or, fmt.Sprintf("st <> %s", duck.Literal(string(ExpectedStatus(c.job.Job)))))
	}
	return orFalse(or)
}

func orFalse(or []string) string {
	if len(or) == 0 {
		return "false"
	}
	return "(" + strings.Join(or, " OR ") + ")"
}

// closure adds the plain pairs that share a key with a residual row, and fetches
// all residual rows.
func (c *cascade) closure(id []int) error {
	rids := map[rules.Side][]string{
		rules.Operations: {"SELECT o_rid FROM not_plain WHERE o_rid IS NOT NULL"},
		rules.Results:    {"SELECT r_rid FROM not_plain WHERE r_rid IS NOT NULL"},
	}
	parts := map[int][]string{} // by identity pass: SELECTs of its fingerprints on residual rows
	for _, i := range id[1:] {
		parts[i] = append(parts[i],
			fmt.Sprintf("SELECT o_h%d AS h FROM not_plain", i), fmt.Sprintf("SELECT r_h%d FROM not_plain", i))
	}
	// Rows that carry a repeated key.
	for _, n := range both {
		var or []string
		for _, i := range id {
			col := fmt.Sprintf("h%d", i)
			if cnt, err := c.count("rep_" + col); err != nil {
				return err
			} else if cnt > 0 {
				or = append(or, fmt.Sprintf("%s IN (SELECT h FROM rep_%s)", col, col))
			}
		}
		if c.relation(n.side).Layout.RecordID() != "" {
			if cnt, err := c.count("rep_hx"); err != nil {
				return err
			} else if cnt > 0 {
				or = append(or, "hx IN (SELECT h FROM rep_hx)")
			}
		}
		if len(or) == 0 {
			continue
		}
		var keys strings.Builder
		for _, i := range id {
			fmt.Fprintf(&keys, ", h%d", i)
		}
		table := "repeated_" + n.free[5:]
		if err := c.exec("repeated_rows", duck.Slots{"table": table, "keys": keys.String(), "side": n.view, "repeated": strings.Join(or, " OR ")}); err != nil {
			return err
		}
		rids[n.side] = append(rids[n.side], "SELECT rid FROM "+table)
		for _, i := range id {
			parts[i] = append(parts[i], fmt.Sprintf("SELECT h%d FROM %s", i, table))
		}
	}
	// Rows of either side that share a key with them, and the mates of those.
	var shares []string
	for _, i := range id {
		if len(parts[i]) == 0 {
			continue
		}
		table := fmt.Sprintf("keys_%d", i)
		first := parts[i][0]
		if !strings.Contains(first, " AS h") {
			first = strings.Replace(first, fmt.Sprintf("SELECT h%d", i), fmt.Sprintf("SELECT h%d AS h", i), 1)
		}
		union := strings.Join(append([]string{first}, parts[i][1:]...), " UNION ALL ")
		if err := c.exec("residual_keys", duck.Slots{"table": table, "parts": union}); err != nil {
			return err
		}
		shares = append(shares, fmt.Sprintf("h%d IN (SELECT h FROM %s)", i, table))
	}
	if len(shares) > 0 {
		for _, n := range both {
			t := "touched_" + n.free[5:]
			if err := c.exec("touched", duck.Slots{"table": t, "first": "h0", "side": n.view, "shares": strings.Join(shares, " OR ")}); err != nil {
				return err
			}
			rids[n.side] = append(rids[n.side], "SELECT rid FROM "+t)
		}
		for _, n := range both {
			t := "mates_" + n.free[5:]
			if err := c.exec("touched_mates", duck.Slots{"table": t, "first": "h0", "side": n.view}); err != nil {
				return err
			}
			rids[n.side] = append(rids[n.side], "SELECT rid FROM "+t)
		}
	}
	for _, n := range both {
		wanted := "rids_" + n.free[5:]
		if err := c.db.Exec(c.ctx, "CREATE OR REPLACE TABLE "+wanted+" AS SELECT rid FROM ("+strings.Join(rids[n.side], " UNION ")+") x (rid)"); err != nil {
			return err
		}
		if err := c.exec("residual", duck.Slots{"table": n.residual, "side": n.view, "wanted": "rid IN (SELECT rid FROM " + wanted + ")"}); err != nil {
			return err
		}
	}
	return nil
}

func (c *cascade) count(table string) (int64, error) {
	var n int64
	err := c.db.Scan(c.ctx, "SELECT count(*) FROM "+table, &n)
	return n, err
}

// repeats counts the identities, keys and record ids, that more than one row of the
// side carries.
func (c *cascade) repeats(n names) (int64, error) {
	var files []string
	for _, p := range c.relation(n.side).Repeated {
		files = append(files, duck.Literal(p))
	}
	if len(files) == 0 {
		return 0, nil
	}
	sort.Strings(files)
	return c.count("read_parquet([" + strings.Join(files, ", ") + "])")
}
