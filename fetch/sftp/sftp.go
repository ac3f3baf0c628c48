// Package sftp pulls files of SFTP servers.
//
// # The idea
//
// What is read is one state of the files, or nothing:
//
//  1. the server proves itself by a host key that the job names, before anything about us
//     is said; there is no first use that is trusted;
//  2. the folder is listed, and each file is pinned by its size and time;
//  3. a file is read in blocks, many of them asked for at the same time, each until it is
//     full: a server may answer with less than it is asked for. What is written is noted
//     piece by piece, and a pull that goes on after an interruption asks for the rest;
//  4. size and time are compared before and after, there must be nothing behind the last
//     byte, and the checksum that lies beside the file is compared where the job says so;
//  5. the folder is listed again. What differs is read anew, a few times; then it refuses
//     the pull: a delivery is under way.
//
// Nothing is written or deleted on the server.
package sftp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/web"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Puller pulls the files that an address names. The zero value is ready.
type Puller struct {
	pause time.Duration // the first wait is random below it; 0: 250 ms
	idle  time.Duration // so long nothing may come; 0: what the job says
}

// pull is one pull of one input.
type pull struct {
	ctx     context.Context // of the whole pull: connections outlive single steps of it
	r       *fetch.Request
	of      *rules.SFTP
	host    string
	port    string
	path    string // of the server; the last part may be a pattern
	login   *login
	secrets *web.Secrets
	pause   time.Duration
	idle    time.Duration
	tries   int // attempts in a row without progress where the request has no end
	buffers chan []byte
	done    *fetch.Done
	brought atomic.Int64 // bytes of all files, over all attempts

	dialling sync.Mutex
	mu       sync.Mutex // guards what follows, and the functions of the request
	link     *link
	sent     int64
	again    int64
	told     map[string]bool
	notes    []string
}

const (
	firstPause   = 250 * time.Millisecond
	longestPause = 20 * time.Second
	mostTries    = 10
	mostPasses   = 3
	mostFiles    = 100_000
	pieceSize    = 2 << 20
	blockSize    = 32 << 10 // the packet that every server has to take
	mostBlocks   = 64       // asked for at the same time
)

var errOver = errors.New("the time of the run is over")

// changed is why files have to be read anew: they are not what they were.
type changed struct{ what string }

func (c *changed) Error() string { return c.what }

// begin resolves what the job says. Nothing is sent. end closes what the pull opened.
func (u Puller) begin(ctx context.Context, r *fetch.Request) (p *pull, end func(), err error) {
	of := r.Source().Remote.SFTP
	p = &pull{r: r, of: of, secrets: &web.Secrets{}, pause: u.pause, idle: u.idle, tries: mostTries, told: map[string]bool{}, buffers: make(chan []byte, of.Parallel)}
	var ok bool
	if p.host, p.port, p.path, ok = rules.SplitSFTP(r.Input.Path); !ok {
		return nil, nil, p.fail(fail.Usage, "write sftp://host/folder/name.csv", "%s is no address of files", r.Input.Path)
	}
	for range of.Parallel {
		p.buffers <- nil
	}
	if p.pause == 0 {
		p.pause = firstPause
	}
	if p.idle == 0 {
		p.idle = of.Timeout
	}
	if p.login, err = p.prepare(); err != nil {
		return nil, nil, err
	}
	var cancel context.CancelFunc
	if r.Until.IsZero() {
		p.ctx, cancel = context.WithCancel(ctx)
	} else {
		p.ctx, cancel = context.WithTimeoutCause(ctx, r.Until.Sub(r.Now()), errOver)
	}
	return p, func() { p.drop(p.current()); cancel() }, nil
}

