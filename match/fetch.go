package match

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
)

// pickShare: rows are picked from the staged files one by one where at most one in so
// many is wanted; the engine, which decodes every value of every column to drop most of
// them, is faster only with more.
const pickShare = 8

// unread are the columns that only plain pairs are decided by.
func unread(l *extract.Layout) []string {
	if l.RecordID() == "" {
		return []string{"p1", "p2"}
	}
	return []string{"p1", "p2", "hx"}
}

// fetch makes the relations of the residual rows: all columns but those that only
// plain pairs are decided by. wanted is a query of their row ids; nil: all rows. Both
// sides are fetched at once.
func (c *cascade) fetch(wanted func(names) string) error {
	var g errgroup.Group
	for _, n := range both {
		g.Go(func() error { return c.fetchSide(n, wanted) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, n := range both {
		contested := duck.Slots{"kind": "VIEW", "table": n.contested, "residual": n.residual, "wanted": ""}
		if c.simple {
			contested["kind"], contested["wanted"] = "TABLE", " WHERE rid IN (SELECT rid FROM "+n.rids+")"
		}
		if err := c.exec("contested", contested); err != nil {
			return err
		}
	}
	return nil
}

func (c *cascade) fetchSide(n names, wanted func(names) string) error {
	rel, where := c.relation(n.side), ""
	if wanted != nil {
		where = " WHERE rid IN (" + wanted(n) + ")"
		rows, err := c.count("(SELECT DISTINCT rid FROM (" + wanted(n) + ") WHERE rid IS NOT NULL)")
		if err != nil {
			return err
		}
		if rows > 0 && (rows <= rel.Records/pickShare || c.opt.Way == Fingerprints) {
			return c.pick(n, wanted(n))
		}
	}
	return c.exec("residual", duck.Slots{"table": n.residual, "side": n.view, "unread": strings.Join(unread(rel.Layout), ", "), "wanted": where})
}

// pick takes the wanted rows of a side from its staged files.
func (c *cascade) pick(n names, wanted string) (err error) {
	rel := c.relation(n.side)
	ids, err := c.db.Int64s(c.ctx, "SELECT DISTINCT rid FROM ("+wanted+") WHERE rid IS NOT NULL ORDER BY rid")
	if err != nil {
		return err
	}
	var stored []string
	for _, col := range rel.Layout.Stored() {
		if !slices.Contains(unread(rel.Layout), col.Name) {
			stored = append(stored, col.Name)
		}
	}
	rows, err := rel.Pick(ids, stored)
	if err != nil {
		return err
	}
	err = c.db.CopyArrow(c.ctx, rows, template("picked").Render(duck.Slots{
		"table": n.residual, "derived": rel.Layout.DerivedColumns(unread(rel.Layout)...) + c.recordColumns(n)}))
	if closed := rows.Close(); err == nil {
		err = closed
	}
	return err
}

// recordColumns renders, for each key that tells records apart (V5), that key within
// the account of its row's file: two providers may use the same ids.
func (c *cascade) recordColumns(n names) string {
	accounts, several := c.accounts(n)
	var b strings.Builder
	for _, k := range c.recordKeys(n) {
		within := ""
		if several {
			within = "CASE file_no"
			for _, f := range c.relation(n.side).Files {
				within += fmt.Sprintf(" WHEN %d THEN %s", f.No, duck.Literal(accounts[f.Source]+"/"))
			}
			within += " END || "
		}
		fmt.Fprintf(&b, ", %s%s AS %s", within, k, recordColumn(k))
	}
	return b.String()
}

// accounts gives the account of each source of a side, and whether there are several.
func (c *cascade) accounts(n names) (of map[string]string, several bool) {
	of, names := map[string]string{}, map[string]bool{}
	for _, s := range c.job.Spec(n.side).Sources {
		of[s.Name] = s.Coverage.Account
		names[s.Coverage.Account] = true
	}
	return of, len(names) > 1
}
