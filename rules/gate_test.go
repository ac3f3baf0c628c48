package rules

import "testing"

func TestGates(t *testing.T) {
	for text, want := range map[string]Gate{
		"share(divergent) > 1%":       {Func: "share", Arg: "divergent", Op: ">", Value: 0.01},
		"count(absent) > 0":           {Func: "count", Arg: "absent", Op: ">"},
		"count(absent/no_result)>=5":  {Func: "count", Arg: "absent/no_result", Op: ">=", Value: 5},
		"count(not_applicable/x) > 1": {Func: "count", Arg: "not_applicable/x", Op: ">", Value: 1},
		"oldest(review) > 3d":         {Func: "oldest", Arg: "review", Op: ">", Value: 259200},
		" rejects > 0 ":               {Func: "rejects", Op: ">"},
		"differences > 0":             {Func: "differences", Op: ">"},
	} {
		got, _, err := parseGate(text)
		got.FailWhen = ""
		if err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "share(divergent)", "share > 1%", "share(divergent) > 0.01", "share(divergent) > 101%", "share(divergent) < 1%", "count(absent) > 1%", "count(absent) > -1",
		"count(absent/equal) > 0", "count(review/no_result) > 0", "oldest(review) > 3", "oldest(confirm) > 3d", "rejects(absent) > 0", "rejects > x", "min(absent) > 0", "share(x) > 1%",
	} {
		if g, _, err := parseGate(text); err == nil {
			t.Errorf("%q: %+v", text, g)
		}
	}
}
