package bank

import "fmt"

// summary is what TxsSummry states of the entries, and what they came to.
type summary struct {
	stated [3]statedTotal // all, credits, debits
	all    [3]entryTotal  // of all entries
	booked [3]entryTotal  // of the booked ones
}

type statedTotal struct {
	count    int64
	sum      decimal
	hasCount bool
	hasSum   bool
}

type entryTotal struct {
	count int64
	sum   total
}

func (s *summary) add(d decimal, debit, booked bool) {
	side := 1
	if debit {
		side = 2
	}
	for _, i := range []int{0, side} {
		s.all[i].count++
		s.all[i].sum.add(d)
		if booked {
			s.booked[i].count++
			s.booked[i].sum.add(d)
		}
	}
}

// fault says which stated total does not tie. The standard does not say whether
// entries that are not booked count, and banks differ: either is accepted.
func (s *summary) fault() string {
	for i, what := range []string{"entries", "credit entries", "debit entries"} {
		st := &s.stated[i]
		if st.hasCount && st.count != s.all[i].count && st.count != s.booked[i].count {
			return fmt.Sprintf("its summary states %d %s, there are %d", st.count, what, s.all[i].count)
		}
		if st.hasSum && !s.all[i].sum.is(st.sum) && !s.booked[i].sum.is(st.sum) {
			return fmt.Sprintf("its summary states a sum of %s over the %s, they come to %s", st.sum, what, &s.all[i].sum)
		}
	}
	return ""
}

func (c *camtReader) summary() error {
	return c.each(func(name string) (bool, error) {
		at := map[string]int{"TtlNtries": 0, "TtlCdtNtries": 1, "TtlDbtNtries": 2}
		i, ok := at[name]
		if !ok {
			return false, nil
		}
		st := &c.sum.stated[i]
		return true, c.each(func(name string) (bool, error) {
			if !oneOf(name, "NbOfNtries|Sum") {
				return false, nil
			}
			s, err := c.text()
			if err != nil {
				return true, err
			}
			d, ok := parseDecimal(s, '.')
			switch {
			case !ok, name == "NbOfNtries" && d.scale > 0:
				return true, c.bad("%s is no total", quote(s))
			case name == "Sum":
				st.sum, st.hasSum = d, true
			default:
				st.count, st.hasCount = d.units, true
			}
			return true, nil
		})
	})
}
