package sftp

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pkg/sftp"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// Store implements fetch.Storer: the server, whose files are named by their paths on it.
func (u Puller) Store(ctx context.Context, r *fetch.Request) (fetch.Store, string, error) {
	p, end, err := u.begin(ctx, r)
	if err != nil {
		return nil, "", err
	}
	return &place{p, end}, p.path, nil
}

// place is a server as a fetch.Store.
type place struct {
	p   *pull
	end func()
}

// List is that of fetch.Store. Hidden files and those that are being written are listed only
// where the pattern names them.
func (s *place) List(ctx context.Context, pattern string, literal bool) ([]fetch.Entry, error) {
	found, err := s.p.find(ctx, pattern, literal)
	if err != nil {
		return nil, s.p.refused(err)
	}
	out := make([]fetch.Entry, len(found))
	for i, f := range found {
		out[i] = fetch.Entry{Name: f.path, Size: f.size, Modified: f.time}
	}
	return out, nil
}

// Open is that of fetch.Store.
func (s *place) Open(ctx context.Context, e fetch.Entry) (io.ReadCloser, error) {
	r := &stream{ctx: ctx, p: s.p, f: &file{path: e.Name, size: e.Size, time: e.Modified}}
	if err := r.fill(); err != nil {
		return nil, err
	}
	return r, nil
}

// Close is that of fetch.Store.
func (s *place) Close() error {
	s.end()
	return nil
}

// refused gives what came and is not whole its class, and the end of the run its own.
func (p *pull) refused(err error) error {
	if c, ok := errors.AsType[*changed](err); ok {
		return p.fail(fail.Input, "run again when the delivery has ended", "%s", c.what)
	}
	return p.ended(err)
}

// stream reads one file from its beginning, as it was listed.
type stream struct {
	ctx  context.Context
	p    *pull
	f    *file
	buf  []byte
	rest []byte // of the buffer, that was not given yet
	from int64  // behind the buffer
	err  error
}

func (r *stream) Read(b []byte) (int, error) {
	if len(r.rest) == 0 && r.err == nil {
		r.err = r.fill()
	}
	if len(r.rest) == 0 && r.err != nil {
		return 0, r.err
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// fill reads the next piece; the error is io.EOF behind the last one.
func (r *stream) fill() error {
	if r.buf != nil && r.from == r.f.size {
		return io.EOF
	}
	if r.buf == nil {
		r.buf = make([]byte, max(min(r.f.size, pieceSize), 1))
	}
	n := int(min(int64(len(r.buf)), r.f.size-r.from))
	err := r.p.with(r.ctx, r.p.at(r.f.path), func(l *link) error {
		return r.p.opened(l, r.f, func(h *sftp.File) error {
			got, err := l.read(h, r.buf[:n], r.from)
			switch {
			case err == io.EOF:
				return &changed{fmt.Sprintf("%s ends after %d bytes of %d", r.p.at(r.f.path), r.from+int64(got), r.f.size)}
			case err != nil:
				return err
			case r.from+int64(n) == r.f.size:
				return r.p.ends(l, h, r.f)
			}
			return nil
		})
	})
	if err != nil {
		return r.p.refused(err)
	}
	r.rest, r.from = r.buf[:n], r.from+int64(n)
	return nil
}

func (r *stream) Close() error { return nil }

var _ fetch.Storer = Puller{}
