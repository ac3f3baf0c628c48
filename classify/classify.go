package classify

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// Verdicts is what classification leaves: relations in the scratch database (see
// the package comment) and their counts.
type Verdicts struct {
	Operations, Results int64 // rows with a verdict
	Items               map[Queue]int64
}

// Run gives every row its verdict, and every verdict its proposal. A row without
// a verdict, or with two, is fail.Integrity. former, at most one, asks the runs before
// this one; without it nobody has asked them, unless FormerKeys is there already.
func Run(ctx context.Context, db *duck.DB, job *rules.Bound, ops, res *extract.Relation, m *match.Outcome, former ...Former) (*Verdicts, error) {
	c := &classifier{ctx: ctx, db: db, job: job, ops: ops, res: res, m: m,
		o: match.Columns(job.Job, ops.Layout, "o"), r: match.Columns(job.Job, res.Layout, "r")}
	for _, f := range former {
		c.former = f
	}
	for _, step := range append(c.judging(), c.rows, c.totals, c.check, c.hints, c.items, c.obstacles) {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return &c.out, nil
}

// judging are the steps that give every row its verdict.
func (c *classifier) judging() []func() error {
	return []func() error{c.enums, c.facts, c.pairs, c.groups, c.linked, c.strays, c.open, c.verdicts}
}

// classifier is one run: a straight line of steps over the scratch database.
type classifier struct {
	ctx      context.Context
	db       *duck.DB
	job      *rules.Bound
	ops, res *extract.Relation
	m        *match.Outcome
	former   Former          // nil: nobody can ask
	o, r     match.ColumnSet // the staged columns under the aliases o and r

	scales map[int]int // decimals of comparisons without a declared scale
	scale  int         // decimals of the amounts of both sides

	hint, hintJoin string // SQL: what is said of an item whose row is left over, and its relation
	out            Verdicts
}

func (c *classifier) exec(name string, s duck.Slots) error {
	return c.db.Exec(c.ctx, duck.MustParse(sqlFiles, "sql/"+name+".sql").Render(s))
}

// enums makes the types of class, reason and pass from their closed lists.
func (c *classifier) enums() error {
	passes := make([]string, len(c.job.Match))
	for i, p := range c.job.Match {
		passes[i] = p.Name
	}
	for _, e := range []struct {
		name   string
		values []string
	}{{"verdict_class", classNames()}, {"verdict_reason", reasonNames(c.job.Job)}, {"pass_name", passes},
		{"verdict_once", []string{"proven", "not_proven"}}} {
		quoted := make([]string, len(e.values))
		for i, v := range e.values {
			quoted[i] = duck.Literal(v)
		}
		if err := c.exec("enums", duck.Slots{"name": e.name, "values": strings.Join(quoted, ", ")}); err != nil {
			return err
		}
	}
	return nil
}

func (c *classifier) asOf() string { return fmt.Sprint(c.job.AsOfTime.UnixMicro()) }

func (c *classifier) periodReason() string {
	if c.job.Period == nil {
		return "''"
	}
	return duck.Literal(c.job.Period.Reason)
}

// keyless is true where no pass has a usable key (V18).
func (c *classifier) keyless(alias string) string {
	var keys []string
	for i, p := range c.job.Match {
		if !p.Suggest {
			keys = append(keys, fmt.Sprintf("%s.k%d", alias, i))
		}
	}
	return "coalesce(" + strings.Join(keys, ", ") + ") IS NULL"
}

func (c *classifier) identity() []int {
	var out []int
	for i, p := range c.job.Match {
		if p.Identity {
			out = append(out, i)
		}
	}
	return out
}

func (c *classifier) facts() error {
	scope := match.ScopeReason(c.job.Job, c.o, rules.Operations)
	if scope == "" {
		scope = "CAST(NULL AS VARCHAR)"
	}
	timeMissing := c.o.Instant("created_at") + " IS NULL"
	if c.o.Has("created_at") {
		timeMissing += " OR " + c.o.Ambiguous("created_at")
	}
	return c.exec("facts", duck.Slots{
		"in_period": match.InPeriod(c.job, c.o),
		"scope":     scope,
		"confirmed": c.confirmed(),
		"keyless":   c.keyless("o"),
		// V24. The later reading counts: a lease that may live is live.
		"lease":        "coalesce(" + c.o.Late("lease_until") + " > " + c.asOf() + ", false)",
		"has_window":   match.HasWindow(c.job.Job, c.o),
		"time_missing": "(" + timeMissing + ")",
		"due":          "CAST(" + match.Due(c.job.Job, c.o) + " AS BIGINT)",
		"covered":      "CAST(" + match.Covered(c.job, c.o, c.res.Coverage) + " AS BOOLEAN)",
		"proved":       c.proved(),
	})
}

// status is the canonical status of a result; a job without a mapped status says
// succeeded (V19).
func (c *classifier) status() string {
	if c.res.Layout.HasStatus() {
		return "r.st"
	}
	return "'" + string(rules.Succeeded) + "'"
}

func code(i int) string { return fmt.Sprintf("d%d", i) }

// CodeColumn names the column of the relation pairs that holds the code of
// Job.Compare[i], for those who explain a pair.
func CodeColumn(i int) string { return code(i) }

// pairs compares the linked rows.
func (c *classifier) pairs() error {
	if err := c.findScales(); err != nil {
		return err
	}
	sides := compare.Sides{Job: c.job.Job, Operations: c.ops.Layout, Results: c.res.Layout, Scale: c.scales}
	var codes strings.Builder
	order, same := "CAST(NULL AS INTEGER)", "false"
	for i, cmp := range c.job.Compare {
		fmt.Fprintf(&codes, ",\n  CAST(%s AS TINYINT) AS %s", c.codeSQL(sides, i), code(i))
		if cmp.As == rules.AsVersion && same == "false" {
			order = sides.OrderSQL(i)
			same = fmt.Sprintf("(%s = %d AND o.%s IS NOT NULL)", code(i), compare.CodeEqual, duck.Ident(c.ops.Layout.CompareColumn(i)))
		}
	}
	if err := c.exec("pairs", duck.Slots{"status": c.status(), "codes": codes.String(), "order": order, "same": same}); err != nil {
		return err
	}
	return c.effects()
}

// codeSQL nests the code of the guarding field (only_if_equal) into its own.
func (c *classifier) codeSQL(s compare.Sides, i int) string {
	if g := c.compareIndex(c.job.Compare[i].OnlyIfEqual); g >= 0 {
		return s.SQL(i, c.codeSQL(s, g))
	}
	return s.SQL(i, "")
}

func (c *classifier) compareIndex(name string) int {
	for i, cmp := range c.job.Compare {
		if name != "" && cmp.Name == name {
			return i
		}
	}
	return -1
}

// findScales finds, for each compared decimal without a declared scale, the number
// of decimals that holds every value of the linked rows. Exact or nothing: values
// that no 38 digits hold together are an input fault.
func (c *classifier) findScales() error {
	c.scales = map[int]int{}
	for i := range c.job.Compare {
		if !compare.NeedsScale(c.job.Job, i) {
			continue
		}
		var parts []string
		for _, s := range []struct{ table, col, rid string }{
			{"res_o", c.ops.Layout.CompareColumn(i), "o_rid"}, {"res_r", c.res.Layout.CompareColumn(i), "r_rid"}} {
			parts = append(parts, fmt.Sprintf("SELECT CAST(%s AS VARCHAR) AS v FROM %s WHERE rid IN (SELECT %s FROM links)", duck.Ident(s.col), s.table, s.rid))
		}
		var whole, decimals int64
		err := c.db.Scan(c.ctx, `SELECT coalesce(max(length(split_part(ltrim(v, '-'), '.', 1))), 0), coalesce(max(length(split_part(v, '.', 2))), 0)
			FROM (`+strings.Join(parts, " UNION ALL ")+`)`, &whole, &decimals)
		if err != nil {
			return err
		}
		if whole+decimals > 38 {
			return fail.New(fail.Input, "field %s: values with %d digits before and %d after the mark cannot be compared exactly in 38 digits",
				c.job.Compare[i].Name, whole, decimals).WithHint("declare a scale for the field, or correct the values")
		}
		c.scales[i] = int(decimals)
	}
	return nil
}

// effects counts the effects of each operation and finds the one that keep_effect
// names (V10).
func (c *classifier) effects() error {
	best, join := "false", ""
	if k := c.job.Results.KeepEffect; k != nil {
		if k.Earliest != "" {
			if err := c.exec("earliest", duck.Slots{"field": c.r.Field(k.Earliest), "late": c.lateReading(k.Earliest)}); err != nil {
				return err
			}
			best, join = "coalesce(x.best, false)", "\n  LEFT JOIN earliest x ON x.r_rid = p.r_rid"
		} else {
			var and []string
			for _, name := range k.Agrees {
				and = append(and, fmt.Sprintf("p.%s <= %d", code(c.compareIndex(name)), compare.CodeTolerance))
			}
			best = "(" + strings.Join(and, " AND ") + ")"
		}
	}
	return c.exec("effects", duck.Slots{"is_best": best, "best_join": join})
}

// lateReading is the value of a field of the results, of a time its later reading.
func (c *classifier) lateReading(field string) string {
	if f := c.job.Results.Field(field); f != nil && f.Type == rules.Timestamp {
		return c.r.Late(field)
	}
	return c.r.Field(field)
}

// anyCode is true where some comparison has one of the codes.
func (c *classifier) anyCode(except rules.Comparator, codes ...int) string {
	var or []string
	for i, cmp := range c.job.Compare {
		if cmp.As == except {
			continue
		}
		for _, k := range codes {
			or = append(or, fmt.Sprintf("p.%s = %d", code(i), k))
		}
	}
	if len(or) == 0 {
		return "false"
	}
	return "(" + strings.Join(or, " OR ") + ")"
}

// fieldList joins the names of the comparisons that have one of the codes, in the
// declared order; always names a comparison whatever its code.
func (c *classifier) fieldList(always int, codes ...int) string {
	var parts []string
	for i, cmp := range c.job.Compare {
		name := duck.Literal(cmp.Name)
		if i == always {
			parts = append(parts, name)
			continue
		}
		var in []string
		for _, k := range codes {
			in = append(in, fmt.Sprint(k))
		}
		parts = append(parts, fmt.Sprintf("CASE WHEN p.%s IN (%s) THEN %s END", code(i), strings.Join(in, ", "), name))
	}
	return strings.Join(parts, ", ")
}

// statusField is the index of the comparison that stands for the status, -1 none.
func (c *classifier) statusField() int {
	for i, cmp := range c.job.Compare {
		if cmp.As == rules.AsStatus {
			return i
		}
	}
	return max(c.compareIndex("status"), c.compareIndex("state"))
}

func (c *classifier) linked() error {
	all := []int{compare.CodeDiffers, compare.CodeUnreadable, compare.CodeAmbiguous}
	list := func(first, rest string) string {
		parts := []string{"';'"}
		for _, x := range []string{first, rest} {
			if x != "" {
				parts = append(parts, x)
			}
		}
		if len(parts) == 1 {
			return "CAST(NULL AS VARCHAR)"
		}
		return "nullif(concat_ws(" + strings.Join(parts, ", ") + "), '')"
	}
	differing := "nullif(p.differing, '')"
	err := c.exec("linked", duck.Slots{
		"expect":           duck.Literal(string(match.ExpectedStatus(c.job.Job))),
		"as_of":            c.asOf(),
		"unreadable":       c.anyCode("", compare.CodeUnreadable),
		"ambiguous":        c.anyCode("", compare.CodeAmbiguous),
		"differs":          c.anyCode("", compare.CodeDiffers),
		"tolerance":        c.anyCode("", compare.CodeTolerance),
		"period_reason":    c.periodReason(),
		"all_fields":       list(differing, c.fieldList(-1, all...)),
		"tolerance_fields": list("", c.fieldList(-1, compare.CodeTolerance)),
		"conflict_fields":  list(differing, c.fieldList(c.statusField(), all...))})
	if err != nil {
		return err
	}
	return c.exec("link_ids", duck.Slots{"groups": c.ofGroups("UNION ALL\nSELECT o_rid, r_rid, pass, true, true, link, NULL FROM group_links")})
}

// open judges what no effect is linked to (section G).
func (c *classifier) open() error {
	var carried []string
	if err := c.db.Exec(c.ctx, "CREATE OR REPLACE TABLE known_elsewhere (rid BIGINT)"); err != nil {
		return err
	}
	for _, i := range c.identity() {
		// One statement a key: a join on either key would try every pair.
		k := fmt.Sprintf("k%d", i)
		if err := c.exec("known_elsewhere", duck.Slots{"k": k}); err != nil {
			return err
		}
		carried = append(carried, fmt.Sprintf(
			"o.k%[1]d IN (SELECT r.k%[1]d FROM res_r r JOIN marks_r m ON m.rid = r.rid WHERE m.class = 'not_applicable' AND r.k%[1]d IS NOT NULL)", i))
	}
	if len(carried) == 0 {
		carried = []string{"false"}
	}
	if err := c.exec("set_aside", duck.Slots{"carried": strings.Join(carried, " OR ")}); err != nil {
		return err
	}
	if err := c.exec("open_operations", duck.Slots{"period_reason": c.periodReason(), "as_of": c.asOf()}); err != nil {
		return err
	}
	err := c.exec("open_results", duck.Slots{
		"in_period": match.InPeriod(c.job, c.r), "period_reason": c.periodReason(),
		"keyless": c.keyless("r"), "status": c.status(),
		"covered": "CAST(" + match.CoveredResult(c.job, c.r, c.ops.Coverage) + " AS BOOLEAN)"})
	if err != nil {
		return err
	}
	if err := c.exec("stray_edges", nil); err != nil {
		return err
	}
	return match.NumberSets(c.ctx, c.db)
}

// fieldsOfAll joins the fields of several links of one operation, in the order in which
// one link lists them: keys that differ by their pass, then comparisons.
func (c *classifier) fieldsOfAll() string {
	var names, parts []string
	for _, p := range c.job.Match {
		if p.Identity {
			names = append(names, p.Name)
		}
	}
	for _, cmp := range c.job.Compare {
		names = append(names, cmp.Name)
	}
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			parts = append(parts, fmt.Sprintf("CASE WHEN bool_or(list_contains(d.names, %[1]s)) THEN %[1]s END", duck.Literal(n)))
		}
	}
	if len(parts) == 0 {
		return "CAST(NULL AS VARCHAR)"
	}
	return "nullif(concat_ws(';', " + strings.Join(parts, ", ") + "), '')"
}

