package report

import (
	"context"
	"database/sql"
	"strconv"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

var sqlRetryOutcomes = parseSQL("retry_outcomes")

// RetryOutcome counts the operations in the period that were attempted more than once or
// state an error, by class and code of it as the register has them.
type RetryOutcome struct {
	ErrorClass string `json:"error_class"` // "" not stated, not declared or redacted; other: no plain code, or past 50 groups
	ErrorCode  string `json:"error_code"`  // likewise
	Operations int64  `json:"operations"`
	Attempts   int64  `json:"attempts"`
	Confirmed  int64  `json:"confirmed"` // of the operations: correct
	Share      string `json:"share"`     // confirmed of operations, six decimals
}

// retryOutcomes groups them; none where the job declares neither attempts nor an error.
func retryOutcomes(ctx context.Context, db *duck.DB, in *Input) ([]RetryOutcome, error) {
	out := []RetryOutcome{}
	job := in.Bound.Job
	attempts := "CAST(NULL AS BIGINT)"
	if f := job.Operations.Field("attempts"); f != nil && f.Type == rules.Integer {
		attempts = attemptsMade
	} else if !errorDeclared(job) {
		return out, nil
	}
	q := sqlRetryOutcomes.Render(duck.Slots{"attempts": attempts, "class": noneNull(codeExpr(job, "error_class")), "code": codeExpr(job, "error_code"), "top": strconv.Itoa(workTop)})
	err := each(ctx, db, q, func(rows *sql.Rows) error {
		var r RetryOutcome
		err := rows.Scan(&r.ErrorClass, &r.ErrorCode, &r.Operations, &r.Attempts, &r.Confirmed)
		if r.Operations > 0 {
			r.Share = bigRatio(r.Confirmed, r.Operations)
		}
		out = append(out, r)
		return err
	})
	return out, err
}

// noneNull makes the class none, which states no error, a null.
func noneNull(expr string) string { return "nullif(" + expr + ", 'none')" }
