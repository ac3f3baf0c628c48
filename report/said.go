package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

var (
	sqlProposals = parseSQL("proposals")
	sqlBudgetUse = parseSQL("budget_use")
	sqlOutages   = parseSQL("outages")
)

// BudgetUse is what the retry budget of an account did to the requeues that count
// against it.
type BudgetUse struct {
	Account  string `json:"account"` // "" the plain budget, of all accounts without one of their own
	Rows     int64  `json:"rows"`    // so many
	PerSecs  int64  `json:"per_seconds"`
	Items    int64  `json:"items"`
	Moved    int64  `json:"moved"`    // go later than they could
	Deferred int64  `json:"deferred"` // would expire before their turn: review
	Until    string `json:"until"`    // the last turn; "" none
}

// policyParts fills what policy and guard leave beside the queues.
func policyParts(ctx context.Context, db *duck.DB, in *Input, s *Summary) (err error) {
	s.Proposals, s.Budget = []Proposal{}, []BudgetUse{}
	if s.Canaries, s.Aside, err = canaries(ctx, db, in); err != nil {
		return err
	}
	if s.Described, err = described(ctx, db, in.Bound.Job); err != nil {
		return err
	}
	err = each(ctx, db, sqlProposals.Render(nil), func(rows *sql.Rows) error {
		var p Proposal
		err := rows.Scan(&p.Type, &p.Queue, &p.Items, &p.ObserveOnly)
		s.Proposals = append(s.Proposals, p)
		return err
	})
	if err != nil {
		return err
	}
	s.Proposals = foldTypes(hideTypes(s.Proposals, in.Bound.Job), in.Bound.Job)
	slices.SortFunc(s.Proposals, func(a, b Proposal) int { return compareSeen(Seen{a.Type, a.Queue}, Seen{b.Type, b.Queue}) })
	l := in.Bound.Limits
	if l.RetryRows == 0 && len(l.RetryBy) == 0 {
		return nil
	}
	observed := fmt.Sprint(in.Bound.Mode == rules.Observe)
	return each(ctx, db, sqlBudgetUse.Render(duck.Slots{"observed": observed}), func(rows *sql.Rows) error {
		var u BudgetUse
		var until sql.NullInt64
		if err := rows.Scan(&u.Account, &u.Items, &u.Moved, &u.Deferred, &until); err != nil {
			return err
		}
		per := l.RetryPer
		u.Rows = l.RetryRows
		if b, ok := l.RetryBy[u.Account]; ok {
			u.Rows, per = b.Rows, b.Per
		}
		u.PerSecs = int64(per / time.Second)
		if until.Valid {
			u.Until = instant(until.Int64)
		}
		if u.Rows > 0 {
			s.Budget = append(s.Budget, u)
		}
		return nil
	})
}

// maxTypes bounds how many types of operation a report tells apart: their names are
// data.
const maxTypes = 500

// foldTypes puts the types that no policy names under "*", whose policy they have, where
// there are too many of them.
func foldTypes(list []Proposal, job *rules.Job) []Proposal {
	if len(list) <= maxTypes {
		return list
	}
	out := []Proposal{}
	at := map[Seen]int{}
	for _, p := range list {
		if _, ok := job.Types[p.Type]; !ok && p.Type != "" {
			p.Type = "*"
		}
		k := Seen{p.Type, p.Queue}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, Proposal{Type: p.Type, Queue: p.Queue})
		}
		out[i].Items += p.Items
		out[i].ObserveOnly += p.ObserveOnly
	}
	return out
}

// hasGaps tells whether a source of either side proves nothing for some time.
func hasGaps(in *Input) bool {
	for _, side := range rules.Sides {
		for _, iv := range in.relation(side).Coverage {
			if len(iv.Withdrawn) > 0 {
				return true
			}
		}
	}
	return false
}

func outages(ctx context.Context, db *duck.DB, at map[string]*Queue) error {
	return each(ctx, db, sqlOutages.Render(nil), func(rows *sql.Rows) error {
		var q string
		var n int64
		if err := rows.Scan(&q, &n); err != nil {
			return err
		}
		if x := at[q]; x != nil {
			x.Outage = n
		}
		return nil
	})
}

// said are the findings about policy, limits and the past: what people should know
// although nothing failed.
func said(s *Summary, job *rules.Bound) []Finding {
	var out []Finding
	add := func(code, format string, args ...any) {
		out = append(out, Finding{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	for _, q := range s.Queues {
		if q.Outage > 0 {
			wait := "wait for a source that proves nothing for their time: no due date, and their age is in no gate"
			if q.Outage == 1 {
				wait = "waits for a source that proves nothing for its time: no due date, and its age is in no gate"
			}
			add("outage", "%s of the %s queue %s", count(q.Outage, "item"), q.Queue, wait)
		}
	}
	for _, u := range s.Budget {
		of := ""
		if u.Account != "" {
			of = " of " + u.Account
		}
		rate := fmt.Sprintf("the retry budget%s (%d per %s)", of, u.Rows, ageText(u.PerSecs))
		if u.Moved > 0 {
			add("retry_budget", "%s spreads %s over time, until %s; %s could", rate, count(u.Items-u.Deferred, "requeue"), u.Until, later(u.Moved))
		}
		if u.Deferred > 0 {
			add("retry_budget", "%s would come too late for %s: deferred to the next run, for a person to look at", rate, count(u.Deferred, "requeue"))
		}
	}
	for _, l := range s.Limits {
		switch {
		case l.Lifted:
			add("limit_lifted", "the limit %s was lifted for this run: %s, the limit is %s; %s", l.Name, l.Value, l.Limit, reasonOf(s))
		case strings.HasPrefix(l.Note, "not judged"):
			add("baseline_short", "the limit %s is %s", l.Name, l.Note)
		}
	}
	if slices.Contains(s.Overrides, OverrideUnobserved) {
		if list := Unobserved(s, job.Job); len(list) > 0 {
			var what []string
			for _, u := range list {
				what = append(what, u.Queue+" for "+typeText(u.Type))
			}
			add("unobserved", "acted on without having been observed: %s; %s", strings.Join(what, ", "), reasonOf(s))
		}
	}
	for _, r := range job.Releases {
		if !job.AsOfTime.Before(r.Until) {
			add("release_expired", "the release %s ended at %s and lifts nothing", r.ID, instant(r.Until.UnixMicro()))
		}
	}
	if n := len(s.Canaries); n > 0 && !slices.ContainsFunc(s.Canaries, func(c Canary) bool { return !c.OK }) {
		add("canary", "%s came out as expected; no gate and no queue counts them", count(int64(n), "canary operation"))
	}
	return out
}

func later(n int64) string {
	if n == 1 {
		return "1 of them later than it"
	}
	return grouped(fmt.Sprint(n)) + " of them later than they"
}

// reasonOf is the reason that the command line gave.
func reasonOf(s *Summary) string {
	for _, o := range s.Overrides {
		if text, ok := strings.CutPrefix(o, OverrideReason); ok {
			return "the reason given: " + text
		}
	}
	return "no reason was given"
}
