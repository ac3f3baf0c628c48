// Package pipeline holds the order of the stages and nothing of their content:
// rules → extract → match → classify → report, then one atomic publish.
//
// # A run
//
//	lock (out, job, date)                 held → 6
//	remove temporary folders of dead runs
//	extract both sides                    wrong input → 4, nothing published
//	read the former runs that limits and stages ask for
//	run id := digest of job, date, inputs, reference time, overrides, former runs, semantics
//	published already → no-op, the first run's ending
//	match, classify, report               into .<run_id>.tmp-<n>
//	assert the invariants                 a breach → 7, nothing published
//	hash and fsync every file, write manifest.json
//	rename to <run_id>, switch current    each one atomic step
//
// Whatever ends a run before the rename leaves the former published run
// untouched, no folder of its own, and a note under attempts/.
//
// # What is on disk
//
//	<out>/<job>/chain.json                           the last published run of the job
//	<out>/<job>/<date>/.lock                         who runs now
//	<out>/<job>/<date>/<run_id>/manifest.json        see Manifest
//	<out>/<job>/<date>/current -> <run_id>
//	<out>/<job>/<date>/attempts/<id>.json            see Attempt
//	<out>/<job>@<pilot>/…                            the same for the runs of a pilot, see Series
//
// Each manifest names the digest of the manifest published before it, and
// chain.json that of the last one, so that a removed or altered run is noticed.
package pipeline
