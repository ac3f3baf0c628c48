package https

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/web"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// reading is a file that is being read, over as many answers as it takes.
type reading struct {
	p      *pull
	before *pin
	call   *web.Call
	w      *fetch.Partial
	sums   digests
	watch  *web.Watch
	gained int64
	marked bool  // the last answer says where it ends
	failed error // final, and no *fail.Error
}

// Write gives what is written to whoever compares it.
func (g *reading) Write(b []byte) (int, error) {
	g.watch.Write(b)
	return g.sums.Write(b)
}

// bring reads the file and compares it. want is the SHA-256 that lies beside it, "" none;
// anew tells that it was read before and did not fit.
func (p *pull) bring(ctx context.Context, before *pin, want string, anew bool) (fetch.File, string, error) {
	g := &reading{p: p, before: before, marked: true}
	if err := g.open(); err != nil {
		return fetch.File{}, "", err
	}
	defer func() { g.w.Close() }()
	if before.condition() == "" {
		if err := g.restart(); err != nil {
			return fetch.File{}, "", err
		}
	}
	g.call = &web.Call{
		URL: p.at, Header: http.Header{"Accept-Encoding": {"identity"}}, Most: p.of.Most, Gained: func() int64 { return g.gained }, Read: g.take,
		Accept: []int{http.StatusOK, http.StatusPartialContent, http.StatusNotFound, http.StatusGone, http.StatusRequestedRangeNotSatisfiable},
	}
	g.ask()
	if before.length < 0 || g.w.Size() < before.length || g.w.Size() == 0 {
		if err := p.c.Do(ctx, g.call); err != nil {
			return fetch.File{}, "", err
		}
	}
	if g.failed != nil {
		g.w.Discard()
		return fetch.File{}, "", g.failed
	}
	return g.judge(want, anew)
}

// open goes on with what an interrupted pull left, or begins.
func (g *reading) open() (err error) {
	g.sums, g.watch = slices.Clone(g.before.digests), g.p.c.Secrets.Watch()
	for i := range g.sums {
		g.sums[i].h.Reset()
	}
	g.w, err = fetch.OpenPartial(g.p.r.Dir, g.p.name, g.before.text(), g)
	return err
}

// restart throws away what is there. What was brought so far is no progress.
func (g *reading) restart() error {
	g.gained = 0
	g.w.Discard()
	return g.open()
}

// ask lets the next attempt ask for what is missing.
func (g *reading) ask() {
	h := g.call.Header
	h.Del("Range")
	h.Del("If-Range")
	if by := g.before.condition(); by != "" && g.w.Size() > 0 {
		h.Set("Range", fmt.Sprintf("bytes=%d-", g.w.Size()))
		h.Set("If-Range", by)
	}
}

// take reads one answer.
func (g *reading) take(res *http.Response) error {
	now := pinOf(res)
	whole := false
	switch s := res.StatusCode; {
	case s == http.StatusNotFound, s == http.StatusGone:
		g.failed = &changed{g.p.shown() + " was deleted while it was read"}
	case s == http.StatusRequestedRangeNotSatisfiable, !now.same(g.before):
		g.failed = &changed{g.p.shown() + " was changed while it was read"}
	case s == http.StatusPartialContent:
		if from, _, total, ok := contentRange(res.Header); !ok || from != g.w.Size() || g.before.length >= 0 && total != g.before.length {
			return fail.New(fail.Usage, "the source %s: %s does not answer with the part that was asked for", g.p.r.Source().Name, g.p.shown()).
				WithHint("the server cannot be read in parts; ask its owner")
		}
	default: // from the beginning, whatever was asked for
		if err := g.restart(); err != nil {
			return err
		}
		whole = true
	}
	if g.failed != nil {
		return nil
	}
	body := io.Reader(res.Body)
	switch {
	case now.encoding == "", now.encoding == "gzip" && gzipped(g.p.name):
		// A server that says of a file that is compressed that its transport is means the file.
		if whole {
			g.sums = append(g.sums, content(res.Header)...)
		}
	case now.encoding == "gzip", now.encoding == "x-gzip":
		var err error
		if body, err = g.p.c.Plain(res, g.p.of.Most); err != nil {
			return err
		}
		g.sums = nil // they are of what is compressed
	default:
		return g.p.input("ask the owner of the server not to compress it", "%s comes compressed by %q, which was not asked for", g.p.shown(), now.encoding)
	}
	g.marked = res.ContentLength >= 0 || res.ProtoMajor > 1 || len(res.TransferEncoding) > 0
	err := g.copy(body)
	if err == nil && now.encoding == "" && g.before.length >= 0 && g.w.Size() != g.before.length {
		err = io.ErrUnexpectedEOF
		if g.w.Size() > g.before.length {
			g.failed, err = &changed{fmt.Sprintf("%s has more bytes than the %d that it had before", g.p.shown(), g.before.length)}, nil
		}
	}
	if err != nil && (g.before.condition() == "" || now.encoding != "" && body != io.Reader(res.Body)) {
		if failed := g.restart(); failed != nil {
			return failed
		}
	}
	g.ask()
	return err
}

// copy writes what comes, piece by piece, also what came before it broke off.
func (g *reading) copy(body io.Reader) error {
	buf := make([]byte, pieceSize)
	for {
		n, err := 0, error(nil)
		for n < len(buf) && err == nil { // io.ReadFull would hide whether the answer or its body ends here
			var k int
			k, err = body.Read(buf[n:])
			n += k
		}
		if failed := g.w.Append(buf[:n]); failed != nil {
			return failed
		}
		g.gained += int64(n)
		g.p.r.Progress(g.p.name, g.w.Size(), 0)
		switch {
		case g.w.Size() > g.p.of.Most:
			return g.p.tooMuch(g.w.Size())
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// judge compares what came whole, and gives it its name.
func (g *reading) judge(want string, anew bool) (fetch.File, string, error) {
	p := g.p
	good, bad := g.sums.fits()
	if want != "" && g.w.SHA256() != want {
		bad = "checksum (" + p.of.Checksum.Suffix + ")"
	}
	switch {
	case g.watch.Found:
		g.w.Discard()
		return fetch.File{}, "", fail.New(fail.Usage, "the source %s: the file holds a secret of ours, and would be stored with it", p.r.Source().Name).WithHint("ask the owner of the server")
	case bad != "" && anew:
		g.w.Discard()
		return fetch.File{}, "", p.input("compare it with what was sent, and have it delivered again", "%s was read twice and does not fit its %s", p.shown(), bad)
	case bad != "":
		g.w.Discard()
		return fetch.File{}, "", errAnew
	case !g.marked && want == "" && len(good) == 0:
		g.w.Discard()
		return fetch.File{}, "", p.input("ask the owner of the server to state Content-Length; or have a checksum delivered: https.checksum", "nothing that the server says of %s tells whether it came whole", p.shown())
	}
	var by []string
	if g.before.length >= 0 && g.before.encoding == "" {
		by = append(by, "its length")
	}
	by = append(by, good...)
	if want != "" {
		by = append(by, "the checksum beside it")
	}
	if len(by) == 0 {
		by = append(by, "the end that the answer marked")
	}
	proof := "it fits " + strings.Join(by, ", ")
	switch {
	case g.before.etag != "":
		proof += "; its ETag was the same before and after"
	case g.before.modified != "":
		proof += "; its time was the same before and after"
	default:
		proof += "; whether it was changed while it was read the server does not say"
	}
	f, err := g.w.Commit()
	return f, proof, err
}
