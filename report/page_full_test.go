package report

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A filler makes a summary in which everything has a value, and no two values are the
// same, so that a value that is found on the page stands there for itself.
type filler struct {
	n      int64
	prefix string // of every text that is free
}

// texts of a closed list, by the name of the field or its path.
var fillTexts = map[string][]string{
	"sides.side": {"operations", "results"}, "mode": {"enforce"}, "zone": {"Europe/Paris"}, "class": classOrder, "queue": {"requeue", "review"}, "queues.queue": {"confirm", "requeue"},
	"bucket": {"0-1d", "30d+"}, "span": {"day"}, "first_side": {"operations"}, "rejects.items.side": {"operations", "results"}, "holds.side": {"operations", "results"},
	"findings.side": {"operations", "results"}, "holds.code": {"stray", "unmapped_status"}, "status": {"refused", "missing"}, "outcome.withheld_queues": {"confirm", "close"},
	"series": {"canary-series"}, "match_ratio": {"98.31", "97.05"},
}

// fields that are amounts, dates and instants where they are texts.
var (
	fillAmounts = listed("amount operations_read operations_outside operations results_outside results_read results difference operation_amount result_amount former_amount shifted value limit")
	fillDates   = listed("business_date since day date")
	fillTimes   = listed("as_of from until oldest_since")
)

func listed(names string) map[string]bool {
	out := map[string]bool{}
	for _, n := range strings.Fields(names) {
		out[n] = true
	}
	return out
}

// leaf visits every value of a summary. The path has the names of the JSON, without the
// places in lists.
func leaf(v reflect.Value, path string, visit func(v reflect.Value, path string)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			leaf(v.Elem(), path, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			leaf(v.Field(i), strings.TrimPrefix(path+"."+name, "."), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			leaf(v.Index(i), path, visit)
		}
	default:
		visit(v, path)
	}
}

// fill gives everything two of a kind.
func (f *filler) fill(v reflect.Value, path string, place int) {
	f.n++
	name := path[strings.LastIndexByte(path, '.')+1:]
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), path, place)
	case reflect.Struct:
		for i := range v.NumField() {
			tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			f.fill(v.Field(i), strings.TrimPrefix(path+"."+tag, "."), place)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			f.fill(v.Index(i), path, i)
		}
	case reflect.Bool:
		v.SetBool(name != "complete" && path != "outcome.closes")
	case reflect.Int64, reflect.Int:
		v.SetInt(100_003 + 7*f.n)
		switch {
		case strings.HasSuffix(name, "_seconds"):
			v.SetInt((1_000 + f.n) * daySecs)
		case strings.HasSuffix(name, "_us"):
			v.SetInt((1_000 + f.n) * 3_600_000_000)
		case name == "exit_code":
			v.SetInt(3)
		case path == "schema_version":
			v.SetInt(SchemaVersion)
		}
	case reflect.String:
		list := fillTexts[path]
		if list == nil {
			list = fillTexts[name]
		}
		switch {
		case list != nil:
			v.SetString(list[(place+int(f.n))%len(list)])
			if len(list) < 3 {
				v.SetString(list[place%len(list)])
			}
		case fillAmounts[name] && !strings.HasSuffix(path, "items.values.operations") && !strings.HasSuffix(path, "items.values.results"):
			v.SetString(fmt.Sprintf("%d.%02d", 1_200_000+f.n*13, f.n%90+10))
		case fillDates[name] && path != "business_date":
			v.SetString(day.AddDate(0, 0, -int(f.n%3000)-2).Format(time.DateOnly))
		case name == "business_date":
			v.SetString("2026-08-20")
		case fillTimes[name] && path != "canaries.from":
			v.SetString(day.Add(time.Duration(f.n) * 61 * time.Second).Format(time.RFC3339))
		case name == "share":
			v.SetString(fmt.Sprintf("0.%06d", 100_003+f.n*101))
		default:
			v.SetString(fmt.Sprintf("%stext-%d", f.prefix, 10_000+f.n))
		}
	default:
		panic("a summary holds " + v.Kind().String())
	}
}

// fullSummary is a summary with everything in it.
func fullSummary(t testing.TB, prefix string) *Summary {
	t.Helper()
	s := new(Summary)
	f := &filler{prefix: prefix}
	f.fill(reflect.ValueOf(s).Elem(), "", 0)
	return s
}
