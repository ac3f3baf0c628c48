package extract

import (
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// A staged file is used again only while the zones have the rules that its instants
// were read by; the name of a zone does not tell them.
func TestZoneRulesDecideTheStagedFile(t *testing.T) {
	digest := func(zone *time.Location, from *rules.ZoneFrom) string {
		job, _ := benchWorld(t, 0)
		for i := range job.Operations.Fields {
			if f := &job.Operations.Fields[i]; f.Type == rules.Timestamp {
				f.Zone, f.ZoneFrom = zone, from
			}
		}
		src := job.Inputs[rules.Operations][0].Source
		return planDigest(newStagePlan(NewLayout(job.Job, rules.Operations), src), "x.csv")
	}
	load := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	paris := digest(load("Europe/Paris"), nil)
	if again := digest(load("Europe/Paris"), nil); again != paris {
		t.Error("the same zone gives another digest")
	}
	for _, other := range []*time.Location{time.FixedZone("Europe/Paris", 3600), time.FixedZone("Europe/Paris", 7200), time.UTC, nil} {
		if digest(other, nil) == paris {
			t.Errorf("%v gives the digest of Europe/Paris", other)
		}
	}
	column := func(zone string) string {
		return digest(nil, &rules.ZoneFrom{Column: "place", Zones: map[string]string{"a": zone}})
	}
	if column("Europe/Paris") == column("America/Santiago") {
		t.Error("zones of a column give one digest")
	}
}

// The rules of a zone are told apart wherever clocks are set differently: a law that
// changed one past year, or the years to come.
func TestZoneRules(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"Europe/Paris", "America/New_York", "America/Santiago", "Africa/Casablanca", "Australia/Lord_Howe", "Asia/Kolkata"} {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		r := zoneRules(z)
		if other, known := seen[r]; known {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[r] = name
	}
}