func (c *classifier) verdicts() error {
	if err := c.exec("verdicts_o", duck.Slots{"period_reason": c.periodReason(), "fields_of_all": c.fieldsOfAll(), "groups": c.groupMembers(rules.Operations)}); err != nil {
		return err
	}
	return c.exec("verdicts_r", duck.Slots{"period_reason": c.periodReason(), "in_period": match.InPeriod(c.job, c.r), "groups": c.groupMembers(rules.Results)})
}

func (c *classifier) rows() error {
	plainPass, plainLink := "CAST(NULL AS pass_name)", "CAST(NULL AS UBIGINT)"
	if c.m.PlainPass >= 0 {
		plainPass = "CAST(" + duck.Literal(c.job.Match[c.m.PlainPass].Name) + " AS pass_name)"
		plainLink = fmt.Sprintf("s.h%d", c.m.PlainPass)
	}
	if err := c.db.Exec(c.ctx, fmt.Sprintf("CREATE OR REPLACE TABLE plain_pass AS SELECT %d AS pass", c.m.PlainPass)); err != nil {
		return err
	}
	var name strings.Builder
	for i, p := range c.job.Match {
		fmt.Fprintf(&name, " WHEN %d THEN %s", i, duck.Literal(p.Name))
	}
	for _, s := range []struct{ side, verdicts, linkRID string }{{"operations", "verdicts_o", "o_rid"}, {"results", "verdicts_r", "r_rid"}} {
		judged := "judged_" + s.side
		for _, v := range []struct {
			name  string
			slots duck.Slots
		}{
			{"judged", duck.Slots{"judged": judged, "verdicts": s.verdicts, "link_rid": s.linkRID, "pass_name": "CASE pass" + name.String() + " END"}},
			{"rows", duck.Slots{"view": "rows_" + s.side, "side": s.side, "judged": judged, "plain_pass": plainPass, "plain_link": plainLink}},
			{"row_counts", duck.Slots{"view": "row_counts_" + s.side, "side": s.side, "judged": judged, "plain_pass": plainPass}},
		} {
			if err := c.exec(v.name, v.slots); err != nil {
				return err
			}
		}
	}
	return nil
}

// check is rule 1 of design.md §3 inside the engine: each residual row has one
// verdict, and there is none for a row that is not there.
func (c *classifier) check() error {
	for _, s := range []struct {
		side, verdicts, residual string
		whole                    int64
		into                     *int64
	}{{"operations", "verdicts_o", "res_o", c.m.Operations, &c.out.Operations}, {"results", "verdicts_r", "res_r", c.m.Results, &c.out.Results}} {
		var rows, verdicts, without int64
		err := c.db.Scan(c.ctx, fmt.Sprintf(`SELECT (SELECT count(*) FROM %[2]s), (SELECT count(*) FROM %[1]s),
			(SELECT count(*) FROM %[2]s WHERE rid NOT IN (SELECT rid FROM %[1]s))`, s.verdicts, s.residual),
			&rows, &verdicts, &without)
		if err != nil {
			return err
		}
		// As many verdicts as rows, and none without one: each row has one.
		if rows != verdicts || without != 0 {
			return fail.New(fail.Integrity, "%s: %d rows to judge, %d verdicts, %d rows without one",
				s.side, rows, verdicts, without).WithHint("this is a bug; nothing was published")
		}
		*s.into = s.whole
	}
	return nil
}
