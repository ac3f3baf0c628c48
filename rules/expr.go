package rules

// Expr is a checked expression over the product fields of one side: `when:`,
// `knows:` and gates. There is one parser, and two uses: rendered to SQL, and
// evaluated in Go by the oracle. Three-valued logic as in SQL; a rule applies
// only where the expression is true.
type Expr struct {
	Text string
	root node
}
