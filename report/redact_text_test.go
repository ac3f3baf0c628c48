package report

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// Card numbers in a text of rows: masked for people and in the file, but where the job says
// otherwise. A finding counts them.
func TestFreeText(t *testing.T) {
	const card, shown = "4539700000079191", "453970******9191"
	for _, c := range []struct {
		name         string
		redact       rules.Redact
		file, people bool // masked
	}{
		{"as it is", rules.Redact{}, true, true},
		{"exempt", rules.Redact{Exempt: []string{"email"}}, false, false},
		{"off", rules.Redact{FreeTextOff: true}, false, false},
		{"hidden as a whole", rules.Redact{Fields: map[string]string{"email": redactDrop}}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.in.Bound.Redact = c.redact
			for _, side := range rules.Sides {
				for i := range w.rows[side] {
					w.rows[side][i].email = "paid by " + card + "."
				}
			}
			w.load()
			s := w.build()
			dir := w.deliver(s)
			file := string(parquetText(t, w, filepath.Join(dir, "exceptions.parquet")))
			if hidden := c.redact.Fields["email"] != ""; strings.Contains(file, shown) != c.file || strings.Contains(file, card) == (c.file || hidden) {
				t.Errorf("exceptions.parquet: masked %t, in the clear %t", strings.Contains(file, shown), strings.Contains(file, card))
			}
			for name, data := range files(t, dir) {
				if strings.HasSuffix(name, ".json") && strings.HasPrefix(name, "report") && strings.Contains(string(data), shown) != c.people {
					t.Errorf("%s: masked %t", name, !c.people)
				}
			}
			i := slices.IndexFunc(s.Findings, func(f Finding) bool { return f.Code == "free_text_masked" })
			if (i >= 0) != c.people {
				t.Fatalf("the finding is there: %t", i >= 0)
			}
			if i >= 0 && !strings.Contains(s.Findings[i].Text, "card numbers in free text are masked: email of the ") {
				t.Error(s.Findings[i].Text)
			}
		})
	}
}

// A column of numbers of which some pass for cards by chance is one of numbers, and stays
// in files; one of cards is one of cards.
func TestCardsByChance(t *testing.T) {
	list := []foundText{{1, "4539700000079191", 1}, {1, "4539700000079192", 1}, {1, "4539700000079193", 1},
		{2, "4539700000079191", 1}, {2, "4111111111111111", 1}, {2, "no number", 1}}
	if got := byChance(list); !got[1] || got[2] {
		t.Errorf("%v", got)
	}
}

// Types that the job names are no data; others are hidden, or masked, and proposals of one
// name are one.
func TestHideTypes(t *testing.T) {
	job := &rules.Job{Types: map[string]rules.TypePolicy{"charge": {}, "*": {}}}
	list := []Proposal{{Type: "charge", Queue: "close", Items: 1}, {Type: "Jane Doe", Queue: "close", Items: 2}, {Type: "4539700000079191", Queue: "close", Items: 4, ObserveOnly: 3}}
	if got := hideTypes(list, job); len(got) != 3 || got[1].Type != "Jane Doe" || got[2].Type != "453970******9191" {
		t.Errorf("%+v", got)
	}
	job.Redact.Fields = map[string]string{"type": redactMask}
	if got := hideTypes(list, job); len(got) != 2 || got[0] != list[0] || got[1] != (Proposal{Type: "*", Queue: "close", Items: 6, ObserveOnly: 3}) {
		t.Errorf("%+v", got)
	}
}
