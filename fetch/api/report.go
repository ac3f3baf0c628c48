package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/web"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// mostState bounds an answer that is not data: of the request for a report, of its state.
const mostState = 1 << 20

// report has a report made, waits for it and brings it. A pull that was cut short goes on
// with the report that was asked for.
func (l *pull) report(ctx context.Context, s *fetch.Snapshot) error {
	resumed := l.j.report != nil
	for {
		err := l.reported(ctx, s)
		switch class := fail.ClassOf(err); {
		case err == nil, class != fail.Usage && class != fail.Input:
			return err
		case !resumed:
			return l.forget(err)
		}
		// The report of an earlier pull may have gone in the meantime.
		resumed = false
		if err := l.j.begin(1); err != nil {
			return err
		}
	}
}

func (l *pull) reported(ctx context.Context, s *fetch.Snapshot) error {
	if len(l.j.pages) == 0 {
		if err := l.bring(ctx); err != nil {
			return err
		}
	}
	pg := &l.j.pages[0]
	s.Files = []fetch.File{pg.File}
	s.Proof = "the service says that the report is " + l.c.Secrets.Hide(pg.Said) + ", and it came whole"
	if l.a.Report.Bytes != "" {
		s.Proof += ", with the size that the service stated"
	}
	if l.a.Report.SHA256 != "" {
		s.Proof += ", with the digest that the service stated"
	}
	return nil
}

// bring has the report made and downloads it.
func (l *pull) bring(ctx context.Context) error {
	if l.j.report == nil {
		id, err := l.create(ctx)
		if err != nil {
			return err
		}
		l.j.report = &reportEntry{ID: id, Time: l.r.Now().UTC().Format(time.RFC3339Nano)}
		if err := l.j.write(entry{Report: l.j.report}); err != nil {
			return err
		}
		if err := l.j.sync(); err != nil {
			return err
		}
	}
	state, err := l.wait(ctx)
	if err != nil {
		return err
	}
	f, head, err := l.download(ctx, state)
	if err != nil {
		return err
	}
	f.Address, f.Version, f.Modified = l.c.Secrets.Shown(l.origin), head.Get("Etag"), head.Get("Last-Modified")
	pg := page{File: f, Bytes: f.Size, Said: state.said}
	if err := l.j.write(entry{Page: &pg}); err != nil {
		return err
	}
	l.j.pages = append(l.j.pages, pg)
	return l.j.sync()
}

// small asks for an answer that is not data, and reads it.
func (l *pull) small(ctx context.Context, call *web.Call, paths ...string) (s *scanned, head http.Header, err error) {
	call.Most = mostState
	call.Read = func(res *http.Response) error {
		in, err := l.c.Plain(res, mostState)
		if err != nil {
			return err
		}
		head = res.Header
		s, err = scanValues(in, paths)
		if b, ok := errors.AsType[*broken](err); ok && !b.cut {
			return l.input("see api.report", "the answer of %s: %s", l.c.Secrets.Shown(call.URL), b.why)
		}
		return err
	}
	return s, head, l.c.Do(ctx, call)
}

// create asks for the report and gives its id.
func (l *pull) create(ctx context.Context) (string, error) {
	call, err := l.call(position{})
	if err != nil {
		return "", err
	}
	s, head, err := l.small(ctx, call, l.a.Report.ID)
	if err != nil {
		return "", err
	}
	id := s.text(head, l.a.Report.ID)
	switch {
	case id == "":
		return "", l.input("see api.report.id", "the answer names no report at %s", l.a.Report.ID)
	case l.c.Secrets.In(id):
		return "", l.input("ask the provider", "the id of the report holds a secret, which would be stored")
	}
	return id, nil
}

// state is what the service says of a report that can be had.
type state struct {
	said     string
	download string
	bytes    string
	sha256   string
}

