// Package archive keeps bytes by their digest, each once, and knows which runs stand on
// them.
//
//	<dir>/sha256/ab/ab12…          the bytes of one file, read-only
//	<dir>/runs/<job>/<date>.<run>.json   what one run read
//
// Nothing in it is ever changed. An object goes when no run that is kept stands on it.
package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Archive is one folder of kept bytes.
type Archive struct{ Dir string }

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Object is where the bytes of a digest lie, whether they do or not.
func (a *Archive) Object(digest string) string {
	return filepath.Join(a.Dir, "sha256", digest[:2], digest)
}

// Keep brings the bytes of a file into the archive, unless they are there. What lies under
// the digest and has other bytes, or is a link, is replaced. The bytes must have the
// digest: a file that was changed since it was read is refused, class Input.
func (a *Archive) Keep(path, digest string) error {
	if !digestForm.MatchString(digest) {
		return fail.New(fail.Internal, "%q is no digest", digest)
	}
	dest := a.Object(digest)
	if err := a.folder("sha256", digest[:2]); err != nil {
		return err
	}
	if info, err := os.Lstat(dest); err == nil && info.Mode().IsRegular() {
		if have, err := hashOf(dest); err == nil && have == digest {
			return nil
		}
	}
	in, err := os.Open(path)
	if err != nil {
		return fail.Wrap(fail.Input, err, "%s cannot be read for the archive", filepath.Base(path)).
			WithHint("it was there a moment ago: run again")
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(dest), ".part-*")
	if err != nil {
		return fail.Disk(err, "the archive cannot be written")
	}
	defer os.Remove(out.Name()) // gone already where it was kept
	defer out.Close()
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, h), in); err != nil {
		return fail.Disk(err, "the archive cannot be written")
	}
	if hex.EncodeToString(h.Sum(nil)) != digest {
		return fail.New(fail.Input, "%s was written to after it was read", filepath.Base(path)).
			WithHint("run again when it is complete; have it delivered under another name and renamed")
	}
	err = errors.Join(out.Chmod(0o400), out.Sync(), out.Close())
	if err == nil {
		err = os.Rename(out.Name(), dest)
	}
	return fail.Disk(err, "the archive cannot be written")
}

func hashOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// folder makes a folder of the archive. A link on the way is refused, class Integrity: what
// is behind it is not kept here, and nobody would find it when the archive is pruned.
func (a *Archive) folder(parts ...string) error {
	dir := a.Dir
	for _, p := range parts {
		dir = filepath.Join(dir, p)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fail.Disk(err, "the archive cannot be written")
		}
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return aLink(dir)
		}
	}
	return nil
}

func aLink(path string) error {
	return fail.New(fail.Integrity, "%s in the archive is a link, or nothing that belongs there", path).
		WithHint("put the folder or file itself in its place, or take it away")
}

// Run is what one run read.
type Run struct {
	Job          string `json:"job"`
	BusinessDate string `json:"business_date"`
	RunID        string `json:"run_id"`
	Keep         string `json:"keep,omitempty"`    // how long; "" for good
	Entered      string `json:"entered,omitempty"` // the day, in UTC, on which it was kept
	Inputs       []File `json:"inputs"`
}

// File is one file that a run read.
type File struct {
	Side   string `json:"side"`
	Source string `json:"source"`
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Enter writes what a run read, when all of it is kept.
func (a *Archive) Enter(r *Run) error {
	dir := filepath.Join(a.Dir, "runs", r.Job)
	if err := a.folder("runs", r.Job); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, r.BusinessDate+"."+r.RunID+".json")
	tmp, err := os.CreateTemp(dir, ".part-*")
	if err != nil {
		return fail.Disk(err, "the archive cannot be written")
	}
	defer os.Remove(tmp.Name()) // gone already where it was kept
	_, err = tmp.Write(append(text, '\n'))
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return fail.Disk(err, "the archive cannot be written")
}

// Prune removes the runs of a job whose time to be kept ended before now, and then what
// no run of any job stands on. It returns how many runs and objects went. An entry that
// cannot be read keeps everything, and so does a link, behind which there may be entries.
func (a *Archive) Prune(job string, now time.Time) (runs, objects int, err error) {
	wanted, old := map[string]bool{}, []string{}
	err = filepath.WalkDir(filepath.Join(a.Dir, "runs"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if !e.Type().IsRegular() {
			return aLink(path)
		}
		if !strings.HasSuffix(path, ".json") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var r Run
		if err := json.Unmarshal(text, &r); err != nil {
			return fail.Wrap(fail.Integrity, err, "%s in the archive is damaged", filepath.Base(path)).
				WithHint("restore it from a backup; nothing is removed until then")
		}
		if r.Job == job && ended(&r, now) {
			old = append(old, path)
			return nil
		}
		for _, f := range r.Inputs {
			wanted[f.SHA256] = true
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return 0, 0, err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return runs, 0, fail.Disk(err, "the archive cannot be pruned")
		}
		runs++
	}
	err = filepath.WalkDir(filepath.Join(a.Dir, "sha256"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !digestForm.MatchString(e.Name()) || wanted[e.Name()] {
			return err
		}
		objects++
		return os.Remove(path)
	})
	return runs, objects, fail.Disk(err, "the archive cannot be pruned")
}

// ended tells whether a run need not be kept any more. What cannot be read is kept.
func ended(r *Run, now time.Time) bool {
	date, err := time.Parse(time.DateOnly, r.BusinessDate)
	keep, ok := rules.ParseKeep(r.Keep)
	if err != nil || !ok {
		return false
	}
	// A run of a day long past keeps what it read as long as any other does.
	if entered, err := time.Parse(time.DateOnly, r.Entered); err == nil && entered.After(date) {
		date = entered
	}
	until := keep.Until(date)
	return !until.IsZero() && now.After(until)
}
