package web

import (
	"context"
	"math"
	"net/url"
	"sync"

	"golang.org/x/time/rate"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// pace is how often one host is asked. An answer 429 halves it, down to a sixty-fourth;
// after twenty successes it goes up by a quarter, to what the job allows.
type pace struct {
	l    *rate.Limiter
	full rate.Limit
	mu   sync.Mutex
	calm int
}

const calmNeeded = 20

func (c *Client) pace(u *url.URL) *pace {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.paces[u.Host]
	if p == nil {
		per := rate.Limit(c.o.Web.Requests.PerSecond())
		// A second's worth at once, so that a low rate does not wait before the first one
		// and a high one is reached.
		p = &pace{l: rate.NewLimiter(per, max(1, int(math.Ceil(float64(per))))), full: per}
		c.paces[u.Host] = p
	}
	return p
}

func (p *pace) wait(ctx context.Context) error { return p.l.Wait(ctx) }

func (p *pace) slower() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calm = 0
	p.l.SetLimit(max(p.l.Limit()/2, p.full/64))
}

func (p *pace) well() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.l.Limit() >= p.full {
		return
	}
	if p.calm++; p.calm >= calmNeeded {
		p.calm = 0
		p.l.SetLimit(min(p.l.Limit()*5/4, p.full))
	}
}

func (c *Client) succeeded(u *url.URL) {
	c.pace(u).well()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.row < c.o.Web.Requests.Failures { // once open, the circuit stays open
		c.row = 0
	}
}

func (c *Client) failed(u *url.URL, slower bool) {
	if slower {
		c.pace(u).slower()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.row++
}

// stopped tells whether so many attempts failed one after the other that nothing is
// asked any more.
func (c *Client) stopped() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.o.Web.Requests.Failures; c.row >= n {
		return fail.New(fail.Temporary, "the source %s: %d attempts failed one after the other, nothing is asked any more", c.o.Source, n).
			WithHint("start the run again when the service is well")
	}
	return nil
}
