package rules

import (
	"io/fs"
	"testing"
)

// TestPresetsAreWhole: every preset file says what it is, from where, and what it
// cannot do, and loads with the least that a job has to add.
func TestPresetsAreWhole(t *testing.T) {
	files, err := fs.Glob(presetFiles, "presets/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := presetFiles.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := parsePreset(text, f)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if want := "presets/" + p.Name + ".yaml"; f != want {
			t.Errorf("%s has the name %s", f, p.Name)
		}
		if len(p.Limits) == 0 || p.Title == "" {
			t.Errorf("%s: no title, or no known limits", f)
		}
		if p.Side == Results && len(p.Documents) == 0 {
			t.Errorf("%s: no specification that it follows", f)
		}
	}
}
