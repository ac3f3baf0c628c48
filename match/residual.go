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
	return lookups(c.ctx, c.db, c.res)
}

// viewSQL reads the staged files of a side. Beside the staged columns it has, for
// each key that tells records apart (V5), that key within its account: two
// providers may use the same ids.
func (c *cascade) viewSQL(n names) string {
	r := c.relation(n.side)
	accounts, several := c.accounts(n)
	var parts []string
	for _, f := range r.Files {
		if f.Staged == "" {
			continue
		}
		var records strings.Builder
		for _, k := range c.recordKeys(n) {
			within := ""
			if several {
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
	if err := c.exec("plain_links_none", nil); err != nil {
		return err
	}
	id := c.identity()
	way := c.opt.Way
	if way == Auto && c.ops.Records+c.res.Records <= smallSide {
		way = Residual
	}
	if len(id) == 0 || id[0] != 0 || way == Residual {
		return c.fetch(nil)
	}
	c.out.PlainPass = 0
	for _, step := range []func([]int) error{c.repeated, c.notPlain, c.plainLinks, c.closure, c.simpleLinks} {
		if err := step(id); err != nil {
			return err
		}
	}
	return c.fetch(func(n names) string {
		wanted := "SELECT rid FROM " + n.rids
		if c.simple {
			wanted += " UNION ALL SELECT " + n.link + " FROM simple_links"
		}
		return wanted
	})
}

// simpleShare: simple pairs are kept from the passes where they are at least one in
// so many contested rows. Fewer cost more statements than they save rows.
const simpleShare = 2

// simpleLinks finds the pairs whose links no pass has to find. The rows of all other
// simple pairs become contested.
func (c *cascade) simpleLinks([]int) error {
	if err := c.exec("simple_links", nil); err != nil {
		return err
	}
	simple, err := c.count("simple_links")
	if err != nil {
		return err
	}
	contested, err := c.count("rids_o")
	if err != nil {
		return err
	}
	c.simple = simple > 0 && (c.opt.Way == Fingerprints || simple >= contested/simpleShare)
	if !c.simple {
		if err := c.db.Exec(c.ctx, "DELETE FROM simple_links"); err != nil {
			return err
		}
	}
	for _, n := range both {
		if err := c.exec("contested_rids", duck.Slots{"rids": n.rids, "rid": n.link}); err != nil {
			return err
		}
	}
	return nil
}

// linkSimple adds the simple links, once the passes are done.
func (c *cascade) linkSimple() error {
	if !c.simple {
		return nil
	}
	return c.db.Exec(c.ctx, "INSERT INTO links SELECT o_rid, r_rid, 0, true, NULL FROM simple_links")
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
	cols := []string{"h0", "p1", "p2"}
	kept := []string{}
	differs := []string{"o.g0 <> r.g0", "o.p1 <> r.p1", "o.p2 <> r.p2"}
	agrees := []string{"o.g0 = r.g0"}
	for _, i := range id[1:] {
		h, g := fmt.Sprintf("h%d", i), fmt.Sprintf("g%d", i)
		cols = append(cols, h, g)
		agrees = append(agrees, fmt.Sprintf("coalesce(o.%[1]s = r.%[1]s AND o.%[2]s = r.%[2]s, true)", h, g))
		// NULL on one side says nothing; unequal halves contradict.
		differs = append(differs, fmt.Sprintf("o.%s <> r.%s", h, h), fmt.Sprintf("o.%s <> r.%s", g, g))
	}
	if len(id) > 1 { // plainLinks asks for them
		kept = append([]string{"special"}, cols...)
	}
	var keys strings.Builder
	for _, col := range kept {
		fmt.Fprintf(&keys, ", o.%[1]s AS o_%[1]s, r.%[1]s AS r_%[1]s", col)
	}
	slots := duck.Slots{
		"keys": keys.String(), "differs": strings.Join(differs, " OR "), "agrees": strings.Join(agrees, " AND "),
		"columns":   strings.Join(append(cols, "g0"), ", "),
		"special_o": c.specialOperation(), "special_r": c.specialResult(), "aside": c.asideResult(), "norep": "",
	}
	n, err := c.count("rep_h0")
	if err != nil {
		return err
	}
	if n > 0 {
		// A NULL key stays: it joins nothing and comes out one-sided.
		slots["norep"] = " WHERE h0 IS NULL OR h0 NOT IN (SELECT h FROM rep_h0)"
	}
	if len(id) > 1 {
		slots["keys"] += ", r.aside AS r_aside"
	}
	return c.exec("not_plain", slots)
}

// plainLinks takes out of what is not plain under the first identity key the pairs
// that are so under the second one: providers that return one key or the other are
// common, and their pairs are as good. Keys after the second would need to ask for
// every carrier of the keys between, so their pairs stay residual; and so do those
// of a key that comes after a business pass, which may claim their rows.
func (c *cascade) plainLinks(id []int) error {
	if len(id) < 2 {
		return nil
	}
	for _, p := range c.job.Match[:id[1]] {
		if !p.Identity && !p.Suggest {
			return nil
		}
	}
	agrees := []string{fmt.Sprintf("o.o_g%d = r.r_g%d", id[1], id[1]), "o.o_p1 = r.r_p1", "o.o_p2 = r.r_p2"}
	for _, i := range id[2:] {
		agrees = append(agrees, fmt.Sprintf("coalesce(o.o_h%[1]d = r.r_h%[1]d AND o.o_g%[1]d = r.r_g%[1]d, true)", i))
	}
	err := c.exec("plain_links", duck.Slots{"pass": fmt.Sprint(id[1]), "h": fmt.Sprintf("h%d", id[1]), "agrees": strings.Join(agrees, " AND ")})
	if err != nil {
		return err
	}
	if n, err := c.count("plain_links"); err != nil || n == 0 {
		return err
	}
	return c.exec("not_plain_rest", nil)
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
			or = append(or, "coalesce("+r.When.SQL(cols.InExpr)+", false)")
		}
	}
	if cov := Covered(c.job, cols, c.res.Coverage); cov != "true" {
		or = append(or, "NOT coalesce("+cov+", false)")
	}
	return orFalse(or)
}

// specialResult is true for results whose status says anything but success where no
// comparison looks at it.
func (c *cascade) specialResult() string {
	if c.res.Layout.HasStatus() {
		return fmt.Sprintf("st <> %s", duck.Literal(string(ExpectedStatus(c.job.Job))))
	}
	return "false"
}

// asideResult is true for results under a scope rule, which no pass may link.
func (c *cascade) asideResult() string {
	var or []string
	cols := Columns(c.job.Job, c.res.Layout, "")
	for _, r := range c.job.Scope {
		if r.Side == rules.Results {
			or = append(or, "coalesce("+r.When.SQL(cols.InExpr)+", false)")
		}
	}
	return orFalse(or)
}

func orFalse(or []string) string {
	if len(or) == 0 {
		return "false"
	}
	return "(" + strings.Join(or, " OR ") + ")"
}

// closure makes residual whatever shares an identity key with a residual row, with
// its mate.
func (c *cascade) closure(id []int) error {
	parts := map[int][]string{} // by identity pass: SELECTs of its fingerprints on residual rows
	for _, i := range id[1:] {
		parts[i] = append(parts[i],
			fmt.Sprintf("SELECT o_h%d AS h FROM not_plain WHERE NOT simple", i), fmt.Sprintf("SELECT r_h%d AS h FROM not_plain WHERE NOT simple", i))
	}
	for _, n := range both {
		if err := c.exec("residual_rids", duck.Slots{"rids": n.rids, "rid": n.link}); err != nil {
			return err
		}
		repeated, err := c.repeatedRows(n, id)
		if err != nil {
			return err
		}
		if repeated == "" {
			continue
		}
		for _, i := range id {
			parts[i] = append(parts[i], fmt.Sprintf("SELECT h%d AS h FROM %s", i, repeated))
		}
	}
	if err := c.touched(id, parts); err != nil {
		return err
	}
	return c.brokenLinks()
}

// repeatedRows adds the rows of a side that carry a repeated key, and returns the
// table of their fingerprints, "" where no key repeats.
func (c *cascade) repeatedRows(n names, id []int) (table string, err error) {
	var or []string
	keys := ""
	columns := []string{}
	for _, i := range id {
		keys += fmt.Sprintf(", h%d", i)
		columns = append(columns, fmt.Sprintf("h%d", i))
	}
	if c.relation(n.side).Layout.RecordID() != "" {
		columns = append(columns, "hx")
	}
	for _, col := range columns {
		if cnt, err := c.count("rep_" + col); err != nil {
			return "", err
		} else if cnt > 0 {
			or = append(or, fmt.Sprintf("%s IN (SELECT h FROM rep_%s)", col, col))
		}
	}
	if len(or) == 0 {
		return "", nil
	}
	table = "repeated_" + n.view
	if err := c.exec("repeated_rows", duck.Slots{"table": table, "keys": keys, "side": n.view, "repeated": strings.Join(or, " OR ")}); err != nil {
		return "", err
	}
	return table, c.addResidual(n, "SELECT rid FROM "+table)
}

// touched adds the rows of either side that share a key with a residual one, and
// the mates of those.
func (c *cascade) touched(id []int, parts map[int][]string) error {
	var shares []string
	for _, i := range id {
		if len(parts[i]) == 0 {
			continue
		}
		table := fmt.Sprintf("keys_%d", i)
		if err := c.exec("residual_keys", duck.Slots{"table": table, "parts": strings.Join(parts[i], " UNION ALL ")}); err != nil {
			return err
		}
		shares = append(shares, fmt.Sprintf("h%d IN (SELECT h FROM %s)", i, table))
	}
	if len(shares) == 0 {
		return nil
	}
	var found int64
	for _, n := range both {
		t := "touched_" + n.free[5:]
		if err := c.exec("touched", duck.Slots{"table": t, "side": n.view, "shares": strings.Join(shares, " OR "), "rids": n.rids}); err != nil {
			return err
		}
		rows, err := c.count(t)
		if err != nil {
			return err
		}
		found += rows
	}
	if found == 0 {
		return nil
	}
	for _, n := range both {
		if err := c.addResidual(n, "SELECT rid FROM touched_"+n.free[5:]); err != nil {
			return err
		}
		if err := c.exec("touched_mates", duck.Slots{"rids": n.rids, "side": n.view}); err != nil {
			return err
		}
	}
	return nil
}

// brokenLinks takes pairs under the second key apart of which one row has become
// residual: then the other one is, too.
func (c *cascade) brokenLinks() error {
	if n, err := c.count("plain_links"); err != nil || n == 0 {
		return err
	}
	if err := c.exec("broken_links", nil); err != nil {
		return err
	}
	if n, err := c.count("broken_links"); err != nil || n == 0 {
		return err
	}
	for _, n := range both {
		if err := c.addResidual(n, "SELECT "+n.link+" FROM broken_links"); err != nil {
			return err
		}
	}
	return c.db.Exec(c.ctx, "DELETE FROM plain_links WHERE o_rid IN (SELECT o_rid FROM broken_links)")
}

func (c *cascade) addResidual(n names, rids string) error {
	return c.db.Exec(c.ctx, "INSERT INTO "+n.rids+" "+rids)
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
