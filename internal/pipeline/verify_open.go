package pipeline

import (
	"database/sql"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
)

// openItems checks the open items: they are those of the queues that were written, the
// report counts and adds them up as the file has them, and both statements and the
// roll-forward lead where they say. A run of an older version has none.
func (v *checker) openItems() error {
	s := v.summary
	path, ok := v.path(report.OpenFile)
	if !ok {
		var wrong []string
		if s.Open != nil || s.Accounts != nil {
			wrong = append(wrong, report.OpenFile+" was not published, and the report has open items")
		}
		v.add("open items", "none: the run is of an older version", wrong)
		return nil
	}
	var wrong []string
	if err := report.TieHistory(s); err != nil {
		wrong = append(wrong, err.Error())
	}
	written := []string{"''"}
	for _, q := range s.Queues {
		if q.Written && q.Queue != "confirm" {
			written = append(written, duck.Literal(q.Queue))
		}
	}
	wrong, err := v.none(wrong, "open items are not those of the queues", "open", duck.Slots{"open": duck.Literal(path), "written": strings.Join(written, ", ")})
	if err != nil {
		return err
	}
	type sum struct {
		items  int64
		amount *big.Rat
	}
	counted := map[string]*sum{}
	at := func(key string) *sum {
		if counted[key] == nil {
			counted[key] = &sum{amount: new(big.Rat)}
		}
		return counted[key]
	}
	total := int64(0)
	err = v.each("open_sums", duck.Slots{"open": duck.Literal(path)}, func(rows *sql.Rows) error {
		var code, since, amount string
		var before bool
		var n int64
		if err := rows.Scan(&code, &since, &before, &amount, &n); err != nil {
			return err
		}
		a, ok := new(big.Rat).SetString(amount)
		if !ok {
			return fail.New(fail.Integrity, "%q is no amount", amount)
		}
		total += n
		for _, k := range []string{code, fmt.Sprintf("%s since %s %t", code, since, before)} {
			x := at(k)
			x.items += n
			x.amount.Add(x.amount, new(big.Rat).Mul(a, new(big.Rat).SetInt64(n)))
		}
		return nil
	})
	if err != nil {
		return err
	}
	says := func(key string, items int64, amount string) {
		x := at(key)
		a, ok := new(big.Rat).SetString(amount)
		if x.items != items || amount != "" && (!ok || a.Cmp(x.amount) != 0) {
			wrong = append(wrong, fmt.Sprintf("%d open items in %s (%s), the report says %d (%s)", x.items, currencyText(key), x.amount.FloatString(2), items, amount))
		}
	}
	for _, o := range s.Open {
		says(o.Currency, o.Closing.Items, o.Closing.Amount)
		total -= o.Closing.Items
		for i, c := range o.Carried {
			if i > 0 || !c.Before { // the first may hold all dates before it
				says(fmt.Sprintf("%s since %s %t", o.Currency, c.Since, c.Before), c.Items, c.Amount)
			}
		}
	}
	if total != 0 {
		wrong = append(wrong, fmt.Sprintf("%d open items are of a currency that the report does not have", total))
	}
	if s.Changes == nil && slices.ContainsFunc(v.Manifest.Former, func(f FormerRun) bool { return slices.Contains(f.For, forOpen) }) {
		wrong = append(wrong, "a former run was read, and the report does not say what changed since")
	}
	v.add("open items", plural(int64(len(s.Open)), "currency", "currencies")+", carried forward; "+plural(int64(len(s.Accounts)), "account statement", "account statements"), wrong)
	return nil
}
