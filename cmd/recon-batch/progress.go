package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/recon-batch/recon-batch/internal/pipeline"
)

// heartbeat is how often a run without a terminal says that it lives.
const heartbeat = 30 * time.Second

// progress tells on stderr how far a run is: bars on a terminal, plain lines
// otherwise, nothing where it is not wanted.
type progress interface {
	event(pipeline.Event)
	close()
}

// newProgress chooses. CI logs get lines, since their terminals keep every frame.
func (s *session) newProgress(quiet, off bool) progress {
	switch {
	case quiet, off:
		return silent{}
	case isTerminal(s.stderr) && s.env["TERM"] != "dumb" && s.env["CI"] == "":
		return newBars(s)
	}
	return newLines(s, heartbeat)
}

type silent struct{}

func (silent) event(pipeline.Event) {}
func (silent) close()               {}

// lines writes a line when a stage is done and a heartbeat in between.
type lines struct {
	s    *session
	mu   sync.Mutex
	last pipeline.Event
	held string    // what the engine held when it last told
	at   time.Time // begin of the stage
	stop chan struct{}
	done chan struct{}
}

func newLines(s *session, every time.Duration) *lines {
	l := &lines{s: s, stop: make(chan struct{}), done: make(chan struct{})}
	go l.beat(every)
	return l
}

func (l *lines) beat(every time.Duration) {
	defer close(l.done)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-t.C:
			l.mu.Lock()
			if l.last.Kind != pipeline.StageEnds && l.last.Stage != "" {
				text := fmt.Sprintf("%-9s still at work after %s%s", l.last.Stage, time.Since(l.at).Round(time.Second), rate(l.last.Rows, time.Since(l.at)))
				l.s.notef("%s\n", join(text, l.held))
			}
			l.mu.Unlock()
		}
	}
}

func (l *lines) event(e pipeline.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Kind {
	case pipeline.Note:
		l.s.notef("%s\n", e.Note)
		return
	case pipeline.EngineHolds:
		l.held = e.Held()
		return
	}
	l.last = e
	switch e.Kind {
	case pipeline.StageBegins:
		l.at = time.Now()
	case pipeline.StageEnds:
		l.s.notef("%-9s %s%s\n", e.Stage, e.Elapsed.Round(time.Millisecond), rate(e.Rows, e.Elapsed))
	}
}

func (l *lines) close() {
	close(l.stop)
	<-l.done
}

// rate writes rows and rows a second, "" where there are none.
func rate(rows int64, d time.Duration) string {
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf(", %d rows, %d rows/s", rows, perSecond(rows, d))
}

func perSecond(rows int64, d time.Duration) int64 {
	if ms := d.Milliseconds(); ms > 0 {
		return rows * 1000 / ms
	}
	return rows
}

// bars draws a bar for each stage that has begun.
type bars struct {
	pool *mpb.Progress

	mu   sync.Mutex // of what follows, and of every stageBar
	last *stageBar
}

// stageBar is the bar of one stage.
type stageBar struct {
	bar   *mpb.Bar
	stage pipeline.Event
	held  string // what the engine holds
	at    time.Time
}

func newBars(s *session) *bars {
	return &bars{pool: mpb.New(mpb.WithOutput(s.stderr), mpb.WithWidth(40), mpb.WithRefreshRate(150*time.Millisecond))}
}

func (b *bars) event(e pipeline.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Kind == pipeline.Note {
		fmt.Fprintln(b.pool, printable(e.Note)) // above the bars
		return
	}
	if e.Kind == pipeline.StageBegins {
		n := &stageBar{stage: e, at: time.Now()}
		// Only extract knows how much lies ahead; the engine's statements tell no share.
		total := int64(0)
		if e.Stage == pipeline.StageExtract {
			total = e.Total
		}
		n.bar = b.pool.AddBar(total,
			mpb.PrependDecorators(decor.Name(fmt.Sprintf("%-9s", e.Stage))),
			mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO), decor.Any(func(decor.Statistics) string { return b.text(n) })))
		b.last = n
		return
	}
	n := b.last
	if n == nil {
		return
	}
	switch e.Kind {
	case pipeline.EngineHolds:
		n.held = e.Held()
	case pipeline.StageAdvances:
		n.stage = e
		if e.Total > 0 {
			n.bar.SetCurrent(min(e.Bytes, e.Total-1)) // the end is the stage's to tell
		}
	case pipeline.StageEnds:
		n.stage = e
		n.bar.SetTotal(-1, true)
	}
}

// text is drawn by the pool's own goroutine.
func (b *bars) text(n *stageBar) string {
	if !b.mu.TryLock() { // an event is coming in; the next frame shows it
		return ""
	}
	defer b.mu.Unlock()
	if n.stage.Kind == pipeline.StageEnds {
		return rate(n.stage.Rows, n.stage.Elapsed)
	}
	text := rate(n.stage.Rows, time.Since(n.at))
	if n.held != "" {
		text += ", " + n.held
	}
	return text
}

func (b *bars) close() {
	b.mu.Lock()
	if n := b.last; n != nil && !n.bar.Completed() {
		n.bar.Abort(false)
	}
	b.mu.Unlock()
	b.pool.Wait()
}
