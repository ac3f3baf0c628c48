package rules

import (
	"slices"
	"strings"
)

// Group makes a pass one by groups (V16): all free rows of both sides under one key are
// one link, and what is compared are the sums of the two sides.
type Group struct {
	Same       []KeyPart // further parts in which the rows of a group agree, such as the currency; may be empty
	Operations []Term    `json:"-"` // the sum of the operations; no staged file depends on what follows
	Results    []Term    `json:"-"` // the sum of the results
	Count      Count     `json:"-"`

	Absolute   string            `json:"-"` // decimal text; "" none
	AbsoluteBy map[string]string `json:"-"` // the same by currency, which is the only part of Same
	Relative   string            `json:"-"` // share of the larger absolute sum, decimal text; "" none
}

// Term is one sum of an equation: the field added up, or taken away.
type Term struct {
	Field string
	Minus bool
}

// Count names the fields by which a row states how many rows of the other side belong to
// its group; "" none.
type Count struct {
	Operations string // of the operations: the number of results
	Results    string // of the results: the number of operations
}

// Terms are those of one side.
func (g *Group) Terms(s Side) []Term {
	if s == Operations {
		return g.Operations
	}
	return g.Results
}

// Stated is the field of the side that states a number of rows of the other one.
func (g *Group) Stated(s Side) string {
	if s == Operations {
		return g.Count.Operations
	}
	return g.Count.Results
}

// Fields names what the equation adds up, as verdicts list it: the fields of the
// operations, then those of the results that have another name.
func (g *Group) Fields() []string {
	var out []string
	for _, t := range slices.Concat(g.Operations, g.Results) {
		if !slices.Contains(out, t.Field) {
			out = append(out, t.Field)
		}
	}
	return out
}

// Tolerates tells whether sums that are not equal can be within a tolerance.
func (g *Group) Tolerates() bool {
	return g.Absolute != "" || len(g.AbsoluteBy) > 0 || g.Relative != ""
}

// equationText writes one side of an equation.
func equationText(terms []Term) string {
	var b strings.Builder
	for i, t := range terms {
		switch {
		case t.Minus && i == 0:
			b.WriteString("-")
		case t.Minus:
			b.WriteString(" - ")
		case i > 0:
			b.WriteString(" + ")
		}
		b.WriteString("sum(" + t.Field + ")")
	}
	return b.String()
}
