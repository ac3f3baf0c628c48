package report

import (
	"testing"
)

// The next command names the row by what needs no quoting and is not redacted; a
// run without such a row names the list of runs. No command takes a run id, which
// no command of the program understands.
func TestNext(t *testing.T) {
	in := &Input{RunID: "0123456789abcdef", Explain: "recon-batch explain --business-date 2026-08-20 job.yaml", Runs: "recon-batch runs list job.yaml"}
	exception := func(id, file string) Exception {
		return Exception{Operation: &RowRef{File: file, Record: 7}, Values: []Value{{Field: "operation_id", Operations: &id}}}
	}
	remote := "ch-1"
	alone := Exception{Result: &RowRef{File: "psp.csv", Record: 3}, Values: []Value{{Field: "remote_id", Results: &remote}}}
	redacted := &redactor{fields: map[string]string{"operation_id": redactToken}}
	for _, c := range []struct {
		name string
		list []Exception
		red  *redactor
		want string
	}{
		{"by id", []Exception{exception("op-1", "a.csv")}, nil, in.Explain + " op-1"},
		{"a result alone", []Exception{alone}, nil, in.Explain + " ch-1"},
		{"redacted", []Exception{exception("op-1", "a.csv")}, redacted, in.Explain + " a.csv:7"},
		{"a redacted id beside a result", []Exception{alone}, redacted, in.Explain + " ch-1"},
		{"hostile", []Exception{exception("$(rm x)", "a.csv")}, nil, in.Explain + " a.csv:7"},
		{"a flag", []Exception{exception("--out", "a.csv")}, nil, in.Explain + " a.csv:7"},
		{"empty", []Exception{exception("", "a.csv")}, nil, in.Explain + " a.csv:7"},
		{"hostile file too", []Exception{exception("'", "a b.csv"), exception("op-2", "c.csv")}, nil, in.Explain + " op-2"},
		{"nothing to name", []Exception{exception("'", "a b.csv")}, nil, in.Runs},
		{"no exceptions", nil, nil, in.Runs},
	} {
		if c.red == nil {
			c.red = &redactor{}
		}
		got := next(&Summary{RunID: in.RunID, Exceptions: Exceptions{Items: c.list}}, in, c.red)
		if len(got) != 1 || got[0].Command != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}
