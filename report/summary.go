package report

import (
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// SchemaVersion of report.json. It grows only when a field changes its meaning
// or goes away; new fields do not change it.
const SchemaVersion = 1

// Input is what the report needs beside the relations in the scratch database.
type Input struct {
	Bound      *rules.Bound
	Operations *extract.Relation
	Results    *extract.Relation
	RunID      string
	JobDigest  string            // sha256 of the effective job, hexadecimal
	Versions   []Version         // program, engine, semantics of verdicts; in the order to print
	Findings   []extract.Finding // of match and classify, beside those of both relations
	RedactKey  []byte            // key of tokens, at least 16 bytes where the job has one
	Past       Past              // what the run read of former ones
	Series     string            // "" the whole job
	Overrides  []string          // what the command line changed
	Explain    string            // command that explains a row, without the id; "" recon-batch explain
	Run        string            // command that runs the date again, with %s for more flags; "" none is proposed
	Reopen     []Reopen          // earlier business dates that are to be run again
	Runs       string            // command that lists the runs of the job; "" recon-batch runs list
}

// Relation returns one side's relation.
func (in *Input) relation(side rules.Side) *extract.Relation {
	if side == rules.Operations {
		return in.Operations
	}
	return in.Results
}

// Summary says what a run found: names, counts and totals, and bounded samples
// of rows. It is report.json; every other renderer prints it and computes
// nothing of its own. Amounts are exact decimal texts; differences are results −
// operations; instants are RFC 3339 in UTC; lists are in a fixed order.
type Summary struct {
	SchemaVersion int                `json:"schema_version"`
	Job           string             `json:"job"`
	BusinessDate  string             `json:"business_date"`
	RunID         string             `json:"run_id"`
	JobDigest     string             `json:"job_digest"`
	Mode          string             `json:"mode"`  // enforce, observe or pilot
	AsOf          string             `json:"as_of"` // reference time of windows and ages
	Zone          string             `json:"zone"`  // business calendar of the job
	Period        *Period            `json:"period,omitempty"`
	Headline      string             `json:"headline"`
	Outcome       Outcome            `json:"outcome"`
	Sides         []Side             `json:"sides"`              // operations, then results
	Statement     []Statement        `json:"statement"`          // by currency
	Accounts      []AccountStatement `json:"account_statements"` // by account, day and currency
	Open          []OpenItems        `json:"open_items"`         // by currency
	Changes       *Changes           `json:"since_former"`       // null: there is no former run
	Ageing        []AgeBucket        `json:"ageing"`             // by queue
	Trend         []TrendPoint       `json:"trend"`              // the last runs, this one last
	Holds         []Hold             `json:"holds"`              // what holds the rest, the most money first
	Clusters      []Cluster          `json:"clusters"`           // exceptions by what may be their common cause, the most money first
	Latency       []LatencyRow       `json:"time_to_confirmation"`
	Retries       []RetryOutcome     `json:"retries"` // most attempts first
	Passes        []Pass             `json:"passes"`  // in the order of the cascade
	OnceNotProven int64              `json:"once_not_proven"`
	Queues        []Queue            `json:"queues"` // confirm, requeue, compensate, review, close
	Gates         []Gate             `json:"gates"`
	Limits        []Limit            `json:"limits"`
	Findings      []Finding          `json:"findings"`
	Absences      []Absence          `json:"absences"`  // what the silence of the results proves of operations of the period
	Reopen        []Reopen           `json:"reopen"`    // earlier business dates that are to be run again, the latest first
	Revisions     []Revision         `json:"revisions"` // files that took the place of former ones
	Rejects       Rejects            `json:"rejects"`
	Exceptions    Exceptions         `json:"exceptions"`
	Board         Board              `json:"board"` // the rows that the page shows, counted
	Unresolved    Unresolved         `json:"unresolved"`
	Work          *Work              `json:"work,omitempty"` // attempts, failures and times of the operations
	Series        string             `json:"series"`         // of a run that looks at a part of the job, such as a pilot; "" the whole job
	Overrides     []string           `json:"overrides"`      // what the command line changed, for this run alone
	Proposals     []Proposal         `json:"proposals"`      // acting ones by type of operation
	Described     []Described        `json:"described"`      // what the effects are that items are about, and what closes a case, by type
	Staged        bool               `json:"staged"`         // the job was observed before, or is piloted: only what was seen is acted on
	SeenBefore    []Seen             `json:"seen_before"`
	Baseline      []PastRun          `json:"baseline"` // former runs that limits are compared with, the latest first
	Budget        []BudgetUse        `json:"budget"`   // of retries, by account
	Canaries      []Canary           `json:"canaries"`
	Aside         []AsideRows        `json:"aside"` // canaries that came out as they should, which no gate counts
	Redacted      []Redacted         `json:"redacted"`
	ContentDigest string             `json:"content_digest"`
	Versions      []Version          `json:"versions"`
	Next          []Step             `json:"next"`
}

// Period is the time that the totals are about (V8). Half-open.
type Period struct {
	By    string `json:"by"`
	From  string `json:"from"`
	Until string `json:"until"`
}

// Outcome of the run.
type Outcome struct {
	ExitCode       int      `json:"exit_code"`       // 0, 3 (a gate failed) or 9 (acting queues withheld)
	Closes         bool     `json:"closes"`          // no row in the period needs work
	Differences    int64    `json:"differences"`     // rows in the period that are not correct, not_applicable or not_due, canaries aside
	Withheld       bool     `json:"withheld"`        // some acting queue is not written
	WithheldQueues []string `json:"withheld_queues"` // which of confirm, requeue, compensate and close
	Reasons        []string `json:"reasons"`         // why the exit code is not 0
}

// Exit is the class of the run's ending (V34a: policy before gates).
func (s *Summary) Exit() fail.Class { return fail.Class(s.Outcome.ExitCode) }

// Side is one side's row counts.
type Side struct {
	Side       string     `json:"side"`
	Records    int64      `json:"records"`    // data records read: rejected + classified
	Control    int64      `json:"control"`    // headers, trailers, preambles, totals, skipped lines
	Excluded   int64      `json:"excluded"`   // by a declared row kind
	Rejected   int64      `json:"rejected"`   // could not be cut into fields
	Classified int64      `json:"classified"` // each with one verdict
	InPeriod   int64      `json:"in_period"`  // of the classified
	Sources    []Source   `json:"sources"`    // in the order of the job file
	Coverage   []Coverage `json:"coverage"`   // what the sources prove
	Counts     []Count    `json:"counts"`     // by class, reason, currency, in and out of the period
}

// Source is one source of a side with its files.
type Source struct {
	Name       string      `json:"name"`
	Account    string      `json:"account"`
	Need       string      `json:"need"`
	Proves     string      `json:"proves"`
	Types      []string    `json:"types"`           // operation types it should know; empty: all
	Ready      []Ready     `json:"ready,omitempty"` // of a source with ready rules
	Records    int64       `json:"records"`
	Control    int64       `json:"control"`
	Excluded   int64       `json:"excluded"`
	Rejected   int64       `json:"rejected"`
	Classified int64       `json:"classified"`
	Controls   []Control   `json:"controls,omitempty"`   // totals that are stated beside the records
	Watermarks []Watermark `json:"watermarks,omitempty"` // of inputs whose data end before they were declared to
	Asked      *Asked      `json:"asked,omitempty"`      // of a lookup
	Files      []File      `json:"files"`
}

// Asked is what a lookup was asked about single operations, and what it said, by keys.
type Asked struct {
	Operations int64 `json:"operations"` // undecided ones that it was asked about
	LeftOut    int64 `json:"left_out"`   // and those beyond lookup.limits.operations
	Found      int64 `json:"found"`
	None       int64 `json:"none"`     // their silence counts
	Unproven   int64 `json:"unproven"` // their silence proves nothing
	Unknown    int64 `json:"unknown"`  // the service could not be asked
}

// File is one physical file.
type File struct {
	Name          string `json:"name"`
	Date          string `json:"date,omitempty"`
	Status        string `json:"status"` // staged, skipped, superseded, missing, refused
	Problem       string `json:"problem,omitempty"`
	Size          int64  `json:"size"` // bytes as found
	SHA256        string `json:"sha256,omitempty"`
	ContentSHA256 string `json:"content_sha256,omitempty"` // after decompression
	Records       int64  `json:"records"`
	Control       int64  `json:"control"`
	Excluded      int64  `json:"excluded"`
	Rejected      int64  `json:"rejected"`
	Classified    int64  `json:"classified"`
}

// Coverage is the time that one account's sources prove. Half-open.
type Coverage struct {
	Account  string   `json:"account"`
	Source   string   `json:"source"` // names, comma separated
	Proves   string   `json:"proves"`
	Types    []string `json:"types"`
	Knows    string   `json:"knows,omitempty"`
	Complete bool     `json:"complete"`        // covers everything; from and until are empty
	From     string   `json:"from,omitempty"`  // "" has no beginning
	Until    string   `json:"until,omitempty"` // "" has no end
	LagSecs  int64    `json:"lag_seconds"`
	Gaps     []Gap    `json:"gaps"`
}

// Gap is a time that is not proved. Half-open; From "" has no beginning, Until "" no end.
type Gap struct {
	From   string `json:"from"`
	Until  string `json:"until"`
	Reason string `json:"reason"`
}

// Count of rows with one verdict in one currency.
type Count struct {
	Class    string `json:"class"`
	Reason   string `json:"reason"`
	Currency string `json:"currency"` // "" none
	InPeriod bool   `json:"in_period"`
	Rows     int64  `json:"rows"`
	Amount   string `json:"amount"` // "" where the side declares no amount
}

// Statement leads from the operations total to the results total of one
// currency through named lines; nothing is left over.
//
//	operations_read − operations_outside = operations
//	operations + Σ lines.difference = results
//	results + results_outside = results_read
//
// The read totals are those that extraction added up while parsing, apart from
// the engine.
type Statement struct {
	Currency          string          `json:"currency"`
	OperationsRead    string          `json:"operations_read"`
	OperationsOutside string          `json:"operations_outside"` // not in the period
	Operations        string          `json:"operations"`
	Lines             []StatementLine `json:"lines"`
	Results           string          `json:"results"`
	ResultsOutside    string          `json:"results_outside"`
	ResultsRead       string          `json:"results_read"`
	Difference        string          `json:"difference"` // results − operations
	OperationRows     int64           `json:"operation_rows"`
	ResultRows        int64           `json:"result_rows"`
	Unreadable        int64           `json:"unreadable"` // amounts that are counted and not summed, both sides, in the period or not
	Closes            bool            `json:"closes"`     // no row of this currency needs work
}

// StatementLine is one class and reason.
type StatementLine struct {
	Class           string `json:"class"`
	Reason          string `json:"reason"`
	OperationRows   int64  `json:"operation_rows"`
	OperationAmount string `json:"operation_amount"`
	ResultRows      int64  `json:"result_rows"`
	ResultAmount    string `json:"result_amount"`
	Difference      string `json:"difference"`
}

// Pass of the cascade with the rows that it linked, in the period or not.
type Pass struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`   // identity, business, group, suggest
	Groups     int64  `json:"groups"` // of a pass by groups, into which it linked the rows
	Operations int64  `json:"operations"`
	Results    int64  `json:"results"`
}

// GroupPass is the kind of a pass by groups.
const GroupPass = "group"

// Queue of proposals.
type Queue struct {
	Queue       string        `json:"queue"`
	Acting      bool          `json:"acting"`  // not review
	Written     bool          `json:"written"` // false: withheld
	Items       int64         `json:"items"`
	ObserveOnly int64         `json:"observe_only"`
	Deferred    int64         `json:"deferred"` // to the next run (V34)
	Amounts     []Money       `json:"amounts"`
	Observed    []Money       `json:"observe_only_amounts"`   // of the amounts, those of items that are for observation only
	Outage      int64         `json:"outage"`                 // undecided since a source proves nothing for their time: no due date, no age
	OldestSecs  *int64        `json:"oldest_seconds"`         // age of the oldest at as_of; null where no item has a time
	OldestSince string        `json:"oldest_since,omitempty"` // since when the oldest item is, of confirm too, which has no age; absent where no item has a time
	Reasons     []QueueReason `json:"reasons"`
	Refused     []CodeCount   `json:"refused"` // guard checks that were not passed (V30)
}

// QueueReason is a part of a queue.
type QueueReason struct {
	Class      string `json:"class"`
	Reason     string `json:"reason"`
	Items      int64  `json:"items"`
	OldestSecs *int64 `json:"oldest_seconds"`
}

// Money in one currency.
type Money struct {
	Currency string `json:"currency"`
	Amount   string `json:"amount"`
	Items    int64  `json:"items"` // with a readable amount
}

// CodeCount counts a code.
type CodeCount struct {
	Code  string `json:"code"`
	Items int64  `json:"items"`
}

// Gate and how it came out.
type Gate struct {
	Name     string `json:"name"`
	FailWhen string `json:"fail_when"`
	Value    string `json:"value"`  // measured: a share in percent, a count, a duration
	Basis    string `json:"basis"`  // what was counted: "3 of 120 operations in the period"
	Failed   bool   `json:"failed"` // exit 3
}

// Limit of the blast radius and how it came out.
type Limit struct {
	Name     string `json:"name"` // as --allow-blast-radius names it
	Queue    string `json:"queue"`
	Kind     string `json:"kind"` // rows, share, amount, baseline
	Currency string `json:"currency,omitempty"`
	Value    string `json:"value"`
	Limit    string `json:"limit"`
	Exceeded bool   `json:"exceeded"`
	Lifted   bool   `json:"lifted"`         // exceeded, and allowed for this run
	Note     string `json:"note,omitempty"` // what the limit comes from, or why it judges nothing
}

// Finding is a warning that people should see.
type Finding struct {
	Code   string `json:"code"`
	Side   string `json:"side,omitempty"`
	Source string `json:"source,omitempty"`
	File   string `json:"file,omitempty"`
	Text   string `json:"text"`
}

// Rejects sample.
type Rejects struct {
	Showing int64    `json:"showing"`
	Of      int64    `json:"of"`
	Items   []Reject `json:"items"`
}

// Reject is a record that could not be cut into its fields. Its bytes are in
// rejects.parquet.
type Reject struct {
	Side   string `json:"side"`
	Source string `json:"source"`
	File   string `json:"file"`
	Record int64  `json:"record"`
	Line   int64  `json:"line"` // 0 unknown
	Column string `json:"column,omitempty"`
	Reason string `json:"reason"`
}

// Exceptions sample: rows in the period that need work, the largest amounts of
// each currency first. All of them are in exceptions.parquet.
type Exceptions struct {
	Showing int64       `json:"showing"`
	Of      int64       `json:"of"`
	Items   []Exception `json:"items"`
}

// Exception is a linked pair or a row alone. Values are redacted as declared and
// cut at 200 characters.
type Exception struct {
	Operation       *RowRef `json:"operation"` // null: a result alone
	Result          *RowRef `json:"result"`    // null: an operation alone
	Pass            string  `json:"pass,omitempty"`
	Link            string  `json:"link,omitempty"` // unsigned 64-bit number as text
	Set             int64   `json:"set,omitempty"`
	Candidates      *int64  `json:"candidates,omitempty"` // V27
	Differs         string  `json:"differs,omitempty"`    // names of differing fields, joined by ;
	Currency        string  `json:"currency,omitempty"`
	OperationAmount string  `json:"operation_amount,omitempty"`
	ResultAmount    string  `json:"result_amount,omitempty"`
	Difference      string  `json:"difference,omitempty"` // empty where currencies differ or no amount is readable
	Values          []Value `json:"values"`
	Action          *Action `json:"action"` // what is to be done about it; null: nothing is proposed
}

// Action is what is proposed for an exception: the item that stands for it, or for its set.
type Action struct {
	ItemID string `json:"item_id"`
	Queue  string `json:"queue"`
	Owner  string `json:"owner,omitempty"`
	DueAt  string `json:"due_at,omitempty"`
	Since  string `json:"since,omitempty"` // when its time began; not where a source proves nothing for it, nor where the time is hidden
	Risk   string `json:"risk,omitempty"`  // of acting twice
}

// RowRef says where a row stands and what its verdict is.
type RowRef struct {
	Source string `json:"source"`
	File   string `json:"file"`
	Record int64  `json:"record"`
	SHA256 string `json:"sha256"` // of the file
	Class  string `json:"class"`
	Reason string `json:"reason"`
}

// Value of one product field on both sides; null where there is none.
type Value struct {
	Field      string  `json:"field"`
	Operations *string `json:"operations"`
	Results    *string `json:"results"`
	Differs    bool    `json:"differs"`
}

// Unresolved sets sample: rows that the data do not tell apart.
type Unresolved struct {
	Showing int64 `json:"showing"`
	Of      int64 `json:"of"`
	Items   []Set `json:"items"`
}

// Set is one group of rows that are ambiguous together.
type Set struct {
	Set        int64  `json:"set"`
	Class      string `json:"class"`
	Reason     string `json:"reason"`
	Operations int64  `json:"operations"`
	Results    int64  `json:"results"`
	First      RowRef `json:"first"` // its first row: operations before results
	FirstSide  string `json:"first_side"`
}

// Redacted field.
type Redacted struct {
	Field string `json:"field"`
	How   string `json:"how"`
}

// Version of a component.
type Version struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Step is a useful next command, as it works in the folder of the job file: the
// summary must not depend on where a run was started or published.
type Step struct {
	Why     string `json:"why"`
	Command string `json:"command"`
}

// classOrder is the order of classes in every output.
var classOrder = []string{"correct", "divergent", "absent", "unexpected", "ambiguous", "duplicate", "not_due", "not_applicable"}

// classMeaning is what a class says, in words.
var classMeaning = map[string]string{
	"correct":        "linked, exactly once, and the compared fields agree",
	"divergent":      "linked, but something differs",
	"absent":         "proven not to exist at the provider",
	"unexpected":     "an effect that nobody asked for",
	"ambiguous":      "the data do not decide",
	"duplicate":      "a surplus record of the same thing",
	"not_due":        "still inside its window",
	"not_applicable": "no effect, out of scope by a named rule, or out of the period",
}

// settled are the classes that need no work; a row of any other class keeps the
// day from closing.
func settledClass(class string) bool {
	return class == "correct" || class == "not_applicable" || class == "not_due"
}

// queueOrder is the order of queues in every output.
var queueOrder = []string{"confirm", "requeue", "compensate", "review", "close"}

// acting tells the queues that change something; review is for people.
func acting(queue string) bool { return queue != "review" }
