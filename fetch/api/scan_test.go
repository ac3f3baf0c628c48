package api

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzScan: what is read of a page is what encoding/json reads of it, and what that one
// does not read is refused.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"data":{"items":[{"id":1},2,[3]]},"meta":{"next":"c"}}`, `{"meta":{"next":null},"data":{"items":[]}}`, `[{"a":1}]`, `{"data":{"items":{}}}`,
		`{"data":{"items":[1]},"data":{"items":[2]}}`, `{"meta":{"next":{"a":[1]}},"data":{"items":[1,2]}} `, `{"data":{"items":[1`, `{"data":{"items":[1]}}x`, ``, `{"data.items":[1]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scan(strings.NewReader(text), "data.items", []string{"meta.next"}, true, true)
		if err != nil {
			return
		}
		var page, data, meta map[string]json.RawMessage
		var items []json.RawMessage
		if json.Unmarshal([]byte(text), &page) != nil || json.Unmarshal(page["data"], &data) != nil || json.Unmarshal(data["items"], &items) != nil {
			t.Fatalf("%q is read, and is no page", text)
		}
		if int64(len(items)) != s.records || len(s.hashes) != len(items) || len(items) > 0 && string(items[len(items)-1]) != string(s.last) {
			t.Fatalf("%q has %d records, %d were read, the last %q", text, len(items), s.records, s.last)
		}
		if page["meta"] == nil || json.Unmarshal(page["meta"], &meta) != nil {
			return
		}
		var next string
		if json.Unmarshal(meta["next"], &next) == nil && next != s.text(nil, "meta.next") && len(s.values) > 0 && strings.Count(text, "meta") == 1 {
			t.Fatalf("%q: next %q, read %q", text, next, s.text(nil, "meta.next"))
		}
	})
}

// TestScan: what a page must not be.
func TestScan(t *testing.T) {
	for text, why := range map[string]string{
		`{"data":{"items":[1]},"data":{"items":[2]}}`:                   "the array of the records occurs twice",
		`{"meta":{"next":"a"},"meta":{"next":"b"},"data":{"items":[]}}`: "the member meta.next occurs twice",
		`{"data":{"items":[1]}} {}`:                                     "text follows",
		`{"data":{"items":[1]}}x`:                                       "no JSON",
		`{"data":{"items":[1`:                                           "ends too early",
		``:                                                              "ends too early",
		`{"data":{"items":{}}}`:                                         "no array at data.items",
		`{"data.items":[1]}`:                                            "no array at data.items",
		`{"data":{"items":[1 2]}}`:                                      "no JSON",
		`{"data":{"items":[tru]}}`:                                      "no JSON",
	} {
		_, err := scan(strings.NewReader(text), "data.items", []string{"meta.next"}, false, false)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
