package extract

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"

	"github.com/recon-batch/recon-batch/rules"
)

// stageSemantics names the meaning and the form of staged columns. It changes with
// every change of what a text is read as, or of how it is written, so that no file
// staged under another meaning is used, and one input has one staged file.
const stageSemantics = "stage-5"

// sidecar stands beside a staged file and holds what was counted while it was
// parsed, so that an unchanged file is judged again without being parsed again.
type sidecar struct {
	Semantics    string
	SHA256       string
	Content      string
	Size         int64
	ParquetBytes int64
	Rows         int64
	Records      int64 // rows and rejects
	Control      int64
	Rejects      []Reject
	Header       []string
	Trailer      []string
	Totals       []sidecarTotal
	Head         []string                 `json:",omitempty"`
	Trailers     [][]string               `json:",omitempty"` // where there is one for each value of a field
	Controls     []sidecarTotal           // by Controls.Fields
	Groups       map[string]*sidecarGroup `json:",omitempty"` // by the value of Controls.By
	Keys         []keyTally               // by pass
	Notes        []string                 // what people should know of the file
	Outside      outsideRows              // that a range leaves out
	OpenEnd      bool                     `json:",omitempty"` // the last line has no line end
	Ties         []tieTally               // by Source.Ties
	Zero         [][]sidecarTotal
	Unknown      []unknownTally // by the sorted names of Known.Values
	Members      []string       // that the source is not known to have
	SignedWith   string         `json:",omitempty"` // names the keys of the signatures
}

// sidecarTotal is one exact sum as decimal text.
type sidecarTotal struct {
	Currency   string
	Rows       int64
	Unreadable int64
	Sum        string
}

// stageKey is the name of a staged file: what was read, and how.
func stageKey(raw [32]byte, plan string) string {
	h := sha256.New()
	h.Write(raw[:])
	h.Write([]byte(plan))
	return hex.EncodeToString(h.Sum(nil))
}

// planDigest is the digest of everything but the bytes that the staged columns
// follow from.
func planDigest(p *stagePlan, name string) string {
	type field struct {
		rules.Field
		Zone  string
		Zones []string // rules of the zones
	}
	named := func(fields []rules.Field) []field {
		out := make([]field, len(fields))
		for i, f := range fields {
			out[i] = field{Field: f}
			if f.Zone != nil {
				out[i].Zone = f.Zone.String()
				out[i].Zones = append(out[i].Zones, zoneRules(f.Zone))
			}
			if z := f.ZoneFrom; z != nil {
				zones := newZones(z)
				for _, mark := range slices.Sorted(maps.Keys(zones)) {
					out[i].Zones = append(out[i].Zones, mark, zoneRules(zones[mark].zone))
				}
			}
			out[i].Field.Zone = nil
		}
		return out
	}
	l := p.layout
	b, err := json.Marshal(struct {
		Semantics   string
		Side        rules.Side
		Columns     []Column
		Fields      []field
		Side0       []field
		Transport   []string
		Match       []rules.Pass
		Compare     []rules.Compare
		Format      rules.Format
		Compression rules.Compression
		CSV         rules.CSV
		JSON        rules.JSON
		Zip         *rules.Zip
		Typed       *rules.Typed
		Fixed       *rules.Fixed
		XLSX        *rules.XLSX
		XML         *rules.XML
		Bank        *rules.Bank
		Pages       *rules.Pages
		Controls    *rules.Controls
		Signature   *rules.Signature `json:",omitempty"`
		SignedWith  string           `json:",omitempty"`
		Known       *rules.Known
		Effects     *rules.Effects
		Ties        []rules.Tie
		ZeroSums    []rules.ZeroSum
		HideCells   bool `json:",omitempty"` // the reasons of rejects quote none
	}{
		stageSemantics, l.Side, l.Stored(), named(p.sourceFields()), named(l.spec.Fields), l.spec.TransportColumns,
		l.job.Match, l.job.Compare, p.src.Format, compressionOf(p.src.Compression, name), p.src.CSV, p.src.JSON,
		p.src.Zip, p.src.Typed, p.src.Fixed, p.src.XLSX, p.src.XML, p.src.Bank,
		p.src.Pages, p.src.Controls, p.src.Signature, p.signedWith, p.src.Known, p.src.Effects, p.src.Ties, p.src.ZeroSums, p.src.HideCells,
	})
	if err != nil {
		panic(fmt.Sprintf("plan digest: %v", err)) // plain data always marshals
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// zoneRules is the digest of when and how a zone's clocks were and will be set, up
// to 2100. Instants follow from it, and another edition of the tz database may know
// better, for past times as well, under the same name.
func zoneRules(z *time.Location) string {
	h := sha256.New()
	for at := time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC).In(z); !at.IsZero() && at.Year() <= 2100; at = offsetUntil(at) {
		name, offset := at.Zone()
		fmt.Fprintln(h, at.Unix(), offset, name)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// readSidecar returns the sidecar of a staged file, or nil where there is none
// that can be used: then the file is parsed again.
func readSidecar(dir, key string) *sidecar {
	b, err := os.ReadFile(sidecarPath(dir, key))
	if err != nil {
		return nil
	}
	var s sidecar
	if json.Unmarshal(b, &s) != nil || s.Semantics != stageSemantics {
		return nil
	}
	info, err := os.Stat(stagedPath(dir, key))
	if err != nil || info.Size() != s.ParquetBytes {
		return nil
	}
	return &s
}

// writeSidecar writes it whole or not at all. It comes after the staged file, so
// that a sidecar without its file means damage, never an interrupted run.
func writeSidecar(dir, key string, s *sidecar) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return renameio.WriteFile(sidecarPath(dir, key), b, 0o600)
}

func stagedPath(dir, key string) string  { return filepath.Join(dir, key+".parquet") }
func sidecarPath(dir, key string) string { return filepath.Join(dir, key+".json") }

// markerPath names an empty file that says: a file of this size was staged by this
// plan. Only then is a file hashed before it is parsed, since only then can the
// hash find it staged; a new file is hashed while it is parsed.
func markerPath(dir, plan string, size int64) string {
	return filepath.Join(dir, "seen", fmt.Sprintf("%s-%d", plan[:32], size))
}
