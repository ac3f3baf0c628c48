package report

import (
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// A gate on findings counts those with its code.
func TestGateOfFindings(t *testing.T) {
	s := measured()
	gate := rules.Gate{Name: "unknown", Func: "findings", Arg: "unknown_kind", Op: ">", FailWhen: "findings(unknown_kind) > 0"}
	for n, findings := range [][]Finding{{{Code: "new_column"}}, {{Code: "unknown_kind"}, {Code: "new_column"}}} {
		s.Findings = findings
		got, err := evaluateGates(s, []rules.Gate{gate})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Failed != (n > 0) || got[0].Value != []string{"0", "1"}[n] {
			t.Errorf("%v: %+v", findings, got[0])
		}
	}
}
