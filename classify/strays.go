package classify

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
)

// strays is V27: results without identity that could be the effect of operations
// without a link. What contradicts is the type, the entity, the currency, each
// where both are filled, and the time; a job may add fields and a window. Rows are
// grouped by which of the fields are filled, and each pair of such patterns is an
// equality join: never all against all.
func (c *classifier) strays() error {
	extra := c.job.Unattributed.Contradicts
	n := 3 + len(extra)
	if len(c.identity()) == 0 {
		if err := c.db.Exec(c.ctx, "CREATE OR REPLACE TABLE suspects (rid BIGINT, node BIGINT)"); err != nil {
			return err
		}
		if err := c.db.Exec(c.ctx, "CREATE OR REPLACE TABLE stray_branches (rid BIGINT, n BIGINT, node BIGINT)"); err != nil {
			return err
		}
		return c.exec("stray_candidates", nil)
	}
	var noIdentity []string
	for _, i := range c.identity() {
		noIdentity = append(noIdentity, fmt.Sprintf("r.k%d IS NULL", i))
	}
	columns := func(s match.ColumnSet) string {
		var b strings.Builder
		for j, f := range extra {
			fmt.Fprintf(&b, ", CAST(%s AS VARCHAR) AS t%d", s.Field(f), 3+j)
		}
		return b.String()
	}
	err := c.exec("strays", duck.Slots{
		"type": c.strayType(), "entity": c.r.Raw("entity", "VARCHAR"), "currency": c.r.Raw("currency", "VARCHAR"),
		"booked": c.r.Instant("created_at"), "latest": c.r.Late("created_at"), "extra": columns(c.r),
		"no_identity": strings.Join(noIdentity, " AND "), "status": c.status()})
	if err != nil {
		return err
	}
	err = c.exec("unserved", duck.Slots{
		"type": c.o.Raw("type", "VARCHAR"), "entity": c.o.Raw("entity", "VARCHAR"), "currency": c.o.Raw("currency", "VARCHAR"),
		"created": c.o.Instant("created_at"), "created_late": c.o.Late("created_at"), "extra": columns(c.o)})
	if err != nil {
		return err
	}
	unserved, strays, err := c.patterns(n)
	if err != nil {
		return err
	}
	suspects := []string{"SELECT CAST(NULL AS BIGINT) AS rid, CAST(NULL AS BIGINT) AS node WHERE false"}
	counts := []string{"SELECT CAST(NULL AS BIGINT) AS rid, 0 AS n, CAST(NULL AS BIGINT) AS node WHERE false"}
	for _, po := range unserved {
		for _, ps := range strays {
			suspects = append(suspects, c.suspectBranch(n, po, ps))
			counts = append(counts, c.countBranch(n, po, ps))
		}
	}
	if err := c.exec("suspects", duck.Slots{"branches": strings.Join(suspects, "\nUNION ALL\n")}); err != nil {
		return err
	}
	if err := c.exec("stray_branches", duck.Slots{"branches": strings.Join(counts, "\nUNION ALL\n")}); err != nil {
		return err
	}
	return c.exec("stray_candidates", nil)
}

// strayType is the type of a result: its own, else each type that its source's
// coverage names (one row for each), else unknown.
func (c *classifier) strayType() string {
	var b strings.Builder
	for _, f := range c.res.Files {
		for _, src := range c.job.Results.Sources {
			if src.Name != f.Source || len(src.Coverage.Types) == 0 {
				continue
			}
			types := make([]string, len(src.Coverage.Types))
			for i, t := range src.Coverage.Types {
				types[i] = duck.Literal(t)
			}
			fmt.Fprintf(&b, " WHEN %d THEN [%s]", f.No, strings.Join(types, ", "))
		}
	}
	own := c.r.Raw("type", "VARCHAR")
	if b.Len() == 0 {
		return own
	}
	return fmt.Sprintf("unnest(CASE WHEN %[1]s IS NOT NULL THEN [%[1]s] ELSE CASE r.file_no%[2]s ELSE [CAST(NULL AS VARCHAR)] END END)", own, b.String())
}

// patterns lists which combinations of filled fields occur on each side.
func (c *classifier) patterns(n int) (unserved, strays []int, err error) {
	var bits []string
	for j := range n {
		bits = append(bits, fmt.Sprintf("CASE WHEN t%d IS NULL THEN 0 ELSE %d END", j, 1<<j))
	}
	rows, err := c.db.Query(c.ctx, duck.MustParse(sqlFiles, "sql/patterns.sql").Render(duck.Slots{"bits": strings.Join(bits, " + ")})+" ORDER BY 1, 2")
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var side, b int
		if err := rows.Scan(&side, &b); err != nil {
			return nil, nil, err
		}
		if side == 0 {
			unserved = append(unserved, b)
		} else {
			strays = append(strays, b)
		}
	}
	return unserved, strays, rows.Err()
}

