package s3

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// request is what is asked, for errors.
type request struct {
	op     string // of the API
	at     string // address
	object *object

	// gained tells how many bytes the request has brought so far, over all attempts; nil
	// where it brings none.
	gained func() int64
}

// ask sends a request until it is answered, or cannot be. What is temporary is sent again
// after a random wait below a bound that doubles, until the time of the request is over; a
// request without such a time is given up after some attempts that bring nothing.
func ask[T any](ctx context.Context, p *pull, rq request, send func(context.Context) (T, error)) (T, error) {
	var none T
	bound, tries, had, renewed := p.pause, 0, int64(0), 0
	for {
		creds, err := p.st.keep(ctx)
		out := none
		if err == nil {
			out, err = once(ctx, p, rq, send)
		} else {
			err = &noKeys{err}
		}
		if err == nil {
			return out, nil
		}
		if ctx.Err() != nil {
			return none, context.Cause(ctx)
		}
		if errors.Is(err, errNone) {
			return none, err
		}
		if f, ok := errors.AsType[*Final](err); ok {
			return none, f.Err
		}
		v := p.judge(rq, err)
		if v.expired && renewed < 2 {
			renewed++
			switch err := p.st.renew(ctx, creds); {
			case err == nil:
				p.sentAgain()
				continue
			case !errors.Is(err, errSameKeys):
				v = p.judge(rq, &noKeys{err})
			}
		}
		if !v.again {
			return none, v.err
		}
		if rq.gained != nil {
			if has := rq.gained(); has-had >= 64<<10 {
				had, tries, bound = has, 0, p.pause // it goes on, if slowly
			}
		}
		tries++
		wait := max(time.Duration(rand.Int64N(int64(bound))), v.after)
		bound = min(2*bound, max(longestPause, p.pause))
		endless := p.r.Until.IsZero()
		if (endless || v.few) && tries >= p.tries || endless && wait > mostWait || !endless && p.r.Now().Add(wait).After(p.r.Until) {
			return none, v.err
		}
		if tries == 3 {
			p.say(v.err.Msg + "; it is tried again")
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return none, context.Cause(ctx)
		}
		p.sentAgain()
	}
}

// once sends one attempt. One that brings no bytes is short, and ends when nothing comes.
func once[T any](ctx context.Context, p *pull, rq request, send func(context.Context) (T, error)) (T, error) {
	if rq.gained == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, 2*p.idle, errIdle)
		defer cancel()
	}
	out, err := send(ctx)
	return out, idled(ctx, err)
}

func (p *pull) sentAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.again++
}

// noKeys is an error of whoever gives the credentials.
type noKeys struct{ err error }

func (n *noKeys) Error() string { return n.err.Error() }
func (n *noKeys) Unwrap() error { return n.err }

// verdict is what becomes of an error.
type verdict struct {
	err     *fail.Error
	again   bool          // the request may be sent again
	few     bool          // but not for long: it hardly changes by itself
	after   time.Duration // not before that
	expired bool          // new credentials may help
}
