package sftp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// mostSidecar bounds a file that says a checksum.
const mostSidecar = 64 << 10

// tail is how much of what an interrupted pull brought is compared with the server.
const tail = 64 << 10

// file brings one file that was listed.
func (p *pull) file(ctx context.Context, f *file) (fetch.File, error) {
	if got, _, ok := p.done.Have(f.name, f.pin()); ok {
		p.progress(f.name, got.Size)
		return got, nil
	}
	want := ""
	if p.of.Checksum.Suffix != "" {
		var err error
		if want, err = p.sidecar(ctx, f); err != nil {
			return fetch.File{}, err
		}
	}
	for first := true; ; first = false {
		got, err := p.bring(ctx, f, want, first)
		if err == errAnew {
			p.say(p.at(f.path) + " does not fit its checksum; it is read once more")
			p.sentAgain()
			continue
		}
		if err != nil {
			return fetch.File{}, err
		}
		got.Address, got.Modified = p.at(f.path), f.time.UTC().Format(time.RFC3339)
		return got, p.done.Add(got, f.pin(), "")
	}
}

// errAnew: what was read does not fit, and may be read once more.
var errAnew = errors.New("what was read does not fit")

// bring reads what is missing of a file, and compares it. want is its SHA-256, "" not known;
// first tells that it may be read once more.
func (p *pull) bring(ctx context.Context, f *file, want string, first bool) (fetch.File, error) {
	w, err := fetch.OpenPartial(p.r.Dir, f.name, f.pin(), nil)
	if err != nil {
		return fetch.File{}, err
	}
	defer func() { w.Close() }()
	if w.Size() > 0 {
		same, err := p.same(ctx, f, w)
		if err != nil {
			return fetch.File{}, err
		}
		if !same {
			w.Discard()
			if w, err = fetch.OpenPartial(p.r.Dir, f.name, f.pin(), nil); err != nil {
				return fetch.File{}, err
			}
		}
	}
	buf := <-p.buffers
	if buf == nil {
		buf = make([]byte, pieceSize)
	}
	defer func() { p.buffers <- buf }()
	err = p.with(ctx, p.at(f.path), func(l *link) error { return p.read(ctx, l, f, w, buf) })
	if _, other := errors.AsType[*changed](err); other {
		w.Discard()
	}
	if err != nil {
		return fetch.File{}, err
	}
	if want != "" && w.SHA256() != want {
		w.Discard()
		if first {
			return fetch.File{}, errAnew
		}
		return fetch.File{}, p.fail(fail.Input, "compare it with what was sent, and have it and its checksum delivered again", "%s was read twice and does not fit %s", p.at(f.path), p.at(f.path+p.of.Checksum.Suffix))
	}
	return w.Commit()
}

// opened opens a file that has to be as it was listed.
func (p *pull) opened(l *link, f *file, do func(*sftp.File) error) error {
	end := l.begin()
	h, err := l.sftp.Open(f.path)
	end()
	if err != nil {
		return err
	}
	defer func() {
		defer l.begin()()
		_ = h.Close() // nothing was written
	}()
	end = l.begin()
	now, err := h.Stat()
	end()
	if err != nil {
		return err
	}
	if !f.is(now) {
		return &changed{p.at(f.path) + " was changed between the listing and the reading"}
	}
	return do(h)
}

// same compares the end of what an interrupted pull brought with the server.
func (p *pull) same(ctx context.Context, f *file, w *fetch.Partial) (same bool, err error) {
	n := min(w.Size(), tail)
	ours, theirs := make([]byte, n), make([]byte, n)
	if w.Size() > f.size {
		return false, nil
	}
	if _, err := w.ReadAt(ours, w.Size()-n); err != nil {
		return false, fail.Disk(err, "what an interrupted pull left cannot be read")
	}
	err = p.with(ctx, p.at(f.path), func(l *link) error {
		return p.opened(l, f, func(h *sftp.File) error {
			got, err := l.read(h, theirs, w.Size()-n)
			if err == io.EOF {
				err = &changed{fmt.Sprintf("%s ends after %d bytes of %d", p.at(f.path), w.Size()-n+int64(got), f.size)}
			}
			return err
		})
	})
	return bytes.Equal(ours, theirs), err
}

