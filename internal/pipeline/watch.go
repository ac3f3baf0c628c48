package pipeline

import (
	"context"
	"sync"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
)

// watchEvery is how often a run tells what the engine holds.
const watchEvery = 10 * time.Second

// watch tells of the engine's memory and spilled data until the function that it
// returns is called. What cannot be asked is not told: it is news, no truth.
func (r *run) watch(ctx context.Context, db *duck.DB, every time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			memory, spilled, err := db.Spill(ctx)
			if err != nil {
				continue
			}
			r.mu.Lock()
			r.spilled = max(r.spilled, spilled)
			r.emit(Event{Stage: r.stage, Kind: EngineHolds, Memory: memory, Spilled: spilled})
			r.mu.Unlock()
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// stageUnused is how long an entry of the stage folder is kept without being used.
const stageUnused = 30 * 24 * time.Hour

// prune removes old entries of the stage folder. It comes after everything else,
// and a run that was published does not fail by it.
func (r *run) prune(files string) {
	p, err := extract.Prune(files, r.started.Add(-stageUnused))
	if err != nil {
		r.note("old staged files could not be removed: %s", err)
	}
	if p.Files > 0 {
		r.note("removed %d staged files that no run used for 30 days, %s", p.Files, sizeText(p.Bytes))
	}
}
