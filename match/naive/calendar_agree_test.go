package naive_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/match/naive"
	"github.com/recon-batch/recon-batch/rules"
)

// calendarSeeds is how many worlds are judged by calendars.
const calendarSeeds = 80

// TestEngineAgreesWithOracleByCalendars gives the windows of generated worlds to
// business calendars: cut-offs in the hour that exists twice, zones in which the day
// is another one, weekends and holidays around the reference time, durations beside
// business days. RECON_SEED=n looks at one world.
func TestEngineAgreesWithOracleByCalendars(t *testing.T) {
	first, count := seeds(t)
	if count > 1 {
		count = min(count, calendarSeeds)
	}
	s := newScratch(t)
	seen := map[string]int{}
	for seed := first; seed < first+count; seed++ {
		l := s.load(t, seed)
		calendars(l.job.Job, seed)
		want, err := naive.Run(l.input)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, rows := range []map[int64]naive.Verdict{want.Operations, want.Results} {
			for _, v := range rows {
				seen[v.Reason]++
			}
		}
		got, err := s.engine(t, l, []match.Way{match.Fingerprints, match.Residual}[seed%2])
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := difference(l, want, got); diff != "" {
			t.Errorf("seed %d (RECON_SEED=%d shows this world alone):\n%s\n%v\n%s", seed, seed, diff, calendarText(l.job.Job), l.text())
		}
	}
	if count < calendarSeeds {
		return
	}
	for _, reason := range []string{"within_window", "no_result", "coverage_incomplete", "no_operation", "time_ambiguous"} {
		if seen[reason] < 10 {
			t.Errorf("%s was reached %d times", reason, seen[reason])
		}
	}
}

// calendars puts the windows of the job under calendars. The business date of the
// worlds is a Sunday, the night in which the clocks of Paris go back.
func calendars(job *rules.Job, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0x63616c))
	pick := func(n int) int { return r.IntN(n) }
	job.Calendars = map[string]rules.Calendar{}
	for i := range 2 {
		c := rules.Calendar{
			Name:   fmt.Sprint("c", i),
			Zone:   []string{"", "Europe/Paris", "Asia/Riyadh", "America/Havana", "Pacific/Auckland"}[pick(5)],
			CutOff: []time.Duration{0, 0, 30 * time.Minute, 150 * time.Minute, 8*time.Hour + 15*time.Minute, 17 * time.Hour}[pick(6)],
			Weekend: [][]time.Weekday{nil, {}, {time.Friday, time.Saturday}, {time.Tuesday, time.Wednesday},
				{time.Friday}, {time.Sunday}}[pick(6)],
		}
		for _, d := range []string{"2031-10-22", "2031-10-24", "2031-10-25", "2031-10-26", "2031-10-27"} {
			if pick(5) == 0 {
				c.Holidays = append(c.Holidays, d)
			}
		}
		job.Calendars[c.Name] = c
	}
	types := maps.Clone(job.Types)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		p := types[name]
		if !p.HasWindow {
			continue
		}
		p.Calendar = fmt.Sprint("c", len(name)%2)
		switch seed % 3 {
		case 0:
			p.DeadlineDays = 1 + pick(2)
		case 1:
			p.ExpectedDays = 1
		default:
			p.DeadlineDays, p.ExpectedDays = 1, 1+pick(2)
		}
		types[name] = p
	}
	job.Types = types
}

func calendarText(job *rules.Job) string {
	s := ""
	for _, c := range job.Calendars {
		s += fmt.Sprintf("%+v\n", c)
	}
	for _, p := range job.Types {
		s += fmt.Sprintf("%s: deadline %d days or %s, expected %d days or %s by %s\n", p.Type, p.DeadlineDays, p.Deadline, p.ExpectedDays, p.Expected, p.Calendar)
	}
	return s
}
