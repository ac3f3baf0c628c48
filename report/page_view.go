package report

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// page is what the templates print: the summary, and what of it is drawn or put in rows.
type page struct {
	S        *Summary
	Policy   string
	Style    template.CSS
	Script   template.JS // "" none
	Board    template.JS // the rows of the board, JSON; "" the page has none
	Tone     string      // good, warn, bad
	Money    bool        // some amount is declared
	Unproved []string

	Currencies      []currencyRow
	Bars            []bar
	Verdicts        []verdictRow
	Coverage        []coverageRow
	Timeline        *timeline // nil: no time is known
	Changes         []changeRow
	Accounts        []accountPart
	AccountsShown   int
	Carried         []carriedRow
	Ages            []ageBar
	AgeKeys         []chartKey
	Trend           *trendView   // nil: fewer than two runs
	Latency         *latencyView // nil: nothing was measured
	Retries         []retryRow
	Work            []fact
	Files           [][]fileRow // by side
	FilesOf         []int       // in all
	CoverageShown   int
	FindingsShown   int
	HoldsBefore     int // holds that stand open; the rest is behind a line
	PrintLines      bool
	StatementsApart bool // so many currencies that each statement stands behind a line

	zone  *time.Location
	files map[fileKey]string
}

// What is longer than this stands behind a line that opens it.
const (
	holdsOpen      = 8
	linesPrinted   = 40
	statementsOpen = 6
	findingsShown  = 200
)

// newPage arranges the summary.
func newPage(s *Summary) *page {
	p := &page{S: s, Tone: tone(s), Unproved: unproved(s), zone: zoneOf(s), AgeKeys: ageKeys()}
	for _, t := range s.Statement {
		p.Money = p.Money || t.Operations != ""
	}
	p.Currencies = currencyRows(s)
	for _, side := range s.Sides {
		p.Bars = append(p.Bars, bar{equation(side), barParts(classesOf(side))})
	}
	p.Verdicts = verdictRows(s)
	p.Coverage = coverageOf(s)
	p.Timeline = timelineOf(s, p.Coverage, p.zone, p.local)
	p.CoverageShown = min(len(p.Coverage), coverageRows)
	p.Changes = changeRows(s)
	p.Accounts, p.AccountsShown = accountParts(s)
	p.PrintLines = p.AccountsShown <= linesPrinted
	p.Carried = carriedRows(s)
	p.Ages, p.Trend, p.Latency, p.Retries, p.Work = ageBars(s), trendOf(s), latencyOf(s), retryRows(s), workFacts(s)
	p.Files, p.files, p.FilesOf = fileRows(s)
	p.FindingsShown = min(len(s.Findings), findingsShown)
	p.HoldsBefore = min(len(s.Holds), holdsOpen)
	p.StatementsApart = len(s.Statement) > statementsOpen
	return p
}

// local is an instant in the calendar of the job.
func (p *page) local(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	return t.In(p.zone).Format("2006-01-02 15:04:05")
}

// openFor is how long something has been open at the reference time.
func (p *page) openFor(since string) string {
	from, err := time.Parse(time.RFC3339Nano, since)
	if err != nil {
		return since
	}
	asOf, err := time.Parse(time.RFC3339Nano, p.S.AsOf)
	if err != nil {
		return since
	}
	return ageText(int64(asOf.Sub(from) / time.Second))
}

// place says where a record stands.
func (p *page) place(side string, r *RowRef) place {
	return place{Side: side, File: r.File, Record: r.Record, SHA256: r.SHA256, At: p.files[fileKey{side, r.Source, r.File}]}
}

