package extract

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Pinned is a file that a former run read, or missed. A side that is loaded with
// pinned files reads those and no others: a file that came since is not seen, one
// that is gone is taken from the stage folder, and one that has other bytes now is
// refused unless its former bytes are staged.
type Pinned struct {
	Source  string
	Path    string // as the run found it, with slashes
	Date    string // {file_date}, or ""
	SHA256  string // of the bytes; "" where they were not read
	Missing bool   // there was no such file
	Control bool   // it is a control file
	// SignedWith names the keys by which the signatures of its records were checked.
	SignedWith string
}

// pinned lists the files of every input as a former run found them. The error has
// class Input where the run read nothing for an input of the job.
func pinned(base string, inputs []rules.Input, list []Pinned, kept func(string) string) ([]*foundFile, error) {
	var found []*foundFile
	for i := range inputs {
		in := &inputs[i]
		// The folder alone is asked for: which files lie there now does not matter, and
		// neither does that it is gone.
		_, dir, _ := expand(base, in)
		n := len(found)
		for _, p := range list {
			if p.Source == in.Source.Name && p.Date == in.FileDate && !p.Control {
				f := &foundFile{source: in.Source, input: i, dir: dir, rel: filepath.FromSlash(p.Path), date: in.FileDate, missing: p.Missing, sha256: p.SHA256, judged: in.Judged, signedWith: p.SignedWith}
				if kept != nil {
					f.kept = kept(p.SHA256)
				}
				found = append(found, f)
			}
		}
		if len(found) == n {
			what := "source " + in.Source.Name
			if in.FileDate != "" {
				what += " of " + in.FileDate
			}
			return nil, fail.New(fail.Input, "the run read no file for the %s, which this job has", what).
				WithHint("judge it again under a job with the sources of the run")
		}
	}
	return found, nil
}

// kept finds the staged form of a pinned file by the digest of its bytes alone; nil
// where it is not there. The entry is not marked as used: who looks at the past does
// not decide how long it is kept.
func (s *stager) kept(f *foundFile, digest string) *staged {
	var raw [32]byte
	if n, err := hex.Decode(raw[:], []byte(f.sha256)); err != nil || n != len(raw) {
		return nil
	}
	key := stageKey(raw, digest)
	c := readSidecar(s.dir, key)
	if c == nil || c.SHA256 != f.sha256 {
		return nil
	}
	s.progress(f, c.Size, c.Size, c.Records)
	return &staged{sidecar: *c, key: key, path: stagedPath(s.dir, key), cached: true}
}

// gone is the error of a pinned file that cannot be read any more.
func (f *foundFile) gone(cause error) error {
	if errors.Is(cause, fs.ErrNotExist) {
		return fail.New(fail.Input, "%s is gone, and no staged form of it fits these declarations", f.rel).
			WithHint("put the file of that day back")
	}
	return fail.Wrap(fail.Input, cause, "%s cannot be read any more, and no staged form of it fits these declarations", f.rel).
		WithHint("put the file of that day back")
}

// checkKept refuses kept bytes that are not those of their digest, before anything is
// made of them.
func (f *foundFile) checkKept(ctx context.Context, in io.ReadSeeker) error {
	sum, err := hashFile(ctx, in)
	if err != nil {
		return inputError(f.rel, err)
	}
	if digest := hex.EncodeToString(sum[:]); digest != f.sha256 {
		return fail.New(fail.Input, "the kept bytes of %s are damaged: they have other bytes than the run read (%s, then %s)", f.rel, short(digest), short(f.sha256)).
			WithHint("restore the archive from a backup, or take the damaged object %s away and put the file of that day back", short(f.sha256))
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return inputError(f.rel, err)
	}
	return nil
}

// otherBytes is the error of a pinned file that was replaced.
func (f *foundFile) otherBytes(now string) error {
	return fail.New(fail.Input, "%s has other bytes than the run read (%s, then %s), and no staged form of those fits these declarations",
		f.rel, short(now), short(f.sha256)).
		WithHint("put the file of that day back, or run the date again")
}

func short(digest string) string { return fmt.Sprintf("%.12s", digest) }