// wait looks at the state of the report until it can be had.
func (l *pull) wait(ctx context.Context) (*state, error) {
	p := l.a.Report
	at, err := l.about(string(p.Poll), "api.report.poll")
	if err != nil {
		return nil, err
	}
	until := l.r.Now().Add(l.a.Limits.Time)
	if !l.r.Until.IsZero() && l.r.Until.Before(until) {
		until = l.r.Until
	}
	for {
		s, head, err := l.small(ctx, &web.Call{URL: at, Header: http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}}, Open: !web.SameOrigin(l.origin, at)},
			p.Status, p.Download, p.Bytes, p.SHA256)
		if err != nil {
			return nil, err
		}
		said := s.text(head, p.Status)
		switch {
		case said == "":
			return nil, l.input("see api.report.status", "the answer says no state of the report at %s", p.Status)
		case slices.Contains(p.Failed, said):
			return nil, l.input("ask the provider; the next run asks for another report", "the service could not make the report: it is %s", said)
		case slices.Contains(p.Done, said):
			return &state{said: said, download: s.text(head, p.Download), bytes: s.text(head, p.Bytes), sha256: s.text(head, p.SHA256)}, nil
		}
		if l.r.Now().Add(p.Every).After(until) {
			return nil, fail.New(fail.Temporary, "the source %s: the report is still %q", l.r.Source().Name, l.c.Secrets.Hide(said)).
				WithHint("start the run again later, it goes on with this report; or raise limits.time, or see api.report.done")
		}
		t := time.NewTimer(p.Every)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, context.Cause(ctx)
		case <-t.C:
		}
	}
}

// about fills an address in that names the report.
func (l *pull) about(text, what string) (*url.URL, error) {
	extra := map[string]string{"id": url.PathEscape(l.j.report.ID)}
	for k, v := range l.slices[0].extra {
		extra[k] = v
	}
	text, err := rules.Template(text).FillWith(l.r.Job.Date, l.r.Input.FileDate, extra)
	if err == nil {
		var u *url.URL
		if u, err = url.Parse(text); err == nil {
			return u, nil
		}
	}
	return nil, l.usage("see "+what, "%s cannot be filled in", what)
}

// download brings the report to its file.
func (l *pull) download(ctx context.Context, st *state) (fetch.File, http.Header, error) {
	p := l.a.Report
	var at *url.URL
	var err error
	if p.Content != "" {
		at, err = l.about(string(p.Content), "api.report.content")
	} else if at, err = l.origin.Parse(st.download); err != nil || st.download == "" {
		err = l.input("see api.report.download", "the answer that says that the report is done names no address at %s", p.Download)
	}
	if err != nil {
		return fetch.File{}, nil, err
	}
	name := l.r.Input.Path
	var w *fetch.Writer
	defer func() {
		if w != nil {
			w.Abort()
		}
	}()
	var head http.Header
	err = l.c.Do(ctx, &web.Call{
		URL: at, Header: http.Header{"Accept-Encoding": {"identity"}}, Open: !web.SameOrigin(l.origin, at), Most: l.a.Limits.Bytes,
		Read: func(res *http.Response) error {
			if w != nil {
				w.Abort()
			}
			if w, err = fetch.Create(l.r.Dir, name); err != nil {
				return err
			}
			head = res.Header
			in, err := l.c.Plain(res, l.a.Limits.Bytes)
			if err != nil {
				return err
			}
			watch := l.c.Secrets.Watch()
			if _, err = io.Copy(w, io.TeeReader(&told{r: in, to: func(n int64) { l.r.Progress(name, n, 0) }}, watch)); err != nil {
				return err
			}
			if watch.Found {
				return l.usage("ask the provider", "the report holds a secret of ours, and would be stored with it")
			}
			return nil
		},
	})
	if err != nil {
		return fetch.File{}, nil, err
	}
	if size := strconv.FormatInt(w.Size(), 10); p.Bytes != "" && st.bytes != size {
		return fetch.File{}, nil, l.input("ask the provider", "the report has %s bytes, the service says %q", size, st.bytes)
	}
	if p.SHA256 != "" && st.sha256 == "" {
		return fetch.File{}, nil, l.input("see api.report.sha256", "the service says no digest at %s", p.SHA256)
	}
	f, err := w.Commit()
	if err == nil && p.SHA256 != "" && !strings.EqualFold(f.SHA256, st.sha256) {
		err = l.input("ask the provider", "the report has the SHA-256 %s, the service says %q", f.SHA256, st.sha256)
	}
	return f, head, err
}

// told tells how much was read.
type told struct {
	r  io.Reader
	n  int64
	to func(int64)
}

func (t *told) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	t.to(t.n)
	return n, err
}
