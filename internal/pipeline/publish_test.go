package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

func testDir(t *testing.T) *outDir {
	t.Helper()
	d, err := newOutDir(filepath.Join(t.TempDir(), "out"), "job", "2026-11-29")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.make(); err != nil {
		t.Fatal(err)
	}
	return d
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOutDirRefuses(t *testing.T) {
	base := t.TempDir()
	elsewhere := t.TempDir()
	write(t, filepath.Join(base, "file"), "")
	for link, target := range map[string]string{
		"outlink": elsewhere, "out1/job": elsewhere, "out2/job/2026-11-29": elsewhere, "out3/job/2026-11-29/attempts": elsewhere,
	} {
		if err := os.MkdirAll(filepath.Join(base, filepath.Dir(link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ name, out, job, date, want string }{
		{"dots", filepath.Join(base, "x") + "/../y", "job", "2026-11-29", "`..`"},
		{"dots at the start", "../y", "job", "2026-11-29", "`..`"},
		{"job that leaves", base, "../job", "2026-11-29", "job name"},
		{"hidden job", base, ".job", "2026-11-29", "job name"},
		{"date that leaves", base, "job", "../../etc", "business date"},
		{"no folder", "", "job", "2026-11-29", "no output folder"},
		{"a file", filepath.Join(base, "file"), "job", "2026-11-29", "not a folder"},
		{"linked output folder", filepath.Join(base, "outlink"), "job", "2026-11-29", "symbolic link"},
		{"linked job", filepath.Join(base, "out1"), "job", "2026-11-29", "symbolic link"},
		{"linked date", filepath.Join(base, "out2"), "job", "2026-11-29", "symbolic link"},
		{"linked attempts", filepath.Join(base, "out3"), "job", "2026-11-29", "symbolic link"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := newOutDir(tc.out, tc.job, tc.date)
			if fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want a usage error about %q", err, tc.want)
			}
		})
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) != 0 {
		t.Errorf("something was written through a link: %v %v", left, err)
	}
}

func TestRemoveLeftOvers(t *testing.T) {
	d := testDir(t)
	ours := []string{".0123456789abcdef.tmp-01234567", ".current.tmp-89abcdef"}
	others := []string{".0123456789abcdef.tmp-x", ".something.tmp-01234567", "0123456789abcdef", ".lock", "attempts"}
	for _, n := range append(slices.Clone(ours), others...) {
		write(t, filepath.Join(d.date, n, "file"), "x")
	}
	n, err := d.removeLeftOvers()
	if err != nil || n != len(ours) {
		t.Fatalf("removed %d, %v", n, err)
	}
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(d.date, name, "file")); err != nil {
			t.Errorf("%s is not ours and was touched: %v", name, err)
		}
	}
	if !tmpForm.MatchString(tmpName("0123456789abcdef")) || !tmpForm.MatchString(tmpName(currentName)) {
		t.Error("a fresh name is not recognised as ours")
	}
}

