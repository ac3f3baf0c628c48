package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// packer compresses pages, all in the same way.
type packer struct {
	ending string // of their names
	enc    *zstd.Encoder
	dec    *zstd.Decoder
}

// of takes over how the source is compressed; a report is stored as it comes.
func (z *packer) of(s *rules.Source) error {
	if s.Remote.API.Report != nil {
		return nil
	}
	switch s.Compression {
	case rules.CompressionAuto, rules.CompressionZstd:
		z.ending = ".zst"
	case rules.CompressionNone:
	default:
		return fail.New(fail.Usage, "the source %s: pages are compressed by zstd or not at all, `compression` is %s", s.Name, s.Compression).
			WithHint("leave `compression` out")
	}
	return nil
}

// headersThatMatter are kept of answers.
var headersThatMatter = []string{
	"Content-Type", "Date", "Etag", "Last-Modified", "Link", "Ratelimit", "Ratelimit-Policy", "Ratelimit-Remaining", "Request-Id",
	"X-Correlation-Id", "X-Ratelimit-Remaining", "X-Request-Id",
}

// paths of a page that are looked for.
func (l *pull) paths() []string {
	return []string{l.a.Count, l.a.Total, l.a.Through, l.a.Pagination.Next, l.a.Pagination.More}
}

// headers are those of an answer that are kept, without secrets.
func (l *pull) headers(h http.Header) map[string][]string {
	out := map[string][]string{}
	keep := func(name string) {
		for _, v := range h.Values(name) {
			out[http.CanonicalHeaderKey(name)] = append(out[http.CanonicalHeaderKey(name)], l.c.Secrets.Hide(v))
		}
	}
	for _, name := range headersThatMatter {
		keep(name)
	}
	for _, p := range l.paths() {
		if name, ok := strings.CutPrefix(p, "header:"); ok && out[http.CanonicalHeaderKey(name)] == nil {
			keep(name)
		}
	}
	return out
}

// store asks for a page and stores it, and reads then what is in it. A document that ends
// too early is asked for again, like any answer that broke off.
func (l *pull) store(ctx context.Context, p position) (*page, error) {
	if pg, err := l.adopt(p); pg != nil || err != nil {
		return pg, err
	}
	var err error
	for range l.a.Requests.Attempts {
		var file fetch.File
		var head map[string][]string
		file, head, err = l.ask(ctx, p)
		if err != nil {
			return nil, err
		}
		var s *page
		if s, err = l.understand(p, file, head); err == nil {
			return s, nil
		}
		if gone := os.Remove(l.j.path(file.Name)); gone != nil {
			return nil, fail.Disk(gone, "%s cannot be taken away", file.Name)
		}
		if b, ok := errors.AsType[*broken](err); !ok || !b.cut {
			break
		}
	}
	if b, ok := errors.AsType[*broken](err); ok {
		return nil, l.input("see api.records and the answer of the service", "%s: %s", l.fileName(p), b.why)
	}
	return nil, err
}

// adopt takes over a page that came whole just before the pull was killed, so that the
// list has its request alone; nil where there is none.
func (l *pull) adopt(p position) (*page, error) {
	a := l.j.asked
	if l.j.asked = nil; a == nil {
		return nil, nil
	}
	size, digest, err := fetch.HashFile(l.j.path(a.Name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail.Disk(err, "%s cannot be read", a.Name)
	}
	if a.Position == p && a.Name == l.fileName(p) {
		pg, err := l.understand(p, fetch.File{Name: a.Name, Size: size, SHA256: digest}, a.Headers)
		if _, bad := errors.AsType[*broken](err); !bad {
			return pg, err
		}
	}
	return nil, fail.Disk(os.Remove(l.j.path(a.Name)), "%s cannot be taken away", a.Name)
}

// ask brings a page to its file.
func (l *pull) ask(ctx context.Context, p position) (file fetch.File, head map[string][]string, err error) {
	call, err := l.call(p)
	if err != nil {
		return file, nil, err
	}
	var w *fetch.Writer
	defer func() {
		if w != nil {
			w.Abort()
		}
	}()
	call.Most = l.a.Limits.PageBytes
	call.Read = func(res *http.Response) error {
		if w != nil {
			w.Abort()
		}
		if w, err = fetch.Create(l.r.Dir, l.fileName(p)); err != nil {
			return err
		}
		head = l.headers(res.Header)
		if err := l.j.write(entry{Asked: &inquiry{
			Position: p, Name: l.fileName(p), Method: call.Method, URL: l.c.Secrets.Hide(call.URL.String()), Body: l.c.Secrets.Hide(string(call.Body)), Status: res.StatusCode,
			Time: l.r.Now().UTC().Format(time.RFC3339Nano), Headers: head,
		}}); err != nil {
			return err
		}
		return l.save(res, w)
	}
	if err := l.c.Do(ctx, call); err != nil {
		return file, nil, err
	}
	file, err = w.Keep() // all are brought to the disk at the end
	return file, head, err
}

// save writes an answer into its file.
func (l *pull) save(res *http.Response, w *fetch.Writer) error {
	in, err := l.c.Plain(res, l.a.Limits.PageBytes)
	if err != nil {
		return err
	}
	watch := l.c.Secrets.Watch()
	in = io.TeeReader(in, watch)
	if l.z.ending == "" {
		_, err = io.Copy(w, in)
	} else {
		if l.z.enc == nil {
			if l.z.enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
				return err
			}
		}
		l.z.enc.Reset(w)
		if _, err = io.Copy(l.z.enc, in); err == nil {
			err = l.z.enc.Close()
		}
	}
	if err != nil {
		return err
	}
	if watch.Found {
		return fail.New(fail.Usage, "the source %s: the answer repeats a secret, and would be stored with it", l.r.Source().Name).
			WithHint("send it in another way: a key in a header (auth.api_key.header), not in the query")
	}
	return nil
}

