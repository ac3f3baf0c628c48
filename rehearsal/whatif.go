package rehearsal

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// Standing is what a row came to: its verdict, and the proposal of the item that
// stands on it. Class is "not read" where only the other side of the comparison has
// the row.
type Standing struct {
	Class    string `json:"class"`
	Reason   string `json:"reason"`
	Proposal string `json:"proposal"` // confirm, …, with ", observe only" or ", deferred"; "none"
}

// Money is a sum in one currency, exact.
type Money struct {
	Currency string `json:"currency"`
	Amount   string `json:"amount"`
}

// Example is a row that moves.
type Example struct {
	BusinessDate string `json:"business_date"`
	ID           string `json:"id"` // as explain takes it: an operation id, or FILE:RECORD
}

// Move counts the rows of one side that went from one standing to another.
type Move struct {
	Side     rules.Side `json:"side"`
	From     Standing   `json:"from"`
	To       Standing   `json:"to"`
	Rows     int64      `json:"rows"`
	Amounts  []Money    `json:"amounts"`
	Examples []Example  `json:"examples"` // the first three rows, each once
}

// CaseMove counts the cases whose items went from one queue to another.
type CaseMove struct {
	From    string  `json:"from"` // "none": no item
	To      string  `json:"to"`
	Cases   int64   `json:"cases"`
	Amounts []Money `json:"amounts"`
}

// RejudgedNight is one stored run and what became of it.
type RejudgedNight struct {
	BusinessDate string `json:"business_date"`
	RunID        string `json:"run_id"`
	Rows         int64  `json:"rows"`
	Moved        int64  `json:"moved"` // rows
	Cases        int64  `json:"cases"` // that moved
	ExitFrom     int    `json:"exit_code_from"`
	ExitTo       int    `json:"exit_code_to"`
	Note         string `json:"note,omitempty"`
	Cannot       string `json:"cannot,omitempty"` // why it cannot be judged again; nothing else holds then
}

// WhatIf is what other rules would have made of stored runs.
type WhatIf struct {
	Job       string          `json:"job"`
	JobDigest string          `json:"job_digest"` // of the other rules
	Nights    []RejudgedNight `json:"nights"`
	Moves     []Move          `json:"moves"`
	Cases     []CaseMove      `json:"cases"`
	Cannot    int             `json:"cannot"` // nights
}

// Other judges the last nights of the stored job again, under the job of o, and tells
// which rows and cases move. Relative paths of both begin in the folder of the stored one,
// below whose output folder the runs are, unless o names another. Nothing is published. A
// night whose inputs are neither there nor staged is told in the result, which has no
// error then.
func Other(ctx context.Context, o pipeline.Options, stored *rules.Job, nights int) (*WhatIf, error) {
	if o.Job.Name != stored.Name {
		return nil, fail.New(fail.Usage, "%s is the job %s, and %s the job %s", o.Job.File, o.Job.Name, stored.File, stored.Name).
			WithHint("give both the same name: ids of cases depend on it")
	}
	o.Out = pipeline.Options{Job: stored, Out: o.Out}.OutPath()
	base := filepath.Dir(stored.File)
	list, err := pipeline.Nights(o.Out, pipeline.Series(stored), nights)
	if err != nil {
		return nil, err
	}
	c := &comparison{out: &WhatIf{Job: o.Job.Name, JobDigest: o.Job.Digest(), Moves: []Move{}, Cases: []CaseMove{}}, job: o.Job}
	for _, info := range list {
		n, err := c.night(ctx, o, base, info)
		if err != nil && fail.ClassOf(err) == fail.Input {
			n = &RejudgedNight{BusinessDate: info.BusinessDate, RunID: info.RunID, Cannot: err.Error()}
			if e, ok := errors.AsType[*fail.Error](err); ok && e.Err != nil {
				n.Cannot = e.Err.Error()
			}
			c.out.Cannot++
			err = nil
		}
		if err != nil {
			return nil, err
		}
		c.out.Nights = append(c.out.Nights, *n)
	}
	c.sort()
	return c.out, nil
}

type comparison struct {
	out *WhatIf
	job *rules.Job
}

// found is what one night gives; it counts only when the night was judged to its end.
type found struct {
	rows, moved, cases int64
	moves              []Move
	caseMoves          []CaseMove
}

