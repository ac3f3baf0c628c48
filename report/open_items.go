package report

import (
	"cmp"
	"context"
	"maps"
	"math/big"
	"slices"
)

// An open item is an item of any queue but confirm: work that somebody or something has
// to do. It is the same item in two runs if its case is (case_id); several items of one
// case are counted by their number.

// OpenItems carries the open items of one currency forward from the former run:
//
//	opening + new − cleared + changed = closing
//
// in items and in money. Opening is the closing of the former run, closing is what the
// queues of this one hold; both are asserted.
type OpenItems struct {
	Currency string    `json:"currency"`
	Opening  OpenSum   `json:"opening"` // of the former run; nothing where there is none
	New      OpenSum   `json:"new"`
	Cleared  OpenSum   `json:"cleared"` // in no queue any more
	Changed  OpenSum   `json:"changed"` // items of both runs whose amount is another: the difference; or whose currency is: items too
	Closing  OpenSum   `json:"closing"`
	Carried  []Carried `json:"carried"` // of the closing: by the business date on which the case was first open, oldest first
}

// OpenSum is a number of items with their money. Changed may be negative.
type OpenSum struct {
	Items  int64  `json:"items"`
	Amount string `json:"amount"` // of those with a readable amount; "" where amounts or currencies are hidden
}

// Carried are the open items whose case was first open on one business date. The last
// one has that of the run itself.
type Carried struct {
	Since  string `json:"since"` // YYYY-MM-DD
	Before bool   `json:"before"`
	Items  int64  `json:"items"`
	Amount string `json:"amount"`
}

// The carried items name so many dates at most; those before them are one.
const carriedDates = 31

// openItems carries the items forward and asserts that opening + new − cleared + changed
// is closing, that the opening is what the former run closed with, and that the closing
// is what the queues hold.
func (o *opened) openItems(ctx context.Context, in *Input, s *Summary) ([]OpenItems, error) {
	parts, err := o.groups(ctx, sqlOpenParts, nil)
	if err != nil {
		return nil, err
	}
	type sum struct {
		items int64
		money big.Rat
	}
	byCode := map[string]map[string]*sum{}
	at := func(code, part string) *sum {
		if byCode[code] == nil {
			byCode[code] = map[string]*sum{}
		}
		if byCode[code][part] == nil {
			byCode[code][part] = new(sum)
		}
		return byCode[code][part]
	}
	for _, g := range parts {
		part, sign := g.a, int64(1)
		switch part {
		case "gone":
			part = "cleared"
		case "in":
			part = "moved"
		case "out":
			part, sign = "moved", -1
		}
		x := at(g.b, part)
		x.items += sign * g.items
		x.money.Add(&x.money, new(big.Rat).Mul(g.sum, new(big.Rat).SetInt64(sign)))
	}
	carried, err := o.carried(ctx)
	if err != nil {
		return nil, err
	}
	out := []OpenItems{}
	for _, code := range slices.Sorted(maps.Keys(byCode)) {
		text := func(part string) OpenSum { return OpenSum{at(code, part).items, o.money(&at(code, part).money, code)} }
		x := OpenItems{Currency: code, Opening: text("opening"), New: text("new"), Cleared: text("cleared"), Changed: text("moved"), Closing: text("closing"), Carried: []Carried{}}
		x.Carried = append(x.Carried, carried[code]...)
		out = append(out, x)
	}
	return out, tieOpen(out, in.Past.Former, s.Queues, o.hidden)
}

// carried are the items that are open now by the date on which their case was first open.
func (o *opened) carried(ctx context.Context) (map[string][]Carried, error) {
	groups, err := o.groups(ctx, sqlOpenCarried, nil)
	if err != nil {
		return nil, err
	}
	byCode := map[string][]openGroup{}
	for _, g := range groups {
		byCode[g.b] = append(byCode[g.b], g)
	}
	out := map[string][]Carried{}
	for code, list := range byCode {
		slices.SortFunc(list, func(a, b openGroup) int { return cmp.Or(cmp.Compare(a.c, b.c), cmp.Compare(b.a, a.a)) })
		for len(list) > carriedDates { // the oldest become part of the next
			list[1].items += list[0].items
			list[1].sum.Add(list[1].sum, list[0].sum)
			list[1].a = "before"
			list = list[1:]
		}
		for _, g := range list {
			out[code] = append(out[code], Carried{Since: g.c, Before: g.a == "before", Items: g.items, Amount: o.money(g.sum, code)})
		}
	}
	return out, nil
}

// tieOpen asserts the roll-forward on the texts that will be published.
func tieOpen(list []OpenItems, former *FormerOpen, queues []Queue, hidden bool) error {
	var read exactTexts
	num := read.number
	closing, opening := map[string]OpenSum{}, map[string]OpenSum{}
	items := int64(0)
	for _, x := range list {
		run := num(x.Opening.Amount)
		run.Add(run, num(x.New.Amount)).Sub(run, num(x.Cleared.Amount)).Add(run, num(x.Changed.Amount))
		n := x.Opening.Items + x.New.Items - x.Cleared.Items + x.Changed.Items
		if n != x.Closing.Items || run.Cmp(num(x.Closing.Amount)) != 0 {
			return breach("open items, currency %q: opening, new, cleared and changed lead to %d (%s), but %d (%s) are open", x.Currency,
				n, amountText(run, x.Currency), x.Closing.Items, x.Closing.Amount)
		}
		carried, money := int64(0), new(big.Rat)
		for _, c := range x.Carried {
			carried += c.Items
			money.Add(money, num(c.Amount))
		}
		if carried != x.Closing.Items || money.Cmp(num(x.Closing.Amount)) != 0 {
			return breach("open items, currency %q: by date there are %d (%s), but %d (%s) are open", x.Currency, carried, amountText(money, x.Currency), x.Closing.Items, x.Closing.Amount)
		}
		items += x.Closing.Items
		if !hidden {
			closing[x.Currency], opening[x.Currency] = x.Closing, x.Opening
		}
	}
	if former != nil && former.Closing != nil && !hidden {
		for _, x := range former.Closing {
			was := opening[x.Currency]
			delete(opening, x.Currency)
			if x.Closing.Amount != "" && (was.Items != x.Closing.Items || num(was.Amount).Cmp(num(x.Closing.Amount)) != 0) {
				return breach("open items, currency %q: the run %s closed with %d (%s), this one opens with %d (%s)", x.Currency, former.RunID, x.Closing.Items, x.Closing.Amount, was.Items, was.Amount)
			}
		}
		for code, x := range opening {
			if x.Items != 0 && !slices.ContainsFunc(former.Closing, func(o OpenItems) bool { return o.Closing.Amount == "" }) {
				return breach("open items, currency %q: the run %s closed with none, this one opens with %d", code, former.RunID, x.Items)
			}
		}
	}
	held, money := int64(0), map[string]*big.Rat{}
	for _, q := range queues {
		if q.Queue == "confirm" {
			continue
		}
		held += q.Items
		for _, m := range q.Amounts {
			if money[m.Currency] == nil {
				money[m.Currency] = new(big.Rat)
			}
			money[m.Currency].Add(money[m.Currency], num(m.Amount))
		}
	}
	if held != items {
		return breach("the queues hold %d items, %d are open", held, items)
	}
	if !hidden {
		for code, m := range money {
			if m.Cmp(num(closing[code].Amount)) != 0 {
				return breach("the queues hold %s in currency %q, %s are open", amountText(m, code), code, closing[code].Amount)
			}
		}
	}
	return read.err
}
