// Package doctor looks at files that nobody described yet, and says what a job
// could declare about them.
//
// # The idea
//
// A run guesses nothing. Somebody has to write the declarations first, and this
// package helps with that: it is the one place where the program guesses, for a
// person to read. Each thing that it says is a fact, which follows from the bytes
// alone, or a guess, with how sure it is and why.
//
//  1. container: the first bytes tell gzip, zstd, zip, workbooks and Parquet;
//  2. bytes: one pass over the content counts line ends and says whether it is UTF-8;
//  3. form: the first and last part of the content tell the kind of file, and its
//     dialect: delimiter, quote, header, preamble, footer, kinds of lines;
//  4. declaration: what was found is written as a job file and read back by the
//     package rules, so that it is one that the product accepts;
//  5. content: the whole file is read by the package extract with that declaration,
//     and every column is watched: numbers, times, repeated and damaged ids;
//  6. the rest of the declaration: types, fields, totals that the file states, and
//     which presets fit.
//
// Memory is bounded: samples of a few MiB, counters for each column, and a number of
// fingerprints that all columns share.
package doctor
