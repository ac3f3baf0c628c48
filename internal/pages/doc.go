// Package pages writes and reads Parquet in its plainest form: one data page a column
// and batch, PLAIN values or places in a dictionary where a column has few of them, no
// compression, no statistics. Keys and fingerprints are unique and never sorted, so
// that compression and statistics cost more than all the rest, at each writing and at
// each reading, and give next to nothing: see docs/decisions/0005-staged-files.md.
//
// Staged files are such files, and so are the narrow rows of a run. Every reader of
// Parquet reads them; Reader reads these alone, and fast.
//
// The format is that of github.com/apache/parquet-format, README, Encodings.md and
// parquet.thrift; every number of it in this package is from there.
package pages
