package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// SARIFSchema is the JSON Schema of report.sarif.
//
//go:embed sarif.schema.json
var SARIFSchema []byte

// maxResults bounds the results of report.sarif; what is left out is said in a
// notification. Servers that take SARIF in have bounds of their own, 5,000 and more.
const maxResults = 2000

// The part of SARIF 2.1.0 (OASIS Standard) that report.sarif uses; sarif.schema.json
// describes it.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool              `json:"tool"`
		Automation  sarifAutomation        `json:"automationDetails"`
		Invocations []sarifInvocation      `json:"invocations"`
		Bases       map[string]sarifBase   `json:"originalUriBaseIds"`
		Artifacts   []sarifArtifact        `json:"artifacts"`
		Results     []sarifResult          `json:"results"`
		Properties  map[string]interface{} `json:"properties"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Short   sarifMessage `json:"shortDescription"`
		Help    sarifMessage `json:"help"`
		Default sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifAutomation struct {
		ID string `json:"id"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		ExitCode      int                 `json:"exitCode"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifBase struct {
		Description sarifMessage `json:"description"`
	}
	sarifArtifact struct {
		Location sarifPlace        `json:"location"`
		Length   int64             `json:"length"`
		Hashes   map[string]string `json:"hashes,omitempty"`
	}
	sarifPlace struct {
		URI   string `json:"uri"`
		Base  string `json:"uriBaseId"`
		Index *int   `json:"index,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifPlace   `json:"artifactLocation"`
		Region   *sarifRegion `json:"region,omitempty"`
	}
	sarifRegion struct {
		StartLine int64 `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Full string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

// sarifBaseID stands for the folder of the input files: paths are relative to it.
const sarifBaseID = "INPUTS"

// writeSARIF writes what failed or could not be evaluated, the findings and the rejects
// as results of static analysis, each with its file, record and line where they are known.
func writeSARIF(_ context.Context, d *Delivery) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(sarif(d.Summary, checksOf(d.Summary, d.In.Bound.Job))); err != nil {
		return err
	}
	return d.write("report.sarif", b.Bytes())
}

func sarif(s *Summary, checks []check) *sarifLog {
	w := sarifWriter{s: s, rule: map[string]int{}, file: map[[3]string]int{}}
	w.run.Tool.Driver = sarifDriver{Name: "recon-batch", Rules: []sarifRule{}}
	if i := slices.IndexFunc(s.Versions, func(v Version) bool { return v.Name == "recon-batch" }); i >= 0 {
		w.run.Tool.Driver.Version = s.Versions[i].Version
	}
	w.run.Automation.ID = visible(MetricsJob(s)) + "/" + s.BusinessDate
	w.run.Bases = map[string]sarifBase{sarifBaseID: {sarifMessage{"the folder that the files of the sources are in"}}}
	w.run.Artifacts, w.run.Results = []sarifArtifact{}, []sarifResult{}
	w.run.Properties = map[string]any{"run_id": s.RunID, "content_digest": s.ContentDigest, "headline": visible(s.Headline)}
	w.artifacts()
	for _, c := range checks {
		w.check(c)
	}
	for _, f := range s.Findings {
		w.finding(f)
	}
	for _, r := range s.Rejects.Items {
		w.reject(r)
	}
	notes := []sarifNotification{}
	note := func(format string, args ...any) {
		notes = append(notes, sarifNotification{"note", sarifMessage{fmt.Sprintf(format, args...)}})
	}
	if w.left > 0 {
		note("%d more results are not shown: report.json has them", w.left)
	}
	if s.Rejects.Of > s.Rejects.Showing {
		note("%d of %d rejected records are shown: rejects.parquet has all of them", s.Rejects.Showing, s.Rejects.Of)
	}
	w.run.Invocations = []sarifInvocation{{Successful: true, ExitCode: s.Outcome.ExitCode, Notifications: notes}}
	return &sarifLog{Schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{w.run}}
}

type sarifWriter struct {
	s    *Summary
	run  sarifRun
	rule map[string]int
	file map[[3]string]int // side, source, name → index of the artifact
	left int64
}

// artifacts are the files of the sources that are there.
func (w *sarifWriter) artifacts() {
	for _, side := range w.s.Sides {
		for _, src := range side.Sources {
			for _, f := range src.Files {
				if f.Status == "missing" {
					continue
				}
				a := sarifArtifact{Location: sarifPlace{URI: relativeURI(f.Name), Base: sarifBaseID}, Length: f.Size}
				if f.SHA256 != "" {
					a.Hashes = map[string]string{"sha-256": f.SHA256}
				}
				w.file[[3]string{side.Side, src.Name, f.Name}] = len(w.run.Artifacts)
				w.run.Artifacts = append(w.run.Artifacts, a)
			}
		}
	}
}

// ruleOf returns the index of a rule, which is added where it is not known yet.
func (w *sarifWriter) ruleOf(id, what, level string) int {
	if i, ok := w.rule[id]; ok {
		return i
	}
	i := len(w.run.Tool.Driver.Rules)
	w.rule[id] = i
	w.run.Tool.Driver.Rules = append(w.run.Tool.Driver.Rules, sarifRule{ID: id, Short: sarifMessage{what}, Help: sarifMessage{what + "."}, Default: sarifDefault{level}})
	return i
}

// check adds the rule of a check, so that a reader sees what was asked, and a result
// where it failed or could not be evaluated.
func (w *sarifWriter) check(c check) {
	id, what, level := c.Group+"/"+c.Name, "", "error"
	switch c.Group {
	case "gates":
		what = "The gate " + cut(c.Name)
	case "limits":
		what = "The limit " + cut(c.Name) + " of the blast radius"
	case "queues":
		what = "The queue " + c.Name + " is written"
	case "canaries":
		id, what = c.Group, "Planted operations come out as declared"
	case "sources":
		id, what, level = "sources/"+strings.ReplaceAll(c.Asked, " ", "_"), "Of each source: "+c.Asked, "warning"
	}
	id = visible(cut(id))
	i := w.ruleOf(id, visible(what), level)
	if c.How != checkFailed && c.How != checkUnknown {
		return
	}
	text := c.Text
	if c.Group != "queues" {
		text = c.Name + ": " + text
	}
	if c.How == checkUnknown {
		text = "could not be evaluated: " + text
	}
	for _, l := range c.Detail {
		text += "; " + l
	}
	w.add(sarifResult{RuleID: id, RuleIndex: i, Level: level, Message: sarifMessage{visible(text)}}, c.Group, c.Name)
}

func (w *sarifWriter) finding(f Finding) {
	id := "findings/" + f.Code
	i := w.ruleOf(id, "Findings "+f.Code+" about files, columns, keys and former runs", "warning")
	r := sarifResult{RuleID: id, RuleIndex: i, Level: "warning", Message: sarifMessage{visible(f.Text)}}
	if f.File != "" {
		r.Locations = []sarifLocation{w.place(f.Side, f.Source, f.File, 0, 0)}
	}
	w.add(r, f.Side, f.Source, f.File, f.Text)
}

func (w *sarifWriter) reject(x Reject) {
	const id = "rejects"
	i := w.ruleOf(id, "Records that could not be cut into their fields", "warning")
	text := x.Reason
	if x.Column != "" {
		text = "column " + x.Column + ": " + text
	}
	w.add(sarifResult{RuleID: id, RuleIndex: i, Level: "warning", Message: sarifMessage{visible(fmt.Sprintf("record %d: %s", x.Record, text))},
		Locations: []sarifLocation{w.place(x.Side, x.Source, x.File, x.Record, x.Line)}}, x.Side, x.Source, x.File, fmt.Sprint(x.Record), x.Column)
}

// add appends a result; what it is about makes its fingerprint, by which a server knows
// it again in the next run.
func (w *sarifWriter) add(r sarifResult, about ...string) {
	if len(w.run.Results) == maxResults {
		w.left++
		return
	}
	h := sha256.Sum256([]byte(r.RuleID + "\x00" + strings.Join(about, "\x00")))
	r.Fingerprints = map[string]string{"reconBatch/v1": hex.EncodeToString(h[:16])}
	w.run.Results = append(w.run.Results, r)
}

// place names a file, the line where it is known, and the record: lines are no records
// where a file has a header or values with line breaks.
func (w *sarifWriter) place(side, source, file string, record, line int64) sarifLocation {
	p := sarifPhysical{Artifact: sarifPlace{URI: relativeURI(file), Base: sarifBaseID}}
	if i, ok := w.file[[3]string{side, source, file}]; ok {
		p.Artifact.Index = &i
	}
	if line > 0 {
		p.Region = &sarifRegion{StartLine: line}
	}
	out := sarifLocation{Physical: &p}
	if record > 0 {
		name := fmt.Sprintf("record %d", record)
		out.Logical = []sarifLogical{{Name: name, Full: visible(strings.Join([]string{side, source, file, name}, "/")), Kind: "record"}}
	}
	return out
}

// relativeURI writes a name as a relative reference (RFC 3986 §4.2): what is no
// unreserved character is percent-encoded, so that no name becomes a scheme, a host, a
// query or a way out of the folder.
func relativeURI(name string) string {
	segments := strings.Split(strings.TrimLeft(name, "/"), "/")
	for i, seg := range segments {
		var b strings.Builder
		for j := range len(seg) {
			c := seg[j]
			plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_~", c) >= 0 || c == '.' && seg != "." && seg != ".."
			if plain {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		segments[i] = b.String()
	}
	return strings.Join(segments, "/")
}
