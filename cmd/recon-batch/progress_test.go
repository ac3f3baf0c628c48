package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/recon-batch/recon-batch/internal/pipeline"
)

// openPTY opens a pseudo-terminal (pts(4)): what is written to the terminal is
// read from the other end.
func openPTY(t *testing.T) (other, terminal *os.File) {
	t.Helper()
	other, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	if err := unix.IoctlSetPointerInt(int(other.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(other.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	return other, terminal
}

// On a terminal there is a bar a stage, with rows a second.
func TestBarsOnTerminal(t *testing.T) {
	other, terminal := openPTY(t)
	read := make(chan string)
	go func() {
		var all strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := other.Read(buf)
			all.Write(buf[:n])
			if err != nil || strings.Contains(all.String(), "END OF TEST") {
				read <- all.String()
				return
			}
		}
	}()
	s := newSession([]string{"recon-batch"}, nil, nil, terminal, []string{"TERM=xterm"})
	p := s.newProgress(false, false)
	if _, ok := p.(*bars); !ok {
		t.Fatalf("a terminal, but %T", p)
	}
	p.event(pipeline.Event{Stage: pipeline.StageExtract, Kind: pipeline.StageBegins, Total: 1000})
	for i := range int64(4) {
		p.event(pipeline.Event{Stage: pipeline.StageExtract, Kind: pipeline.StageAdvances, Bytes: 250 * i, Total: 1000, Rows: 1000 * i})
		time.Sleep(100 * time.Millisecond)
	}
	p.event(pipeline.Event{Stage: pipeline.StageExtract, Kind: pipeline.StageEnds, Rows: 4000, Elapsed: 400 * time.Millisecond})
	p.event(pipeline.Event{Stage: pipeline.StageMatch, Kind: pipeline.StageBegins})
	p.event(pipeline.Event{Stage: pipeline.StageMatch, Kind: pipeline.EngineHolds, Memory: 1 << 30, Spilled: 3 << 30})
	time.Sleep(400 * time.Millisecond)
	p.close() // in the middle of a stage, as after an error
	fmt.Fprint(terminal, "END OF TEST")
	text := <-read
	for _, want := range []string{"extract", "match", "rows/s", "10000 rows/s", "spilled 3 GiB", "\x1b["} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the terminal: %q", want, text)
		}
	}
}

// The same terminal in CI, or a dumb one, gets lines.
func TestNoBars(t *testing.T) {
	_, terminal := openPTY(t)
	for _, env := range []string{"CI=true", "TERM=dumb"} {
		s := newSession([]string{"recon-batch"}, nil, nil, terminal, []string{env})
		p := s.newProgress(false, false)
		if _, ok := p.(*lines); !ok {
			t.Errorf("%s: %T", env, p)
		}
		p.close()
	}
}

// The heartbeat says how long the stage is at work and what the engine holds.
func TestHeartbeatSaysWhatIsHeld(t *testing.T) {
	var out lockedBuffer
	s := newSession([]string{"recon-batch"}, nil, nil, &out, nil)
	p := newLines(s, 5*time.Millisecond)
	p.event(pipeline.Event{Stage: pipeline.StageMatch, Kind: pipeline.StageBegins})
	p.event(pipeline.Event{Stage: pipeline.StageMatch, Kind: pipeline.EngineHolds, Memory: 1 << 30, Spilled: 3 << 30})
	const want = "match     still at work after 0s, memory 1 GiB, spilled 3 GiB\n"
	for begun := time.Now(); !strings.Contains(out.String(), want); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("no heartbeat: %q", out.String())
		}
	}
	p.close()
}

// lockedBuffer may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
