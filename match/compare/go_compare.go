package compare

import "github.com/recon-batch/recon-batch/rules"

// Result of comparing one field of a pair.
type Result uint8

// Results. Equals and Tolerance agree; the others are listed among the fields
// of the verdict.
const (
	Equals     Result = iota
	Tolerance         // equal only thanks to the declared tolerance
	Differs           // includes null against a value (V22)
	Unreadable        // one side is not of its declared type (V20)
	Ambiguous         // a local time that exists twice or never decides the answer (V20)
)

func (r Result) String() string {
	return [...]string{"equal", "tolerance", "differs", "unreadable", "ambiguous"}[r]
}

// Agrees tells whether the field counts as equal.
func (r Result) Agrees() bool { return r == Equals || r == Tolerance }

// Equal compares the value of the operation with that of the result as c
// declares. Null equals null and nothing else (V22). Unreadable wins over
// Ambiguous, since an unreadable value equals nothing whatever the time was.
func Equal(o, r any, c rules.Compare) Result {
	if c.As == rules.AsStatus {
		return status(r, c)
	}
	if _, bad := o.(Bad); bad {
		return Unreadable
	}
	if _, bad := r.(Bad); bad {
		return Unreadable
	}
	if isTime(o) || isTime(r) {
		return readings(o, r, c)
	}
	if o == nil || r == nil {
		if o == nil && r == nil {
			return Equals
		}
		return Differs
	}
	return plain(o, r, c)
}

// plain compares two values that are there and readable.
func plain(o, r any, c rules.Compare) Result {
	switch c.As {
	case rules.AsDecimal, rules.AsInteger:
		return numeric(o, r, c)
	case rules.AsInstant:
		return instant(o.(int64), r.(int64), c)
	case rules.AsVersion:
		return version(o, r, c)
	default: // text, boolean, date, currency, mapped, fingerprint
		return exact(o, r)
	}
}

func exact(o, r any) Result {
	if text(o) == text(r) {
		return Equals
	}
	return Differs
}
