// Package fetch brings evidence from where it lives into a folder of this machine,
// whole or not at all.
//
// # The idea
//
// Files of a local folder are read where they lie. Everything else is pulled first: one
// pull of one input gives files and a record of what was asked, when, and by what it is
// known to be whole. What follows (parsing, matching, verdicts) reads these files and
// never the network, so that a run can be repeated from them years later.
//
//  1. a request says which source, for which business date, into which folder;
//  2. the [Puller] of its kind writes files below that folder, each under a temporary
//     name until it is whole, and a checkpoint from which a pull that was cut short goes on;
//  3. [Pull] hashes nothing twice and believes nothing: files are those that the puller
//     says it wrote, with the digests that it counted while writing;
//  4. the snapshot is written last. A folder without it is no snapshot.
//
// # Errors
//
// They are *fail.Error. Class Usage: the declaration cannot work (a bad query, a key that
// the server refuses for good, a missing secret). Class Input: what came is not whole or
// not what was declared (cut, changed while it was read, a cursor that repeats, a count
// that does not fit). Class Temporary: the other side did not answer in time, after all
// attempts. Texts name source, address (never with secrets) and the remedy.
package fetch

import (
	"context"
	"errors"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Request is one pull of one input.
type Request struct {
	Job      *rules.Bound
	Side     rules.Side
	Input    *rules.Input // its source is remote, its path is filled in
	Declared string       // digest of what the job says of the source, for the snapshot
	Dir      string       // empty, or what an interrupted pull of the same request left
	BaseDir  string       // folder of the job file: where secrets given by file begin
	Until    time.Time    // after this instant nothing is tried again; zero: no end
	Now      func() time.Time
	Note     func(format string, args ...any)        // tells people something; never nil
	Progress func(name string, bytes, records int64) // of one file so far; never nil

	Questions [][]string // of a lookup: for each operation the keys to ask by, one after the other
	LeftOut   int64      // operations that are not asked about, for want of room

	lost int // sessions that were lost before the one that gave the input
}

// Source of the request.
func (r *Request) Source() *rules.Source { return r.Input.Source }

// Snapshot is what one pull brought. It is written as snapshot.json beside the files.
type Snapshot struct {
	SchemaVersion int      `json:"schema_version"`
	Job           string   `json:"job"`
	BusinessDate  string   `json:"business_date"`
	FileDate      string   `json:"file_date,omitempty"`
	Side          string   `json:"side"`
	Source        string   `json:"source"`
	Kind          string   `json:"kind"`                   // s3, sql, api, sftp, https, exec
	Address       string   `json:"address"`                // for people, without secrets
	Request       string   `json:"request"`                // sha256 of everything that says what is asked for, without secrets
	Declared      string   `json:"declared"`               // sha256 of what the job said of the source, see rules.Bound.AskedDigest
	CoversFrom    string   `json:"covers_from,omitempty"`  // coverage that the job claimed when it was pulled, RFC 3339; "" without a bound
	CoversUntil   string   `json:"covers_until,omitempty"` //
	Begun         string   `json:"begun"`                  // RFC 3339, UTC
	Ended         string   `json:"ended"`                  // RFC 3339, UTC
	Proof         string   `json:"proof"`                  // by what it is known to be whole, one sentence
	From          string   `json:"from,omitempty"`         // time that was asked for, half-open; "" not by time
	Until         string   `json:"until,omitempty"`        //
	Through       string   `json:"through,omitempty"`      // what the source says that its data reach to (data_available_until)
	Files         []File   `json:"files"`                  // in the order in which they are read
	Requests      int64    `json:"requests"`               // sent, those that were tried again included
	Retries       int64    `json:"retries"`
	Notes         []string `json:"notes,omitempty"` // what people should know
}

// File is one file of a snapshot.
type File struct {
	Name     string `json:"name"`              // as outputs call it; its path below the folder of the files
	Address  string `json:"address,omitempty"` // where it was, without secrets
	Size     int64  `json:"size"`              // bytes as stored here
	SHA256   string `json:"sha256"`            // of the bytes as stored here, hexadecimal
	Version  string `json:"version,omitempty"` // by which the source pins it: VersionId, ETag
	Modified string `json:"modified,omitempty"`
	Records  int64  `json:"records,omitempty"` // where the puller counts them
	Raw      bool   `json:"raw,omitempty"`     // it is kept as evidence, and read in another form that is beside it
}

// Puller pulls one kind of source.
type Puller interface {
	// Pull writes the files of the input below Request.Dir/files and returns what it
	// brought: Kind, Address, Request, Proof, From, Until, Through, Files, Requests,
	// Retries and Notes; [Pull] fills the rest. It may keep a checkpoint in
	// Request.Dir, of which it alone knows the form. An input that is not there at all
	// gives no files and no error.
	Pull(ctx context.Context, r *Request) (*Snapshot, error)

	// Check looks whether the source can be reached and gives what the job expects
	// (rights, columns, types), without pulling it. It returns one text for each
	// problem, with its remedy.
	Check(ctx context.Context, r *Request) []string
}

// Problems is an error as [Puller] Check tells it: one text, with the remedy; none for nil.
func Problems(err error) []string {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fail.Error](err); ok && e.Hint != "" {
		return []string{e.Error() + "; " + e.Hint}
	}
	return []string{err.Error()}
}
