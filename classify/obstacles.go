package classify

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/match/compare"
)

// obstacles finds for each undecided row in the period what alone holds it. It leaves
// the table obstacles: o_rid, r_rid BIGINT (one of them NULL), code VARCHAR, no BIGINT,
// what VARCHAR (obstacles.sql says what they are). It decides nothing.
func (c *classifier) obstacles() error {
	if err := c.soleStrays(); err != nil {
		return err
	}
	status := "CAST(NULL AS VARCHAR)"
	if c.r.Has("status") {
		status = "CAST(" + c.r.Raw("status", "VARCHAR") + " AS VARCHAR)"
	}
	unreadable := []string{"CAST(NULL AS VARCHAR)"}
	for i, cmp := range c.job.Compare {
		unreadable = append(unreadable, fmt.Sprintf("CASE WHEN p.%s = %d THEN %s END", code(i), compare.CodeUnreadable, duck.Literal(cmp.Name)))
	}
	var healedO, healedR strings.Builder
	for i, h := range c.res.Healings {
		fmt.Fprintf(&healedO, " WHEN coalesce(%s, false) THEN '%s/%d'", match.Covered(c.job, c.o, h.Coverage), h.Kind, i)
	}
	for i, h := range c.ops.Healings {
		fmt.Fprintf(&healedR, " WHEN coalesce(%s, false) THEN '%s/%d'", match.CoveredResult(c.job, c.r, h.Coverage), h.Kind, i)
	}
	return c.exec("obstacles", duck.Slots{
		"status_text": status, "unreadable": strings.Join(unreadable, ", "), "healed_o": healedO.String(), "healed_r": healedR.String(),
		// More than one file, or a file and time that nothing declares to cover.
		"gap_o": "coalesce(" + match.Covered(c.job, c.o, c.res.Healed) + ", false) OR " + c.operationOutage(),
		"gap_r": "coalesce(" + match.CoveredResult(c.job, c.r, c.ops.Healed) + ", false) OR " + c.resultOutage(),
	})
}

// soleStrays finds for each operation that strays leave undecided (V27) whether it is a
// single one. Of each group of strays that agree in the fields which both sides fill,
// the two latest say so: an operation that only one of them can be the effect of is
// older than no other.
func (c *classifier) soleStrays() error {
	var undecided bool
	err := c.db.Scan(c.ctx, "SELECT count(*) > 0 FROM verdicts_o WHERE class = 'ambiguous' AND reason = 'unattributed_result' AND in_period", &undecided)
	if err != nil {
		return err
	}
	branches := []string{"SELECT CAST(NULL AS BIGINT) AS rid, CAST(NULL AS BIGINT) AS stray WHERE false"}
	if undecided {
		n := 3 + len(c.job.Unattributed.Contradicts)
		unserved, strays, err := c.patterns(n)
		if err != nil {
			return err
		}
		for _, po := range unserved {
			for _, ps := range strays {
				branches = append(branches, c.soleBranch(n, po, ps))
			}
		}
	}
	return c.exec("sole_strays", duck.Slots{"branches": strings.Join(branches, "\nUNION ALL\n")})
}

func (c *classifier) soleBranch(n, po, ps int) string {
	whereO, whereS, shared, on := branchParts(n, po, ps)
	const wanted = "o.rid IN (SELECT rid FROM verdicts_o WHERE class = 'ambiguous' AND reason = 'unattributed_result')"
	skew := c.job.ClockSkew.Microseconds()
	if w := c.job.Unattributed.Within; w > 0 {
		return fmt.Sprintf(`SELECT o.rid, s.rid AS stray FROM unserved o JOIN strays s ON %s
WHERE %s AND %s AND %s AND (o.created IS NULL OR s.latest IS NULL OR (s.latest >= o.created - %d AND s.booked <= o.created_late + %d))`,
			on, whereO, whereS, wanted, skew, w.Microseconds()+skew)
	}
	columns, partition := "", ""
	if len(shared) > 0 {
		columns = ", s." + strings.Join(shared, ", s.")
		partition = "PARTITION BY " + strings.Join(shared, ", ") + " "
	}
	return fmt.Sprintf(`SELECT o.rid, s.rid AS stray FROM unserved o
JOIN (SELECT *, row_number() OVER (%sORDER BY latest DESC, rid) AS place
  FROM (SELECT s.rid%s, max(coalesce(s.latest, 9223372036854775807)) AS latest FROM strays s WHERE %s GROUP BY ALL)
  QUALIFY place <= 2) s ON %s
WHERE %s AND %s AND (o.created IS NULL OR s.latest >= o.created - %d)`,
		partition, columns, whereS, on, whereO, wanted, skew)
}
