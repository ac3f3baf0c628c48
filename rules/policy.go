package rules

import "time"

// TypePolicy is what the job says about one type of operation.
type TypePolicy struct {
	Type           string
	HasWindow      bool
	Expected       time.Duration // since the last attempt
	Deadline       time.Duration // since creation
	EffectIs       string        // "" or "settlement": settled-only sources prove its absence
	Idempotent     bool
	KeyTTL         time.Duration // 0: not declared
	MaxAttempts    int           // 0: not declared
	MaxDuration    time.Duration // 0: not declared
	Backoff        Backoff
	Retryable      []string // raw provider statuses whose refusal may be retried
	Risk           string   // none, customer-visible, financial, irreversible, regulated
	CompensateWith string
	Approvals      *Approvals
	Owner          string
	ReplyBy        time.Duration
	OncePer        []string
	ExportAge      time.Duration // 0: not declared
	ProofValid     time.Duration // 0: not declared
	Describe       Describe

	// Windows by the calendar: so many business days instead of Expected or Deadline.
	ExpectedDays, DeadlineDays int    // 0: the duration counts
	Calendar                   string // name in Job.Calendars, "" none

	Errors               map[string]ErrorClass // code of the field error_code → class; used where error_class is empty
	CompensateParameters map[string]string     // parameter of the business operation → product field of the surplus result, or 'text' in quotes
	Unexpected           *UnexpectedPolicy     // nil: unexpected effects go to review
	Authority            map[string]Side       // field → the side that is right when it differs
	WhenOvertaken        string                // review (default), close, send_newest: an absent operation of which a newer version exists
	Enforce              []string              // acting proposals that are acted on; nil: as the mode of the job says
	EnforceDeclared      bool
}

// ErrorClass is what an error says about another attempt.
type ErrorClass string

// Error classes. Only none and transient allow a requeue; an unknown code is ambiguous.
const (
	ErrorNone      ErrorClass = "none"
	ErrorTransient ErrorClass = "transient"
	ErrorPermanent ErrorClass = "permanent"
	ErrorAmbiguous ErrorClass = "ambiguous"
	ErrorCritical  ErrorClass = "critical"
)

// UnexpectedPolicy lets an effect that nobody asked for be compensated (V31).
type UnexpectedPolicy struct {
	Owner                string
	CompensateWith       string
	CompensateParameters map[string]string
}

// PolicyRule names the proposal of the rows that it fits. The guard still has the
// last word. When is over the product fields of operations, and over class, reason,
// proposal (what the policy of the type would propose), case_id and r_ followed by a
// product field of results.
type PolicyRule struct {
	Name    string
	When    *Expr
	Propose string // confirm, requeue, compensate, review, close, none
	Owner   string // replaces that of the type; ""
	Because string // a sentence for people
}

// Calendar says which days count as business days.
type Calendar struct {
	Name     string
	Zone     string         // IANA; default the job's
	Weekend  []time.Weekday // default Saturday, Sunday
	Holidays []string       // 2006-01-02, sorted, without repetition
	// CutOff is the local time of day after which an instant counts as of the next
	// business day; 0: the end of the day.
	CutOff time.Duration
}

// Release lifts allowances of the guard, attempts and duration, for a named cohort.
// It is part of the run's identity.
type Release struct {
	ID         string
	When       *Expr         // over the product fields of operations
	Attempts   int           // so many more
	Duration   time.Duration // so much longer
	Until      time.Time     // the release holds for reference times before it
	By         string
	ApprovedBy string // another person than By
	Reason     string
}

// Pilot limits who is acted on: all conditions that are declared must hold.
type Pilot struct {
	Name        string   // of the series of runs; default "pilot"
	Types       []string // empty: all
	From, Until Template // of created_at; "" open
	Share       float64  // of the operations, by a hash of the operation id; 0: all
}

// Canary is a planted operation whose verdict is known. A run in which it comes out
// otherwise publishes no acting queue (exit 9).
type Canary struct {
	OperationID string
	Expect      string // a class
}

// PolicyFile is a file that `extends:` read.
type PolicyFile struct {
	Path   string // as given
	SHA256 string
}

// Profile is the form of the operations side.
type Profile string

// Profiles. A register holds every operation; a recovery queue holds those that were
// put aside, and its states and field names are those of a dead-letter store.
const (
	Register      Profile = "register"
	RecoveryQueue Profile = "recovery_queue"
)

// Backoff of the retry schedule.
type Backoff struct {
	Initial, Max time.Duration
	Factor       float64
	Jitter       float64 // share, 0 to 1
}

// Approvals needed from an amount on, by currency.
type Approvals struct {
	Over      map[string]string // currency → decimal text
	Approvers int
}

// Describe is what an effect is, in words, for explain, items and report.
type Describe struct{ Effect, Truth, ClosesWhen string }

// States is the local state machine: which states are final, and which
// transitions are legal.
type States struct {
	Declared bool // false: the default set
	All      []string
	Final    []string
	// Transitions[target] lists the states that may move there.
	Transitions map[string][]string
	// Targets[proposal] is the state that an acting proposal leads to, in the texts of
	// the export: confirm → confirmed, requeue → retry_scheduled, close →
	// not_applicable, compensate → compensated in the default set.
	Targets map[string]string
	// Map is the job's own state → state of the default set of the profile, where it
	// is declared. All, Final, Transitions and Targets are in the job's own texts.
	Map map[string]string
	// Declared transitions, in order of the target.
	Named []Transition
}

// Transition is a declared one: who makes it, and on which condition.
type Transition struct {
	To        string
	From      []string
	Owner     string
	Condition string // a sentence for people
}

// Limits of a run.
type Limits struct {
	BlastRadius map[string]BlastLimit // by proposal
	RetryRows   int64                 // retry_budget, 0 none
	RetryPer    time.Duration
	// RetryBy is the budget of one provider, by the account of the sources that should
	// know the operation; the plain budget holds for those that are not named.
	RetryBy map[string]RetryBudget
}

// RetryBudget is a rate of requeues.
type RetryBudget struct {
	Rows int64
	Per  time.Duration
}

// BlastLimit withholds the acting queues when exceeded.
type BlastLimit struct {
	Rows   int64             // 0 none
	Share  float64           // of the operations in the period; 0 none
	Amount map[string]string // currency → decimal text
	// Against the median of former runs of the job, of earlier business dates: more
	// than BaselineFactor times it is too much. 0: not declared.
	BaselineRuns   int
	BaselineFactor float64
}
