package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// pipe streams one file into record batches: one goroutine cuts records, several
// convert batches of them, and Next hands the batches on in the order of the
// file. At most 2·workers+2 batches are alive, so that memory does not depend on
// the size of the file. It is an array.RecordReader.
type pipe struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	plan    *stagePlan
	reader  Reader
	name    string
	header  []string
	order   chan *pipeJob
	free    chan *rawBatch
	tallies []*tally
	rejects []Reject
	records int64 // data records read, rejects included
	current arrow.RecordBatch
	err     error         // of reading; valid once ended is closed
	ended   chan struct{} // closed when reading is over
	tick    func(records int64)
	wg      sync.WaitGroup
	refs    atomic.Int64
}

// pipeJob is a batch on its way: raw goes to a converter, done brings the result.
type pipeJob struct {
	raw  *rawBatch
	done chan arrow.RecordBatch
}

// listedRejects is how many bad records a refusal lists.
const listedRejects = 10

// keptRejects bounds the rejects of one file that on_reject: keep holds in memory.
// A file with more is not a file with a few bad records: its declaration is wrong.
const keptRejects = 1_000_000

func newPipe(ctx context.Context, plan *stagePlan, r Reader, name string, workers int, tick func(int64)) *pipe {
	p := &pipe{
		plan:   plan,
		reader: r,
		name:   name,
		header: r.Header(),
		order:  make(chan *pipeJob, workers+1),
		free:   make(chan *rawBatch, 2*workers+2),
		tick:   tick,
		ended:  make(chan struct{}),
	}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.refs.Store(1)
	for range cap(p.free) {
		p.free <- &rawBatch{}
	}
	work := make(chan *pipeJob)
	for range workers {
		c := newConverter(plan, p.header)
		p.tallies = append(p.tallies, c.tally)
		p.wg.Add(1)
		go p.convert(c, work)
	}
	p.wg.Add(1)
	go p.read(work)
	return p
}

// read cuts the file into batches until it ends or is at fault.
func (p *pipe) read(work chan<- *pipeJob) {
	defer p.wg.Done()
	defer close(p.order)
	defer close(p.ended)
	defer close(work)
	p.err = p.readAll(work)
}

func (p *pipe) readAll(work chan<- *pipeJob) error {
	keep := p.plan.src.OnReject == rules.RejectKeep
	batch, err := p.take()
	if err != nil {
		return err
	}
	for {
		rec, err := p.reader.Next()
		var bad *RecordError
		switch {
		case err == nil:
			p.records++
			if len(p.rejects) > 0 && !keep {
				continue // refused already: what follows is only read for further rejects
			}
			batch.add(rec)
			if !batch.full() {
				continue
			}
			if batch, err = p.send(batch, work); err != nil {
				return err
			}
		case errors.As(err, &bad):
			p.records++
			p.rejects = append(p.rejects, Reject{
				Record: bad.No, Line: bad.Line, Column: bad.Column, Reason: bad.Reason, Raw: bad.Raw,
			})
			if !keep && len(p.rejects) >= listedRejects || len(p.rejects) > keptRejects {
				return refuseRejects(p.name, p.rejects, true)
			}
		case errors.Is(err, io.EOF):
			if len(p.rejects) > 0 && !keep {
				return refuseRejects(p.name, p.rejects, false)
			}
			if batch.len() > 0 {
				_, err := p.send(batch, work)
				return err
			}
			return nil
		default:
			return inputError(p.name, err)
		}
	}
}

// send gives a full batch to a converter and takes a free one.
func (p *pipe) send(b *rawBatch, work chan<- *pipeJob) (*rawBatch, error) {
	job := &pipeJob{raw: b, done: make(chan arrow.RecordBatch, 1)}
	select {
	case p.order <- job:
	case <-p.ctx.Done():
		return nil, context.Cause(p.ctx)
	}
	select {
	case work <- job:
	case <-p.ctx.Done():
		close(job.done)
		return nil, context.Cause(p.ctx)
	}
	if p.tick != nil {
		p.tick(p.records)
	}
	return p.take()
}

func (p *pipe) take() (*rawBatch, error) {
	select {
	case b := <-p.free:
		b.reset(len(p.header))
		return b, nil
	case <-p.ctx.Done():
		return nil, context.Cause(p.ctx)
	}
}

func (p *pipe) convert(c *converter, work <-chan *pipeJob) {
	defer p.wg.Done()
	defer c.release()
	for job := range work {
		job.done <- c.batch(job.raw)
		close(job.done)
		p.free <- job.raw
	}
}

// finish waits for all goroutines and returns the merged counts, or the error that
// reading ended with.
func (p *pipe) finish() (*tally, error) {
	for job := range p.order { // what the engine did not take
		if rec, ok := <-job.done; ok {
			rec.Release()
		}
	}
	p.wg.Wait()
	if p.current != nil {
		p.current.Release()
		p.current = nil
	}
	if p.err != nil {
		return nil, p.err
	}
	all := p.tallies[0]
	for _, t := range p.tallies[1:] {
		all.merge(t)
	}
	return all, nil
}

// stop ends reading early; finish must still be called.
func (p *pipe) stop(cause error) { p.cancel(cause) }

// The methods of array.RecordReader.

func (p *pipe) Retain()                        { p.refs.Add(1) }
func (p *pipe) Release()                       { p.refs.Add(-1) }
func (p *pipe) Schema() *arrow.Schema          { return p.plan.schema }
func (p *pipe) RecordBatch() arrow.RecordBatch { return p.current }
func (p *pipe) Record() arrow.RecordBatch      { return p.current } // the former name, still in the interface
func (p *pipe) Next() bool {
	if p.current != nil {
		p.current.Release()
		p.current = nil
	}
	job, ok := <-p.order
	if !ok {
		return false
	}
	rec, ok := <-job.done
	if !ok {
		return false
	}
	p.current = rec
	return true
}

// Err is the error that reading ended with; nil while it goes on.
func (p *pipe) Err() error {
	select {
	case <-p.ended:
		return p.err
	default:
		return nil
	}
}

var _ array.RecordReader = (*pipe)(nil)

// refuseRejects is the error of a file with records that cannot be cut into their
// fields, where the source does not keep them (V36).
func refuseRejects(name string, rejects []Reject, more bool) error {
	lines := make([]string, 0, listedRejects)
	for _, r := range rejects[:min(len(rejects), listedRejects)] {
		lines = append(lines, r.describe())
	}
	text := strings.Join(lines, "; ")
	if more {
		text += "; there may be more"
	}
	return fail.New(fail.Input, "%s: %s", name, text).
		WithHint("have the file sent again whole; or declare on_reject: keep, which lists such records and concludes no absence from the file")
}

// describe tells where a reject is and what is wrong with it, without its values.
func (r *Reject) describe() string {
	s := fmt.Sprintf("record %d", r.Record)
	if r.Line > 0 {
		s += fmt.Sprintf(" (line %d)", r.Line)
	}
	if r.Column != "" {
		s += ", column " + r.Column
	}
	return s + ": " + r.Reason
}

// inputError gives an error of a reader its class and its file.
func inputError(name string, err error) error {
	if _, ok := errors.AsType[*fail.Error](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fail.Wrap(fail.Input, err, "%s cannot be read", name)
}
