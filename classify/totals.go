package classify

import (
	"fmt"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// totals adds up both sides at one scale: a union of two scales would round.
func (c *classifier) totals() error {
	for _, rel := range []*extract.Relation{c.ops, c.res} {
		n, err := c.amountScale(rel.Side)
		if err != nil {
			return err
		}
		c.scale = max(c.scale, n)
	}
	slots := duck.Slots{"type": fmt.Sprintf("DECIMAL(38,%d)", c.scale)}
	for _, x := range []struct {
		suffix string
		rel    *extract.Relation
	}{{"o", c.ops}, {"r", c.res}} {
		s := match.Columns(c.job.Job, x.rel.Layout, "s")
		amount := "CAST(NULL AS " + slots["type"] + ")"
		if c.hasAmount(x.rel.Side) {
			amount = s.Raw("amount", "")
			if c.job.Spec(x.rel.Side).Field("amount").Scale < 0 { // staged as text
				amount = "CAST(" + amount + " AS " + slots["type"] + ")"
			}
		}
		slots["amount_"+x.suffix] = amount
		slots["currency_"+x.suffix] = s.Raw("currency", "VARCHAR")
	}
	return c.exec("totals", slots)
}

func (c *classifier) hasAmount(side rules.Side) bool {
	f := c.job.Spec(side).Field("amount")
	return f != nil && f.Type == rules.Decimal
}

// amountScale is the number of decimals that holds every amount of the side.
func (c *classifier) amountScale(side rules.Side) (int, error) {
	if !c.hasAmount(side) {
		return 0, nil
	}
	if n := c.job.Spec(side).Field("amount").Scale; n >= 0 {
		return n, nil
	}
	var n int
	err := c.db.Scan(c.ctx, fmt.Sprintf("SELECT coalesce(max(length(split_part(f_amount, '.', 2))), 0) FROM %s", side), &n)
	return n, err
}