// branchParts are the SQL pieces of one pair of patterns: the filter of a pattern,
// the fields that both fill, and the equality over them.
func branchParts(n, po, ps int) (whereO, whereS string, shared []string, on string) {
	filter := func(alias string, p int) string {
		var and []string
		for j := range n {
			not := "NOT "
			if p&(1<<j) == 0 {
				not = ""
			}
			and = append(and, fmt.Sprintf("%s.t%d IS %sNULL", alias, j, not))
		}
		return strings.Join(and, " AND ")
	}
	on = "true"
	for j := range n {
		if po&ps&(1<<j) != 0 {
			col := fmt.Sprintf("t%d", j)
			shared = append(shared, col)
			on += fmt.Sprintf(" AND o.%s = s.%s", col, col)
		}
	}
	return filter("o", po), filter("s", ps), shared, on
}

// node numbers the group of rows that agree in the shared fields of a pair of
// patterns, for the unresolved sets (match.NumberSets).
func node(alias string, po, ps int, shared []string) string {
	args := []string{"'stray'", fmt.Sprint(po), fmt.Sprint(ps)}
	for _, col := range shared {
		args = append(args, alias+col)
	}
	return "-1 - CAST(hash(" + strings.Join(args, ", ") + ") >> 2 AS BIGINT)"
}

func (c *classifier) suspectBranch(n, po, ps int) string {
	whereO, whereS, shared, on := branchParts(n, po, ps)
	cols := strings.Join(append([]string{"1 AS one"}, shared...), ", ")
	skew := c.job.ClockSkew.Microseconds()
	if w := c.job.Unattributed.Within; w > 0 {
		return fmt.Sprintf(`SELECT DISTINCT o.rid, %s FROM unserved o JOIN strays s ON %s
WHERE %s AND %s AND (o.created IS NULL OR s.latest IS NULL OR (s.latest >= o.created - %d AND s.booked <= o.created_late + %d))`,
			node("o.", po, ps, shared), on, whereO, whereS, skew, w.Microseconds()+skew)
	}
	group := ""
	if len(shared) > 0 {
		group = " GROUP BY s." + strings.Join(shared, ", s.")
	} else {
		group = " HAVING count(*) > 0"
	}
	return fmt.Sprintf(`SELECT o.rid, %s FROM unserved o
JOIN (SELECT %s, max(s.latest) AS latest, bool_or(s.latest IS NULL) AS timeless FROM strays s WHERE %s%s) s ON %s
WHERE %s AND (o.created IS NULL OR s.timeless OR s.latest >= o.created - %d)`,
		node("o.", po, ps, shared), cols, whereS, group, on, whereO, skew)
}

// countBranch counts the operations for each stray. Within a group of equal fields
// it needs how many were created up to the stray's time: a running count over both,
// ordered by time.
func (c *classifier) countBranch(n, po, ps int) string {
	whereO, whereS, shared, on := branchParts(n, po, ps)
	skew := c.job.ClockSkew.Microseconds()
	if w := c.job.Unattributed.Within; w > 0 {
		return fmt.Sprintf(`SELECT s.rid, count(*) AS n, any_value(%s) FROM unserved o JOIN strays s ON %s
WHERE %s AND %s AND (o.created IS NULL OR s.latest IS NULL OR (s.latest >= o.created - %d AND s.booked <= o.created_late + %d)) GROUP BY s.rid`,
			node("s.", po, ps, shared), on, whereO, whereS, skew, w.Microseconds()+skew)
	}
	o, s, part := "", "", ""
	for _, col := range shared {
		o += ", o." + col
		s += ", s." + col
		part += ", " + col
	}
	partition := ""
	if part != "" {
		partition = "PARTITION BY " + part[2:] + " "
	}
	// A missing time contradicts nothing: an operation without one counts for every
	// stray, a stray without one counts every operation.
	return fmt.Sprintf(`SELECT rid, n, node FROM (
  SELECT rid, %s AS node, sum(w) OVER (%sORDER BY t, kind RANGE UNBOUNDED PRECEDING) AS n, kind FROM (
    SELECT o.rid, 1 AS w, 0 AS kind, coalesce(o.created - %d, -9223372036854775807) AS t%s FROM unserved o WHERE %s
    UNION ALL
    SELECT s.rid, 0, 1, coalesce(s.latest, 9223372036854775807)%s FROM strays s WHERE %s))
WHERE kind = 1`, node("", po, ps, shared), partition, skew, o, whereO, s, whereS)
}
