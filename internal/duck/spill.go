package duck

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

const (
	spillPrefix = "recon-batch-spill-"
	ownerFile   = "owner.lock"
)

// removeOrphans deletes the spill folders of dead instances: those whose owner
// lock is free. Two live instances must never share one, since their files have
// the same names. A folder that cannot be judged is left alone; it costs disk, no
// truth.
func removeOrphans(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), spillPrefix) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if _, err := os.Stat(filepath.Join(dir, ownerFile)); err != nil {
			continue // just being made, or not ours
		}
		l := flock.New(filepath.Join(dir, ownerFile))
		if ok, err := l.TryLock(); err == nil && ok {
			os.RemoveAll(dir)
			l.Unlock()
		}
	}
}
