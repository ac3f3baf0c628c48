package pipeline

import (
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// Timings are the measured values of a run, kept apart from everything that has a
// digest.
type Timings struct {
	SchemaVersion int           `json:"schema_version"`
	Started       string        `json:"started"` // RFC 3339, UTC
	Seconds       float64       `json:"seconds"`
	Stages        []StageTiming `json:"stages"`
	Threads       int           `json:"threads"`
	MemoryLimit   int64         `json:"memory_limit_bytes"`
	EngineLimit   int64         `json:"engine_limit_bytes"`
	PeakRSS       int64         `json:"peak_rss_bytes"`
	Staged        int           `json:"files_parsed"`
	Cached        int           `json:"files_cached"`
	Platform      string        `json:"platform"`
}

// StageTiming is the time of one stage.
type StageTiming struct {
	Stage   Stage   `json:"stage"`
	Seconds float64 `json:"seconds"`
	Rows    int64   `json:"rows"`
}

func (t *Timings) write(dir string) error {
	t.SchemaVersion = ManifestSchema
	t.Platform = runtime.GOOS + "/" + runtime.GOARCH
	t.PeakRSS = peakRSS()
	text, err := encode(t)
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(dir, timingsName), text)
}

// peakRSS is the largest resident size of this process so far, in bytes
// (getrusage(2): ru_maxrss is in KiB on Linux, in bytes on Darwin).
func peakRSS() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
