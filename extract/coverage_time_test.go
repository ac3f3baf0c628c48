package extract

import (
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// A file whose records all lie outside the time that it is declared to cover is
// believed in what it says and in nothing that it does not say.
func TestFileOfAnotherDay(t *testing.T) {
	const from, until = int64(1_000_000), int64(2_000_000) // 1970-01-01T00:00:01Z to 00:00:02Z
	for _, c := range []struct {
		name, text string
		proved     bool
	}{
		{"inside", "a,1970-01-01T00:00:01Z\n", true},
		{"inside and outside", "a,1970-01-01T00:00:01.5Z\nb,1970-01-01T00:00:09Z\n", true},
		{"the end is outside", "a,1970-01-01T00:00:02Z\n", false},
		{"all before", "a,1970-01-01T00:00:00.999999Z\n", false},
		{"another day", "a,1970-01-05T00:00:01Z\nb,1970-01-05T00:00:02Z\n", false},
		{"a quiet day", "", true},
		{"no times", "a,\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("right.csv", "operation_id,created_at\n"+c.text)
			w.fields(rules.Results, rules.Field{Name: "operation_id"}, rules.Field{Name: "created_at", Type: rules.Timestamp})
			w.source(rules.Results, "right.csv", func(s *rules.Source, in *rules.Input) {
				from, until := from, until
				s.Coverage.Complete, in.From, in.Until = false, &from, &until
			})
			rel, rows := w.mustLoad(rules.Results)
			if want := strings.Count(c.text, "\n"); len(rows) != want {
				t.Errorf("%d rows, want %d: the records themselves stay", len(rows), want)
			}
			if len(rel.Coverage) != 1 {
				t.Fatalf("coverage %+v", rel.Coverage)
			}
			iv := rel.Coverage[0]
			if proved := iv.From == from && iv.Until == until; proved != c.proved {
				t.Errorf("proved %v, want %v: %+v", proved, c.proved, iv)
			}
			said := false
			for _, f := range rel.Findings {
				said = said || f.Code == "coverage_withdrawn" && strings.Contains(f.Text, "right.csv holds records of other times only")
			}
			if said == c.proved {
				t.Errorf("findings %+v", rel.Findings)
			}
		})
	}
}