func (c *comparison) night(ctx context.Context, o pipeline.Options, base string, info pipeline.RunInfo) (*RejudgedNight, error) {
	dir, err := filepath.Abs(info.Folder)
	if err != nil {
		return nil, fail.Wrap(fail.Resources, err, "the folder of run %s cannot be found", info.RunID)
	}
	was, _, err := pipeline.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	var f found
	res, err := pipeline.Rejudge(ctx, o, dir, base, func(ctx context.Context, db *duck.DB) error {
		return c.compare(ctx, db, dir, was, &f)
	})
	if err != nil {
		return nil, err
	}
	n := &RejudgedNight{BusinessDate: info.BusinessDate, RunID: info.RunID, Rows: f.rows, Moved: f.moved, Cases: f.cases,
		ExitFrom: int(was.Outcome.ExitCode), ExitTo: int(res.ExitCode)}
	var notes []string
	if was.Outcome.Withheld != "" {
		notes = append(notes, "the run held its acting queues back, so that proposals are not compared")
	}
	if res.Manifest.Outcome.Withheld != "" {
		notes = append(notes, "the acting queues would be held back: "+res.Manifest.Outcome.Withheld)
	}
	if now := res.Manifest.Versions; was.Versions.Semantics != now.Semantics {
		notes = append(notes, "judged by another version of the rules of the program, which moves rows too")
	}
	n.Note = strings.Join(notes, "; ")
	c.take(f)
	return n, nil
}

// compare asks the scratch database of the new verdicts beside the files of the run.
func (c *comparison) compare(ctx context.Context, db *duck.DB, dir string, was *pipeline.Manifest, f *found) error {
	if err := c.makeItems(ctx, db, dir); err != nil {
		return err
	}
	compared := was.Outcome.Withheld == ""
	scale := c.scale()
	for i, side := range rules.Sides {
		s := match.Columns(c.job, extract.NewLayout(c.job, side), "s")
		id := "CAST(NULL AS VARCHAR)"
		if side == rules.Operations && c.job.Redact.Fields["operation_id"] == "" {
			id = "CAST(" + s.Raw("operation_id", "VARCHAR") + " AS VARCHAR)"
		}
		amount := "TRY_CAST(" + s.Raw("amount", "VARCHAR") + " AS DECIMAL(38," + fmt.Sprint(scale) + "))"
		if c.job.Redact.Fields["amount"] != "" { // the sum of one row is its amount
			amount = fmt.Sprintf("CAST(NULL AS DECIMAL(38,%d))", scale)
		}
		err := db.Exec(ctx, statement("moved").Render(duck.Slots{
			"side": duck.Literal(string(side)), "file": duck.Literal(filepath.Join(dir, string(side)+".parquet")),
			"rows": "rows_" + string(side), "staged": string(side), "bit": fmt.Sprint(i), "proposals": fmt.Sprint(compared),
			"amount":   amount,
			"currency": "CAST(" + s.Raw("currency", "VARCHAR") + " AS VARCHAR)", "id": id,
		}))
		if err != nil {
			return err
		}
		var rows, moved int64
		if err := db.Scan(ctx, statement("moved_count").Render(duck.Slots{"rows": "rows_" + string(side)}), &rows, &moved); err != nil {
			return err
		}
		f.rows, f.moved = f.rows+rows, f.moved+moved
		moves, err := c.moves(ctx, db, side, was.BusinessDate)
		if err != nil {
			return err
		}
		f.moves = append(f.moves, moves...)
	}
	if !compared {
		return nil
	}
	return c.cases(ctx, db, f)
}

// scale is the number of decimals of sums: those that the job declares, or many.
func (c *comparison) scale() int {
	scale := 0
	for _, side := range rules.Sides {
		f := c.job.Spec(side).Field("amount")
		switch {
		case f == nil || f.Type != rules.Decimal:
		case f.Scale < 0:
			return 18
		default:
			scale = max(scale, f.Scale)
		}
	}
	return scale
}

