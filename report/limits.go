package report

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// Overrides of the command line, as manifest and report record them.
const (
	OverrideLimit      = "allow-blast-radius=" // and the name of a limit
	OverrideUnobserved = "allow-unobserved"
	OverrideReason     = "reason=" // and why, in words
)

// LimitNames lists the limits that a job declares, as --allow-blast-radius names them:
// requeue.rows, requeue.share, requeue.amount.EUR, requeue.baseline, and
// requeue.baseline.EUR for every currency, written with the letters CUR here.
func LimitNames(limits map[string]rules.BlastLimit) []string {
	var out []string
	for _, name := range queueOrder {
		l, ok := limits[name]
		if !ok {
			continue
		}
		if l.Rows > 0 {
			out = append(out, name+".rows")
		}
		if l.Share > 0 {
			out = append(out, name+".share")
		}
		for _, c := range sortedKeys(l.Amount) {
			out = append(out, name+".amount."+c)
		}
		if l.BaselineRuns > 0 && l.BaselineFactor > 0 {
			out = append(out, name+".baseline", name+".baseline.CUR")
		}
	}
	return out
}

// KnownLimit tells whether the name is one of a limit that the job declares.
func KnownLimit(limits map[string]rules.BlastLimit, name string) bool {
	names := LimitNames(limits)
	if queue, code, ok := strings.Cut(name, ".baseline."); ok && len(code) == 3 && strings.ToUpper(code) == code {
		return slices.Contains(names, queue+".baseline")
	}
	return slices.Contains(names, name) && !strings.HasSuffix(name, ".CUR")
}

func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// evaluateLimits compares the proposals with the blast radius. What nobody is to act on
// does not count, save where the whole run observes, which would say nothing otherwise;
// items that the budget defers do. A run is compared with former ones by all its items,
// whoever may act on them.
func evaluateLimits(s *Summary, limits map[string]rules.BlastLimit) ([]Limit, error) {
	out := []Limit{}
	add := func(l Limit) {
		l.Name = l.Queue + "." + l.Kind
		if l.Currency != "" {
			l.Name += "." + l.Currency
		}
		l.Lifted = l.Exceeded && slices.Contains(s.Overrides, OverrideLimit+l.Name)
		out = append(out, l)
	}
	for _, name := range queueOrder {
		l, ok := limits[name]
		if !ok {
			continue
		}
		q := s.queue(name)
		if q == nil {
			q = &Queue{}
		}
		items, observed := q.Items-q.ObserveOnly, q.Observed
		if s.Mode == string(rules.Observe) {
			items, observed = q.Items, nil
		}
		if l.Rows > 0 {
			add(Limit{Queue: name, Kind: "rows", Value: strconv.FormatInt(items, 10), Limit: strconv.FormatInt(l.Rows, 10), Exceeded: items > l.Rows})
		}
		if l.Share > 0 {
			of := s.Sides[0].InPeriod
			exceeded := items > 0
			if of > 0 {
				exceeded = big.NewRat(items, of).Cmp(exactNumber(l.Share)) > 0
			}
			limit := new(big.Rat).Mul(exactNumber(l.Share), big.NewRat(100, 1))
			add(Limit{Queue: name, Kind: "share", Value: percent(items, of), Limit: amountText(limit, "") + " %", Exceeded: exceeded})
		}
		for _, c := range sortedKeys(l.Amount) {
			limit, err := parseExact(l.Amount[c])
			if err != nil {
				return nil, err
			}
			sum, err := amountIn(q.Amounts, c)
			if err != nil {
				return nil, err
			}
			aside, err := amountIn(observed, c)
			if err != nil {
				return nil, err
			}
			sum.Sub(sum, aside)
			add(Limit{Queue: name, Kind: "amount", Currency: c, Value: amountText(sum, c), Limit: amountText(limit, c), Exceeded: sum.Cmp(limit) > 0})
		}
		if l.BaselineRuns > 0 && l.BaselineFactor > 0 {
			list, err := s.againstBaseline(q, name, l)
			if err != nil {
				return nil, err
			}
			for _, x := range list {
				add(x)
			}
		}
	}
	return out, nil
}

func amountIn(list []Money, currency string) (*big.Rat, error) {
	for _, m := range list {
		if m.Currency == currency {
			return parseExact(m.Amount)
		}
	}
	return new(big.Rat), nil
}

// leastBaseline is how many former runs are needed: half of those that are asked for.
func leastBaseline(runs int) int { return (runs + 1) / 2 }

// againstBaseline compares a queue with the median of former runs: its items, of which
// at least one is usual, and its money in every currency that they had. Too few runs
// judge nothing, and the limit says so.
func (s *Summary) againstBaseline(q *Queue, name string, l rules.BlastLimit) ([]Limit, error) {
	runs := s.Baseline[:min(len(s.Baseline), l.BaselineRuns)]
	if least := leastBaseline(l.BaselineRuns); len(runs) < least {
		return []Limit{{Queue: name, Kind: "baseline", Value: strconv.FormatInt(q.Items, 10), Limit: "none",
			Note: fmt.Sprintf("not judged: %s, and at least %d are needed", count(int64(len(runs)), "former run"), least)}}, nil
	}
	var items []*big.Rat
	money := map[string][]*big.Rat{}
	codes := map[string]string{}
	for i, r := range runs {
		n := new(big.Rat)
		for _, p := range r.Queues {
			if p.Queue != name {
				continue
			}
			n.SetInt64(p.Items)
			for _, m := range p.Amounts {
				a, err := parseExact(m.Amount)
				if err != nil {
					return nil, err
				}
				for len(money[m.Currency]) < i { // the runs before had none
					money[m.Currency] = append(money[m.Currency], new(big.Rat))
				}
				money[m.Currency] = append(money[m.Currency], a)
				codes[m.Currency] = m.Currency
			}
		}
		items = append(items, n)
	}
	factor := exactNumber(l.BaselineFactor)
	limit := func(kind string, value, usual *big.Rat, currency string) Limit {
		most := new(big.Rat).Mul(factor, usual)
		return Limit{Queue: name, Kind: kind, Currency: currency, Value: amountText(value, currency), Limit: amountText(most, currency), Exceeded: value.Cmp(most) > 0,
			Note: fmt.Sprintf("%s × %s, the median of %s", amountText(factor, ""), amountText(usual, currency), count(int64(len(runs)), "former run"))}
	}
	usual := median(items)
	if one := big.NewRat(1, 1); usual.Cmp(one) < 0 {
		usual = one
	}
	out := []Limit{limit("baseline", new(big.Rat).SetInt64(q.Items), usual, "")}
	for _, c := range sortedKeys(codes) {
		for len(money[c]) < len(runs) {
			money[c] = append(money[c], new(big.Rat))
		}
		usual := median(money[c])
		if c == "" || usual.Sign() <= 0 { // most runs had no money in it: no multiple of that means anything
			continue
		}
		sum, err := amountIn(q.Amounts, c)
		if err != nil {
			return nil, err
		}
		out = append(out, limit("baseline", sum, usual, c))
	}
	return out, nil
}

// median is the middle value, or the mean of the two in the middle.
func median(list []*big.Rat) *big.Rat {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b *big.Rat) int { return a.Cmp(b) })
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	sum := new(big.Rat).Add(sorted[n/2-1], sorted[n/2])
	return sum.Mul(sum, big.NewRat(1, 2))
}
