package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// published ends a run that was published before: a no-op that makes good what a
// crash between rename and switch left undone.
func (r *run) published(id string) (bool, error) {
	if r.DryRun {
		return false, nil
	}
	dir := r.dir.run(id)
	if _, err := os.Lstat(dir); err != nil {
		return false, nil
	}
	if err := refuseLink(dir); err != nil {
		return false, err
	}
	m, _, err := ReadManifest(dir)
	if err != nil {
		return false, err
	}
	if m.RunID != id {
		return false, fail.New(fail.Integrity, "%s holds the manifest of run %s", displayPath(dir), m.RunID).
			WithHint("somebody moved it; restore the folder or publish elsewhere with --out")
	}
	for _, o := range m.Outputs { // sizes only; verify reads them
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(o.Path)))
		if err != nil || info.Size() != o.Size {
			return false, fail.New(fail.Integrity, "run %s was published, but its %s is not what it was", id, o.Path).
				WithHint("look at it with recon-batch verify %s, and restore it from a backup", shellQuote(displayPath(dir)))
		}
	}
	current, err := r.dir.currentID()
	if err != nil {
		return false, err
	}
	if err := r.dir.withChain(func(c *chain) error { return c.write(r.dir.job) }); err != nil {
		return false, err
	}
	if current != id {
		if err := r.dir.switchCurrent(id); err != nil {
			return false, err
		}
		r.note("current points to run %s again", id)
		if current != "" {
			r.note("what only run %s proposes no longer holds: act on the queues of current alone", current)
		}
	}
	if err := os.RemoveAll(r.tmp); err != nil {
		return false, diskError(err, "the temporary folder cannot be removed")
	}
	r.resolve(id)
	r.res.Manifest, r.res.ExitCode, r.res.NoOp = m, m.Outcome.ExitCode, true
	r.res.Dir, r.res.Current = displayPath(dir), displayPath(r.dir.current())
	return true, nil
}

// resolve closes the notes of refused attempts. They are notes: a run that is published
// does not fail for one.
func (r *run) resolve(id string) {
	if err := r.dir.resolveAttempts(id); err != nil {
		r.note("the notes of refused attempts could not be closed: %s", err)
	}
}

// publish gives the run, whose outputs are sealed, its name.
func (r *run) publish(ctx context.Context, m *Manifest) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := r.target.still(ctx); err != nil {
		return err
	}
	current, err := r.dir.currentID()
	if err != nil {
		return err
	}
	if current != "" {
		_, sum, err := ReadManifest(r.dir.run(current))
		if err != nil {
			return err
		}
		m.Supersedes = &RunRef{BusinessDate: r.BusinessDate, RunID: current, ManifestSHA256: sum}
	}
	r.timings.Started = r.started.UTC().Format(time.RFC3339)
	r.timings.Seconds = seconds(time.Since(r.started))
	r.timings.Threads, r.timings.MemoryLimit, r.timings.EngineLimit = r.threads(), r.budget.Limit, r.budget.DuckDB
	if err := r.timings.write(r.tmp); err != nil {
		return err
	}
	err = r.dir.withChain(func(c *chain) error {
		m.Previous = c.Last
		text, err := encode(m)
		if err != nil {
			return err
		}
		if err := writeSynced(filepath.Join(r.tmp, manifestName), text); err != nil {
			return err
		}
		if err := r.dir.publish(r.tmp, m.RunID); err != nil {
			return err
		}
		r.tmp = ""
		c.Last = &RunRef{BusinessDate: r.BusinessDate, RunID: m.RunID, ManifestSHA256: sha256Hex(text)}
		c.Runs++
		return c.write(r.dir.job)
	})
	if err != nil {
		return err
	}
	r.res.Dir, r.res.Current = displayPath(r.dir.run(m.RunID)), displayPath(r.dir.current())
	if err := r.dir.switchCurrent(m.RunID); err != nil {
		return err
	}
	r.resolve(m.RunID)
	return nil
}
