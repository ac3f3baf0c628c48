package pipeline

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// diskFactor is how much room a run wants, as a multiple of its input: the staged
// columns, what the engine spills, and the outputs (engine.md: about three times
// the input).
const diskFactor = 3

// diskReserve stays free whatever the input: DuckDB's temporary blocks, the report.
const diskReserve = 64 * mib

// checkDisk refuses to start where the disk of dir has too little room for input
// bytes of files.
func checkDisk(dir string, input int64) error {
	free, ok := freeDisk(dir)
	if !ok {
		return nil // a file system that does not tell: the write itself will
	}
	return judgeDisk(dir, free, input)
}

func judgeDisk(dir string, free, input int64) error {
	need := input*diskFactor + diskReserve
	if free >= need {
		return nil
	}
	return fail.New(fail.Resources, "%s free under %s, but %s of input need about %s", sizeText(free), displayPath(dir), sizeText(input), sizeText(need)).
		WithHint("free disk, or name a larger one with --stage-dir and --out")
}

// freeDisk is the room that an unprivileged process has on the disk of dir, or of
// the nearest folder above it that exists, in bytes.
func freeDisk(dir string) (int64, bool) {
	for {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			return 0, false
		}
		dir = up
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true
}
