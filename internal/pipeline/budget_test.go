package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
)

func TestBudget(t *testing.T) {
	const gib = int64(1) << 30
	for _, tc := range []struct {
		name               string
		asked, cgroup, ram int64
		limit, duck, goMem int64
		origin             string
		class              fail.Class
	}{
		{"machine", 0, 0, 10 * gib, 10 * gib, 6*gib - 256*mib, 2 * gib, "RAM", fail.OK},
		{"container", 0, 2 * gib, 10 * gib, 2 * gib, 2*gib/10*6 - 256*mib, 2 * gib / 5, "cgroup limit", fail.OK},
		{"asked for less", gib, 2 * gib, 10 * gib, gib, gib/10*6 - 256*mib, gib / 5, "--memory", fail.OK},
		{"asked for more than there is", 8 * gib, 2 * gib, 10 * gib, 2 * gib, 2*gib/10*6 - 256*mib, 2 * gib / 5, "cgroup limit", fail.OK},
		{"the least", minLimit, 0, 10 * gib, minLimit, 128 * mib, 128 * mib, "--memory", fail.OK},
		{"too little", minLimit - 1, 0, 10 * gib, minLimit - 1, 0, 0, "--memory", fail.Resources},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, err := budgetFrom(tc.asked, tc.cgroup, tc.ram)
			if fail.ClassOf(err) != tc.class {
				t.Fatalf("error %v, want class %d", err, tc.class)
			}
			if b.Limit != tc.limit || b.DuckDB != tc.duck || b.Go != tc.goMem || b.Origin != tc.origin {
				t.Errorf("got %+v", b)
			}
		})
	}
}

func TestCgroupLimit(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"v2, own limit", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n"}, 1000},
		{"v2, a group above limits more", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "2000\n",
		}, 2000},
		{"v2, none", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		{"v1", map[string]string{
			"proc/self/cgroup": "5:cpu:/x\n4:memory:/d\n", "sys/fs/cgroup/memory/d/memory.limit_in_bytes": "3000\n",
		}, 3000},
		{"v1, none", map[string]string{
			"proc/self/cgroup": "4:memory:/d\n", "sys/fs/cgroup/memory/d/memory.limit_in_bytes": "9223372036854771712\n",
		}, 0},
		{"no control groups", nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range tc.files {
				p := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := cgroupLimit(root); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"900MB": 900_000_000, "2GiB": 2 << 30, "512 MiB": 512 << 20, "1000": 1000, "3g": 3 << 30, "1TB": 1e12, "7B": 7,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GB", "-1GB", "1.5GB", "0", "1XB", "99999999999TB", "1 2"} {
		if got, err := ParseSize(text); fail.ClassOf(err) != fail.Usage {
			t.Errorf("%q: got %d, %v; want a usage error", text, got, err)
		}
	}
}

func TestDisk(t *testing.T) {
	if err := judgeDisk("/x", 10*mib*diskFactor+diskReserve, 10*mib); err != nil {
		t.Errorf("enough, to the byte: %v", err)
	}
	err := judgeDisk("/x", 10*mib*diskFactor+diskReserve-1, 10*mib)
	if fail.ClassOf(err) != fail.Resources {
		t.Fatalf("a byte too little: %v", err)
	}
	for _, want := range []string{"94 MiB", "10 MiB", "free disk"} {
		if !containsText(err, want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
}

func TestSizeText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 1 << 30: "1 GiB", 150*mib + mib/2: "150 MiB"} {
		if got := sizeText(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
