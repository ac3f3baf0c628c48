package extract

import (
	"encoding/json"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// FuzzJSONWay: whatever stands in a column, going into it ends, and what is no JSON
// gives nothing.
func FuzzJSONWay(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"{\"c\":2}"}]}`, `[]`, `{`, `{"a":1,"a":2}`, `"\ud800"`, `{"a":"[1,2"}`, "\x00", ` {"a" : [ ] } `, `O:8:"stdClass":0:{}`} {
		f.Add(s, "a", 1, "b")
	}
	f.Fuzz(func(t *testing.T, text, member string, index int, last string) {
		for _, steps := range [][]rules.JSONStep{{{Member: member}}, {{Member: member}, {Index: index}}, {{Member: member}, {Index: index}, {Member: last}}, {{Index: -1}, {Member: last}}} {
			if index == 0 {
				return // a step of neither kind; the job file has none
			}
			way := newJSONWay(steps)
			cell, ok := way.find([]byte(text))
			if again, okAgain := way.find([]byte(text)); ok != okAgain || string(again.Text) != string(cell.Text) || again.Kind != cell.Kind {
				t.Fatalf("%q by %v: %q, then %q", text, steps, cell.Text, again.Text)
			}
			if ok && text != "" && !json.Valid([]byte(text)) {
				t.Fatalf("%q is no JSON and gives %q", text, cell.Text)
			}
		}
	})
}
