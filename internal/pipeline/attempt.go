package pipeline

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/rules"
)

// Attempt is the note that a refused run leaves: what is missing, since when, and
// the next command. It is about a run that does not exist, so that it may tell
// the clock. The same trouble again updates the same note; the next run of the date
// that ends well closes it, and the note stays as history.
type Attempt struct {
	SchemaVersion int        `json:"schema_version"`
	ID            string     `json:"id"`
	Job           string     `json:"job"`
	BusinessDate  string     `json:"business_date"`
	ReferenceTime string     `json:"reference_time"`
	ExitCode      fail.Class `json:"exit_code"`
	Stage         string     `json:"stage"`
	Missing       string     `json:"missing"` // what is missing or wrong
	Since         string     `json:"since"`   // first time that this was seen, RFC 3339, UTC
	Last          string     `json:"last"`    // last time
	Times         int        `json:"times"`
	Remedy        string     `json:"remedy,omitempty"`
	NextCommand   string     `json:"next_command"`
	ResolvedBy    string     `json:"resolved_by,omitempty"` // the run of the date that ended well since; "" none
}

// noteAttempt writes attempts/<id>.json for a run that ended with cause and
// returns its path, and since when the same is missing: seen where it is the first note.
func (d *outDir) noteAttempt(b *rules.Bound, stage, next string, cause error, seen, now time.Time) (path, since string, err error) {
	a := Attempt{
		SchemaVersion: ManifestSchema, Job: b.Name, BusinessDate: b.Date,
		ReferenceTime: b.AsOfTime.UTC().Format(time.RFC3339Nano),
		ExitCode:      fail.ClassOf(cause), Stage: stage, Missing: scan.Text(cause.Error()), NextCommand: next,
	}
	if e, ok := errors.AsType[*fail.Error](cause); ok {
		a.Remedy = scan.Text(e.Hint)
	}
	a.ID = sha256Hex([]byte(b.Digest() + "\x00" + a.ReferenceTime + "\x00" + a.Missing))[:16]
	a.Last = now.UTC().Format(time.RFC3339)
	a.Since, a.Times = seen.UTC().Format(time.RFC3339), 1
	path = filepath.Join(d.attempts(), a.ID+".json")
	if text, err := os.ReadFile(path); err == nil {
		var before Attempt
		if json.Unmarshal(text, &before) == nil && before.Since != "" && before.ResolvedBy == "" {
			a.Since, a.Times = before.Since, before.Times+1
		}
	}
	if err := refuseLink(d.attempts()); err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(d.attempts(), 0o755); err != nil {
		return "", "", diskError(err, "the note of the attempt cannot be written")
	}
	return path, a.Since, a.write(path)
}

func (a *Attempt) write(path string) error {
	text, err := encode(a)
	if err != nil {
		return err
	}
	return diskError(renameio.WriteFile(path, text, 0o644), "the note of the attempt cannot be written")
}

// readAttempts reads the notes of a date with their paths, in the order of names.
func (d *outDir) readAttempts() (paths []string, list []Attempt, err error) {
	paths, err = filepath.Glob(filepath.Join(escapePattern(d.attempts()), "*.json"))
	if err != nil {
		return nil, nil, err
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			return nil, nil, fail.Wrap(fail.Resources, err, "the note of an attempt cannot be read")
		}
		var a Attempt
		if err := json.Unmarshal(text, &a); err != nil {
			return nil, nil, fail.Wrap(fail.Integrity, err, "%s is damaged", displayPath(p)).WithHint("remove it: it is a note, no evidence")
		}
		list = append(list, a)
	}
	return paths, list, nil
}

// resolveAttempts closes the open notes of the date: the run ended well.
func (d *outDir) resolveAttempts(run string) error {
	if err := refuseLink(d.attempts()); err != nil {
		return err
	}
	paths, list, err := d.readAttempts()
	for i, a := range list {
		if a.ResolvedBy == "" {
			a.ResolvedBy = run
			err = errors.Join(err, a.write(paths[i]))
		}
	}
	return err
}
