// Package naive is the slow oracle: the rules of verdicts.md in plain Go, with
// nested loops and maps, over rows that fit in memory. Tests compare the
// production engine with it; nothing else runs it.
//
// It is written from the rules alone. It shares with the engine the job
// (package rules), the staged columns (extract.Layout) and the meaning of two
// values being equal (match/compare), and nothing else, so that a mistake in one
// of the two shows as a difference.
//
// # The order of the rules
//
//  1. B  identical copies, records of one id, rows that face conflicting ones
//  2. C  results that a scope rule excludes
//  3. D, E  the passes in their order over free rows; after the last identity
//     pass, what is not settled and what is free is checked against all rows
//  4. C  the period: it is decided by the operation where there is one, and
//     comes before scope rules of operations and before what D and E left open
//  5. E  rows without a usable key (V18)
//  6. F  what the linked records say
//  7. G  operations without an effect, then results without an operation
//  8. H  the proposal for every operation, and the checks that refuse one
//
// Where verdicts.md leaves room, the reading that the project follows is written
// beside the rule that it concerns, as "Reading:".
package naive
