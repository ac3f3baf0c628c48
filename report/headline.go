package report

import (
	"fmt"
	"strings"
)

// headline says in one sentence whether the day closes and what needs work.
func headline(s *Summary) string {
	var b strings.Builder
	switch {
	case len(s.Outcome.WithheldQueues) == 1:
		fmt.Fprintf(&b, "The %s queue is withheld. ", s.Outcome.WithheldQueues[0])
	case s.Outcome.Withheld:
		b.WriteString("Acting queues are withheld. ")
	case s.Outcome.ExitCode == 3:
		b.WriteString("A gate failed. ")
	}
	if s.Outcome.Closes {
		b.WriteString("The day closes")
		if d := unequal(s); len(d) > 0 {
			fmt.Fprintf(&b, ": results differ from operations by %s, all of it named and settled", strings.Join(d, ", "))
		} else {
			b.WriteString(": every row is accounted for")
		}
	} else {
		b.WriteString("The day does not close: ")
		b.WriteString(strings.Join(workParts(s), ", "))
		if d := unequal(s); len(d) > 0 {
			fmt.Fprintf(&b, "; results − operations is %s, every part of it named", strings.Join(d, ", "))
		}
	}
	if n := unreadable(s); n > 0 {
		fmt.Fprintf(&b, "; %s cannot be read and %s in no sum", count(n, "amount"), map[bool]string{true: "is", false: "are"}[n == 1])
	}
	b.WriteString(".")
	return b.String()
}

// unreadable counts the amounts of both sides that are in no sum.
func unreadable(s *Summary) (n int64) {
	for _, t := range s.Statement {
		n += t.Unreadable
	}
	return n
}

// unequal lists the differences per currency that are not zero.
func unequal(s *Summary) []string {
	var out []string
	for _, t := range s.Statement {
		if t.Difference == "" || isZero(t.Difference) {
			continue
		}
		out = append(out, strings.TrimSpace(shown(t.Currency)+" "+grouped(t.Difference)))
		if len(out) == 4 && len(s.Statement) > 5 {
			return append(out, "and more")
		}
	}
	return out
}

// workParts lists what needs work, "3 absent", "1 divergent": operations, or
// results where a class has no operations.
func workParts(s *Summary) []string {
	var out []string
	for _, class := range classOrder {
		n := [2]int64{}
		for i, side := range s.Sides {
			for _, c := range side.Counts {
				if c.InPeriod && c.Class == class && needsWork(c.Class, c.Reason) {
					n[i] += c.Rows
				}
			}
		}
		for _, a := range s.Aside {
			if a.Class == class && needsWork(a.Class, a.Reason) {
				n[0] -= a.Rows
			}
		}
		switch {
		case n[0] > 0:
			out = append(out, grouped(fmt.Sprint(n[0]))+" "+class)
		case n[1] > 0:
			out = append(out, grouped(fmt.Sprint(n[1]))+" "+class)
		}
	}
	return out
}

// count prints a number with its noun in the right form.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(fmt.Sprint(n)) + " " + noun + "s"
}

// classRow is one class of one side, in the period, for people.
type classRow struct {
	Class string
	Rows  int64
}

// classesOf lists the classes of a side that have rows in the period.
func classesOf(side Side) []classRow {
	var out []classRow
	for _, class := range classOrder {
		var n int64
		for _, c := range side.Counts {
			if c.InPeriod && c.Class == class {
				n += c.Rows
			}
		}
		if n > 0 {
			out = append(out, classRow{class, n})
		}
	}
	return out
}

// equation is a side in one line: operations: 7 = 3 correct + 1 divergent + 3 absent.
func equation(side Side) string {
	parts := []string{}
	for _, c := range classesOf(side) {
		parts = append(parts, grouped(fmt.Sprint(c.Rows))+" "+c.Class)
	}
	text := fmt.Sprintf("%s: %s", side.Side, grouped(fmt.Sprint(side.InPeriod)))
	if len(parts) > 0 {
		text += " = " + strings.Join(parts, " + ")
	}
	if n := side.Classified - side.InPeriod; n > 0 {
		text += fmt.Sprintf(" (and %s outside the period)", grouped(fmt.Sprint(n)))
	}
	return text
}
