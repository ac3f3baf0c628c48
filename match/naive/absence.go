package naive

// Section G: operations without an effect, and results without an operation.

// withoutEffect judges an operation that has no effect, by V24 to V28. failed
// says that attempts of it finally failed.
//
// Reading: a key of it that leads elsewhere decides first, as V12 does for a free
// operation, though this one is linked with failed attempts.
func (w *world) withoutEffect(o *row, failed bool) *Verdict {
	trace := w.trace(o)
	if trace == keysDisagree {
		return o.decide('D', AmbiguousC, keysDisagree)
	}
	if _, lease, ok := w.span(o, "lease_until"); ok && lease > w.asOf() {
		return o.decide('G', NotDue, inProgress)
	}
	switch w.due(o) {
	case dueUnknown:
		return o.decide('G', AmbiguousC, timeAmbiguous)
	case dueLater:
		return o.decide('G', NotDue, withinWindow)
	}
	switch w.proved(o) {
	case unknowable:
		return o.decide('G', AmbiguousC, timeAmbiguous)
	case uncovered:
		return o.decide('G', AmbiguousC, coverageIncomplete)
	}
	for _, r := range w.unattributed() {
		if w.couldBe(r, o) {
			return o.decide('G', AmbiguousC, unattributedResult)
		}
	}
	if trace != "" {
		return o.decide('G', AmbiguousC, trace)
	}
	if failed {
		return o.decide('G', Absent, failedAtProvider)
	}
	return o.decide('G', Absent, noResult)
}

// trace is V28: a row of the results that carries an identity key of the
// operation stands against its absence, "" where there is none. The operation's
// own failed attempts do not.
//
// Reading: a row that a scope rule set aside leaves the outcome unknown; any other
// is a key that leads elsewhere.
func (w *world) trace(o *row) string {
	reason := ""
	for _, r := range w.bearers(o) {
		own := len(r.links) > 0 && r.links[0].o == o
		switch {
		case own || !r.stands():
		case r.scope != "":
			if reason == "" {
				reason = outcomeUnknown
			}
		default:
			reason = keysDisagree
		}
	}
	return reason
}

// judgeFree judges what no pass linked.
func (w *world) judgeFree() {
	for _, o := range w.o {
		if o.decided != nil {
			continue
		}
		if reason, ok := w.outOfScope(o); ok {
			o.decide('C', NotApplicable, reason)
			continue
		}
		w.withoutEffect(o, false)
	}
	nameless := map[*row]int{}
	for _, r := range w.unattributed() {
		nameless[r] = w.candidates(r)
	}
	for _, r := range w.r {
		count, could := nameless[r]
		switch {
		case r.decided != nil: // V18 keeps its verdict and gets the count
		case w.failed(r):
			r.decide('F', NotApplicable, failedAttempt)
		case could && count > 0:
			r.decide('G', AmbiguousC, unattributedResult)
		default:
			w.unasked(r)
		}
		r.decided.Candidates = count
	}
	w.straySets()
}

// unasked is V29: an effect that nobody asked for, where the export of the
// operations would have shown who did.
func (w *world) unasked(r *row) {
	switch w.exportShows(r) {
	case unknowable:
		r.decide('G', AmbiguousC, timeAmbiguous)
	case covered:
		r.decide('G', Unexpected, noOperation)
	default:
		r.decide('G', AmbiguousC, coverageIncomplete)
	}
}

// exportShows tells whether the operations that a result could belong to are in their
// export (V29).
func (w *world) exportShows(r *row) proof {
	proofs := w.in.OperationsCoverage
	if coversAll(proofs) {
		return covered
	}
	first, last, ok := w.span(r, "created_at")
	if !ok {
		return unknowable
	}
	shown := func(t int64) bool {
		at := t - w.job.ClockSkew.Microseconds()
		from := at
		for _, p := range w.job.Types {
			from = min(from, w.opened(p, at))
		}
		return covers(proofs, times{from, t + 1}) // up to the booking, which is included
	}
	switch {
	case shown(first) != shown(last):
		return unknowable
	case shown(first):
		return covered
	}
	return uncovered
}

// proveOnce is V23: a correct pair was seen exactly once only where the time of
// its operation is completely covered.
func (w *world) proveOnce() {
	for _, o := range w.o {
		if o.decided == nil || o.decided.Class != Correct || o.group != nil {
			continue
		}
		proven := w.covered(o) == covered
		o.decided.Once = &proven
		for _, l := range o.links {
			if l.r.decided.Class == Correct {
				l.r.decided.Once = &proven
			}
		}
	}
}
