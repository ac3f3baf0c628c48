// Package https pulls files of servers over HTTP: one address, one file.
//
// # The idea
//
// What is read is one state of the file, or nothing:
//
//  1. the server is asked what it has (HEAD, or the first byte where it does not answer that):
//     ETag, time and length pin the content;
//  2. the file is read, and noted piece by piece. Where the answer breaks off, or a pull goes
//     on after an interruption, the rest is asked for, on the condition that the content is
//     the same (If-Range); an answer from the beginning is read from the beginning;
//  3. the length is compared, and the digests that the server states (Repr-Digest,
//     Content-Digest, Digest, Content-MD5) and that a file beside it states;
//  4. the server is asked again. A file that was changed is read anew, a few times; then it
//     refuses the pull: a delivery is under way.
//
// Whom it asks, how it proves who asks, and what is sent again is that of fetch/web.
package https

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/web"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Puller pulls the file that an address names. The zero value is ready.
type Puller struct {
	pause time.Duration // the first wait is random below it; 0: a second
}

// pull is one pull of one input.
type pull struct {
	r    *fetch.Request
	of   *rules.HTTPS
	c    *web.Client
	at   *url.URL
	name string // of the file
	wait time.Duration
	done *fetch.Done
}

const (
	mostPasses  = 3
	mostSidecar = 64 << 10
	pieceSize   = 1 << 20
	changing    = "run again when the delivery has ended"
)

// changed is why the file has to be read anew: it is not what it was.
type changed struct{ what string }

func (c *changed) Error() string { return c.what }

// errAnew: what was read does not fit, and may be read once more.
var errAnew = errors.New("what was read does not fit")

// begin resolves what the job says. Nothing is sent.
func (u Puller) begin(r *fetch.Request) (*pull, error) {
	of := r.Source().Remote.HTTPS
	p := &pull{r: r, of: of, wait: 2 * u.pause}
	if p.wait == 0 {
		p.wait = 2 * time.Second
	}
	var err error
	if p.at, err = url.Parse(r.Input.Path); err != nil {
		return nil, fail.New(fail.Usage, "the source %s: its path is no address", r.Source().Name).WithHint("write https://host/folder/name.csv")
	}
	p.name = path.Base(p.at.Path)
	if !fetch.Nameable(p.name) || p.name == "/" {
		return nil, fail.New(fail.Usage, "the source %s: %q cannot be the name of a file", r.Source().Name, p.name).WithHint("name an address that ends in one")
	}
	p.c, err = web.New(web.Options{
		Source: r.Source().Name, Web: &of.Web, Origins: []*url.URL{p.at}, BaseDir: r.BaseDir, Until: r.Until, Now: r.Now, Note: r.Note, Pause: u.pause,
	})
	return p, err
}

