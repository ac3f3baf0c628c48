package doctor

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// TestJoinPresets makes a job of the two sides of every preset's fixture. It is valid,
// names the preset, and its key is a field that both sides have.
func TestJoinPresets(t *testing.T) {
	jobs, err := filepath.Glob("../fixtures/presets/*/job.yaml")
	if err != nil || len(jobs) == 0 {
		t.Fatalf("no jobs: %v", err)
	}
	for _, path := range jobs {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			job, err := rules.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			file := func(side rules.Side) string {
				files := filesOf(t, dir, string(job.Spec(side).Sources[0].Path))
				if len(files) == 0 {
					t.Fatalf("no file of the %s", side)
				}
				return files[0]
			}
			p, err := Join(t.Context(), file(rules.Operations), file(rules.Results), PairOptions{})
			if err != nil {
				t.Fatal(err)
			}
			made, err := rules.Parse([]byte(p.Job), "job.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(p.Job, "preset: {name: "+filepath.Base(dir)+",") {
				t.Errorf("the job does not name the preset:\n%s", p.Job)
			}
			if len(made.Match) == 0 || !made.Match[0].Identity {
				t.Errorf("no identity pass:\n%s", p.Job)
			}
		})
	}
}

// TestUnits: amounts of one side that are a hundred times those of the other are
// taken for minor units, and the job says so.
func TestUnits(t *testing.T) {
	left := writeFile(t, "left.csv", []byte("op_id,amount,currency\nop-1,10.00,EUR\nop-2,5.50,EUR\nop-3,7.25,EUR\n"))
	right := writeFile(t, "right.csv", []byte("reference,amount,currency\nop-1,1000,EUR\nop-2,550,EUR\nop-3,725,EUR\n"))
	p, err := Join(t.Context(), left, right, PairOptions{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(p.Job, "minor_units_of: currency}") != 1 || !strings.Contains(strings.Join(p.Assumed, "\n"), "minor units") {
		t.Errorf("%q\n%s", p.Assumed, p.Job)
	}
}
