package fetch

import (
	"os"
	"path/filepath"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Stands tells whether the snapshot in a folder may be judged for an input of the job as
// it is now. It was pulled for this input and date, the source is declared as it was then,
// the coverage that the job claims is not wider than what was asked for, and every file
// has the bytes that came: a file that lost its end, or a query that asked for less than
// is claimed now, would else prove absences.
//
// The error has class Usage where the job is another one, and Integrity where what lies
// there is not what was pulled.
func (s *Snapshot) Stands(dir string, job *rules.Bound, side rules.Side, in *rules.Input) error {
	src := in.Source
	if s.Job != job.Name || s.BusinessDate != job.Date || s.FileDate != in.FileDate || s.Side != string(side) || s.Source != src.Name || s.Kind != src.Remote.Kind {
		return fail.New(fail.Integrity, "the snapshot in %s is of the source %s of %s on %s, and not of %s on %s", dir, s.Source, s.Job, s.BusinessDate, src.Name, job.Date).
			WithHint("restore the folder from a backup, or pull it again")
	}
	if s.Declared != job.AskedDigest(in) {
		return fail.New(fail.Usage, "the source %s was pulled under another declaration than that of the job file", src.Name).
			WithHint("pull it again, or take the job file of that day; the snapshot is in %s", dir)
	}
	if !within(in, s.CoversFrom, s.CoversUntil) {
		return fail.New(fail.Usage, "the source %s was pulled for a shorter coverage than the job file claims now: %s to %s", src.Name, s.CoversFrom, s.CoversUntil).
			WithHint("pull it again, or claim no more; the snapshot is in %s", dir)
	}
	for _, f := range s.Files {
		local := filepath.FromSlash(f.Name)
		if !filepath.IsLocal(local) {
			return fail.New(fail.Integrity, "the snapshot in %s names a file %q, which cannot be", dir, f.Name).
				WithHint("restore the folder from a backup, or pull it again")
		}
		path := filepath.Join(dir, FilesDir, local)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			if size, digest, err := HashFile(path); err == nil && size == f.Size && digest == f.SHA256 {
				continue
			}
		}
		return fail.New(fail.Integrity, "the file %s of the source %s is not the one that was pulled", f.Name, src.Name).
			WithHint("restore %s from a backup, or pull it again", dir)
	}
	return nil
}

// within tells whether an input claims no more than a coverage. A coverage without a
// bound holds every other one.
func within(in *rules.Input, from, until string) bool {
	then, err := time.Parse(time.RFC3339Nano, from)
	if from != "" && (err != nil || in.From == nil || *in.From < then.UnixMicro()) {
		return false
	}
	then, err = time.Parse(time.RFC3339Nano, until)
	return until == "" || err == nil && in.Until != nil && *in.Until <= then.UnixMicro()
}
