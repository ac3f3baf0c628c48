package fetch

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// Keep gives the file its name as [Writer.Commit] does, but does not bring it to the disk,
// for pulls of very many small files. Whoever uses it compares the digests of what an
// interrupted pull left before it believes them, and calls [SyncFiles] at the end.
func (w *Writer) Keep() (File, error) { return w.commit(nil) }

// SyncFiles brings files of a snapshot to the disk, several at the same time, so that the
// file system can write them together.
func SyncFiles(dir string, files []File) error {
	var g errgroup.Group
	g.SetLimit(16)
	for _, f := range files {
		g.Go(func() error {
			h, err := os.Open(filepath.Join(dir, FilesDir, filepath.FromSlash(f.Name)))
			if err == nil {
				err = errors.Join(h.Sync(), h.Close())
			}
			return fail.Disk(err, "%s cannot be brought to the disk", f.Name)
		})
	}
	return g.Wait()
}
