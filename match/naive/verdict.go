package naive

// Class of a verdict: the closed list of design.md §3.
type Class string

// Classes.
const (
	Correct       Class = "correct"
	Divergent     Class = "divergent"
	Absent        Class = "absent"
	AmbiguousC    Class = "ambiguous"
	NotApplicable Class = "not_applicable"
	NotDue        Class = "not_due"
	Duplicate     Class = "duplicate"
	Unexpected    Class = "unexpected"
)

// Reasons of the classes; those of scope rules and of the period are the job's own.
const (
	equal           = "equal"
	withinTolerance = "within_tolerance"

	fieldDiffers            = "field_differs"
	versionBehind           = "version_behind"
	versionAhead            = "version_ahead"
	sameVersionOtherContent = "same_version_other_content"
	statusConflict          = "status_conflict"
	duplicateEffect         = "duplicate_effect"
	amountGroupDiffers      = "amount_group_differs"
	incompleteGroup         = "incomplete_group"
	valueUnreadable         = "value_unreadable"

	noResult         = "no_result"
	failedAtProvider = "failed_at_provider"

	severalCandidates    = "several_candidates"
	keysDisagree         = "keys_disagree"
	counterpartNotUnique = "counterpart_not_unique"
	noUsableKey          = "no_usable_key"
	coverageIncomplete   = "coverage_incomplete"
	unattributedResult   = "unattributed_result"
	outcomeUnknown       = "outcome_unknown"
	unmappedStatus       = "unmapped_status"
	timeAmbiguous        = "time_ambiguous"

	failedAttempt = "failed_attempt"

	withinWindow      = "within_window"
	inProgress        = "in_progress"
	pendingAtProvider = "pending_at_provider"

	identicalCopy     = "identical_copy"
	supersededAttempt = "superseded_attempt"
	conflictingCopies = "conflicting_copies"
	surplusEffect     = "surplus_effect"

	noOperation = "no_operation"
)

// Verdict is what the rules say about one row.
type Verdict struct {
	Class    Class
	Reason   string
	Pass     int      // index of Job.Match of the pass that linked the row, -1 where none did
	Partners []int64  // row ids of the other side, ascending
	Fields   []string // pass names of differing identity keys, then fields in declared order
	Once     *bool    // correct rows: whether a second effect is excluded (V23)
	SetID    int64    // rows of one unresolved set share it; 0 for none
	// Candidates is the number of operations that a result without identity
	// could belong to (V27); 0 for all others.
	Candidates int
}

// Queue is a proposal.
type Queue string

// Proposals; None means that the operation needs nothing.
const (
	None       Queue = "none"
	Confirm    Queue = "confirm"
	Requeue    Queue = "requeue"
	Compensate Queue = "compensate"
	Review     Queue = "review"
	Close      Queue = "close"
)

// Proposal is the safe next step for one operation. Refused lists every check
// that kept it out of its acting queue, in the order of verdicts.md V30 and V31.
type Proposal struct {
	Queue      Queue
	Refused    []string
	Rule       string // the rule of the job that fits, "" where none does
	Release    string // the releases that a requeue needs, joined by ';'
	Next       string // the local state that it leads to
	Parameters string // of the business operation, as JSON
}

// Outcome has one verdict for every input row, one proposal for every operation, one
// for every surplus effect, and one for every result that belongs to no operation and
// needs something, by row id.
type Outcome struct {
	Operations map[int64]Verdict
	Results    map[int64]Verdict
	Proposals  map[int64]Proposal // of the operations
	Surplus    map[int64]Proposal // of the results that are surplus effects, or that nobody asked for
}
