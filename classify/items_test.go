package classify

import (
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// V30 stale_export: every account of the operations has a fresh export, or none
// counts as fresh.
func TestFreshExport(t *testing.T) {
	asOf := time.Date(2031, 1, 2, 4, 0, 0, 0, time.UTC)
	until := func(account string, age time.Duration) extract.Interval {
		return extract.Interval{Account: account, From: 0, Until: asOf.Add(-age).UnixMicro()}
	}
	everything := extract.Interval{Account: "a", Complete: true}
	for _, c := range []struct {
		name     string
		age      time.Duration
		coverage []extract.Interval
		want     string
	}{
		{"not declared", 0, nil, "true"},
		{"nothing is covered", time.Hour, nil, "false"},
		{"fresh", time.Hour, []extract.Interval{until("a", time.Hour)}, "true"},
		{"stale", time.Hour, []extract.Interval{until("a", time.Hour+time.Microsecond)}, "false"},
		{"the newest of an account", time.Hour, []extract.Interval{until("a", 9*time.Hour), until("a", 0)}, "true"},
		{"everything", time.Hour, []extract.Interval{everything}, "true"},
		{"a stale one beside a fresh one", time.Hour, []extract.Interval{until("a", 0), until("b", 2*time.Hour)}, "false"},
		{"a stale one beside everything", time.Hour, []extract.Interval{everything, until("b", 2*time.Hour)}, "false"},
		{"one that covers nothing", time.Hour, []extract.Interval{everything, {Account: "b"}}, "false"},
	} {
		job := &rules.Job{Types: map[string]rules.TypePolicy{"*": {ExportAge: c.age}}}
		k := &classifier{
			job: &rules.Bound{Job: job, AsOfTime: asOf},
			ops: &extract.Relation{Coverage: c.coverage},
			o:   match.Columns(job, extract.NewLayout(job, rules.Operations), "o"),
		}
		if got := k.freshExport(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