// read brings what is missing of a file over one connection.
func (p *pull) read(ctx context.Context, l *link, f *file, w *fetch.Partial, buf []byte) error {
	return p.opened(l, f, func(h *sftp.File) error {
		for w.Size() < f.size {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			n, err := l.read(h, buf[:min(int64(len(buf)), f.size-w.Size())], w.Size())
			if failed := w.Append(buf[:n]); failed != nil {
				return failed
			}
			p.brought.Add(int64(n))
			p.progress(f.name, w.Size())
			switch {
			case err == io.EOF:
				return &changed{fmt.Sprintf("%s ends after %d bytes of %d", p.at(f.path), w.Size(), f.size)}
			case err != nil:
				return err
			}
		}
		return p.ends(l, h, f)
	})
}

// ends tells whether a file has nothing behind its last byte, and is what it was.
func (p *pull) ends(l *link, h *sftp.File, f *file) error {
	n, err := l.read(h, make([]byte, 1), f.size)
	switch {
	case n > 0:
		return &changed{p.at(f.path) + " grew while it was read"}
	case err != io.EOF:
		return err
	}
	defer l.begin()()
	now, err := l.sftp.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &changed{p.at(f.path) + " was deleted while it was read"}
	case err != nil:
		return err
	case !f.is(now):
		return &changed{p.at(f.path) + " was changed while it was read"}
	}
	return nil
}

// read fills a buffer from an offset, and returns how many bytes came from there on without
// a gap. The error is io.EOF where the file ends before.
//
// Blocks are asked for at the same time, each of a size that its own request brings whole or
// is asked for until it is whole. The library's own reading in parallel takes an answer with
// less than was asked for to be the end of the file, which with servers that send smaller
// packets gives a part of it and no error (pkg/sftp#658).
func (l *link) read(h *sftp.File, buf []byte, from int64) (int, error) {
	blocks := (len(buf) + blockSize - 1) / blockSize
	got, errs := make([]int, blocks), make([]error, blocks)
	var g errgroup.Group
	g.SetLimit(mostBlocks)
	for i := range blocks {
		g.Go(func() error {
			at := i * blockSize
			defer l.begin()()
			got[i], errs[i] = h.ReadAt(buf[at:min(at+blockSize, len(buf))], from+int64(at))
			return nil
		})
	}
	_ = g.Wait() // each block has its own error
	n := 0
	for i := range blocks {
		n += got[i]
		if want := min(blockSize, len(buf)-i*blockSize); got[i] < want {
			if errs[i] == nil {
				errs[i] = io.ErrUnexpectedEOF
			}
			return n, errs[i]
		}
	}
	return n, nil
}

// sidecar reads the checksum that lies beside a file.
func (p *pull) sidecar(ctx context.Context, f *file) (string, error) {
	at := f.path + p.of.Checksum.Suffix
	s, err := p.look(ctx, at)
	switch {
	case err != nil:
		return "", err
	case s == nil:
		return "", p.fail(fail.Input, "run again when the delivery has ended; sftp.checksum says that every file has one", "%s is not there", p.at(at))
	case s.size > mostSidecar:
		return "", p.fail(fail.Input, "see sftp.checksum.suffix", "%s has %d bytes, which is no checksum", p.at(at), s.size)
	}
	text := make([]byte, s.size)
	err = p.with(ctx, p.at(at), func(l *link) error {
		return p.opened(l, s, func(h *sftp.File) error {
			if n, err := l.read(h, text, 0); err == io.EOF {
				return &changed{fmt.Sprintf("%s ends after %d bytes of %d", p.at(at), n, s.size)}
			} else if err != nil {
				return err
			}
			return p.ends(l, h, s)
		})
	})
	if err != nil {
		return "", err
	}
	digest, err := fetch.ReadChecksum(text, f.name)
	if err != nil {
		return "", p.fail(fail.Input, "it is a line as sha256sum writes it: 64 hexadecimal digits, and the name of the file", "%s %s", p.at(at), err)
	}
	return digest, nil
}
