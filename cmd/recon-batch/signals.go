package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// patience is how long a run may take to stop after a signal before the process
// ends without it. What it leaves behind is removed by the next run.
const patience = 9 * time.Second

// withSignals gives a context that SIGINT or SIGTERM cancels, with the class of
// the ending as its cause. A second signal kills the process at once.
func withSignals(stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
			return
		case sig := <-signals:
			signal.Reset(os.Interrupt, syscall.SIGTERM)
			class, name := fail.Interrupt, "interrupted"
			if sig == syscall.SIGTERM {
				class, name = fail.Terminate, "terminated"
			}
			cancel(fail.New(class, "%s; nothing was published", name).
				WithHint("run the same command again: files that were parsed are not parsed again"))
			select {
			case <-done:
			case <-time.After(patience):
				io.WriteString(stderr, "recon-batch: does not stop in time, ending\n")
				os.Exit(int(class))
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