// opened gives a stored page as it came.
func (l *pull) opened(name string) (io.Reader, func(), error) {
	f, err := os.Open(l.j.path(name))
	if err != nil {
		return nil, nil, fail.Disk(err, "%s cannot be read", name)
	}
	done := func() { f.Close() }
	if l.z.ending == "" {
		return bufio.NewReaderSize(f, 64<<10), done, nil
	}
	if l.z.dec == nil {
		if l.z.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); err != nil {
			return nil, done, err
		}
	}
	return l.z.dec, done, l.z.dec.Reset(bufio.NewReaderSize(f, 64<<10))
}

// counting counts what is read.
type counting struct {
	r io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// understand reads a stored page, and notes it.
func (l *pull) understand(p position, f fetch.File, headers map[string][]string) (*page, error) {
	in, done, err := l.opened(f.Name)
	if done != nil {
		defer done()
	}
	if err != nil {
		return nil, err
	}
	counted := &counting{r: in}
	s, err := scan(counted, l.a.Records, l.paths(), l.tight(), l.a.Pagination.Last != "")
	if err != nil {
		return nil, err
	}
	head := http.Header(headers)
	out := &page{Position: p, File: f, Bytes: counted.n, Digest: s.digest}
	out.File.Records, out.File.Address, out.File.Version = s.records, l.c.Secrets.Shown(l.slices[p.Slice].url), head.Get("Etag")
	if err := l.said(p, s, head, out); err != nil {
		return nil, err
	}
	if err := l.seen.add(p, s, out, l.tight()); err != nil {
		return nil, err
	}
	if out.Next, err = l.next(p, s, head, l.seen.records); err != nil {
		return nil, err
	}
	if err := l.j.write(entry{Page: out}); err != nil {
		return nil, err
	}
	l.j.pages = append(l.j.pages, *out)
	return out, nil
}

// said takes over and compares what a page says of itself.
func (l *pull) said(p position, s *scanned, head http.Header, out *page) error {
	name := l.fileName(p)
	if l.a.Count != "" {
		n, ok := s.number(head, l.a.Count)
		if !ok {
			return l.input("see api.count", "%s has no whole number at %s", name, l.a.Count)
		}
		if n != s.records {
			return l.input("ask the provider; a page that does not have what it says proves nothing", "%s says that it has %d records, and has %d", name, n, s.records)
		}
	}
	if l.a.Total != "" {
		n, ok := s.number(head, l.a.Total)
		switch {
		case ok:
			out.Total, s.total = &n, &n
		case s.text(head, l.a.Total) != "" || p.Page == 0:
			return l.input("see api.total", "%s has no whole number at %s", name, l.a.Total)
		}
	}
	if l.a.Through != "" {
		if text := s.text(head, l.a.Through); text != "" {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return l.input("see api.through", "%s: %q at %s is no instant with its offset", name, text, l.a.Through)
			}
			out.Through = at.UTC().Format(time.RFC3339)
		}
	}
	return nil
}

// tight tells whether pages move when a record comes or goes while they are read.
func (l *pull) tight() bool {
	g := &l.a.Pagination
	return (g.Style == rules.PageOffset || g.Style == rules.PageNumber) && !g.Stable
}
