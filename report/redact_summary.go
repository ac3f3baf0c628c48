package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/scan"
)

// machineFields are the fields of the summary that are looked through by nobody: they are
// made by the program, or are the words of the job by which other runs and commands find
// them again. Every other text of the summary is free text.
var machineFields = []string{"Job", "Series", "Overrides", "RunID", "JobDigest", "ContentDigest", "Link", "CaseID", "ItemID", "Currency", "Difference"}

// machineTypes are the types of the summary whose texts are all of that sort.
var machineTypes = []reflect.Type{
	reflect.TypeFor[Gate](), reflect.TypeFor[Limit](), reflect.TypeFor[Version](), reflect.TypeFor[Redacted](), reflect.TypeFor[PastRun](),
	reflect.TypeFor[Seen](), reflect.TypeFor[Proposal](), reflect.TypeFor[Canary](), reflect.TypeFor[Money](), reflect.TypeFor[Statement](),
	reflect.TypeFor[TrendPoint](), reflect.TypeFor[OpenItems](), reflect.TypeFor[AccountStatement](),
}

// maskSummary masks what stands in the texts of the summary: reasons, statuses, messages,
// names of files, commands. The values of rows are masked already, see seenIn.
func (r *redactor) maskSummary(s *Summary) {
	if r.free.FreeTextOff {
		return
	}
	var found maskedTexts
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); !machineField(&f) {
			found.add(partName(f), scan.Walk(v.Field(i), r.leaves), 1)
		}
	}
	all := r.free.masked
	all.places = slices.Concat(all.places, found.places)
	all.counts.Add(found.counts)
	slices.SortFunc(all.places, func(a, b maskedPlace) int { return strings.Compare(a.place, b.place) })
	if len(all.places) > 0 {
		s.Findings = append(s.Findings, Finding{Code: "free_text_masked", Text: all.text()})
	}
}

func machineField(f *reflect.StructField) bool {
	return slices.Contains(machineFields, f.Name) || strings.HasSuffix(f.Name, "Amount") || strings.HasSuffix(f.Name, "SHA256")
}

// partName is the name of a part of the report in report.json.
func partName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// leaves tells what of the summary stays as it is.
func (r *redactor) leaves(v reflect.Value, f *reflect.StructField) bool {
	if f != nil && machineField(f) || slices.Contains(machineTypes, v.Type()) {
		return true
	}
	x, ok := v.Interface().(Value)
	return ok && !r.looks(x.Field)
}

// text says what was masked, and where.
func (m maskedTexts) text() string {
	var what []string
	for _, x := range []struct {
		n    int64
		noun string
	}{{m.counts[scan.Card], "card number"}, {m.counts[scan.IBAN], "IBAN"}, {m.counts[scan.Token], "secret"}} {
		if x.n > 0 {
			what = append(what, count(x.n, x.noun))
		}
	}
	var where []string
	for i, p := range m.places {
		if i == 10 {
			where = append(where, fmt.Sprintf("and %d more places", len(m.places)-i))
			break
		}
		where = append(where, fmt.Sprintf("%s %s", p.place, grouped(fmt.Sprint(p.values))))
	}
	return strings.Join(what, ", ") + " in free text are masked: " + strings.Join(where, ", ") +
		"; a field that should not be looked through is named under `redact: {exempt: […]}`"
}
