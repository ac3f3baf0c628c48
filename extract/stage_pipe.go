package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pages"
	"github.com/recon-batch/recon-batch/rules"
)

// pipe streams one file into a staged one: one goroutine cuts records, several
// convert batches of them into Arrow record batches and those into pages, and
// write puts the pages down in the order of the file. At most 2·workers+2 batches
// are alive, so that memory does not depend on the size of the file.
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
	err     error // of reading; valid once order is closed
	tick    func(records int64)
	wg      sync.WaitGroup
}

// pipeJob is a batch on its way: raw goes to a converter, done brings the result.
type pipeJob struct {
	raw  *rawBatch
	done chan encodedBatch
}

// encodedBatch is a batch as pages, one a column.
type encodedBatch struct {
	pages []pages.Page
	rows  int64
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
	}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	for range cap(p.free) {
		p.free <- &rawBatch{}
	}
	work := make(chan *pipeJob)
	cols := stagedColumns(plan.schema)
	for range workers {
		c := newConverter(plan, p.header)
		p.tallies = append(p.tallies, c.tally)
		p.wg.Add(1)
		go p.convert(c, pages.NewEncoder(cols), work)
	}
	p.wg.Add(1)
	go p.read(work)
	return p
}

// read cuts the file into batches until it ends or is at fault.
func (p *pipe) read(work chan<- *pipeJob) {
	defer p.wg.Done()
	defer close(p.order)
	defer close(work)
	p.err = p.readAll(work)
}

func (p *pipe) readAll(work chan<- *pipeJob) error {
	keep := p.plan.src.OnReject == rules.RejectKeep
	batch, err := p.take()
	if err != nil {
		return err
	}
	var bad *RecordError
	for {
		rec, err := p.reader.Next()
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
	job := &pipeJob{raw: b, done: make(chan encodedBatch, 1)}
	text, records := len(b.text), b.len() // b belongs to the converter from here on
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
	next, err := p.take()
	if err == nil {
		next.grow(text, records)
	}
	return next, err
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

func (p *pipe) convert(c *converter, e *pages.Encoder, work <-chan *pipeJob) {
	defer p.wg.Done()
	for job := range work {
		rec := c.batch(job.raw)
		job.done <- encodedBatch{pages: e.Encode(rec), rows: rec.NumRows()}
		close(job.done)
		rec.Release()
		p.free <- job.raw
	}
}

// write puts the batches down as they come, waits for all goroutines, and returns
// the merged counts, or the error that reading or writing ended with.
func (p *pipe) write(out *pages.File) (*tally, error) {
	var failed error
	for job := range p.order {
		batch, ok := <-job.done
		if !ok || failed != nil {
			continue
		}
		if failed = out.Add(batch.pages, batch.rows); failed != nil {
			p.cancel(failed)
		}
	}
	p.wg.Wait()
	p.cancel(nil)
	switch {
	case failed != nil:
		return nil, stageError(failed)
	case p.err != nil:
		return nil, p.err
	}
	all := p.tallies[0]
	for _, t := range p.tallies[1:] {
		all.merge(t)
	}
	return all, nil
}

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
