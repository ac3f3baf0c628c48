package report

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// TrendPoint is one run of the series: the current runs of the last business dates,
// oldest first, this run last. At most 30.
type TrendPoint struct {
	BusinessDate string       `json:"business_date"`
	RunID        string       `json:"run_id"`
	Closes       bool         `json:"closes"`
	ExitCode     int          `json:"exit_code"`
	Rows         []TrendRows  `json:"rows"`        // by class, in the period; every class
	Queues       []TrendQueue `json:"queues"`      // in the order of queues
	Matched      int64        `json:"matched"`     // correct operations in the period
	Of           int64        `json:"of"`          // operations in the period that are not not_applicable
	MatchRatio   string       `json:"match_ratio"` // matched / of in percent, two decimals, rounded down; "" where of is 0
}

// TrendRows counts one class.
type TrendRows struct {
	Class         string `json:"class"`
	OperationRows int64  `json:"operation_rows"`
	ResultRows    int64  `json:"result_rows"`
}

// TrendQueue counts one queue.
type TrendQueue struct {
	Queue string `json:"queue"`
	Items int64  `json:"items"`
}

// TrendRuns is how many runs a trend has, with the one under way.
const TrendRuns = 30

// TrendOf takes from a summary what a trend shows of it. It holds for reports of older
// versions too.
func TrendOf(s *Summary) TrendPoint {
	p := TrendPoint{BusinessDate: s.BusinessDate, RunID: s.RunID, Closes: s.Outcome.Closes, ExitCode: s.Outcome.ExitCode, Rows: []TrendRows{}, Queues: []TrendQueue{}}
	for _, class := range classOrder {
		r := TrendRows{Class: class}
		for i, side := range s.Sides {
			for _, c := range side.Counts {
				if c.Class != class || !c.InPeriod {
					continue
				}
				if i == 0 {
					r.OperationRows += c.Rows
				} else {
					r.ResultRows += c.Rows
				}
			}
		}
		p.Rows = append(p.Rows, r)
		switch class {
		case "correct":
			p.Matched += r.OperationRows
			p.Of += r.OperationRows
		case "not_applicable":
		default:
			p.Of += r.OperationRows
		}
	}
	for _, name := range queueOrder {
		if q := s.queue(name); q != nil {
			p.Queues = append(p.Queues, TrendQueue{name, q.Items})
		}
	}
	if p.Of > 0 {
		hundredths := new(big.Int).Div(new(big.Int).Mul(big.NewInt(p.Matched), big.NewInt(10_000)), big.NewInt(p.Of)).Int64()
		p.MatchRatio = fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
	}
	return p
}

// history makes what needs the former runs: the roll-forward of the open items, the
// changes, the ages and the trend. The queues and the outcome are known before.
func history(ctx context.Context, db *duck.DB, in *Input, s *Summary) error {
	if err := openRelations(ctx, db, in.Bound.Job); err != nil {
		return err
	}
	o, err := moves(ctx, db, in.Past.Former, in.Bound.Date, hidesMoney(in.Bound.Job))
	if err != nil {
		return err
	}
	if s.Open, err = o.openItems(ctx, in, s); err != nil {
		return err
	}
	if s.Changes, err = o.changes(ctx, in.Past.Former); err != nil {
		return err
	}
	if s.Ageing, err = o.ageing(ctx, in); err != nil {
		return err
	}
	s.Trend = append(append([]TrendPoint{}, in.Past.Trend...), TrendOf(s))
	return nil
}

// TieHistory asserts on a published summary what Build asserted before: that the account
// statements are those of the currencies, and that the open items are carried forward to
// what the queues hold.
func TieHistory(s *Summary) error {
	if err := tieAccounts(s.Accounts, s); err != nil {
		return err
	}
	hidden := slices.ContainsFunc(s.Redacted, func(r Redacted) bool { return r.Field == "amount" || r.Field == "currency" })
	return tieOpen(s.Open, nil, s.Queues, hidden)
}
