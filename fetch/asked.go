package fetch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// AskedFile is the name of what a lookup was asked and answered, among the files of its
// snapshot.
const AskedFile = "asked.json"

// AskedSchema is the version of it.
const AskedSchema = 1

// Asked is what a service was asked about single operations, and what it said.
type Asked struct {
	SchemaVersion int      `json:"schema_version"`
	Operations    int64    `json:"operations"` // that it was asked about
	LeftOut       int64    `json:"left_out"`   // that are undecided as well, beyond lookup.limits.operations
	Answers       []Answer `json:"answers"`    // one for each key, in the order in which they were asked by
}

// Finding is what a service says about a key.
type Finding string

// Findings. Whatever is not clearly one of the first two is the third.
const (
	Found   Finding = "found"
	None    Finding = "none"
	Unknown Finding = "unknown"
)

// Answer is what a service said about one key.
type Answer struct {
	Key     string    `json:"key"`
	Finding Finding   `json:"finding"`
	Records int64     `json:"records,omitempty"`
	At      time.Time `json:"at,omitzero"`      // of the request, by the earlier of our clock and that of the service; zero: it did not answer
	Covers  time.Time `json:"covers,omitzero"`  // none is there that came before; zero: its silence proves nothing
	File    string    `json:"file,omitempty"`   // of the answer as it came, below the same folder
	SHA256  string    `json:"sha256,omitempty"` // of that file
	Why     string    `json:"why,omitempty"`    // it is unknown, or its silence proves nothing
	Later   bool      `json:"later,omitempty"`  // it is unknown since the service did not answer, and may the next time

	Err error `json:"-"` // why it is unknown
}

// ReadAsked reads what was asked.
func ReadAsked(path string) (*Asked, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fail.Wrap(fail.Input, err, "what a lookup was asked cannot be read")
	}
	a := &Asked{}
	if err := json.Unmarshal(text, a); err != nil || a.SchemaVersion != AskedSchema {
		return nil, fail.New(fail.Input, "%s is damaged, or of another version of the program", path).WithHint("restore it from a backup, or run the date again")
	}
	return a, nil
}

// text is the one form of what was asked.
func (a *Asked) text() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(a)
	return b.Bytes(), err
}

// Write writes it among the files of a snapshot.
func (a *Asked) Write(dir string) (File, error) {
	text, err := a.text()
	if err != nil {
		return File{}, err
	}
	w, err := Create(dir, AskedFile)
	if err != nil {
		return File{}, err
	}
	if _, err := w.Write(text); err != nil {
		w.Abort()
		return File{}, fail.Disk(err, "%s cannot be written", AskedFile)
	}
	f, err := w.Commit()
	f.Raw = true
	return f, err
}

// Until is the instant up to which the silence of an answer speaks in a run of the job; zero
// where it proves nothing. No proof needs more than the reference time and the skew of the
// clocks (V26), so that the time of the question makes no difference beyond them.
func (a *Answer) Until(job *rules.Bound) time.Time {
	if a.Finding != None || a.Covers.IsZero() {
		return time.Time{}
	}
	if most := job.AsOfTime.Add(job.ClockSkew); a.Covers.After(most) {
		return most
	}
	return a.Covers
}

// Digest is the SHA-256 of what decides: which keys were asked by, what was found, and how far
// silence speaks in a run of the job. Not the times of the questions, nor why an answer is
// unknown.
func (a *Asked) Digest(job *rules.Bound) string {
	h := sha256.New()
	e := json.NewEncoder(h)
	for i := range a.Answers {
		x := &a.Answers[i]
		until := int64(0)
		if t := x.Until(job); !t.IsZero() {
			until = t.UnixMicro()
		}
		_ = e.Encode([]any{x.Key, x.Finding, until, x.Records}) // a hash takes everything
	}
	_ = e.Encode([]int64{a.Operations, a.LeftOut}) // likewise
	return hex.EncodeToString(h.Sum(nil))
}
