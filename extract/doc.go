// Package extract turns one side's files into typed, staged columns with
// provenance, rejects, coverage and control totals.
//
// # The idea
//
// Provider files are parsed in Go with declared types, never sniffed, and the
// engine reads only what was staged here. For each file:
//
//  1. discover: an exact name, or a declared pattern; a link that leaves its
//     folder is refused;
//  2. read once: hash, decompress, decode, cut into records (Reader), so that what
//     was hashed is what was read;
//  3. convert: each product field by its declared type ([NewLayout] names the
//     columns), canonical keys, comparable values, fingerprints;
//  4. stage: Arrow record batches into one Parquet file, named by the digest of the
//     bytes and of everything that says how they were read, with a sidecar that
//     holds what was counted; an unchanged file is hashed and not parsed again. A
//     key that is the text of one field is not stored, but derived when the file is
//     read ([Layout.Derived]). [Prune] removes what was long not used;
//  5. judge: control totals, least number of records, stated numbers of keys,
//     pages that overlap;
//  6. prove: the declared times of the files that were read whole, merged by
//     account ([Interval]).
//
// Nothing is rounded, guessed or dropped on the way: a value that is not of its
// type stays as found and is marked (columns bad and raw_), a record that cannot
// be cut into its fields is a [Reject], and every physical record is counted.
//
// # Containers
//
// A reader for each form of a file gives the same records: CSV, NDJSON, JSON,
// Parquet, lines of several kinds (record-typed CSV and fixed width, kindReader),
// sheets of workbooks, XML by path, forms of banks, and any of them inside a zip
// archive. What a form says about itself is judged while it is read: checksums,
// stated lengths, counts and sums. Limits bound what one file may ask for.
//
// # Readings
//
// Decimals: a leading sign, .5 and 8., zeros in front and behind, exponents, the
// declared marks with groups of exactly three digits; up to 38 digits; more
// decimals than the declared scale, if not zeros, are unreadable. Integers: digits
// only. Booleans: true, false, t, f, 1, 0. Dates: YYYY-MM-DD or the declared
// layouts. Timestamps: RFC 3339, also with a blank for the T, offsets +02:00,
// +0200, +02, Z, up to microseconds; without an offset in the declared zone; a
// local time that the zone skips or repeats is marked as ambiguous. Currencies:
// three letters. Normalisation comes before the reading of typed fields.
package extract
