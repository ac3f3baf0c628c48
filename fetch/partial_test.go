package fetch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// brought begins a file and leaves it after n pieces of ten bytes.
func brought(t *testing.T, dir string, n int) (data, list string) {
	t.Helper()
	p, err := OpenPartial(dir, "a/x.csv", "v1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := p.Append(fmt.Appendf(nil, "piece%04d\n", i)); err != nil {
			t.Fatal(err)
		}
	}
	p.Close()
	base := partialPath(dir, "a/x.csv")
	return base + ".data", base + ".list"
}

func change(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPartialGoesOn: whatever an interruption left of the two files, what is found is a
// beginning of the content in whole pieces, and the file ends as an undisturbed one.
func TestPartialGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		pin    string
		damage func(t *testing.T, data, list string)
		found  int64
	}{
		"nothing broken":     {"v1", func(*testing.T, string, string) {}, 50},
		"other content":      {"v2", func(*testing.T, string, string) {}, 0},
		"a pin that is more": {"v1 ", func(*testing.T, string, string) {}, 0},
		"list cut": {"v1", func(t *testing.T, _, list string) {
			change(t, list, func(b []byte) []byte { return b[:len(b)-3] })
		}, 40},
		"list of another": {"v1", func(t *testing.T, _, list string) {
			change(t, list, func([]byte) []byte { return []byte("\"v1\"\n9999 00000000\n") })
		}, 0},
		"list empty": {"v1", func(t *testing.T, _, list string) {
			change(t, list, func([]byte) []byte { return nil })
		}, 0},
		"data cut": {"v1", func(t *testing.T, data, _ string) {
			change(t, data, func(b []byte) []byte { return b[:25] })
		}, 20},
		"data of zeros": {"v1", func(t *testing.T, data, _ string) {
			change(t, data, func(b []byte) []byte { copy(b[33:], make([]byte, 5)); return b })
		}, 30},
		"data longer": {"v1", func(t *testing.T, data, _ string) {
			change(t, data, func(b []byte) []byte { return append(b, "not listed"...) })
		}, 50},
		"data gone": {"v1", func(t *testing.T, data, _ string) {
			if err := os.Remove(data); err != nil {
				t.Fatal(err)
			}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data, list := brought(t, dir, 5)
			c.damage(t, data, list)
			var also bytes.Buffer
			p, err := OpenPartial(dir, "a/x.csv", c.pin, &also)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if p.Size() != c.found {
				t.Fatalf("found %d bytes, want %d", p.Size(), c.found)
			}
			want := ""
			for i := range 8 {
				want += fmt.Sprintf("piece%04d\n", i)
			}
			if err := p.Append([]byte(want[p.Size():])); err != nil {
				t.Fatal(err)
			}
			f, err := p.Commit()
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(dir, FilesDir, "a", "x.csv"))
			sum := sha256.Sum256([]byte(want))
			if err != nil || string(got) != want || also.String() != want || f.SHA256 != hex.EncodeToString(sum[:]) || f.Size != int64(len(want)) || f.Name != "a/x.csv" {
				t.Errorf("%v: %+v\n%q\n%q", err, f, got, also.String())
			}
			left, err := os.ReadDir(filepath.Join(dir, PartialDir))
			if err != nil || len(left) > 0 {
				t.Errorf("left: %v %v", left, err)
			}
		})
	}
}

// TestPartialPlaced: pieces that were written ahead count when their turn comes, and not
// before.
func TestPartialPlaced(t *testing.T) {
	dir := t.TempDir()
	want := []byte("0123456789abcdefghijABCDEFGHIJ")
	p, err := OpenPartial(dir, "x", "v", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{20, 10} {
		if err := p.Place(want[at:at+10], int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(p.Append(want[:10]), p.Append(want[10:20])); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if p, err = OpenPartial(dir, "x", "v", nil); err != nil || p.Size() != 20 {
		t.Fatalf("%v, %d bytes", err, p.Size())
	}
	if err := errors.Join(p.Place(want[20:], 20), p.Append(want[20:])); err != nil {
		t.Fatal(err)
	}
	f, err := p.Commit()
	got, _ := os.ReadFile(filepath.Join(dir, FilesDir, "x"))
	sum := sha256.Sum256(want)
	if err != nil || !bytes.Equal(got, want) || f.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%v %q %+v", err, got, f)
	}
}

// TestDone: a file counts as brought only under its pin, with the bytes that were brought.
func TestDone(t *testing.T) {
	dir := t.TempDir()
	d, err := OpenDone(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.csv", "b.csv", "c.csv"} {
		w, err := Create(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("of " + name)); err != nil {
			t.Fatal(err)
		}
		f, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Add(f, "pin", "proof of "+name); err != nil {
			t.Fatal(err)
		}
	}
	d.Close()
	change(t, filepath.Join(dir, PartialDir, "done.ndjson"), func(b []byte) []byte { return append(b, `{"pin":"pin","file":{"name":"d.`...) })
	change(t, filepath.Join(dir, FilesDir, "b.csv"), bytes.ToUpper)
	if d, err = OpenDone(dir); err != nil {
		t.Fatal(err)
	}
	if f, proof, ok := d.Have("a.csv", "pin"); !ok || proof != "proof of a.csv" || f.Size != 8 {
		t.Errorf("%+v %q %v", f, proof, ok)
	}
	for _, c := range [][2]string{{"a.csv", "other"}, {"b.csv", "pin"}, {"d.csv", "pin"}, {"../a.csv", "pin"}} {
		if _, _, ok := d.Have(c[0], c[1]); ok {
			t.Errorf("%s is had under %s", c[0], c[1])
		}
	}
	if err := d.Sweep(func(name string) bool { return name != "c.csv" }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, FilesDir, "c.csv")); err == nil {
		t.Error("what is not wanted stayed")
	}
	if _, _, ok := d.Have("a.csv", "pin"); !ok {
		t.Error("what is wanted went")
	}
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, PartialDir)); err == nil {
		t.Error("the folder of what is partial stayed")
	}
}

// TestPartialNames: a name that leads out of the folder is refused before anything is made.
func TestPartialNames(t *testing.T) {
	for _, name := range []string{"", "..", "../x", "/x", "a/../../x", "a/../x", "a//x", "./x", "a\x00"} {
		dir := t.TempDir()
		if _, err := OpenPartial(dir, name, "v", nil); err == nil || !strings.Contains(err.Error(), "no name") {
			t.Errorf("%q: %v", name, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%q left %v %v", name, left, err)
		}
	}
}
