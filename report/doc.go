// Package report says what a run found: one typed Summary that every renderer
// only prints, the narrow and wide rows, and the correction queues.
//
// # The idea
//
//  1. Tie: count and add up what classify left, and compare with what extract
//     counted and added up on its own. A difference is a failure of class
//     Integrity: nothing may be published (design §3, rule 1).
//  2. Build: names, counts, totals and a bounded sample of rows become a Summary.
//     Gates and limits are pure functions over it.
//  3. Deliver: each Output writes its files into a folder that the caller
//     publishes. Rows leave the engine by COPY and never pass through Go.
//
// Every file is the same to the byte for the same inputs: no clock, no order of
// a map, a total order of every row. Declared personal fields are redacted in
// SQL, before a value leaves the engine.
//
// SCHEMA.md describes every column and every JSON field.
package report
