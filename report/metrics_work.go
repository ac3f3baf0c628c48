package report

import (
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

var (
	sqlWorkTotals   = parseSQL("work_totals")
	sqlWorkTimes    = parseSQL("work_times")
	sqlWorkCauses   = parseSQL("work_causes")
	sqlWorkFailures = parseSQL("work_failures")
)

// Work is how the operations went on their way: attempts, failures and times, as the
// register states them. What the job does not declare is 0, empty or null. Texts of
// redacted fields do not appear.
type Work struct {
	OldestPendingSecs *int64         `json:"oldest_pending_seconds"` // age at as_of of the oldest operation that is not settled, in the period or not; null without created_at
	Attempted         int64          `json:"attempted"`              // operations in the period with at least one attempt stated
	Attempts          int64          `json:"attempts"`               // of them, in all
	Retried           int64          `json:"retried"`                // of them, with more than one
	RetriedCorrect    int64          `json:"retried_correct"`
	Causes            []RetryCause   `json:"causes"`   // most retries first; past 50 they are other
	Failures          []Failure      `json:"failures"` // most operations first; past 50 they are other
	Resolved          int64          `json:"resolved"` // operations in the period with resolved_at and first_failed_at
	ResolutionMedian  *int64         `json:"resolution_median_us"`
	ResolutionLongest *int64         `json:"resolution_longest_us"`
	ReplaysFailed     *int64         `json:"manual_replays_failed"` // null where the job declares no replayed_at
	Confirmation      []Confirmation `json:"confirmation"`          // by type
	ConfirmationOf    int64          `json:"confirmation_of"`       // 1: every link is measured; n: one in so many, chosen by key; 0 none
}

// RetryCause counts the attempts after the first by what the register states as the error.
type RetryCause struct {
	Cause      string `json:"cause"` // error_class, else error_code; not_stated; other: no plain code
	Operations int64  `json:"operations"`
	Retries    int64  `json:"retries"`
}

// Failure counts operations in the period that are not correct or not_applicable, and have
// an error stated.
type Failure struct {
	Type       string `json:"type"`
	Step       string `json:"step"` // the field step; "" not declared
	Cause      string `json:"cause"`
	Operations int64  `json:"operations"`
}

// Confirmation is the time from the creation of correct operations to their result, by
// nearest rank, in microseconds.
type Confirmation struct {
	Type  string `json:"type"`
	Links int64  `json:"links"`
	P50   int64  `json:"p50_us"`
	P95   int64  `json:"p95_us"`
	P99   int64  `json:"p99_us"`
}

// workTop bounds the lists.
const workTop = 50

// work measures the operations.
func work(ctx context.Context, db *duck.DB, in *Input, operations int64) (*Work, error) {
	w := &Work{Causes: []RetryCause{}, Failures: []Failure{}, Confirmation: []Confirmation{}}
	job := in.Bound.Job
	has := func(name string, t rules.FieldType) bool {
		f := job.Operations.Field(name)
		return f != nil && f.Type == t
	}
	micros := func(name string) string {
		if has(name, rules.Timestamp) {
			return "o." + duck.Ident("f_"+name)
		}
		return "CAST(NULL AS BIGINT)"
	}
	slots := duck.Slots{"attempts": "CAST(NULL AS BIGINT)", "cause": causeExpr(job), "created": micros("created_at"), "resolved": micros("resolved_at"),
		"failed": micros("first_failed_at"), "replayed": micros("replayed_at"), "last_failed": micros("last_failed_at"), "type": codeExpr(job, "type"), "step": codeExpr(job, "step"),
		"top": strconv.Itoa(workTop)}
	if has("attempts", rules.Integer) {
		slots["attempts"] = attemptsMade
	}
	var oldest, median, longest sql.NullInt64
	var replays int64
	err := db.Scan(ctx, sqlWorkTotals.Render(only(slots, "attempts", "created", "resolved", "replayed", "last_failed")), &w.Attempted, &w.Attempts, &w.Retried, &w.RetriedCorrect, &oldest, &replays)
	if err != nil {
		return nil, err
	}
	if has("resolved_at", rules.Timestamp) && has("first_failed_at", rules.Timestamp) {
		if err := db.Scan(ctx, sqlWorkTimes.Render(only(slots, "resolved", "failed")), &w.Resolved, &median, &longest); err != nil {
			return nil, err
		}
	}
	if has("created_at", rules.Timestamp) {
		age := int64(0)
		if oldest.Valid {
			age = (in.Bound.AsOfTime.UnixMicro() - oldest.Int64) / 1_000_000
		}
		w.OldestPendingSecs = &age
	}
	if median.Valid {
		w.ResolutionMedian, w.ResolutionLongest = &median.Int64, &longest.Int64
	}
	if has("replayed_at", rules.Timestamp) {
		w.ReplaysFailed = &replays
	}
	if w.Retried > 0 {
		err := each(ctx, db, sqlWorkCauses.Render(only(slots, "attempts", "cause", "top")), func(rows *sql.Rows) error {
			var c RetryCause
			err := rows.Scan(&c.Cause, &c.Operations, &c.Retries)
			w.Causes = append(w.Causes, c)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if errorDeclared(job) {
		err := each(ctx, db, sqlWorkFailures.Render(only(slots, "type", "step", "cause", "top")), func(rows *sql.Rows) error {
			var f Failure
			err := rows.Scan(&f.Type, &f.Step, &f.Cause, &f.Operations)
			w.Failures = append(w.Failures, f)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

func only(all duck.Slots, names ...string) duck.Slots {
	out := duck.Slots{}
	for _, n := range names {
		out[n] = all[n]
	}
	return out
}

// causeFields state the error of an operation, the first one that is declared and has a text.
var causeFields = []string{"error_class", "error_code"}

// codeField tells whether a text field of the operations may appear as a code.
func codeField(job *rules.Job, name string) bool {
	f := job.Operations.Field(name)
	return f != nil && f.Type == rules.Text && job.Redact.Fields[name] == ""
}

func errorDeclared(job *rules.Job) bool {
	return slices.ContainsFunc(causeFields, func(f string) bool { return codeField(job, f) })
}

func causeExpr(job *rules.Job) string {
	expr := "NULL"
	for _, name := range slices.Backward(causeFields) {
		if codeField(job, name) {
			expr = fmt.Sprintf("coalesce(%s, %s)", codeExpr(job, name), expr)
		}
	}
	return "CAST(" + expr + " AS VARCHAR)"
}

// codeExpr is a text where it looks like a code, other where it does not: what people
// typed, and what may be a card or an account number, is no label.
func codeExpr(job *rules.Job, name string) string {
	if !codeField(job, name) {
		return "CAST(NULL AS VARCHAR)"
	}
	v := "o." + duck.Ident("f_"+name)
	return fmt.Sprintf(`(CASE WHEN %[1]s IS NULL OR %[1]s = '' THEN NULL WHEN regexp_full_match(%[1]s, '[A-Za-z0-9][A-Za-z0-9_./:-]{0,63}') AND NOT regexp_matches(%[1]s, '[0-9]([ ./:_-]?[0-9]){6}') THEN %[1]s ELSE 'other' END)`, v)
}

// bigRatio is n of d as a decimal with six places, rounded half away from zero.
func bigRatio(n, d int64) string { return big.NewRat(n, d).FloatString(6) }

// work adds what the register says of its own work.
func (l *familyList) work(w *Work) {
	if w == nil {
		w = &Work{}
	}
	var causes, failures, times []Sample
	for _, c := range w.Causes {
		causes = append(causes, gauge(c.Retries, "cause", c.Cause))
	}
	for _, f := range w.Failures {
		failures = append(failures, gauge(f.Operations, "workflow", f.Type, "step", f.Step, "reason", f.Cause))
	}
	for _, c := range w.Confirmation {
		for _, q := range []struct {
			name string
			us   int64
		}{{"50", c.P50}, {"95", c.P95}, {"99", c.P99}} {
			times = append(times, gauge(secondsText(q.us), "type", c.Type, "percentile", q.name))
		}
	}
	l.add("oldest_pending_age_seconds", gauge(known(w.OldestPendingSecs)))
	l.add("attempted_operations", gauge(w.Attempted))
	l.add("attempts_mean", gauge(ratio(w.Attempts, w.Attempted)))
	l.add("retried_operations", gauge(w.Retried))
	l.add("retry_success_ratio", gauge(ratio(w.RetriedCorrect, w.Retried)))
	l.add("retries", causes...)
	l.add("failures", failures...)
	l.add("confirmation_seconds", times...)
	l.add("resolution_median_seconds", gauge(micros(w.ResolutionMedian)))
	l.add("resolution_longest_seconds", gauge(micros(w.ResolutionLongest)))
	l.add("resolved_operations", gauge(w.Resolved))
	l.add("manual_replays_failed", gauge(known(w.ReplaysFailed)))
}

// secondsText prints microseconds as seconds.
func secondsText(us int64) string {
	return strconv.FormatFloat(float64(us)/1e6, 'f', -1, 64)
}

func micros(us *int64) string {
	if us == nil {
		return "NaN"
	}
	return secondsText(*us)
}
