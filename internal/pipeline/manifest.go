package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Names of the files that the pipeline itself writes into a run's folder.
const (
	manifestName  = "manifest.json"
	timingsName   = "timings.json"       // measured values, outside all digests
	effectiveName = "job.effective.yaml" // the job with policies, presets and defaults resolved
)

// Manifest is what a published run says about itself. Everything in it follows
// from the job, the files, the reference time and the runs before: no clock, no
// machine, no measurement.
type Manifest struct {
	SchemaVersion int           `json:"schema_version"`
	RunID         string        `json:"run_id"`
	Job           string        `json:"job"`
	BusinessDate  string        `json:"business_date"`
	ReferenceTime string        `json:"reference_time"` // RFC 3339, UTC
	Mode          rules.Mode    `json:"mode"`
	Series        string        `json:"series,omitempty"` // of runs of a part of the job; "" the whole job
	Staged        bool          `json:"staged,omitempty"` // what was seen before is known, see report.Seen
	JobDigest     string        `json:"job_digest"`
	Overrides     []string      `json:"overrides"`
	Former        []FormerRun   `json:"former,omitempty"` // runs of earlier dates that this one read
	Keys          []Keys        `json:"keys,omitempty"`   // what keys.parquet holds, for later runs
	Versions      Versions      `json:"versions"`
	Snapshots     []Snapshot    `json:"snapshots,omitempty"` // of remote sources
	Lookups       []LookupAsked `json:"lookups,omitempty"`   // what was asked about single operations
	Ready         []ReadySource `json:"ready,omitempty"`     // by what files were known to be whole before they were read
	Inputs        []Input       `json:"inputs"`
	// Of sources with an identity: files that took the place of others, and what is missing
	// between the files; and files that came late for earlier dates.
	Revisions     []extract.Revision     `json:"revisions,omitempty"`
	Missing       []extract.MissingFiles `json:"missing,omitempty"`
	Reopen        []Late                 `json:"reopen,omitempty"`
	Coverage      []Coverage             `json:"coverage"`
	Counts        []Count                `json:"counts"`
	Outcome       Outcome                `json:"outcome"`
	ContentDigest string                 `json:"content_digest"`
	Supersedes    *RunRef                `json:"supersedes"`          // the run of this date that was current before
	Withdrawn     *Withdrawn             `json:"withdrawn,omitempty"` // of the items of the superseded run
	Previous      *RunRef                `json:"previous"`            // the run of this job that was published before
	Outputs       []OutputDigest         `json:"outputs"`
}

// Versions of what made the run.
type Versions struct {
	Program   string `json:"program"`
	Semantics int    `json:"semantics"`
	Go        string `json:"go"`
	DuckDB    string `json:"duckdb"`
}

// Input is one file that the run read, or missed.
type Input struct {
	Side          rules.Side       `json:"side"`
	Source        string           `json:"source"`
	Name          string           `json:"name"` // as in the rows of the outputs: base name, or path where files of the source share it
	Path          string           `json:"path"` // relative to the job file, with slashes
	Date          string           `json:"date,omitempty"`
	Size          int64            `json:"size"`
	SHA256        string           `json:"sha256"`
	ContentSHA256 string           `json:"content_sha256"`    // of the decompressed bytes
	Arrival       *extract.Arrival `json:"arrival,omitempty"` // which report it is, where its source has an identity
	Status        string           `json:"status"`            // staged, skipped, superseded, missing, refused; control: it holds totals and no records
	Problem       string           `json:"problem,omitempty"`
	Records       int64            `json:"records"`  // data records, rejected ones included
	Control       int64            `json:"control"`  // headers, trailers, preamble, totals
	Excluded      int64            `json:"excluded"` // by a declared row kind
	Rejected      int64            `json:"rejected"`
	SignedWith    string           `json:"signed_with,omitempty"` // names the keys by which its signatures were checked
}

// Coverage is what the files of one account prove.
type Coverage struct {
	Side      rules.Side   `json:"side"`
	Account   string       `json:"account"`
	Sources   string       `json:"sources"`
	Proves    rules.Proves `json:"proves"`
	Types     []string     `json:"types,omitempty"`
	Complete  bool         `json:"complete"`
	From      string       `json:"from,omitempty"` // RFC 3339, UTC; half-open
	Until     string       `json:"until,omitempty"`
	Lag       string       `json:"lag,omitempty"`
	Withdrawn []Gap        `json:"withdrawn,omitempty"`
}

// Gap is a time that is not proved.
type Gap struct {
	From   string `json:"from,omitempty"`
	Until  string `json:"until,omitempty"`
	Reason string `json:"reason"`
}

// Count of the rows of one verdict.
type Count struct {
	Side     rules.Side `json:"side"`
	InPeriod bool       `json:"in_period"`
	Class    string     `json:"class"`
	Reason   string     `json:"reason"`
	Rows     int64      `json:"rows"`
}

// Outcome is how the run ended.
type Outcome struct {
	ExitCode fail.Class `json:"exit_code"`
	Gates    []Check    `json:"gates"`
	Limits   []Check    `json:"limits"`
	Withheld string     `json:"withheld,omitempty"` // why acting queues were not written
	Queues   []string   `json:"withheld_queues,omitempty"`
}

// Check is a gate or a limit and how it came out.
type Check struct {
	Name     string `json:"name"`
	Rule     string `json:"rule"`
	Measured string `json:"measured"`
	Passed   bool   `json:"passed"`
	Lifted   bool   `json:"lifted,omitempty"` // a limit that is exceeded, and was allowed for this run
}

// RunRef names a published run by the digest of its manifest.
type RunRef struct {
	BusinessDate   string `json:"business_date"`
	RunID          string `json:"run_id"`
	ManifestSHA256 string `json:"manifest_sha256"`
}

// OutputDigest is one file of the run. Path is relative to the run's folder, with
// slashes.
type OutputDigest struct {
	Path   string `json:"path"`
	Role   string `json:"role"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// ReadManifest reads the manifest of a run's folder and returns it with the
// digest of its bytes. A folder without one is an error of class Usage, a
// manifest that cannot be read one of class Integrity.
func ReadManifest(dir string) (*Manifest, string, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if os.IsNotExist(err) {
		return nil, "", fail.New(fail.Usage, "%s is not the folder of a run: it has no %s", dir, manifestName).
			WithHint("name a run's folder, such as out/JOB/DATE/current; recon-batch runs list JOB.yaml prints dates and runs")
	}
	if err != nil {
		return nil, "", fail.Wrap(fail.Integrity, err, "the manifest of %s cannot be read", dir)
	}
	m, err := parseManifest(text)
	if err != nil {
		return nil, "", fail.Wrap(fail.Integrity, err, "%s is damaged", filepath.Join(dir, manifestName)).
			WithHint("restore the folder from a backup, or run the date again into another folder with --out")
	}
	return m, sha256Hex(text), nil
}

func parseManifest(text []byte) (*Manifest, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	m := new(Manifest)
	if err := dec.Decode(m); err != nil {
		return nil, err
	}
	if m.SchemaVersion > ManifestSchema {
		return nil, fail.New(fail.Usage, "manifest version %d is newer than this program (%d)", m.SchemaVersion, ManifestSchema).
			WithHint("use the version of the program that wrote it: %s", m.Versions.Program)
	}
	return m, nil
}

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// encode gives the one text of a document: two blanks of indent, no HTML
// escapes, a line end after it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
