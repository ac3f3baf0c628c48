package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/web"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Puller pulls sources of the kind api.
type Puller struct {
	Pause time.Duration // of the first wait before a request is sent again; 0: a second
}

// pull is one pull that is under way.
type pull struct {
	r      *fetch.Request
	a      *rules.API
	c      *web.Client
	origin *url.URL
	slices []slice
	digest string // of what is asked for
	j      *journal
	z      packer
	seen   *seen     // of the slice that is read
	from   time.Time // zero: nothing is asked by time
	until  time.Time
}

// slice is a part of the window with pages of its own; without a window there is one.
type slice struct {
	stamp string            // part of the names of its files; "" where there is one slice
	extra map[string]string // from and until as the service wants them
	url   *url.URL
}

// changed is why a pull has to begin anew: what was read does not fit together, and may
// the next time.
type changed struct{ why string }

func (c *changed) Error() string { return c.why }

// Pull implements fetch.Puller.
func (p Puller) Pull(ctx context.Context, r *fetch.Request) (*fetch.Snapshot, error) {
	l, err := p.prepare(r)
	if err != nil {
		return nil, err
	}
	defer l.c.Close()
	if err := l.settled(0); err != nil {
		return nil, err
	}
	if l.j, err = openJournal(r.Dir, l.digest); err != nil {
		return nil, err
	}
	defer l.j.close()
	s := &fetch.Snapshot{Kind: rules.FromAPI, Address: l.c.Secrets.Shown(l.origin), Request: l.digest}
	if l.a.Report != nil {
		err = l.report(ctx, s)
	} else {
		err = l.pages(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	if !l.from.IsZero() {
		s.From, s.Until = l.from.UTC().Format(time.RFC3339), l.until.UTC().Format(time.RFC3339)
	}
	s.Requests, s.Retries = l.c.Counts()
	return s, nil
}

// Check implements fetch.Puller: it asks for the first page, and looks whether what the
// job expects of it is there. A request that changes something is not sent.
func (p Puller) Check(ctx context.Context, r *fetch.Request) []string {
	l, err := p.prepare(r)
	if err == nil {
		defer l.c.Close()
		if l.a.Report == nil && (l.a.Method == "GET" || l.a.Safe) {
			err = l.look(ctx)
		}
	}
	return fetch.Problems(err)
}

// prepare resolves what the job says for the date.
func (p Puller) prepare(r *fetch.Request) (*pull, error) {
	l := &pull{r: r, a: r.Source().Remote.API}
	if err := l.z.of(r.Source()); err != nil {
		return nil, err
	}
	if err := l.window(); err != nil {
		return nil, err
	}
	until := r.Now().Add(l.a.Limits.Time)
	if !r.Until.IsZero() && r.Until.Before(until) {
		until = r.Until
	}
	l.origin = l.slices[0].url
	var err error
	if l.c, err = web.New(web.Options{
		Source: r.Source().Name, Web: &l.a.Web, Origins: []*url.URL{l.origin}, BaseDir: r.BaseDir, Until: until, Now: r.Now, Note: r.Note, Pause: p.Pause,
	}); err != nil {
		return nil, err
	}
	l.digest, err = l.asked()
	return l, err
}

// usage is an error of the declaration.
func (l *pull) usage(hint, format string, args ...any) error {
	return fail.New(fail.Usage, "the source %s: %s", l.r.Source().Name, fmt.Sprintf(format, args...)).WithHint("%s", hint)
}

// input is an error of what came.
func (l *pull) input(hint, format string, args ...any) error {
	return fail.New(fail.Input, "the source %s: %s", l.r.Source().Name, l.c.Secrets.Hide(fmt.Sprintf(format, args...))).WithHint("%s", hint)
}

// window cuts the time that is asked for into slices.
func (l *pull) window() error {
	w, date, day := l.a.Window, l.r.Job.Date, l.r.Input.FileDate
	spans := [][2]time.Time{{}}
	var zone *time.Location
	if w != nil {
		zone = w.In(l.r.Job.Job)
		from, until, err := w.Resolve(l.r.Job.Job, date, day)
		switch {
		case err != nil:
			return err
		case !from.Before(until):
			return l.usage("`until` is the first instant that is not asked for", "its window is empty: from %s until %s", from.Format(time.RFC3339), until.Format(time.RFC3339))
		case w.WholeDays() && (!midnight(from, zone) || !midnight(until, zone)):
			return l.usage("let the window begin and end at midnight, or choose another form", "its window is asked for in days, and is not whole days")
		}
		l.from, l.until = from.Add(-w.Overlap), until
		if spans = w.Slices(l.from, until, zone); int64(len(spans)) > l.a.Limits.Pages {
			return l.usage("take a longer step, or raise limits.pages", "its window has %d slices, limits.pages is %d", len(spans), l.a.Limits.Pages)
		}
	}
	for _, s := range spans {
		one := slice{extra: map[string]string{}}
		if w != nil {
			one.extra["from"], one.extra["until"] = w.Stamp(s[0], zone, false), w.Stamp(s[1], zone, true)
			if len(spans) > 1 || w.Step != "" {
				one.stamp = s[0].UTC().Format("20060102T150405Z")
			}
		}
		text, err := l.a.URL.FillWith(date, day, one.extra)
		if err == nil {
			one.url, err = url.Parse(text)
		}
		if err != nil {
			return l.usage("see api.url", "its URL cannot be made: %s", err)
		}
		l.slices = append(l.slices, one)
	}
	return nil
}

// midnight tells whether an instant is the first of a day.
func midnight(t time.Time, zone *time.Location) bool {
	return t.Add(-time.Nanosecond).In(zone).Format(time.DateOnly) != t.In(zone).Format(time.DateOnly)
}

// settled refuses a window that may still be written to, by our clock put forward by skew.
func (l *pull) settled(skew time.Duration) error {
	if l.a.Window == nil {
		return nil
	}
	ready := l.until.Add(l.a.Window.Settle)
	if now := l.r.Now().Add(skew); now.Before(ready) {
		whose := ""
		if skew != 0 {
			whose = ", by the clock of the service"
		}
		return fail.New(fail.Input, "the source %s: its window ends at %s and is settled at %s, which is not reached%s", l.r.Source().Name,
			l.until.UTC().Format(time.RFC3339), ready.UTC().Format(time.RFC3339), whose).
			WithHint("start the run after that, or reconcile an earlier business date")
	}
	return nil
}

// asked is the digest of everything that says what is asked for, without secrets.
func (l *pull) asked() (string, error) {
	what := []any{l.a.Method, l.a.Pagination, l.a.Records, l.a.Count, l.a.Total, l.a.Through, l.a.Report, l.r.Input.Path, l.z.ending}
	for _, s := range l.slices {
		q, h, b, err := l.parts(s)
		if err != nil {
			return "", err
		}
		what = append(what, s.stamp, s.url.String(), q, h, b)
	}
	text, err := json.Marshal(what)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// fileName of a page: the name of the source, its slice, and its number in it from 1.
func (l *pull) fileName(p position) string {
	ending := path.Ext(l.r.Input.Path)
	base := strings.TrimSuffix(l.r.Input.Path, ending)
	if stamp := l.slices[p.Slice].stamp; stamp != "" {
		base += "-" + stamp
	}
	return fmt.Sprintf("%s-%06d%s%s", base, p.Page+1, ending, l.z.ending)
}
