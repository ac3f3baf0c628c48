package match

import (
	"context"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// Views makes the relations operations and results (see the package comment) and
// links nothing: for those who read the staged rows of a run beside its outputs.
func Views(ctx context.Context, db *duck.DB, job *rules.Bound, ops, res *extract.Relation) error {
	return (&cascade{ctx: ctx, db: db, job: job, ops: ops, res: res}).views()
}
