package pipeline

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/recon-batch/recon-batch/internal/fail"
)

const currentName = "current"

// tmpForm is the form of the temporary folders and links that this package makes.
var tmpForm = regexp.MustCompile(`^\.(?:[0-9a-f]{16}|current)\.tmp-[0-9a-f]{8}$`)

// tmpName gives a fresh name of that form. The random part never reaches an
// output.
func tmpName(stem string) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return "." + stem + ".tmp-" + hex.EncodeToString(b[:])
}

// removeLeftOvers deletes the temporary folders of dead runs. The caller holds
// the lock of the date, so that whatever has such a name belongs to a run that
// no longer lives. It returns how many there were.
func (d *outDir) removeLeftOvers() (int, error) {
	entries, err := os.ReadDir(d.date)
	if err != nil {
		return 0, fail.Wrap(fail.Resources, err, "the output folder cannot be read")
	}
	n := 0
	for _, e := range entries {
		if !tmpForm.MatchString(e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(d.date, e.Name())); err != nil {
			return n, fail.Wrap(fail.Resources, err, "the temporary folder of a dead run cannot be removed")
		}
		n++
	}
	return n, nil
}

// seal makes every file of dir durable and returns their sizes and digests, read
// back after the sync, sorted by path. A symbolic link among them is refused.
func seal(dir string, role func(path string) string) ([]OutputDigest, error) {
	var out []OutputDigest
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return nil
		}
		if !e.Type().IsRegular() {
			return fail.New(fail.Integrity, "%s is not a plain file", p)
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if err := syncPath(p); err != nil {
			return err
		}
		size, sum, err := hashFile(p)
		if err != nil {
			return err
		}
		out = append(out, OutputDigest{Path: rel, Role: role(rel), Size: size, SHA256: sum})
		return nil
	})
	if err != nil {
		return nil, diskError(err, "the outputs cannot be written")
	}
	slices.SortFunc(out, func(a, b OutputDigest) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// syncTree makes the folders themselves durable, innermost first.
func syncTree(dir string) error {
	var dirs []string
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			dirs = append(dirs, p)
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Reverse(dirs)
	for _, p := range dirs {
		if err := syncPath(p); err != nil {
			return err
		}
	}
	return nil
}

func syncPath(p string) error {
	f, err := os.Open(p)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) { // file systems that cannot sync a folder say so
		err = nil
	}
	return errors.Join(err, f.Close())
}

func hashFile(p string) (int64, string, error) {
	f, err := os.Open(p)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	return hashOf(f)
}

// hashOf is the length and the SHA-256 of what is read.
func hashOf(f io.Reader) (int64, string, error) {
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return 0, "", err
	}
	return n, hex.EncodeToString(h.Sum(nil)), nil
}

// writeSynced writes a new file and makes it durable.
func writeSynced(p string, text []byte) error {
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return diskError(err, "the outputs cannot be written")
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return diskError(err, "the outputs cannot be written")
	}
	return nil
}

// publish gives the finished temporary folder its final name. From here on the
// run exists.
func (d *outDir) publish(tmp, id string) error {
	if err := syncTree(tmp); err != nil {
		return diskError(err, "the outputs cannot be written")
	}
	if err := os.Rename(tmp, d.run(id)); err != nil {
		return diskError(err, "the run cannot be published")
	}
	return diskError(syncPath(d.date), "the run cannot be published")
}

// switchCurrent lets current point to the run: a new relative link, renamed over
// the old one. Readers see the old or the new run, never none.
func (d *outDir) switchCurrent(id string) error {
	if info, err := os.Lstat(d.current()); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fail.New(fail.Conflict, "%s is not a symbolic link", displayPath(d.current())).
			WithHint("move it away: the name belongs to the program")
	}
	tmp := filepath.Join(d.date, tmpName(currentName))
	if err := os.Symlink(id, tmp); err != nil {
		return diskError(err, "current cannot be switched")
	}
	if err := os.Rename(tmp, d.current()); err != nil {
		return errors.Join(diskError(err, "current cannot be switched"), os.Remove(tmp))
	}
	return diskError(syncPath(d.date), "current cannot be switched")
}

// currentID tells which run is current, "" where none is. A link that names
// anything but a run of this folder is refused.
func (d *outDir) currentID() (string, error) {
	id, err := os.Readlink(d.current())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fail.Wrap(fail.Conflict, err, "%s cannot be read", displayPath(d.current())).
			WithHint("it should be a symbolic link to the folder of a run; move it away")
	}
	if !runIDForm.MatchString(id) {
		return "", fail.New(fail.Integrity, "%s points to %q, which is no run of this folder", displayPath(d.current()), id).
			WithHint("somebody changed it; remove the link and run again")
	}
	return id, nil
}

// diskError gives an error of the file system its class; nil stays nil and an
// error that has a class keeps it.
func diskError(err error, what string) error { return fail.Disk(err, "%s", what) }
