package pipeline

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// Explain names the rule that fits, and of those before it their condition and what
// stands in the fields that it names.
func TestExplainNamesTheRule(t *testing.T) {
	n := newNights(t)
	const more = `policy:
  - {rule: big, when: "amount > 1000 AND class = 'absent'", propose: review}
  - {rule: theirs, when: "r_remote_id = 'xc0'", propose: review, because: "looked at by hand"}
  - {rule: sent, when: "proposal = 'requeue'", propose: review, owner: finance, because: "nothing is sent today"}
  - {rule: later, propose: review}`
	n.files("2026-11-01", absent(1)...)
	res := n.run("2026-11-01", more, Allowed{})
	job, err := rules.Load(filepath.Join(n.dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	why := func(id string) Proposal {
		t.Helper()
		_, list, err := Explain(t.Context(), Options{Job: job, Out: filepath.Join(n.dir, "out"), BusinessDate: "2026-11-01", Threads: 1}, res.Manifest.RunID, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.Row.Side == rules.Operations && len(e.Proposals) == 1 {
				return e.Proposals[0]
			}
		}
		t.Fatalf("%s has no proposal: %+v", id, list)
		return Proposal{}
	}
	p := why("c1")
	want := []string{
		"the rule big does not fit: amount > 1000 AND class = 'absent'; here amount is 10.00",
		"the rule theirs does not fit: r_remote_id = 'xc0'; here r_remote_id is empty",
		"the rule sent fits: proposal = 'requeue'",
	}
	if strings.Join(p.Why, "\n") != strings.Join(want, "\n") || p.Rule != "sent" || p.Because != "nothing is sent today" {
		t.Errorf("rule %q, because %q:\n%s", p.Rule, p.Because, strings.Join(p.Why, "\n"))
	}
	// The guard was not asked, so none of its checks is called passed.
	if len(p.Checks) != 0 || p.Means != "the effect is proven absent, and a rule of the job leaves it to a person" {
		t.Errorf("%s; checks %v", p.Means, p.Checks)
	}
	if p := why("c0"); len(p.Checks) != 0 || p.Means != "the effect exists, and a rule of the job leaves it to a person: do not send it again" {
		t.Errorf("a plain pair: %s; checks %v", p.Means, p.Checks)
	}
	if p := why("c0"); len(p.Why) != 2 || !strings.HasPrefix(p.Why[1], "the rule theirs fits") || p.Rule != "theirs" {
		t.Errorf("a plain pair: %q by %s", p.Why, p.Rule)
	}
}
