package main

import (
	"strings"
	"testing"
)

func TestSum(t *testing.T) {
	const pass = `{"Action":"pass","Package":"p","Test":"A"}` + "\n" + `{"Action":"pass","Package":"p","Elapsed":1}` + "\n"
	for _, c := range []struct {
		name, in string
		ok       bool
		want     []string
	}{
		{"all pass", pass, true, []string{"ok    p", "1 passed, 0 failed, 0 skipped"}},
		{"a test fails and its output is shown", pass +
			`{"Action":"output","Package":"p","Test":"B","Output":"b.go:1: wrong\n"}` + "\n" +
			`{"Action":"fail","Package":"p","Test":"B"}` + "\n", false, []string{"b.go:1: wrong", "1 passed, 1 failed"}},
		{"a build fails", pass +
			`{"Action":"build-output","ImportPath":"q","Output":"q.go:1: undefined\n"}` + "\n" +
			`{"Action":"build-fail","ImportPath":"q"}` + "\n", false, []string{"undefined"}},
		{"a package panics outside of a test", pass + `{"Action":"fail","Package":"q"}` + "\n", false, []string{"FAIL  q"}},
		{"a skipped test is counted and shown", pass +
			`{"Action":"output","Package":"p","Test":"C","Output":"c.go:1: needs a terminal\n"}` + "\n" +
			`{"Action":"skip","Package":"p","Test":"C"}` + "\n", true, []string{"needs a terminal", "1 skipped"}},
		{"notes are shown although their test passes", `{"Action":"output","Package":"p","Test":"A","Output":"note: 7 cases are pending\n"}` + "\n" + pass,
			true, []string{"note: 7 cases are pending"}},
		{"nothing ran", "", false, []string{"0 passed"}},
	} {
		var out strings.Builder
		if ok := sum(strings.NewReader(c.in), &out); ok != c.ok {
			t.Errorf("%s: ok %v, want %v", c.name, ok, c.ok)
		}
		for _, w := range c.want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s: %q is missing in\n%s", c.name, w, out.String())
			}
		}
	}
}
