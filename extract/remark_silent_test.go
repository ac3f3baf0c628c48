package extract

import (
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// A source without a record beside others with some is named, and so is one that covers no
// time of the period; quiet days of one source, and of all, are not.
func TestSilentSources(t *testing.T) {
	const some, none = "operation_id,amount\na,1.00\n", "operation_id,amount\n"
	day := int64(24 * time.Hour / time.Microsecond)
	for _, c := range []struct {
		name   string
		files  []string
		covers [][2]int64 // days of each source
		want   []string   // code and source of the findings
	}{
		{"both have some", []string{some, some + "b,2.00\n"}, nil, nil},
		{"one has none", []string{some, none}, nil, []string{"source_empty source2"}},
		{"none has any", []string{none, none}, nil, nil},
		{"alone", []string{none}, nil, nil},
		{"long ago", []string{some, some + "b,2.00\n"}, [][2]int64{{10, 12}, {1, 5}}, []string{"covers_nothing source2"}},
		{"to come", []string{some, some + "b,2.00\n"}, [][2]int64{{20, 30}, {10, 12}}, []string{"covers_nothing source1"}},
		{"just before", []string{some, some + "b,2.00\n"}, [][2]int64{{10, 12}, {7, 10}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			idAndAmount(w, rules.Results)
			for i, text := range c.files {
				name := string(rune('a'+i)) + ".csv"
				w.write(name, text)
				w.source(rules.Results, name, func(s *rules.Source, in *rules.Input) {
					if c.covers != nil {
						s.Coverage.Complete, s.Coverage.Account = false, "a"
						from, until := c.covers[i][0]*day, c.covers[i][1]*day
						in.From, in.Until = &from, &until
					}
				})
			}
			if c.covers != nil {
				w.job.Period = &rules.Period{By: "created_at"}
				w.job.PeriodFrom, w.job.PeriodUntil = 11*day, 12*day
				w.job.Types = map[string]rules.TypePolicy{"charge": {Deadline: 24 * time.Hour}}
			}
			rel, _ := w.mustLoad(rules.Results)
			var got []string
			for _, f := range rel.Findings {
				if f.Code == "source_empty" || f.Code == "covers_nothing" {
					got = append(got, f.Code+" "+f.Source)
				}
			}
			if strings.Join(got, ", ") != strings.Join(c.want, ", ") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// What was pulled and is other bytes when it is read was changed by somebody: that is no
// fault of the source, and no source that may be missing excuses it.
func TestPulledBytes(t *testing.T) {
	w := newWorld(t)
	w.write("pulled/right.csv", "operation_id,amount\na,1.00\n")
	idAndAmount(w, rules.Results)
	w.source(rules.Results, "right.csv", func(s *rules.Source, in *rules.Input) {
		s.Remote, s.Need = &rules.Remote{Kind: "exec"}, rules.Optional
		in.Pulled = &rules.Pulled{Dir: w.dir + "/pulled", Names: []string{"right.csv"}}
	})
	first, _ := w.mustLoad(rules.Results) // nobody knows the digest
	in := &w.job.Inputs[rules.Results][0]
	in.Pulled.Digests = []string{first.Files[0].SHA256}
	w.mustLoad(rules.Results)
	w.write("pulled/right.csv", "operation_id,amount\na,9.00\n")
	for _, run := range []string{"parsed", "cached"} {
		_, _, err := w.load(rules.Results)
		if fail.ClassOf(err) != fail.Integrity || !strings.Contains(err.Error(), "right.csv has other bytes than were pulled ("+first.Files[0].SHA256[:12]) {
			t.Errorf("%s: %v", run, err)
		}
	}
}
