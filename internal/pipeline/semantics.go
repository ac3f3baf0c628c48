package pipeline

import "runtime/debug"

// Semantics is the version of the verdict rules. It is part of every run id: the
// same inputs judged by other rules are another run. Without a raise the new
// program would call such a run complete already, and leave the old verdicts.
//
// Raise it with every change after a release by which the same job and files could
// get another verdict, reason, pass, set of fields, proposal, guard check or number:
// in the statements of match and classify, in the Go that fills their slots, in
// comparators, expressions, what a text is read as (extract, where stageSemantics
// changes as well), defaults of the job file, and totals or digests of report. Do not
// raise it for what only makes a run faster, for words, or for new outputs.
// TestSemantics notices every change of a statement and asks.
const Semantics = 1

// ManifestSchema is the version of manifest.json, attempts and timings. Changes
// within one version only add.
const ManifestSchema = 1

// Program is the version of the program, set at build time with
// -ldflags "-X …/internal/pipeline.Program=v1.2.3".
var Program = "dev"

// Commit tells the revision that the program was built from, "" where unknown.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