// makeItems makes the items of both judgements, by the row that they stand on.
func (c *comparison) makeItems(ctx context.Context, db *duck.DB, dir string) error {
	var parts []string
	for _, q := range []string{"confirm", "requeue", "compensate", "review", "close"} {
		file := filepath.Join(dir, "queues", q+".parquet")
		if _, err := os.Stat(file); err != nil {
			continue
		}
		deferred := "deferred"
		if q == "confirm" { // which has fewer columns and is never put off
			deferred = "false"
		}
		parts = append(parts, statement("was_queue").Render(duck.Slots{"queue": duck.Literal(q), "file": duck.Literal(file), "deferred": deferred}))
	}
	if len(parts) == 0 {
		parts = append(parts, statement("was_none").Render(duck.Slots{}))
	}
	scale := fmt.Sprint(c.scale())
	if err := db.Exec(ctx, statement("was_items").Render(duck.Slots{"queues": strings.Join(parts, "\nUNION ALL\n"), "scale": scale})); err != nil {
		return err
	}
	return db.Exec(ctx, statement("now_items").Render(duck.Slots{"scale": scale}))
}

func (c *comparison) moves(ctx context.Context, db *duck.DB, side rules.Side, date string) ([]Move, error) {
	rows, err := db.Query(ctx, statement("moves").Render(duck.Slots{}))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Move
	for rows.Next() {
		m := Move{Side: side, Amounts: []Money{}, Examples: []Example{}}
		var a Money
		var amount, id sql.NullString
		var place int64
		err := rows.Scan(&m.From.Class, &m.From.Reason, &m.From.Proposal, &m.To.Class, &m.To.Reason, &m.To.Proposal,
			&a.Currency, &m.Rows, &amount, &id, &place)
		if err != nil {
			return nil, err
		}
		if place > 0 { // an example
			if c.job.Redact.LooksThrough("operation_id") {
				id.String = scan.Text(id.String)
			}
			m.Rows, m.Examples = 0, append(m.Examples, Example{BusinessDate: date, ID: id.String})
		} else if amount.Valid {
			a.Amount = amount.String
			m.Amounts = append(m.Amounts, a)
		}
		out = append(out, m)
	}
	return out, rows.Err()
}

func (c *comparison) cases(ctx context.Context, db *duck.DB, f *found) error {
	rows, err := db.Query(ctx, statement("cases").Render(duck.Slots{}))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var m CaseMove
		var a Money
		var amount sql.NullString
		if err := rows.Scan(&m.From, &m.To, &a.Currency, &m.Cases, &amount); err != nil {
			return err
		}
		f.cases += m.Cases
		if m.Amounts = []Money{}; amount.Valid {
			a.Amount = amount.String
			m.Amounts = append(m.Amounts, a)
		}
		f.caseMoves = append(f.caseMoves, m)
	}
	return rows.Err()
}

// take adds the moves of a night to those of the others.
func (c *comparison) take(f found) {
	for _, m := range f.moves {
		i := slices.IndexFunc(c.out.Moves, func(o Move) bool { return o.Side == m.Side && o.From == m.From && o.To == m.To })
		if i < 0 {
			c.out.Moves = append(c.out.Moves, Move{Side: m.Side, From: m.From, To: m.To, Amounts: []Money{}, Examples: []Example{}})
			i = len(c.out.Moves) - 1
		}
		to := &c.out.Moves[i]
		to.Rows += m.Rows
		to.Amounts = addMoney(to.Amounts, m.Amounts)
		for _, e := range m.Examples {
			again := slices.ContainsFunc(to.Examples, func(o Example) bool { return o.ID == e.ID }) // a row of several nights
			if len(to.Examples) < mostExamples && !again {
				to.Examples = append(to.Examples, e)
			}
		}
	}
	for _, m := range f.caseMoves {
		i := slices.IndexFunc(c.out.Cases, func(o CaseMove) bool { return o.From == m.From && o.To == m.To })
		if i < 0 {
			c.out.Cases = append(c.out.Cases, CaseMove{From: m.From, To: m.To, Amounts: []Money{}})
			i = len(c.out.Cases) - 1
		}
		to := &c.out.Cases[i]
		to.Cases += m.Cases
		to.Amounts = addMoney(to.Amounts, m.Amounts)
	}
}

const mostExamples = 3

// sort puts what moves most first.
func (c *comparison) sort() {
	slices.SortFunc(c.out.Moves, func(a, b Move) int {
		return cmp.Or(cmp.Compare(a.Side, b.Side), cmp.Compare(b.Rows, a.Rows),
			cmp.Compare(a.From.text(), b.From.text()), cmp.Compare(a.To.text(), b.To.text()))
	})
	slices.SortFunc(c.out.Cases, func(a, b CaseMove) int {
		return cmp.Or(cmp.Compare(b.Cases, a.Cases), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
}

func (s Standing) text() string { return s.Class + "/" + s.Reason + " " + s.Proposal }
