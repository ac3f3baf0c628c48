package report

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// exactNumber takes a number of the job file back from its float: twelve
// significant digits, so that 0.7 % is 7 of 1000 and not a little less. A share
// on the boundary must not depend on binary fractions.
func exactNumber(v float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', 12, 64))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// classRows counts rows in the period with a class, or class/reason. Operations
// are counted, canaries aside; where a verdict only exists among the results, results are.
func (s *Summary) classRows(arg string) (n int64, side string) {
	class, reason, _ := strings.Cut(arg, "/")
	count := func(i int) (n int64) {
		for _, c := range s.Sides[i].Counts {
			if c.InPeriod && c.Class == class && (reason == "" || c.Reason == reason) {
				n += c.Rows
			}
		}
		return n
	}
	if class == "unexpected" || reason == "surplus_effect" || reason == "failed_attempt" {
		return count(1), string(rules.Results)
	}
	return count(0) - s.aside(class, reason), string(rules.Operations)
}

func (s *Summary) queue(name string) *Queue {
	for i := range s.Queues {
		if s.Queues[i].Queue == name {
			return &s.Queues[i]
		}
	}
	return nil
}

// isClass tells whether arg names a class, with or without a reason.
func isClass(arg string) bool {
	class, _, _ := strings.Cut(arg, "/")
	_, ok := classMeaning[class]
	return ok
}

// evaluateGates measures each gate of the job on the summary. A gate whose
// measure is not known is a usage error: a gate must never pass unseen.
//
//	share(x)     x: class, class/reason or queue; of the operations in the period
//	count(x)     the same, as a number of rows or items
//	oldest(x)    age at as_of of the oldest item of a queue, class or class/reason
//	findings(x)  findings with the code
//	rejects      records that could not be read, both sides
//	differences  rows in the period that are not correct, not_applicable, not_due
func evaluateGates(s *Summary, gates []rules.Gate) ([]Gate, error) {
	out := make([]Gate, 0, len(gates))
	for _, g := range gates {
		value, text, basis, known, err := s.measureGate(g)
		if err != nil {
			return nil, err
		}
		r := Gate{Name: g.Name, FailWhen: g.FailWhen, Value: text, Basis: basis}
		if r.FailWhen == "" {
			r.FailWhen = g.Func
		}
		if known {
			c := value.Cmp(exactNumber(g.Value))
			switch g.Op {
			case ">":
				r.Failed = c > 0
			case ">=":
				r.Failed = c >= 0
			case "":
				r.Failed = value.Sign() > 0
			default:
				return nil, fail.New(fail.Usage, "gate %s: the comparison %q is not known", g.Name, g.Op).WithHint("use > or >=")
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// measureGate returns the measured value (known false: there is nothing to
// measure, so the gate passes), its text, and what was counted.
func (s *Summary) measureGate(g rules.Gate) (value *big.Rat, text, basis string, known bool, err error) {
	unknown := func() error {
		return fail.New(fail.Usage, "gate %s: %s(%s) cannot be measured", g.Name, g.Func, g.Arg).
			WithHint("use share, count or oldest with a class, class/reason or queue, findings with a code, or rejects, or differences")
	}
	number := func(n int64) (*big.Rat, string) { return new(big.Rat).SetInt64(n), strconv.FormatInt(n, 10) }
	switch g.Func {
	case "findings":
		var n int64
		for _, f := range s.Findings {
			if f.Code == g.Arg {
				n++
			}
		}
		value, text = number(n)
		return value, text, "findings " + g.Arg, true, nil
	case "rejects":
		n := s.Sides[0].Rejected + s.Sides[1].Rejected
		value, text = number(n)
		return value, text, "rejected records of both sides", true, nil
	case "differences":
		value, text = number(s.Outcome.Differences)
		return value, text, "rows in the period that are not correct, not_applicable or not_due", true, nil
	case "share", "count":
		var n int64
		what := "operations"
		if q := s.queue(g.Arg); q != nil {
			n, what = q.Items, "items"
		} else if isClass(g.Arg) {
			n, what = s.classRows(g.Arg)
		} else {
			return nil, "", "", false, unknown()
		}
		if g.Func == "count" {
			value, text = number(n)
			return value, text, what + ", in the period", true, nil
		}
		of := s.Sides[0].InPeriod - s.aside("", "")
		basis = fmt.Sprintf("%d %s of %d operations in the period", n, what, of)
		if of == 0 {
			// Something among no operations is more than any share.
			if n == 0 {
				return nil, "none", basis, false, nil
			}
			return exactNumber(1e12), "all", basis, true, nil
		}
		return big.NewRat(n, of), percent(n, of), basis, true, nil
	case "oldest":
		var oldest *int64
		if q := s.queue(g.Arg); q != nil {
			oldest, basis = q.OldestSecs, "oldest item of the queue"
		} else if isClass(g.Arg) {
			basis = "oldest item of the class"
			class, reason, _ := strings.Cut(g.Arg, "/")
			for _, q := range s.Queues {
				for _, r := range q.Reasons {
					if r.Class == class && (reason == "" || r.Reason == reason) && r.OldestSecs != nil && (oldest == nil || *r.OldestSecs > *oldest) {
						oldest = r.OldestSecs
					}
				}
			}
		} else {
			return nil, "", "", false, unknown()
		}
		if oldest == nil {
			return nil, "none", basis, false, nil
		}
		value, _ = number(*oldest)
		return value, ageText(*oldest), basis, true, nil
	}
	return nil, "", "", false, unknown()
}

// percent prints n of d as a percentage with four decimals at most, rounded
// half away from zero: for people; comparisons use the exact share.
func percent(n, d int64) string {
	if d == 0 {
		if n == 0 {
			return "0 %"
		}
		return "all"
	}
	t := new(big.Rat).Mul(big.NewRat(n, d), big.NewRat(100, 1)).FloatString(4)
	t = strings.TrimRight(strings.TrimRight(t, "0"), ".")
	if t == "" {
		t = "0"
	}
	return t + " %"
}

// ageText prints seconds as days, hours and minutes, at most two of them.
func ageText(secs int64) string {
	if secs < 0 {
		return "-" + ageText(-secs)
	}
	d, h, m := secs/86400, secs%86400/3600, secs%3600/60
	switch {
	case d > 0 && h > 0:
		return fmt.Sprintf("%d d %d h", d, h)
	case d > 0:
		return fmt.Sprintf("%d d", d)
	case h > 0 && m > 0:
		return fmt.Sprintf("%d h %d min", h, m)
	case h > 0:
		return fmt.Sprintf("%d h", h)
	case m > 0:
		return fmt.Sprintf("%d min", m)
	}
	return (time.Duration(secs) * time.Second).String()
}
