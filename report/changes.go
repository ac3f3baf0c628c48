package report

import (
	"context"
	"database/sql"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// Changes is what became of the open items since another run (see OpenItems): the
// current run of the latest earlier business date of the series, or the first of the two
// that `runs diff` compares. A superseded revision of the same date is not looked at.
type Changes struct {
	BusinessDate string `json:"business_date"` // of the former run
	RunID        string `json:"run_id"`
	New          Change `json:"new"`           // open now, not then
	Gone         Change `json:"gone"`          // open then, not now
	Changed      Change `json:"changed_class"` // open in both, with another queue, class or reason
	Older        Change `json:"older"`         // open in both, the same
}

// Change counts one kind of change.
type Change struct {
	Items   int64          `json:"items"`
	Amounts []Money        `json:"amounts"` // by currency, as of this run, or of the former one for what is gone
	Showing int64          `json:"showing"`
	Samples []ChangeSample `json:"samples"` // the largest amounts of each currency take turns
}

// ChangeSample is one open item.
type ChangeSample struct {
	CaseID   string     `json:"case_id"`
	From     *OpenState `json:"from"` // null: it was not open
	To       *OpenState `json:"to"`   // null: it is open no more
	Since    string     `json:"since"`
	Currency string     `json:"currency"`
	Amount   string     `json:"amount"` // "" none that is readable, or hidden
}

// OpenState is where an open item stands.
type OpenState struct {
	Queue  string `json:"queue"`
	Class  string `json:"class"`
	Reason string `json:"reason"`
}

// sampleChanges is how many items of each kind of change are shown.
const sampleChanges = 20

// changes counts the moves since the former run, and shows some of each kind.
func (o *opened) changes(ctx context.Context, former *FormerOpen) (*Changes, error) {
	if former == nil {
		return nil, nil
	}
	out := &Changes{BusinessDate: former.BusinessDate, RunID: former.RunID}
	kinds := map[string]*Change{"new": &out.New, "gone": &out.Gone, "changed": &out.Changed, "older": &out.Older}
	for _, c := range kinds {
		c.Amounts, c.Samples = []Money{}, []ChangeSample{}
	}
	groups, err := o.groups(ctx, sqlOpenParts, nil)
	if err != nil {
		return nil, err
	}
	for _, g := range groups { // by currency, in order
		c := kinds[g.a]
		if c == nil {
			continue
		}
		c.Items += g.items
		if g.valued > 0 {
			c.Amounts = append(c.Amounts, Money{Currency: g.b, Amount: amountText(g.sum, g.b), Items: g.valued})
		}
	}
	slots := openSlots(sampleChanges)
	slots["type"] = o.decimal()
	err = each(ctx, o.db, sqlOpenSamples.Render(slots), func(rows *sql.Rows) error {
		var kind string
		var x ChangeSample
		var from, to OpenState
		if err := rows.Scan(&kind, &x.CaseID, &from.Queue, &from.Class, &from.Reason, &to.Queue, &to.Class, &to.Reason, &x.Since, &x.Currency, &x.Amount); err != nil {
			return err
		}
		if from.Queue != "" {
			x.From = &from
		}
		if to.Queue != "" {
			x.To = &to
		}
		if x.Amount != "" {
			r, err := parseExact(x.Amount)
			if err != nil {
				return err
			}
			x.Amount = amountText(r, x.Currency)
		}
		x.Currency = cut(x.Currency)
		c := kinds[kind]
		c.Samples = append(c.Samples, x)
		c.Showing++
		return nil
	})
	return out, err
}

// CompareOpen compares the open items of two runs in a database of its own. hidden:
// their files do not show amounts or currencies.
func CompareOpen(ctx context.Context, db *duck.DB, a, b *FormerOpen, hidden bool) (*Changes, error) {
	if err := db.Exec(ctx, "CREATE OR REPLACE TABLE report_open AS SELECT case_id, CAST(no AS BIGINT) AS no, CAST(queue AS VARCHAR) AS queue, CAST(class AS VARCHAR) AS class, "+
		"CAST(reason AS VARCHAR) AS reason, coalesce(CAST(currency AS VARCHAR), '') AS currency, "+
		`CASE WHEN regexp_full_match(CAST(amount AS VARCHAR), '-?[0-9]+(\.[0-9]+)?') THEN CAST(amount AS VARCHAR) END AS amount FROM (`+b.rows()+")"); err != nil {
		return nil, err
	}
	o, err := moves(ctx, db, a, b.BusinessDate, hidden)
	if err != nil {
		return nil, err
	}
	return o.changes(ctx, a)
}
