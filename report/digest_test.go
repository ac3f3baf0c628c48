package report

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// The content digest stays when the input is split, renamed and reordered, and
// moves with whatever a run found.
func TestContentDigest(t *testing.T) {
	want := newWorld(t).load().build().ContentDigest
	split := newWorld(t)
	split.in.Operations.Files[0].Name = "part-0.csv"
	split.in.Operations.Files = append(split.in.Operations.Files, extract.File{No: 1, Source: "ledger", Name: "part-1.csv", SHA256: strings.Repeat("44", 32), Status: extract.FileStaged})
	moved := map[int64]bool{2: true, 6: true, 9: true}
	for i := range split.rows[rules.Operations] {
		if r := &split.rows[rules.Operations][i]; moved[r.rec] {
			r.file = 1
		}
	}
	for i := range split.item {
		split.item[i] = strings.Replace(split.item[i], "'requeue',6,", "'requeue',1099511627782,", 1)
	}
	if got := split.load().build().ContentDigest; got != want {
		t.Errorf("split and renamed: %s, want %s", got, want)
	}
	for name, change := range map[string]func(*world){
		"another reason": func(w *world) { w.rows[rules.Operations][5].reason = "failed_at_provider" },
		"another pass": func(w *world) {
			w.rows[rules.Operations][3].pass = 2
		},
		"another field":   func(w *world) { w.rows[rules.Operations][4].fields = "currency" },
		"another period":  func(w *world) { w.rows[rules.Operations][0].outside, w.rows[rules.Operations][0].plain = true, false },
		"once not proven": func(w *world) { w.rows[rules.Operations][0].once = "not_proven" },
		"another class":   func(w *world) { w.rows[rules.Results][7].class = "ambiguous" },
		"a verdict exchanged": func(w *world) {
			a, b := &w.rows[rules.Operations][4], &w.rows[rules.Operations][5]
			a.class, b.class, a.reason, b.reason, a.fields, b.fields, a.pass, b.pass = b.class, a.class, b.reason, a.reason, b.fields, a.fields, b.pass, a.pass
		},
	} {
		x := newWorld(t)
		change(x)
		if got := x.load().build().ContentDigest; got == want {
			t.Errorf("%s: the digest stays", name)
		}
	}
	content := newWorld(t).load()
	content.exec("UPDATE staged_o SET w2 = w2 + 1 WHERE rec = 1") // another byte in a plain row
	if got := content.build().ContentDigest; got == want {
		t.Error("other content: the digest stays")
	}
}

// A set has the verdict of its first row, never a class of one row with the
// reason of another.
func TestSetsHaveOneVerdict(t *testing.T) {
	w := newWorld(t)
	r := &w.rows[rules.Results][8]
	r.class, r.reason = "duplicate", "conflicting_copies"
	s := w.load().build()
	if got := s.Unresolved.Items[0]; got.Class != "ambiguous" || got.Reason != "several_candidates" || got.Operations != 1 || got.Results != 1 || got.FirstSide != "operations" || got.First.Record != 8 {
		t.Errorf("got %+v", got)
	}
}

// Rule 5 of design §3: what was written has the digest that the summary tells.
func TestReproduce(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w *world, file string)
		breach bool
	}{
		{"nothing changed", func(*world, string) {}, false},
		{"other fields at the second reading", func(w *world, _ string) { w.exec("UPDATE verdicts_o SET fields = 'currency' WHERE rid = 5") }, true},
		{"other content at the second reading", func(w *world, _ string) { w.exec("UPDATE staged_o SET w2 = w2 + 1 WHERE rec = 1") }, true},
		{"a row that was not written", func(w *world, file string) {
			w.exec("CREATE TABLE kept AS SELECT * FROM read_parquet(" + file + ") WHERE record <> 1")
			w.exec("COPY kept TO " + file + " (FORMAT parquet)")
		}, true},
		{"a row that was written with another verdict", func(w *world, file string) {
			w.exec("CREATE TABLE other AS SELECT * REPLACE (record <> 1 AND in_period AS in_period) FROM read_parquet(" + file + ")")
			w.exec("COPY other TO " + file + " (FORMAT parquet)")
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t).load()
			s := w.build()
			dir := w.deliver(s)
			c.change(w, duck.Literal(filepath.Join(dir, "operations.parquet")))
			err := Reproduce(t.Context(), &Delivery{DB: w.db, In: w.in, Summary: s, Dir: dir})
			if (fail.ClassOf(err) == fail.Integrity) != c.breach || !c.breach && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}
