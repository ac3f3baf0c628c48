package doctor

import "fmt"

// Sure says how far a statement can be trusted.
type Sure string

// Facts follow from the bytes. A likely guess has no good rival in the file; an
// unsure one is a start for a person.
const (
	Fact   Sure = "fact"
	Likely Sure = "likely"
	Unsure Sure = "unsure"
)

// Report is what Look found in one file.
type Report struct {
	SchemaVersion int         `json:"schema_version"`
	File          string      `json:"file"`
	Size          int64       `json:"size_bytes"`
	Remarks       []Remark    `json:"remarks"`
	Records       int64       `json:"records"`       // data records, rejected ones included
	Rejected      int64       `json:"rejected"`      // records that cannot be cut into their fields
	ControlLines  int64       `json:"control_lines"` // header, preamble, trailer, skipped lines
	Whole         bool        `json:"whole"`         // the file was read to its end with the fragment
	Problem       string      `json:"problem,omitempty"`
	Hint          string      `json:"hint,omitempty"`
	Columns       []Column    `json:"columns"`
	Presets       []PresetFit `json:"presets"`
	Controls      []Control   `json:"controls"`
	Findings      []Finding   `json:"findings"`
	Side          string      `json:"side,omitempty"`     // of the fragment
	Fragment      string      `json:"fragment,omitempty"` // one side of a job file, YAML

	look *look
}

// Remark is one thing that the file is, or seems to be.
type Remark struct {
	Topic string `json:"topic"` // container, encoding, form, header, …
	Text  string `json:"text"`
	Sure  Sure   `json:"sure"`
	Why   string `json:"why,omitempty"`
}

// Column is what the records have in one column.
type Column struct {
	Name     string   `json:"name"`
	Filled   int64    `json:"filled"`
	Distinct int64    `json:"distinct"`       // different texts among those that were compared
	Compared int64    `json:"compared"`       // texts that were compared: fewer than filled where memory was bounded
	Looks    string   `json:"looks_like"`     // text, decimal, integer, date, timestamp, currency, boolean, empty
	Detail   string   `json:"detail"`         // marks, layout
	Sure     Sure     `json:"sure"`           // of Looks
	Field    string   `json:"field"`          // product field that it seems to be, ""
	Values   []string `json:"values"`         // all texts, where they are few
	Examples []string `json:"examples"`       // first texts that differ
	Sum      string   `json:"sum,omitempty"`  // of a decimal column, exact
	From     string   `json:"from,omitempty"` // oldest and newest of a date or timestamp
	Until    string   `json:"until,omitempty"`
}

// Unique tells whether no text of the column was seen twice, among at least two.
func (c *Column) Unique() bool { return c.Compared > 1 && c.Distinct == c.Compared }

// PresetFit says whether a preset can read the file.
type PresetFit struct {
	Preset  string   `json:"preset"`
	Side    string   `json:"side"`
	Fits    bool     `json:"fits"`
	Matched int      `json:"matched_columns"`
	Missing []string `json:"missing_columns"` // columns that it needs and the file lacks
	Why     string   `json:"why"`
	Best    bool     `json:"best"`

	lines bool // it declares kinds of lines
}

// Control is a total that the file states about itself.
type Control struct {
	Where  string `json:"where"` // trailer.2, total_line.3, "statement 331 of account …"
	Stated string `json:"stated"`
	Of     string `json:"of"` // count, the sum of a column, a balance; "" where nothing ties
	Found  string `json:"found,omitempty"`
	Ties   bool   `json:"ties"`
	Sure   Sure   `json:"sure"` // that the number is such a total
}

// Finding is something that spoils a reconciliation if nobody looks.
type Finding struct {
	Code   string `json:"code"` // ragged_rows, mixed_line_ends, duplicate_column, scientific_id, …
	Column string `json:"column,omitempty"`
	Text   string `json:"text"`
}

func (r *Report) remark(topic string, sure Sure, why, format string, args ...any) {
	if r.look != nil {
		if r.look.d.sure == nil {
			r.look.d.sure = map[string]Sure{}
		}
		r.look.d.sure[topic] = sure
	}
	r.Remarks = append(r.Remarks, Remark{Topic: topic, Text: fmt.Sprintf(format, args...), Sure: sure, Why: why})
}

func (r *Report) find(code, column, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{Code: code, Column: column, Text: fmt.Sprintf(format, args...)})
}

// Column returns the column of that name, or nil.
func (r *Report) Column(name string) *Column {
	for i := range r.Columns {
		if r.Columns[i].Name == name {
			return &r.Columns[i]
		}
	}
	return nil
}

// Best is the preset that fits best, nil where none does.
func (r *Report) Best() *PresetFit {
	for i := range r.Presets {
		if r.Presets[i].Best {
			return &r.Presets[i]
		}
	}
	return nil
}
