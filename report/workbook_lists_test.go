package report

import (
	"fmt"
	"strings"
	"testing"
)

// What the report says of holds, clusters, open items, ages, trend, sources and coverage
// stands in the workbook, money by currency, and counts once.
func TestWorkbookLists(t *testing.T) {
	w := newWorld(t).load()
	s := w.build()
	money := []Money{{"EUR", "12.50", 3}, {"JPY", "900", 2}}
	s.Holds = []Hold{
		{Code: "stray", What: "=1+1", Side: "results", Source: "psp", File: "psp.csv.gz", Record: 8, Rows: 6, Amounts: money, Clears: "find out whose effect the result is", Command: "recon-batch explain psp.csv.gz:8"},
		{Code: "more", Rows: 2, Amounts: []Money{}, Clears: "clear what stands above first"},
	}
	at1, at2 := &RowRef{File: "operations.csv", Record: 5}, &RowRef{File: "psp.csv.gz", Record: 6}
	s.Clusters = []Cluster{{Cause: "amount_ratio", What: "× 100", Class: "divergent", Rows: 12, Of: 20, Amounts: money, Differences: []Money{{"EUR", "-1.25", 3}}, Sentence: strings.Repeat("a sentence ", 30),
		Examples: []ClusterPair{{Operation: at1, Result: at2}, {Result: at2}}}}
	state := &OpenState{Queue: "review", Class: "divergent", Reason: "field_differs"}
	s.Changes = &Changes{BusinessDate: "2026-08-19", RunID: "r-former", New: Change{Items: 7, Amounts: money, Showing: 1, Samples: []ChangeSample{{CaseID: "case-1", To: state, Since: "2026-08-20", Currency: "EUR", Amount: "12.50"}}},
		Gone: Change{Items: 1, Showing: 1, Samples: []ChangeSample{{CaseID: "case-2", From: state, Since: "2026-08-01"}}}}
	b := openBook(t, w.workbookOf(s))
	b.checkFormulas()
	rows := func(sheet string, want ...string) {
		t.Helper()
		if b.data(sheet) < len(want) {
			t.Errorf("%s has %d rows, want %d at least", sheet, b.data(sheet), len(want))
			return
		}
		for i, w := range want {
			if got := strings.Join(b.rows[sheet][headRow+i], "|"); got != w {
				t.Errorf("%s %d is\n%s, want\n%s", sheet, firstData+i, got, w)
			}
		}
	}
	rows("Holds", "stray|'=1+1|results|psp|psp.csv.gz|8|6|EUR|3|12.5|find out whose effect the result is|recon-batch explain psp.csv.gz:8",
		"stray|'=1+1|results|psp|psp.csv.gz|8||JPY|2|900", "more||||||2||||clear what stands above first")
	rows("Clusters", "amount_ratio|× 100|divergent|12|20|EUR|3|12.5|-1.25|"+s.Clusters[0].Sentence+"|operations.csv record 5 with psp.csv.gz record 6; psp.csv.gz record 6",
		"amount_ratio|× 100|divergent|||JPY|2|900")
	at := b.data("Open items") - 8
	for i, want := range []string{"|since the former run: new||7", "EUR|new: with an amount||3|12.5", "JPY|new: with an amount||2|900",
		"EUR|new: for example|46254||12.5||case-1|not open|review: divergent/field_differs", "|since the former run: gone||1", "|gone: for example|46235||||case-2|review: divergent/field_differs|not open",
		"|since the former run: of another queue, class or reason||0", "|since the former run: older, the same||0"} {
		if got := strings.Join(b.rows["Open items"][headRow+at+i], "|"); got != want {
			t.Errorf("open items: %s, want %s", got, want)
		}
	}
	rows("Open items", "EUR|opening||0|0", "EUR|plus new||"+fmt.Sprint(s.Open[0].New.Items)+"|"+rawNumber(t, s.Open[0].New.Amount), "EUR|less cleared||0|0", "EUR|plus changed||0|0",
		"EUR|closing||"+fmt.Sprint(s.Open[0].Closing.Items)+"|"+rawNumber(t, s.Open[0].Closing.Amount)+"|agrees")
	i := 0
	for _, a := range s.Ageing {
		for k := range max(1, len(a.Amounts)) {
			row := b.rows["Ageing"][headRow+i]
			if row[0] != a.Queue || row[1] != a.Bucket || k == 0 && row[4] != fmt.Sprint(a.Items) || k < len(a.Amounts) && (row[5] != a.Amounts[k].Currency || row[7] != rawNumber(t, a.Amounts[k].Amount)) {
				t.Errorf("ageing: %q, want %+v", row, a)
			}
			i++
		}
		if a.Bucket == "waiting" {
			i++ // the sum
		}
	}
	p := s.Trend[0]
	if row := b.rows["Trend"][headRow]; row[0] != "46254" || row[1] != p.RunID || row[2] != "no" || row[4] != fmt.Sprint(p.Matched) || row[5] != fmt.Sprint(p.Of) || row[6] != p.MatchRatio || row[7] != fmt.Sprint(p.Rows[0].OperationRows) || row[len(row)-2] != fmt.Sprint(p.Queues[3].Items) {
		t.Errorf("trend: %q, want %+v", row, p)
	}
	f := s.Sides[1].Sources[0].Files
	rows("Sources", "operations|ledger|ledger|required|full-lifecycle|operations.csv||staged|1234|10|0|0|0|10|"+strings.Repeat("11", 32)+"|||agrees",
		fmt.Sprintf("results|psp|psp|required|full-lifecycle|psp.csv.gz||staged|999|%d|2|0|1|%d|%s|%s||agrees", f[0].Records, f[0].Classified, strings.Repeat("22", 32), strings.Repeat("33", 32)),
		"results|psp|psp|required|full-lifecycle|late.csv.gz|46253|missing|0|0|0|0|0|0|||the day has no file|agrees")
	if gap := b.rows["Coverage"][headRow+2]; gap[3] != "gap" || gap[9] != "one record of psp.csv.gz was rejected" {
		t.Errorf("coverage: %q", gap)
	}
	i = 0
	for _, q := range s.Queues {
		if row := b.rows["Queues"][headRow+i]; row[0] != q.Queue || row[4] != fmt.Sprint(q.Items) || row[8] != fmt.Sprint(q.ObserveOnly) {
			t.Errorf("queues: %q, want %+v", row, q)
		}
		i += 1 + len(q.Amounts) + len(q.Reasons) + len(q.Refused)
	}
	if twoDecimals(-5400, 3600) != "-1.50" || twoDecimals(3599, 3600) != "0.99" || twoDecimals(0, 3600) != "0.00" {
		t.Error("hours are wrong")
	}
}