func TestSealAndPublish(t *testing.T) {
	d := testDir(t)
	tmp := filepath.Join(d.date, tmpName("0123456789abcdef"))
	write(t, filepath.Join(tmp, "queues", "review.ndjson"), "{}\n")
	write(t, filepath.Join(tmp, "operations.parquet"), "rows")
	outputs, err := seal(tmp, roleOf)
	if err != nil {
		t.Fatal(err)
	}
	want := []OutputDigest{
		{Path: "operations.parquet", Role: "verdicts", Size: 4, SHA256: sha256Hex([]byte("rows"))},
		{Path: "queues/review.ndjson", Role: "queue for people", Size: 3, SHA256: sha256Hex([]byte("{}\n"))},
	}
	if !slices.Equal(outputs, want) {
		t.Errorf("got %+v", outputs)
	}
	for _, id := range []string{"0123456789abcdef", "fedcba9876543210"} {
		if id != "0123456789abcdef" {
			tmp = filepath.Join(d.date, tmpName(id))
			write(t, filepath.Join(tmp, "x"), "")
		}
		if err := d.publish(tmp, id); err != nil {
			t.Fatal(err)
		}
		if err := d.switchCurrent(id); err != nil {
			t.Fatal(err)
		}
		if got, err := d.currentID(); err != nil || got != id {
			t.Errorf("current is %q, %v; want %s", got, err, id)
		}
	}
	if target, err := os.Readlink(d.current()); err != nil || target != "fedcba9876543210" {
		t.Errorf("current -> %q, %v; want a relative link", target, err)
	}
	// A run that exists is never overwritten.
	write(t, filepath.Join(tmp, "x"), "other")
	if err := d.publish(tmp, "0123456789abcdef"); fail.ClassOf(err) != fail.Resources {
		t.Errorf("a second publish over a run: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(d.run("0123456789abcdef"), "operations.parquet")); err != nil || string(text) != "rows" {
		t.Errorf("the published run changed: %q %v", text, err)
	}
}

func TestSealRefusesLinks(t *testing.T) {
	tmp := t.TempDir()
	if err := os.Symlink("/etc/hostname", filepath.Join(tmp, "report.html")); err != nil {
		t.Fatal(err)
	}
	if _, err := seal(tmp, roleOf); fail.ClassOf(err) != fail.Integrity {
		t.Errorf("got %v", err)
	}
}

func TestCurrentRefuses(t *testing.T) {
	d := testDir(t)
	if id, err := d.currentID(); id != "" || err != nil {
		t.Fatalf("no run yet: %q %v", id, err)
	}
	if err := os.Symlink("../../elsewhere", d.current()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.currentID(); fail.ClassOf(err) != fail.Integrity {
		t.Errorf("a link that leaves: %v", err)
	}
	if err := os.Remove(d.current()); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(d.current(), "x"), "")
	if err := d.switchCurrent("0123456789abcdef"); fail.ClassOf(err) != fail.Conflict {
		t.Errorf("a folder of that name: %v", err)
	}
}

func TestLock(t *testing.T) {
	d := testDir(t)
	ctx := context.Background()
	held, err := d.lock(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.lock(ctx, 0)
	if fail.ClassOf(err) != fail.Conflict || !strings.Contains(err.Error(), "process ") || !containsText(err, "--lock-wait") {
		t.Errorf("a held lock: %v", err)
	}
	began := time.Now()
	if _, err := d.lock(ctx, 150*time.Millisecond); fail.ClassOf(err) != fail.Conflict || time.Since(began) < 150*time.Millisecond {
		t.Errorf("waited %s: %v", time.Since(began), err)
	}
	stopped, cancel := context.WithCancelCause(ctx)
	cancel(fail.New(fail.Terminate, "terminated"))
	if _, err := d.lock(stopped, time.Minute); fail.ClassOf(err) != fail.Terminate {
		t.Errorf("stopped while waiting: %v", err)
	}
	go func() {
		time.Sleep(100 * time.Millisecond)
		if err := held.release(); err != nil {
			t.Error(err)
		}
	}()
	again, err := d.lock(ctx, 10*time.Second)
	if err != nil {
		t.Fatalf("after the holder went: %v", err)
	}
	if err := again.release(); err != nil {
		t.Fatal(err)
	}
}

// publishTest publishes an empty run with the next manifest of the chain.
func publishTest(t *testing.T, d *outDir, id string, enter bool) {
	t.Helper()
	err := d.withChain(func(c *chain) error {
		m := &Manifest{SchemaVersion: ManifestSchema, RunID: id, Job: "job", BusinessDate: filepath.Base(d.date), Previous: c.Last}
		text, err := encode(m)
		if err != nil {
			return err
		}
		write(t, filepath.Join(d.run(id), manifestName), string(text))
		c.Last = &RunRef{BusinessDate: m.BusinessDate, RunID: id, ManifestSHA256: sha256Hex(text)}
		c.Runs++
		if !enter {
			return nil // a crash between the rename and the entry
		}
		return c.write(d.job)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestChain(t *testing.T) {
	const a, b, c = "000000000000000a", "000000000000000b", "000000000000000c"
	make3 := func(t *testing.T) *outDir {
		d := testDir(t)
		publishTest(t, d, a, true)
		publishTest(t, d, b, false)
		publishTest(t, d, c, true)
		return d
	}
	for _, tc := range []struct {
		name  string
		spoil func(d *outDir) error
		want  string // "" intact
	}{
		{"intact, and a crash before the entry made good", func(*outDir) error { return nil }, ""},
		{"first removed", func(d *outDir) error { return os.RemoveAll(d.run(a)) }, a + " is missing"},
		{"middle removed", func(d *outDir) error { return os.RemoveAll(d.run(b)) }, b + " is missing"},
		{"last removed", func(d *outDir) error { return os.RemoveAll(d.run(c)) }, c + " is missing"},
		{"manifest changed", func(d *outDir) error {
			p := filepath.Join(d.run(b), manifestName)
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			return os.WriteFile(p, []byte(strings.Replace(string(text), `"job"`, `"j0b"`, 1)), 0o644)
		}, "is not the one that was published"},
		{"a run slipped in", func(d *outDir) error {
			if err := os.MkdirAll(d.run("000000000000000d"), 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(d.run("000000000000000d"), manifestName), []byte(`{"schema_version":1}`), 0o644)
		}, "does not belong"},
		{"chain removed", func(d *outDir) error { return os.Remove(filepath.Join(d.job, chainName)) }, "chain.json is missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := make3(t)
			if err := tc.spoil(d); err != nil {
				t.Fatal(err)
			}
			wrong, n, err := checkChain(d.job)
			if err != nil {
				t.Fatal(err)
			}
			if tc.want == "" && (len(wrong) > 0 || n != 3) {
				t.Errorf("%d runs, wrong: %v", n, wrong)
			}
			if tc.want != "" && !strings.Contains(strings.Join(wrong, "\n"), tc.want) {
				t.Errorf("%q is not in %v", tc.want, wrong)
			}
		})
	}
}
