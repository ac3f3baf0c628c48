// Package latency measures how long operations took to be confirmed, from the links
// that former runs found, and sets that against the windows of the job file.
//
// # What is measured
//
// A link counts where both rows are correct, or lie outside the period and are linked
// by a result with the expected status: an operation that was confirmed a day later is
// one of those in the run of that day. Each operation counts once, as the latest of the
// runs saw it. There are two times, both exact differences of the two files:
//
//	since the last attempt   result − last_attempt_at (created_at where there is none)
//	since the creation       result − created_at
//
// which are what `expected` and `deadline` count from (V25). Where a local time exists
// twice, the reading that makes the time longer counts. An attempt that was made after
// the confirmation, by more than the clock skew, says nothing of how long one takes and
// is left out of the first.
//
// # Percentiles
//
// By nearest rank: the p-th percentile of n times is the one at place ⌈p·n⌉ when they
// are sorted. It is always a time that was seen, never one in between, and the same
// whatever the order of the rows. With fewer than 1,000 links p99.9 is the longest.
package latency
