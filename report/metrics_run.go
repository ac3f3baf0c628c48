package report

import (
	"math/big"
	"sort"
	"time"
)

// Families are the metrics of a run: every metric of MetricList that is none of the
// delivery, in its order, with at least one sample but where the job has nothing of the
// kind (no gates, no accounts).
func Families(s *Summary) []Family {
	l := &familyList{}
	date := "NaN"
	if day, err := time.Parse(time.DateOnly, s.BusinessDate); err == nil {
		date = gauge(day.Unix()).Value
	}
	l.add("business_date_seconds", gauge(date))
	l.add("exit_code", gauge(s.Outcome.ExitCode))
	l.add("day_closes", gauge(flag01(s.Outcome.Closes)))
	l.add("difference_rows", gauge(s.Outcome.Differences))
	l.add("acting_queues_withheld", gauge(flag01(s.Outcome.Withheld)))
	var list []Sample
	for _, g := range s.Gates {
		list = append(list, gauge(flag01(g.Failed), "gate", g.Name))
	}
	l.add("gate_failed", list...)
	list = nil
	for _, x := range s.Limits {
		list = append(list, gauge(flag01(x.Exceeded), "limit", x.Name))
	}
	l.add("limit_exceeded", list...)
	failed := 0
	for _, c := range s.Canaries {
		failed += flag01(!c.OK)
	}
	l.add("canaries", gauge(len(s.Canaries)))
	l.add("canaries_failed", gauge(failed))
	l.sources(s)
	l.coverage(s)
	l.verdicts(s)
	l.queues(s)
	l.work(s.Work)
	list = nil
	for _, v := range s.Versions {
		list = append(list, gauge(1, "component", v.Name, "version", v.Version))
	}
	l.add("build_info", list...)
	l.reasons(s)
	l.list = append(l.list, Family{"series_dropped", []Sample{gauge(l.dropped)}})
	return l.list
}

func (l *familyList) sources(s *Summary) {
	var rows, rejected, missing []Sample
	for _, side := range s.Sides {
		n := 0
		for _, src := range side.Sources {
			rows = append(rows, gauge(src.Classified, "side", side.Side, "source", src.Name))
			for _, f := range src.Files {
				n += flag01(f.Status == "missing" || f.Status == "refused")
			}
		}
		rejected = append(rejected, gauge(side.Rejected, "side", side.Side))
		missing = append(missing, gauge(n, "side", side.Side))
	}
	l.add("source_rows", rows...)
	l.add("rejected_rows", rejected...)
	l.add("missing_files", missing...)
}

// coverage adds up what the intervals of an account prove. Overlaps of one account are
// one interval already (extract).
func (l *familyList) coverage(s *Summary) {
	var covered, gapped, gaps []Sample
	for _, side := range s.Sides {
		secs, gapSecs, n, all := map[string]int64{}, map[string]int64{}, map[string]int{}, map[string]bool{}
		for _, c := range side.Coverage {
			secs[c.Account] += span(c.From, c.Until)
			all[c.Account] = all[c.Account] || c.Complete
			for _, g := range c.Gaps {
				gapSecs[c.Account] += span(g.From, g.Until)
				n[c.Account]++
			}
		}
		accounts := make([]string, 0, len(secs))
		for a := range secs {
			accounts = append(accounts, a)
		}
		sort.Strings(accounts)
		for _, a := range accounts {
			v := gauge(secs[a]-gapSecs[a], "side", side.Side, "account", a)
			if all[a] {
				v.Value = "+Inf"
			}
			covered = append(covered, v)
			gapped = append(gapped, gauge(gapSecs[a], "side", side.Side, "account", a))
			gaps = append(gaps, gauge(n[a], "side", side.Side, "account", a))
		}
	}
	l.add("coverage_seconds", covered...)
	l.add("coverage_gap_seconds", gapped...)
	l.add("coverage_gaps", gaps...)
}

// span is the time between two instants of the summary in whole seconds, 0 where one is open.
func span(from, until string) int64 {
	a, err := time.Parse(time.RFC3339Nano, from)
	b, err2 := time.Parse(time.RFC3339Nano, until)
	if err != nil || err2 != nil || !b.After(a) {
		return 0
	}
	return int64(b.Sub(a) / time.Second)
}

