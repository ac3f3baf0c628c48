package s3

import (
	"context"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
)

// Check implements fetch.Puller: the keys are there, the bucket can be listed, and the
// first object that the address names now can be read. No object is no problem: it may be
// there tomorrow.
func (u Puller) Check(ctx context.Context, r *fetch.Request) []string {
	return fetch.Problems(u.check(ctx, r))
}

func (u Puller) check(ctx context.Context, r *fetch.Request) error {
	brief := *r
	brief.Until = time.Time{} // whoever asks does not want to wait for long
	p, err := u.begin(ctx, &brief)
	if err != nil {
		return err
	}
	p.tries = 3
	objects, err := p.list(ctx)
	if err != nil || len(objects) == 0 {
		return err
	}
	o := objects[0]
	if err := p.pinned(ctx, o); err != nil || o.size == 0 {
		return err
	}
	return p.part(ctx, o, 0, make([]byte, 1))
}
