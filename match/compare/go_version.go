package compare

import (
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// version tells whether two versions are the same; which one is newer says Order.
func version(o, r any, c rules.Compare) Result {
	if cmp, ordered := Order(o, r, c); ordered {
		if cmp == 0 {
			return Equals
		}
		return Differs
	}
	return exact(o, r)
}

// Order compares the version of the result with that of the operation: negative
// where the result is older (version_behind), positive where it is newer
// (version_ahead). It is false where the two have no order: opaque versions, a
// missing or unreadable one, a local time without one reading (V21).
func Order(o, r any, c rules.Compare) (int, bool) {
	for _, v := range []any{o, r} {
		switch v.(type) {
		case nil, Bad, Twice, Never:
			return 0, false
		}
	}
	switch c.Scheme {
	case rules.VersionInteger, rules.VersionTimestamp:
		return number(r).Cmp(number(o)), true
	case rules.VersionSemantic:
		// staged as a text whose byte order is the order of the versions
		return strings.Compare(r.(string), o.(string)), true
	default:
		return 0, false
	}
}
