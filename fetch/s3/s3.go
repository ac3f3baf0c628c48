// Package s3 pulls objects from S3 and from stores that speak like it.
//
// # The idea
//
// What is read is one state of the objects, or nothing:
//
//  1. the names are listed, all pages of them;
//  2. each object is pinned: by its VersionId where the bucket keeps versions, and by its
//     ETag with If-Match in every request, so that no two parts come from two contents;
//  3. it is read in parts at the same time, which are written in their order, each noted
//     when it is on the disk; a pull that goes on after an interruption asks for the rest;
//  4. its size, and the checksum or digest that the store keeps of it, are compared;
//  5. the names are listed again. A listing that is not the same (an object more, one
//     less, another content) refuses the pull: a delivery is under way.
//
// The SDK signs and sends; when a request is sent again is decided here, so that the end
// of the run is kept and every attempt is counted.
package s3

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Puller pulls the objects that an address names. The zero value is ready.
type Puller struct {
	pause time.Duration // the first wait is random below it; 0: 250 ms
	idle  time.Duration // so long a request may bring nothing; 0: 30 s
}

// pull is one pull of one input.
type pull struct {
	r       *fetch.Request
	who     string // for errors: the source and its name
	st      *store
	of      *rules.S3
	pause   time.Duration
	idle    time.Duration
	tries   int // attempts in a row without progress where the request has no end
	buffers *buffers
	slots   chan struct{} // requests for parts at once
	done    *fetch.Done

	mu    sync.Mutex // guards what follows, and the functions of the request
	sent  int64
	again int64
	told  map[string]bool
	notes []string
}

const (
	firstPause   = 250 * time.Millisecond
	longestPause = 20 * time.Second
	mostIdle     = 30 * time.Second
	mostTries    = 10
	mostWait     = 10 * time.Minute // that a store may ask for where the request has no end
	mostObjects  = 100_000
)

func (u Puller) begin(ctx context.Context, r *fetch.Request) (*pull, error) {
	return u.beginAs(ctx, r, "the source "+r.Source().Name)
}

func (u Puller) beginAs(ctx context.Context, r *fetch.Request, who string) (*pull, error) {
	of := r.Source().Remote.S3
	p := &pull{r: r, who: who, of: of, pause: u.pause, idle: u.idle, tries: mostTries, told: map[string]bool{}, buffers: newBuffers(of), slots: make(chan struct{}, of.Parallel)}
	if p.pause == 0 {
		p.pause = firstPause
	}
	if p.idle == 0 {
		p.idle = mostIdle
	}
	var err error
	p.st, err = p.open(ctx)
	return p, err
}

// Pull implements fetch.Puller.
func (u Puller) Pull(ctx context.Context, r *fetch.Request) (*fetch.Snapshot, error) {
	p, err := u.begin(ctx, r)
	if err != nil {
		return nil, err
	}
	objects, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	if p.done, err = fetch.OpenDone(r.Dir); err != nil {
		return nil, err
	}
	defer p.done.Close()
	names := map[string]bool{}
	for _, o := range objects {
		names[o.name] = true
	}
	if err := p.done.Sweep(func(name string) bool { return names[name] }); err != nil {
		return nil, err
	}
	if err := p.room(objects); err != nil {
		return nil, err
	}
	files, proofs, err := p.bring(ctx, objects)
	if err != nil {
		return nil, err
	}
	if err := p.unchanged(ctx, objects); err != nil {
		return nil, err
	}
	if err := p.done.Remove(); err != nil {
		return nil, err
	}
	s := &fetch.Snapshot{
		Kind: rules.FromS3, Address: r.Input.Path, Request: p.digest(), Proof: proofOf(proofs),
		Files: files, Requests: p.sent, Retries: p.again, Notes: p.notes,
	}
	s.SortFiles()
	return s, nil
}

// bring downloads the objects, several at a time.
func (p *pull) bring(ctx context.Context, objects []*object) ([]fetch.File, []string, error) {
	files, proofs := make([]fetch.File, len(objects)), make([]string, len(objects))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(p.of.Parallel)
	for i, o := range objects {
		g.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			files[i], proofs[i], err = p.object(ctx, o)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	return files, proofs, nil
}

// unchanged lists again and compares.
func (p *pull) unchanged(ctx context.Context, before []*object) error {
	after, err := p.list(ctx)
	if err != nil {
		return err
	}
	was := map[string]*object{}
	for _, o := range before {
		was[o.key] = o
	}
	const hint = "run again when the delivery has ended; what was not changed is not asked for again"
	for _, o := range after {
		old := was[o.key]
		delete(was, o.key)
		switch {
		case old == nil:
			return p.fail(fail.Input, hint, "%s appeared while the others were pulled", p.st.at(o.key))
		case old.etag != o.etag || old.size != o.size:
			return p.fail(fail.Input, hint, "%s was changed while it was pulled", p.st.at(o.key))
		}
	}
	for key := range was {
		return p.fail(fail.Input, hint, "%s was deleted while it was pulled", p.st.at(key))
	}
	return nil
}

// room refuses what is too much for the job or for the disk, before anything is asked for.
func (p *pull) room(objects []*object) error {
	total := int64(0)
	for _, o := range objects {
		total += o.size
	}
	if total > p.of.Most {
		return p.fail(fail.Input, "raise s3.max_bytes, or name fewer objects", "%s are %d bytes in %d objects, more than %d", p.r.Input.Path, total, len(objects), p.of.Most)
	}
	more, free, err := p.done.Room(total)
	if err == nil && more > free {
		err = p.fail(fail.Resources, "free disk, or name another folder", "%s are %d bytes more, and the disk has room for %d", p.r.Input.Path, more, free)
	}
	return err
}

// digest says what is asked for, without secrets.
func (p *pull) digest() string {
	text, err := json.Marshal([]any{
		rules.FromS3, p.st.endpoint, p.st.region, p.r.Input.Path, p.r.Source().Literal, p.of.RequesterPays, p.of.Owner, p.of.CustomerKey.Declared(),
	})
	if err != nil {
		panic(err) // texts and truth values only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// proofOf says in one sentence by what the objects are known to be whole.
func proofOf(proofs []string) string {
	if len(proofs) == 0 {
		return "no object has the name; the store listed none before and after"
	}
	count := map[string]int{}
	var order []string
	for _, t := range proofs {
		if count[t]++; count[t] == 1 {
			order = append(order, t)
		}
	}
	text := "every object was read at one version, and the listing was the same before and after; whole by "
	if len(order) == 1 {
		return text + order[0]
	}
	for i, t := range sorted(order) {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d by %s", count[t], t)
	}
	return text
}

// fail makes an error of the source.
func (p *pull) fail(class fail.Class, hint, format string, args ...any) *fail.Error {
	return fail.New(class, "%s: %s", p.who, p.st.clean(fmt.Sprintf(format, args...))).WithHint("%s", hint)
}

// note tells people something, once.
func (p *pull) note(format string, args ...any) {
	text := p.st.clean(fmt.Sprintf(format, args...))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told[text] {
		return
	}
	p.told[text] = true
	p.notes = append(p.notes, text)
	p.r.Note("%s", text)
}

// say tells people something that is of no interest later, once.
func (p *pull) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.told[text] {
		p.told[text] = true
		p.r.Note("%s", text)
	}
}

func (p *pull) progress(o *object, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.r.Progress(o.name, n, 0)
}

// over tells whether the time of the request is over.
func (p *pull) over() bool { return !p.r.Until.IsZero() && p.r.Now().After(p.r.Until) }
