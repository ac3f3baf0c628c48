package pipeline

import "runtime/debug"

// Semantics is the version of the verdict rules. It is part of every run id: the
// same inputs judged by other rules are another run. It changes whenever the same
// job and files could get another verdict, proposal or number.
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