func (l *familyList) verdicts(s *Summary) {
	var rows, amounts, surplus []Sample
	for _, side := range s.Sides {
		sums := map[[2]string]*big.Rat{}
		var extra int64
		for _, class := range classOrder {
			var n int64
			for _, c := range side.Counts {
				if !c.InPeriod || c.Class != class {
					continue
				}
				n += c.Rows
				if class == "duplicate" || c.Reason == "duplicate_effect" {
					extra += c.Rows
				}
				if r, err := parseExact(c.Amount); err == nil {
					k := [2]string{class, c.Currency}
					if sums[k] == nil {
						sums[k] = new(big.Rat)
					}
					sums[k].Add(sums[k], r)
				}
			}
			rows = append(rows, gauge(n, "side", side.Side, "class", class))
		}
		surplus = append(surplus, gauge(extra, "side", side.Side))
		for _, class := range classOrder {
			var list []Money
			for k, v := range sums {
				if k[0] == class {
					list = append(list, Money{Currency: k[1], Amount: amountText(v, k[1])})
				}
			}
			sort.Slice(list, func(i, j int) bool { return list[i].Currency < list[j].Currency })
			amounts = append(amounts, l.byCurrency(list, "side", side.Side, "class", class)...)
		}
	}
	l.add("classified_rows", rows...)
	l.add("classified_amount", amounts...)
	of := s.Sides[0].InPeriod
	trend := TrendOf(s) // the same share as the page shows
	divergent, _ := s.classRows("divergent")
	l.add("match_ratio", gauge(ratio(trend.Matched, trend.Of)))
	l.add("divergence_ratio", gauge(ratio(divergent, of)))
	l.add("duplicate_rows", surplus...)
	l.add("once_not_proven_rows", gauge(s.OnceNotProven))
}

func (l *familyList) queues(s *Summary) {
	var items, amounts, ages, written, observed, deferred []Sample
	var review int64
	for _, q := range s.Queues {
		items = append(items, gauge(q.Items, "queue", q.Queue))
		amounts = append(amounts, l.byCurrency(q.Amounts, "queue", q.Queue)...)
		age := int64(0)
		if q.OldestSecs != nil {
			age = *q.OldestSecs
		}
		ages = append(ages, gauge(age, "queue", q.Queue))
		written = append(written, gauge(flag01(q.Written), "queue", q.Queue))
		observed = append(observed, gauge(q.ObserveOnly, "queue", q.Queue))
		deferred = append(deferred, gauge(q.Deferred, "queue", q.Queue))
		if q.Queue == "review" {
			review = q.Items
		}
	}
	l.add("open_cases", items...)
	l.add("open_case_amount", amounts...)
	l.add("oldest_open_case_age_seconds", ages...)
	var aged []Sample
	for _, a := range s.Ageing {
		aged = append(aged, gauge(a.Items, "queue", a.Queue, "bucket", a.Bucket))
	}
	l.add("open_cases_by_age", aged...)
	l.add("queue_written", written...)
	l.add("observe_only_cases", observed...)
	l.add("deferred_cases", deferred...)
	l.add("manual_review_items", gauge(review))
}

// ReasonRows counts the rows in the period of one side by class and reason, without what
// is plainly correct, the most rows first.
func ReasonRows(side *Side) []QueueReason {
	at := map[[2]string]int64{}
	for _, c := range side.Counts {
		if c.InPeriod && !(c.Class == "correct" && c.Reason == "equal") {
			at[[2]string{c.Class, c.Reason}] += c.Rows
		}
	}
	out := make([]QueueReason, 0, len(at))
	for k, n := range at {
		out = append(out, QueueReason{Class: k[0], Reason: k[1], Items: n})
	}
	return largest(out, func(r QueueReason) int64 { return r.Items }, func(r QueueReason) string { return r.Class + "/" + r.Reason })
}

func (l *familyList) reasons(s *Summary) {
	var list []Sample
	for i := range s.Sides {
		for _, r := range ReasonRows(&s.Sides[i]) {
			list = append(list, gauge(r.Items, "side", s.Sides[i].Side, "class", r.Class, "reason", r.Reason))
		}
	}
	l.add("reason_rows", list...)
}