// Pull implements fetch.Puller.
func (u Puller) Pull(ctx context.Context, r *fetch.Request) (*fetch.Snapshot, error) {
	p, end, err := u.begin(ctx, r)
	if err != nil {
		return nil, err
	}
	defer end()
	if p.done, err = fetch.OpenDone(r.Dir); err != nil {
		return nil, err
	}
	defer p.done.Close()
	for pass := 1; ; pass++ {
		files, proof, err := p.once(p.ctx)
		if err == nil {
			if err := p.done.Remove(); err != nil {
				return nil, err
			}
			s := &fetch.Snapshot{
				Kind: rules.FromSFTP, Address: r.Input.Path, Request: p.digest(), Proof: proof,
				Files: files, Requests: p.sent, Retries: p.again, Notes: p.notes,
			}
			s.SortFiles()
			return s, nil
		}
		c, is := errors.AsType[*changed](err)
		if !is {
			return nil, p.ended(err)
		}
		if pass == mostPasses {
			return nil, p.fail(fail.Input, "run again when the delivery has ended; what was not changed is not asked for again", "%s", c.what)
		}
		p.say(c.what + "; it is read anew")
		p.sentAgain()
		if err := p.wait(p.ctx, 4*p.pause+rand.N(4*p.pause)); err != nil {
			return nil, p.ended(err)
		}
	}
}

// ended gives the end of the run its class, where that is the error.
func (p *pull) ended(err error) error {
	if errors.Is(err, errOver) {
		return p.fail(fail.Temporary, later, "%s was not read in time: %s", p.r.Input.Path, errOver)
	}
	return err
}

// once brings the files as they are now. The error is a *changed where they did not stay so.
func (p *pull) once(ctx context.Context) ([]fetch.File, string, error) {
	list, err := p.list(ctx)
	if err != nil {
		return nil, "", err
	}
	names := map[string]bool{}
	total := int64(0)
	for _, f := range list {
		names[f.name] = true
		total += f.size
	}
	if err := p.done.Sweep(func(name string) bool { return names[name] }); err != nil {
		return nil, "", err
	}
	if err := p.room(total, len(list)); err != nil {
		return nil, "", err
	}
	files := make([]fetch.File, len(list))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(p.of.Parallel)
	for i, f := range list {
		g.Go(func() (err error) {
			if gctx.Err() != nil {
				return context.Cause(gctx)
			}
			files[i], err = p.file(gctx, f)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, "", err
	}
	if err := p.unchanged(ctx, list); err != nil {
		return nil, "", err
	}
	return files, p.proof(len(list)), nil
}

// room refuses what is too much for the job or for the disk, before anything is asked for.
func (p *pull) room(total int64, files int) error {
	if total > p.of.Most {
		return p.fail(fail.Input, "raise sftp.max_bytes, or name fewer files", "%s are %d bytes in %d files, more than %d", p.r.Input.Path, total, files, p.of.Most)
	}
	more, free, err := p.done.Room(total)
	if err == nil && more > free {
		err = p.fail(fail.Resources, "free disk, or name another folder", "%s are %d bytes more, and the disk has room for %d", p.r.Input.Path, more, free)
	}
	return err
}

// proof says in one sentence by what the files are known to be whole.
func (p *pull) proof(n int) string {
	switch {
	case n == 0:
		return "no file has the name; the server named none before and after"
	case p.of.Checksum.Suffix != "":
		return "every file fits the checksum beside it, had one size and time before and after, and the folder was the same before and after"
	}
	return "every file had one size and time before and after, as many bytes came, and the folder was the same before and after"
}

// digest says what is asked for, without secrets.
func (p *pull) digest() string {
	text, err := json.Marshal([]any{rules.FromSFTP, p.r.Input.Path, p.r.Source().Literal, p.of.User, p.of.Checksum.Suffix})
	if err != nil {
		panic(err) // texts and truth values only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// at is the address of a file of the server.
func (p *pull) at(file string) string {
	if !path.IsAbs(file) {
		file = "/~/" + file
	}
	host := p.host
	if p.port != "22" {
		host = net.JoinHostPort(p.host, p.port)
	}
	return p.secrets.Clean("sftp://" + host + file)
}

// fail makes an error of the source.
func (p *pull) fail(class fail.Class, hint, format string, args ...any) *fail.Error {
	return fail.New(class, "the source %s: %s", p.r.Source().Name, p.secrets.Clean(fmt.Sprintf(format, args...))).WithHint("%s", hint)
}

// say tells people something, once.
func (p *pull) say(text string) {
	text = p.secrets.Clean(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.told[text] {
		p.told[text] = true
		p.r.Note("%s", text)
	}
}

func (p *pull) progress(name string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.r.Progress(name, n, 0)
}

func (p *pull) sentAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.again++
}
