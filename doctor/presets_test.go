package doctor

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// TestPresetFiles: each preset's files in fixtures/presets are recognised as its own,
// and as no other preset's. A preset is added by adding a folder.
func TestPresetFiles(t *testing.T) {
	jobs, err := filepath.Glob("../fixtures/presets/*/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, path := range jobs {
		dir := filepath.Dir(path)
		job, err := rules.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, side := range rules.Sides {
			for _, src := range job.Spec(side).Sources {
				if src.Preset == nil {
					continue
				}
				files := filesOf(t, dir, string(src.Path))
				if len(files) == 0 {
					t.Errorf("%s: no file fits %s", dir, src.Path)
				}
				for _, f := range files {
					seen[src.Preset.Name] = true
					t.Run(src.Preset.Name+"/"+filepath.Base(f), func(t *testing.T) { checkPreset(t, f, src.Preset.Name) })
				}
			}
		}
	}
	for _, p := range rules.Presets() {
		if !seen[p.Name] {
			t.Errorf("no file of the preset %s was looked at", p.Name)
		}
	}
}

// filesOf finds the files of a path with placeholders.
func filesOf(t *testing.T, dir, template string) (out []string) {
	t.Helper()
	var pattern strings.Builder
	inside := false
	for _, r := range template {
		switch {
		case r == '{':
			inside = true
			pattern.WriteByte('*')
		case r == '}':
			inside = false
		case !inside:
			pattern.WriteRune(r)
		}
	}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if ok, _ := filepath.Match(pattern.String(), rel); ok {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func checkPreset(t *testing.T, path, name string) {
	r := mustLook(t, path, Options{})
	if r.Problem != "" {
		t.Fatal(r.Problem)
	}
	for _, f := range r.Presets {
		if f.Fits != (f.Preset == name) {
			t.Errorf("%s: fits %v: %s", f.Preset, f.Fits, f.Why)
		}
		if f.Why == "" {
			t.Errorf("%s: no word about why", f.Preset)
		}
	}
	if !strings.Contains(r.Fragment, "preset: {name: "+name) {
		t.Errorf("the fragment does not name the preset:\n%s", r.Fragment)
	}
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Code == "preset_not_used" }) {
		t.Errorf("%+v", r.Findings)
	}
	if _, rows, rejected := readBack(t, r); int64(len(rows)+rejected) != r.Records {
		t.Errorf("%d records read back, the report says %d", len(rows)+rejected, r.Records)
	}
}