// funcs are what the templates call.
func (p *page) funcs() template.FuncMap {
	return template.FuncMap{
		"shown": shown, "whole": visible, "count": count, "money": grouped, "orNone": orNone, "local": p.local, "openFor": p.openFor, "age": oldestText, "lag": ageText, "finding": findingText, "withheld": withheldText, "mode": modeText, "reopen": reopenText, "needs": needsOf, "ofType": ofTypeText, "absenceText": absenceText, "stated": statesAny, "id": idOf,
		"num":       func(n int64) string { return grouped(fmt.Sprint(n)) },
		"numi":      func(n int) string { return grouped(fmt.Sprint(n)) },
		"settled":   func(class, reason string) bool { return !needsWork(class, reason) },
		"verdict":   func(e Exception) string { c, r := verdictOf(e); return c + "/" + r },
		"orDefault": orDefault, "ageName": ageName, "line": lineText, "day": dayText, "holdName": holdName, "holdsAlone": holdsAlone, "saidParts": saidParts,
		"duration": durationText, "share": shareText, "typeName": typeName, "nothing": provesNothing, "when": func(from, until string) string { return StretchText(from, until, p.local) },
		"place": p.place,
		"holdPlace": func(h Hold) place {
			return place{Side: h.Side, File: h.File, Record: h.Record, At: p.files[fileKey{h.Side, h.Source, h.File}]}
		},
		"rejectPlace": func(r Reject) place {
			return place{Side: r.Side, File: r.File, At: p.files[fileKey{r.Side, r.Source, r.File}]}
		},
		"ref":        func(r RowRef) *RowRef { return &r },
		"zero":       func(amount string) bool { return amount == "" || isZero(amount) },
		"amounts":    func(class, reason string) []verdictMoney { return verdictAmounts(p.S, class, reason) },
		"fieldNames": fieldNames,
		"long":       func(n int) int64 { return int64(n) },
		"inc":        func(n int) int { return n + 1 },
		"minus":      func(a, b int) int { return a - b },
		"value": func(v *string) string {
			switch {
			case v == nil:
				return "nothing"
			case *v == "":
				return "an empty text"
			}
			return shown(*v)
		},
	}
}

// bar is the share of each class of one side, in thousandths of the width.
type bar struct {
	Equation string
	Parts    []barPart
}

type barPart struct {
	Class    string
	X, Width int64
}

// verdictRow is one class and reason over all currencies, in the period.
type verdictRow struct {
	Class, Reason, Meaning string
	Operations, Results    int64
}

func tone(s *Summary) string {
	switch {
	case s.Outcome.ExitCode != 0:
		return "bad"
	case s.Outcome.Closes:
		return "good"
	}
	return "warn"
}

// unproved says at the top what could not be read, since proofs of absence fall
// with it.
func unproved(s *Summary) []string {
	var out []string
	for _, side := range s.Sides {
		var files []string
		for _, src := range side.Sources {
			for _, f := range src.Files {
				if f.Status == "missing" || f.Status == "refused" {
					files = append(files, strings.TrimSpace(src.Name+" "+orNone(f.Name)+" ("+f.Status+")"))
				}
			}
		}
		if len(files) > 5 {
			files = append(files[:5], fmt.Sprintf("and %d more", len(files)-5))
		}
		if len(files) > 0 {
			out = append(out, fmt.Sprintf("not read, so it proves nothing: %s", strings.Join(files, ", ")))
		}
		if side.Rejected > 0 {
			out = append(out, fmt.Sprintf("%s of the %s could not be read", count(side.Rejected, "record"), side.Side))
		}
	}
	return out
}

// barParts cuts the width among the classes; what has rows has at least a
// visible sliver, for which the widest one makes room.
func barParts(classes []classRow) []barPart {
	const whole, sliver = 1000, 4
	var all int64
	for _, c := range classes {
		all += c.Rows
	}
	out := make([]barPart, len(classes))
	widest, used := 0, int64(0)
	for i, c := range classes {
		out[i] = barPart{Class: c.Class, Width: max(c.Rows*whole/all, sliver)}
		used += out[i].Width
		if out[i].Width > out[widest].Width {
			widest = i
		}
	}
	if len(out) > 0 {
		out[widest].Width += whole - used
	}
	var x int64
	for i := range out {
		out[i].X = x
		x += out[i].Width
	}
	return out
}

func verdictRows(s *Summary) []verdictRow {
	var out []verdictRow
	for _, class := range classOrder {
		at := map[string]int{}
		first := len(out)
		for i, side := range s.Sides {
			for _, c := range side.Counts {
				if !c.InPeriod || c.Class != class {
					continue
				}
				j, ok := at[c.Reason]
				if !ok {
					j = len(out)
					at[c.Reason] = j
					out = append(out, verdictRow{Class: class, Reason: c.Reason})
				}
				if i == 0 {
					out[j].Operations += c.Rows
				} else {
					out[j].Results += c.Rows
				}
			}
		}
		if len(out) > first {
			out[first].Meaning = classMeaning[class]
		}
	}
	return out
}