// Pull implements fetch.Puller.
func (u Puller) Pull(ctx context.Context, r *fetch.Request) (*fetch.Snapshot, error) {
	p, err := u.begin(r)
	if err != nil {
		return nil, err
	}
	defer p.c.Close()
	if p.done, err = fetch.OpenDone(r.Dir); err != nil {
		return nil, err
	}
	defer p.done.Close()
	for pass, anew := 1, false; ; pass++ {
		s, err := p.once(ctx, anew)
		if err == nil {
			s.Kind, s.Address, s.Request = rules.FromHTTPS, p.shown(), p.digest()
			s.Requests, s.Retries = p.c.Counts()
			return s, p.done.Remove()
		}
		c, other := errors.AsType[*changed](err)
		switch {
		case err == errAnew:
			anew = true
			p.r.Note("%s does not fit what is said of it; it is read once more", p.shown())
		case !other:
			return nil, err
		case pass == mostPasses:
			return nil, p.input(changing, "%s", c.what)
		default:
			p.r.Note("%s; it is read anew", c.what)
		}
		t := time.NewTimer(p.wait/2 + rand.N(p.wait))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// once brings the file as it is now. The error is a *changed where it did not stay so, and
// errAnew where it does not fit what is said of it, but not for a second time.
func (p *pull) once(ctx context.Context, anew bool) (*fetch.Snapshot, error) {
	s := &fetch.Snapshot{}
	before, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	if before == nil {
		s.Proof = "no file has the name; the server says that it has none"
		return s, p.done.Sweep(func(string) bool { return false })
	}
	if err := p.room(before.length); err != nil {
		return nil, err
	}
	want := ""
	if p.of.Checksum.Suffix != "" {
		if want, err = p.sidecar(ctx); err != nil {
			return nil, err
		}
	}
	f, proof, have := p.done.Have(p.name, before.text())
	if !have || before.condition() == "" {
		if f, proof, err = p.bring(ctx, before, want, anew); err != nil {
			return nil, err
		}
		if err := p.done.Add(f, before.text(), proof); err != nil {
			return nil, err
		}
	}
	after, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	if after == nil || !after.same(before) {
		what := " was changed while it was read"
		if after == nil {
			what = " was deleted while it was read"
		}
		return nil, errors.Join(&changed{p.shown() + what}, p.done.Sweep(func(string) bool { return false }))
	}
	f.Address, f.Version = p.shown(), before.version()
	if at, err := http.ParseTime(before.modified); err == nil {
		f.Modified = at.UTC().Format(time.RFC3339)
	}
	s.Files, s.Proof = []fetch.File{f}, proof
	return s, nil
}

// room refuses what is too much for the job or for the disk; -1 is not known yet.
func (p *pull) room(length int64) error {
	if length > p.of.Most {
		return p.tooMuch(length)
	}
	more, free, err := p.done.Room(length)
	if err == nil && more > free {
		err = fail.New(fail.Resources, "the source %s: %s has %d bytes more, and the disk has room for %d", p.r.Source().Name, p.shown(), more, free).
			WithHint("free disk, or name another folder")
	}
	return err
}

func (p *pull) tooMuch(n int64) error {
	return p.input("raise https.max_bytes", "%s has %d bytes, more than %d", p.shown(), n, p.of.Most)
}

// sidecar reads the checksum that lies beside the file.
func (p *pull) sidecar(ctx context.Context) (digest string, err error) {
	at := *p.at
	at.Path, at.RawPath = at.Path+p.of.Checksum.Suffix, ""
	shown := p.c.Secrets.Shown(&at)
	err = p.c.Do(ctx, &web.Call{URL: &at, Header: http.Header{"Accept-Encoding": {"identity"}}, Most: mostSidecar, Accept: []int{http.StatusOK, http.StatusNotFound, http.StatusGone},
		Read: func(res *http.Response) error {
			if res.StatusCode != http.StatusOK {
				return p.input(changing+"; https.checksum says that the file has one", "%s is not there", shown)
			}
			in, err := p.c.Plain(res, mostSidecar)
			if err != nil {
				return err
			}
			text, err := io.ReadAll(in)
			if err != nil {
				return err
			}
			if digest, err = fetch.ReadChecksum(text, p.name); err != nil {
				return p.input("it is a line as sha256sum writes it: 64 hexadecimal digits, and the name of the file", "%s %s", shown, err)
			}
			return nil
		}})
	return digest, err
}

// digest says what is asked for, without secrets.
func (p *pull) digest() string {
	text, err := json.Marshal([]any{rules.FromHTTPS, p.at.String(), p.of.Checksum.Suffix})
	if err != nil {
		panic(err) // texts only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (p *pull) shown() string { return p.c.Secrets.Shown(p.at) }

// input is an error of what came.
func (p *pull) input(hint, format string, args ...any) error {
	return fail.New(fail.Input, "the source %s: %s", p.r.Source().Name, p.c.Secrets.Clean(fmt.Sprintf(format, args...))).WithHint("%s", hint)
}

// Check implements fetch.Puller: the server lets us in and says what it has. No file is no
// problem: it may be there tomorrow.
func (u Puller) Check(ctx context.Context, r *fetch.Request) []string {
	return fetch.Problems(u.check(ctx, r))
}

func (u Puller) check(ctx context.Context, r *fetch.Request) error {
	p, err := u.begin(r)
	if err != nil {
		return err
	}
	defer p.c.Close()
	now, err := p.first(ctx)
	switch {
	case err != nil:
		return err
	case now == nil:
		r.Note("%s is not there now", p.shown())
	case now.length < 0:
		r.Note("%s is there; how long it is the server does not say", p.shown())
	default:
		r.Note("%s has %d bytes now", p.shown(), now.length)
	}
	return nil
}

// gzipped tells whether a name says that its file is compressed by gzip.
func gzipped(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".gz") }
