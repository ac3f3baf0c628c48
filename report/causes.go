package report

import (
	"context"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// causes fills what holds the rest, what the exceptions have in common, and how the
// operations went on their way.
func causes(ctx context.Context, db *duck.DB, in *Input, red *redactor, s *Summary) (err error) {
	if s.Holds, err = holds(ctx, db, in, red); err != nil {
		return err
	}
	if s.Clusters, err = clusters(ctx, db, in, red, s.Exceptions.Of); err != nil {
		return err
	}
	var byType []Confirmation
	if s.Latency, byType, err = confirmationTimes(ctx, db, in); err != nil {
		return err
	}
	if s.Work != nil && timed(in.Bound.Job) {
		s.Work.Confirmation, s.Work.ConfirmationOf = byType, 1
	}
	s.Retries, err = retryOutcomes(ctx, db, in)
	return err
}
