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

// paces are those of all clients of the process: sources of one host, and the days of one
// source, are pulled at the same time, and the host counts them together.
var paces = struct {
	sync.Mutex
	of map[paceKey]*pace
}{of: map[paceKey]*pace{}}

type paceKey struct {
	host string
	full rate.Limit
}

func (c *Client) pace(u *url.URL) *pace {
	paces.Lock()
	defer paces.Unlock()
	per := rate.Limit(c.o.Web.Requests.PerSecond())
	at := paceKey{u.Host, per}
	p := paces.of[at]
	if p == nil {
		// A second's worth at once, so that a low rate does not wait before the first one
		// and a high one is reached.
		p = &pace{l: rate.NewLimiter(per, max(1, int(math.Ceil(float64(per))))), full: per}
		paces.of[at] = p
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
	told := c.told[u.Host]
	c.told[u.Host] = told || slower
	c.row++
	c.mu.Unlock()
	if slower && !told {
		c.o.Note("the source %s: %s says that it is asked too often; it is asked less often for a while", c.o.Source, u.Host)
	}
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
