package rules

import (
	"slices"
	"time"
)

// Side names one of the two sides of a job. The names are used everywhere:
// code, columns, messages, documents.
type Side string

// The two sides.
const (
	Operations Side = "operations" // what we intended
	Results    Side = "results"    // what the provider says happened
)

// Sides in their fixed order.
var Sides = [2]Side{Operations, Results}

// Other returns the opposite side.
func (s Side) Other() Side {
	if s == Operations {
		return Results
	}
	return Operations
}

// Job is the validated, immutable description of one reconciliation job. Load
// makes it; nothing changes it afterwards. Times that depend on the business
// date are templates until Bind.
type Job struct {
	Version      int
	Name         string
	Zone         *time.Location // the business calendar
	AsOf         Template       // reference time; default: the end of the business date in Zone
	ClockSkew    time.Duration  // default 5 minutes
	Period       *Period        // nil: everything is in the period
	Mode         Mode
	Operations   SideSpec
	Results      SideSpec
	Match        []Pass
	Compare      []Compare
	Scope        []ScopeRule
	Types        map[string]TypePolicy // by operation type; "*" holds the defaults, already merged into the others
	PolicyRules  []PolicyRule          // in order; the first that fits decides
	Calendars    map[string]Calendar
	Releases     []Release
	Pilot        *Pilot // with Mode pilot
	Canaries     []Canary
	Extends      []PolicyFile // what `extends:` read, for the job digest and `config show`
	States       States
	Limits       Limits
	Gates        []Gate
	Unattributed Unattributed
	Redact       Redact
	Outputs      Outputs
	Evidence     *Evidence // nil: the bytes of the inputs are not kept
	Notify       []Notification
	MayBeEmpty   bool // a vacuous run (V38) is allowed
	HintsOff     bool // nobody is told which rows that are left over probably belong together

	File     string    // path as given to Load
	Source   []byte    // the text that was read
	Warnings []Warning // what the job may do but probably does not mean

	given map[string]place // path of a value that the file or a preset states → where
}

// Mode of a run.
type Mode string

// Modes: observe computes everything and marks each queue item observe_only; pilot
// does so for all items but those that Pilot names.
const (
	Enforce   Mode = "enforce"
	Observe   Mode = "observe"
	PilotMode Mode = "pilot"
)

// Period says which rows this run totals (V8). Half-open, decided by the
// operation where there is one.
type Period struct {
	By     string // product field of type timestamp or date, on both sides
	From   Template
	Until  Template
	Reason string // default "out_of_period"
}

// SideSpec is one side: its sources and the product fields they give.
type SideSpec struct {
	Side             Side
	Sources          []Source
	Fields           []Field  // in the declared order; the union over sources, see Source.Fields
	TransportColumns []string // source columns that are no part of the record (V4)
	Profile          Profile  // of the operations: how the register is kept
	WholeRegister    bool     // of the operations: nothing is in flight that the export does not hold (V31)
	LocalRef         []string // of the operations: product fields that every item carries for whoever acts
	Survivor         *Survivor
	KeepEffect       *KeepEffect

	own []string // fields that sources declare and the side does not
}

// Field returns the declared field of that name, or nil.
func (s *SideSpec) Field(name string) *Field {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	return nil
}

// FieldIndex returns the position of the field in Fields, or -1. The position
// is also its bit in the masks of unreadable and ambiguous values.
func (s *SideSpec) FieldIndex(name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Gate fails the run (exit 3) when its expression is true.
type Gate struct {
	Name     string
	FailWhen string
	// Parsed form: left is a metric such as share(divergent), count(absent), oldest(review), rejects; "" Kind for the gate "no differences".
	Func  string  // share, count, oldest, rejects, differences
	Arg   string  // class, proposal, or "class/reason"
	Op    string  // >, >=
	Value float64 // share as a fraction, count, or seconds
}

// Unattributed narrows V27.
type Unattributed struct {
	Within      time.Duration // 0: not narrowed
	Contradicts []string      // further fields, such as amount
}

// Redact: how declared personal fields appear in outputs, and whether free text is
// looked through.
type Redact struct {
	Key         Secret            // of tokens
	Fields      map[string]string // product field → token, mask, drop
	FreeTextOff bool              // card numbers, IBANs and secrets in texts stay
	Exempt      []string          // product fields in which they stay
}

// LooksThrough tells whether card numbers, IBANs and secrets are looked for in the values
// of a product field: not in those that are hidden as a whole.
func (r Redact) LooksThrough(field string) bool {
	return !r.FreeTextOff && r.Fields[field] == "" && !slices.Contains(r.Exempt, field)
}

// Outputs of a run.
type Outputs struct {
	Dir           string
	Formats       []string // parquet, ndjson, html, xlsx, json, md, prom
	Rows          string   // narrow (default) or wide
	ConfirmNDJSON bool
	Metrics       *MetricsSinks // nil: nowhere but in the run's folder
	Target        *Target       // nil: runs stay in Dir
}
