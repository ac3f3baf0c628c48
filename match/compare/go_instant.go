package compare

import "github.com/recon-batch/recon-batch/rules"

// instant compares two instants in microseconds; the boundary belongs to the
// tolerance.
func instant(o, r int64, c rules.Compare) Result {
	if o == r {
		return Equals
	}
	if c.Absolute != "" && numeric(o, r, rules.Compare{Absolute: c.Absolute}) == Tolerance {
		return Tolerance
	}
	return Differs
}

// isTime tells whether the value is a local time without one certain reading.
func isTime(v any) bool {
	switch v.(type) {
	case Twice, Never:
		return true
	}
	return false
}

// readings compares every reading of one side with every reading of the other.
// Where all of them agree, or all differ, the answer is decided; otherwise, and
// for a time that never was, it is Ambiguous (V20).
func readings(o, r any, c rules.Compare) Result {
	if _, never := o.(Never); never {
		return Ambiguous
	}
	if _, never := r.(Never); never {
		return Ambiguous
	}
	var agree, differ int
	worst := Equals
	for _, a := range read(o) {
		for _, b := range read(r) {
			x := Equal(a, b, c)
			worst = max(worst, x)
			if x.Agrees() {
				agree++
			} else {
				differ++
			}
		}
	}
	if agree > 0 && differ > 0 {
		return Ambiguous
	}
	return worst
}

func read(v any) []any {
	if t, ok := v.(Twice); ok {
		return []any{t.Early, t.Late}
	}
	return []any{v}
}
