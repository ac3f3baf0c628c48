package extract

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// stageName matches what a stage folder holds: staged files and their sidecars,
// lists of repeated keys, parts of a run that was cut short, and markers. Nothing
// else is ever removed from the folder, which people may have chosen.
var stageName = regexp.MustCompile(`^([0-9a-f]{64}\.(parquet|json)|[0-9a-f]{64}\.h[0-9a-z]+\.parquet|\.part-[0-9]+\.parquet|seen/[0-9a-f]{32}-[0-9]+)$`)

// Pruned is what Prune removed.
type Pruned struct {
	Files int
	Bytes int64
}

// Prune removes what no run has used since before from a stage folder. Every use
// sets the time of a staged file anew, so that files of a run under way are young.
// An entry that is gone costs time, never a verdict: its input is parsed again.
func Prune(dir string, before time.Time) (Pruned, error) {
	var p Pruned
	var errs []error
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed by another run meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if rel != "." && rel != "seen" {
				return fs.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() || !stageName.MatchString(filepath.ToSlash(rel)) {
			return nil
		}
		info, err := e.Info()
		if err != nil || !info.ModTime().Before(before) {
			return nil
		}
		switch err := os.Remove(path); {
		case err == nil:
			p.Files++
			p.Bytes += info.Size()
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		}
		return nil
	})
	if err := errors.Join(append(errs, err)...); err != nil {
		return p, stageError(err)
	}
	return p, nil
}

// touch notes the use of an entry. It tells whether the entry is there still.
func touch(paths ...string) bool {
	now := time.Now()
	for _, p := range paths {
		if err := os.Chtimes(p, now, now); errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// MayBeStaged tells whether a file of this size was staged by what the job says of
// its source. No is certain, and such a file is parsed; yes means that the next
// Load hashes the file first and parses it only if its content is another one.
// Nothing but the names in the stage folder is read.
func MayBeStaged(stageDir string, job *rules.Job, side rules.Side, src *rules.Source, name string, size int64) bool {
	digest := planDigest(newStagePlan(NewLayout(job, side), src), name)
	_, err := os.Stat(markerPath(stageDir, digest, size))
	return err == nil
}
