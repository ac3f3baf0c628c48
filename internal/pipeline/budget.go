package pipeline

import (
	"fmt"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// Budget is how a run shares out its memory, all in bytes. DuckDB's limit bounds
// its buffer manager only; the process was measured 190 to 230 MiB above it, which
// is why a flat share of a small limit does not do.
type Budget struct {
	Limit  int64  // what the run may use: the smallest of --memory, cgroup limit and RAM
	Origin string // which of them
	DuckDB int64  // 0.6 · Limit − 256 MiB
	Go     int64  // 0.2 · Limit, the soft limit of the Go heap
}

const (
	mib = int64(1) << 20

	// minDuckDB is the least that the engine is given: two threads with one
	// 122,880-row group each, and room to spill.
	minDuckDB = 128 * mib
	// minLimit follows from it: (128 + 256) MiB / 0.6.
	minLimit = 640 * mib
)

// NewBudget derives the budget. asked is --memory in bytes, 0 where not given; it
// may lower the limit of the machine, never raise it.
func NewBudget(asked int64) (Budget, error) {
	return budgetFrom(asked, cgroupLimit("/"), ramLimit("/"))
}

func budgetFrom(asked, cgroup, ram int64) (Budget, error) {
	b := Budget{Limit: math.MaxInt64, Origin: "unknown"}
	for _, l := range []struct {
		bytes  int64
		origin string
	}{{ram, "RAM"}, {cgroup, "cgroup limit"}, {asked, "--memory"}} {
		if l.bytes > 0 && l.bytes < b.Limit {
			b.Limit, b.Origin = l.bytes, l.origin
		}
	}
	if b.Limit == math.MaxInt64 {
		b.Limit, b.Origin = 2<<30, "default, since the machine tells no limit"
	}
	if b.Limit < minLimit {
		return b, fail.New(fail.Resources, "%s of memory (%s) are too little; a run needs at least %s", sizeText(b.Limit), b.Origin, sizeText(minLimit)).
			WithHint("give the run more memory, or raise --memory")
	}
	b.DuckDB = b.Limit/10*6 - 256*mib
	b.Go = b.Limit / 5
	return b, nil
}

// apply sets the soft limit of the Go heap.
func (b Budget) apply() { debug.SetMemoryLimit(b.Go) }

func (b Budget) String() string {
	return fmt.Sprintf("memory %s (%s): engine %s, program %s", sizeText(b.Limit), b.Origin, sizeText(b.DuckDB), sizeText(b.Go))
}

// cgroupLimit is the smallest memory limit of the process's control group and of
// those above it (cgroup v2: memory.max; v1: memory.limit_in_bytes), 0 where there
// is none. root is "/", or a folder of tests.
func cgroupLimit(root string) int64 {
	text, err := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0
	}
	least := int64(0)
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // id:controllers:path
		if len(parts) != 3 {
			continue
		}
		base, file := "sys/fs/cgroup", "memory.max"
		if parts[0] != "0" || parts[1] != "" {
			if !strings.Contains(","+parts[1]+",", ",memory,") {
				continue
			}
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			if n := readBytes(path.Join(root, base, group, file)); n > 0 && (least == 0 || n < least) {
				least = n
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// readBytes reads one number of bytes; "max" and the huge number by which
// cgroup v1 says "none" give 0.
func readBytes(p string) int64 {
	text, err := os.ReadFile(p)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n > 1<<60 {
		return 0
	}
	return n
}

// ramLimit is the memory of the machine (proc(5): MemTotal in KiB), 0 unknown.
func ramLimit(root string) int64 {
	text, err := os.ReadFile(path.Join(root, "proc/meminfo"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemTotal:" {
			if kib, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				return kib * 1024
			}
		}
	}
	return 0
}

// ParseSize reads a number of bytes such as 900MB, 2GiB, 512 MiB or 1000000.
// MB and GB are powers of ten, MiB and GiB powers of two (IEC 80000-13).
func ParseSize(text string) (int64, error) {
	t := strings.TrimSpace(text)
	digits := strings.TrimRight(t, "BKMGTibkmgt ")
	units := map[string]int64{
		"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
		"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
	}
	unit, ok := units[strings.ToLower(strings.TrimSpace(t[len(digits):]))]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, fail.New(fail.Usage, "%q is no size in bytes", text).WithHint("write 900MB, 2GiB or a number of bytes")
	}
	return n * unit, nil
}

// sizeText gives bytes for people, with one decimal at most.
func sizeText(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i, rest := 0, int64(0)
	for n >= 1024 && i < len(units)-1 {
		rest = n % 1024
		n /= 1024
		i++
	}
	if tenth := rest * 10 / 1024; tenth > 0 && n < 100 {
		return fmt.Sprintf("%d.%d %s", n, tenth, units[i])
	}
	return fmt.Sprintf("%d %s", n, units[i])
}
