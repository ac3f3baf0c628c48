package extract

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// A pattern gives every file that it meets, and what it meets and cannot look into
// ends the run: a file passed over in silence would make its records absent.
func TestPatternLosesNothing(t *testing.T) {
	for _, c := range []struct {
		name, pattern string
		links         map[string]string // name → target
		want          string            // names found
		refused       string            // part of the message, from listing or opening
	}{
		{name: "files", pattern: "in/*.csv", want: "in/a.csv in/b.csv in/parts.csv", refused: "parts.csv"},
		{name: "everything but folders", pattern: "in/*", want: "in/a.csv in/b.csv in/c.txt"},
		{name: "folders of a pattern", pattern: "in/day-?/x.csv", want: "in/day-1/x.csv in/day-2/x.csv"},
		{name: "pattern below a pattern", pattern: "in/day-*/*.csv", want: "in/day-1/x.csv in/day-2/x.csv in/day-2/y.csv"},
		{name: "files are no folders", pattern: "in/*/x.csv", want: "in/day-1/x.csv in/day-2/x.csv"},
		{name: "nothing", pattern: "in/*.gz", want: ""},
		{name: "no such folder", pattern: "out/*.csv", want: ""},
		{name: "a link to nowhere", pattern: "in/day-1/*.csv", links: map[string]string{"in/day-1/z.csv": "gone"},
			want: "in/day-1/x.csv in/day-1/z.csv", refused: "z.csv"},
		{name: "a literal link to nowhere", pattern: "in/day-*/z.csv", links: map[string]string{"in/day-1/z.csv": "gone"},
			want: "in/day-1/z.csv", refused: "z.csv"},
		{name: "a folder that is gone", pattern: "in/day-*/*.csv", links: map[string]string{"in/day-3": "gone"}, refused: "not every folder can be read"},
		{name: "a folder that loops", pattern: "in/day-*/*.csv", links: map[string]string{"in/day-3": "day-3"}, refused: "not every folder can be read"},
		{name: "a broken pattern", pattern: "in/[a", refused: "is no pattern"},
		{name: "a name that is no text", pattern: "in/*.csv", links: map[string]string{"in/\xff.csv": "a.csv"}, refused: `whose name is no UTF-8: "in/\xff.csv"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, n := range []string{"a.csv", "b.csv", "c.txt", "day-1/x.csv", "day-2/x.csv", "day-2/y.csv", "parts.csv/part-0.csv"} {
				n = filepath.Join(dir, "in", n)
				if err := os.MkdirAll(filepath.Dir(n), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(n, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for name, target := range c.links {
				if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			found, err := discover(dir, []rules.Input{{Source: &rules.Source{Name: "s"}, Path: c.pattern}})
			var names, refused []string
			if err != nil {
				refused = append(refused, err.Error())
			}
			for _, f := range found {
				if f.missing {
					continue
				}
				names = append(names, f.rel)
				in, err := f.open()
				if err != nil {
					refused = append(refused, err.Error())
					if e, ok := errors.AsType[*fail.Error](err); !ok || e.Class != fail.Input || e.Hint == "" {
						t.Errorf("%v has another class, or no remedy", err)
					}
					continue
				}
				in.Close()
			}
			if !slices.Equal(names, strings.Fields(c.want)) {
				t.Errorf("found %q, want %s", names, c.want)
			}
			if len(refused) > 1 || len(refused) == 0 != (c.refused == "") || len(refused) == 1 && !strings.Contains(refused[0], c.refused) {
				t.Errorf("refused %q, want %q", refused, c.refused)
			}
		})
	}
}
