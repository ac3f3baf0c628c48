package match

import (
	"context"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// Views makes the relations operations and results (see the package comment), and what
// [Due] calls for windows by a calendar. It links nothing: for those who read the
// staged rows of a run beside its outputs.
func Views(ctx context.Context, db *duck.DB, job *rules.Bound, ops, res *extract.Relation) error {
	c := &cascade{ctx: ctx, db: db, job: job, ops: ops, res: res}
	if err := c.views(); err != nil {
		return err
	}
	return c.calendars()
}

// Within is a boolean over rows o of the operations and r of the results, by their
// staged columns: the times of a pass are within its bounds.
func Within(job *rules.Job, p rules.Pass) string {
	out := "true"
	for _, w := range p.Within {
		out = and(out, withinSQL(job, w))
	}
	return out
}
