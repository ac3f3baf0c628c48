package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// Writer writes one file of a snapshot under a temporary name, and counts and hashes
// what passes. It takes its name with Commit; without it nothing of it stays.
type Writer struct {
	f    *os.File
	h    hash.Hash
	size atomic.Int64 // compression writes on goroutines of its own, while Size is asked
	dest string
	name string
}

// partPrefix begins the names of files that are being written.
const partPrefix = ".part-"

// removeParts takes away what a pull that was killed was writing.
func removeParts(dir string) error {
	entries, err := os.ReadDir(dir) // not by a pattern: the folder may have one in its name
	if err != nil {
		return fail.Disk(err, "the folder of the snapshot cannot be read")
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partPrefix) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return fail.Disk(err, "a temporary file cannot be taken away")
		}
	}
	return nil
}

// Create begins a file of the snapshot in dir, the folder of the request. name is its
// name in outputs, slash-separated and local.
func Create(dir, name string) (*Writer, error) {
	dest := filepath.Join(dir, FilesDir, filepath.FromSlash(name))
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, fail.New(fail.Input, "%q is no name for a file", name).
			WithHint("names that lead out of their folder are not taken over")
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o700); err != nil {
		return nil, fail.Disk(err, "a folder of the snapshot cannot be made")
	}
	f, err := os.CreateTemp(dir, partPrefix+"*") // 0600
	if err != nil {
		return nil, fail.Disk(err, "a file of the snapshot cannot be made")
	}
	return &Writer{f: f, h: sha256.New(), dest: dest, name: name}, nil
}

// Write implements io.Writer. The error is a *fail.Error of class Resource where the
// disk is full.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	w.h.Write(p[:n])
	w.size.Add(int64(n))
	return n, fail.Disk(err, "a file of the snapshot cannot be written")
}

// Size is what was written so far, in bytes. It may be asked from any goroutine.
func (w *Writer) Size() int64 { return w.size.Load() }

// Commit brings the file to the disk and gives it its name.
func (w *Writer) Commit() (File, error) { return w.commit(w.f.Sync()) }

func (w *Writer) commit(synced error) (File, error) {
	err := errors.Join(synced, w.f.Close())
	if err == nil {
		err = os.Rename(w.f.Name(), w.dest)
	}
	if err != nil {
		os.Remove(w.f.Name())
		return File{}, fail.Disk(err, "a file of the snapshot cannot be written")
	}
	return File{Name: w.name, Size: w.size.Load(), SHA256: hex.EncodeToString(w.h.Sum(nil))}, nil
}

// Abort takes the file away. After Commit it does nothing.
func (w *Writer) Abort() {
	w.f.Close()
	os.Remove(w.f.Name()) // gone already where it was committed
}

// WriteFile writes a small file whole: under a temporary name, to the disk, renamed.
func WriteFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), partPrefix+"*")
	if err != nil {
		return fail.Disk(err, "%s cannot be written", filepath.Base(path))
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return fail.Disk(err, "%s cannot be written", filepath.Base(path))
}

// HashFile gives size and digest of a file as it lies there, for what an earlier,
// interrupted pull left.
func HashFile(path string) (size int64, digest string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}
