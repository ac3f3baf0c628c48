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
