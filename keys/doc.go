// Package keys measures what could link the rows of two sides, so that the passes of a
// job are chosen by evidence. It decides nothing and writes nothing.
//
// # Candidates
//
// The declared passes; every field that both sides have under one name in one type; pairs
// of fields of other names that look like ids and have values in common; and keys of two
// or three fields of one name that tell no rows apart by themselves. How many there are
// is bounded, whatever the files hold; what was left out is said.
//
// # Numbers
//
// Values are those that matching compares: normalised and read as the job declares, and
// nothing where a key links nothing (V2). They are counted over all staged rows, those
// that rules would set aside too. A key links, by itself, the rows whose value stands
// once on each side; a declared `within` holds of such pairs. In a cascade a key is counted
// among the rows that are free when its turn comes.
//
// Everything is grouped by value in the engine, which spills: no join is by anything but
// a row id or a value that stands once, so that time grows with the rows.
package keys
