package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// How a run waits for its inputs: the first looks are close together, since most of what
// is late is late by little; later ones are far enough apart to be no burden.
const (
	firstLook   = time.Second
	longestLook = time.Minute
	lookGrowth  = 1.5
	lookJitter  = 0.2              // so that the jobs of a night do not look all at once
	beat        = 30 * time.Second // how often it says at least what it waits for
)

// await waits until every source is there and ready, optional ones aside, or the time for
// that is over. What is missing then the run itself tells, and notes.
//
// The lock of the date is not held: nothing is read or written here, and another run of
// the date, by a person who knows better, need not wait for what is late. What counts is
// the look of [run.judge] under the lock. The clock decides how long it waits, and no
// verdict.
func (r *run) await(ctx context.Context) error {
	if r.WaitForInputs <= 0 || r.again != nil {
		return nil
	}
	r.watched = r.watching(false)
	list := slices.DeleteFunc(slices.Clone(r.watched), func(w *watched) bool { return w.input.Source.Need == rules.Optional })
	began := time.Now()
	deadline := began.Add(r.WaitForInputs)
	said, saidAt := "", time.Time{}
	for every := firstLook; ; every = min(time.Duration(float64(every)*lookGrowth), longestLook) {
		var late []*watched
		for _, w := range list {
			w.look(ctx)
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if w.err != nil && fail.ClassOf(w.err) != fail.Temporary {
				return w.err
			}
			if w.why() != "" {
				late = append(late, w)
			}
		}
		now := time.Now()
		if len(late) == 0 || !now.Before(deadline) {
			break
		}
		next := min(nextLook(late, every), deadline.Sub(now))
		if text := lateWords(late); text != said || now.Sub(saidAt) >= beat {
			said, saidAt = text, now
			r.emitNote("waiting for %s; next look in %s, until %s at the latest", text, next.Round(100*time.Millisecond), seenAt(deadline))
		}
		if err := pause(ctx, next); err != nil {
			return err
		}
	}
	// What is asked outside from now on has its whole time.
	if !r.Until.IsZero() {
		r.Until = r.Until.Add(time.Since(began))
	}
	return r.room()
}

// nextLook is after how long the next look is due. Where files only have to stay as they
// are, it is known when that will be so.
func nextLook(late []*watched, every time.Duration) time.Duration {
	again := time.Duration(0)
	for _, w := range late {
		if w.last == nil || w.last.Again == 0 {
			return time.Duration(float64(every) * (1 + lookJitter*(2*rand.Float64()-1)))
		}
		again = max(again, w.last.Again)
	}
	return again
}

// lateWords names what a run waits for.
func lateWords(late []*watched) string {
	var parts []string
	for _, w := range late {
		parts = append(parts, fmt.Sprintf("%s since %s (%s)", w.name(), seenAt(w.since), w.why()))
	}
	return strings.Join(parts, ", ")
}

func seenAt(t time.Time) string { return t.UTC().Format(time.RFC3339) }
