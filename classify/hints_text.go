package classify

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/match/near"
	"github.com/recon-batch/recon-batch/rules"
)

// mostAlike are the hints of one row that are shown, where they are equally good: of more
// of them none says anything.
const mostAlike = 3

const hintOpen = "Hints were not searched to the end: more rows agree with it than are tried."

// hinting puts into words what was found.
type hinting struct {
	*hintFields
	rows  [2][]hintRow
	found near.Found
}

// write hands over what is said of every row, then of every set.
func (h *hinting) write(each func(whose string, id int64, text string)) {
	pairs := [2]map[int][]near.Pair{{}, {}}
	for _, p := range h.found.Pairs {
		pairs[0][p.O], pairs[1][p.R] = append(pairs[0][p.O], p), append(pairs[1][p.R], p)
	}
	open, openSets := [2]map[int]bool{h.found.OpenO, h.found.OpenR}, map[int64]bool{}
	for side, name := range rules.Sides {
		for i, x := range h.rows[side] {
			if open[side][i] {
				openSets[x.set.Int64] = true // of a row in no set nobody asks it
			}
			if text := h.ofRow(side, pairs[side][i], open[side][i]); text != "" {
				each(string(name), x.rid, text)
			}
		}
	}
	sets := map[int64][]near.Pair{}
	for _, p := range h.found.Pairs {
		if max(len(pairs[0][p.O]), len(pairs[1][p.R])) > mostAlike {
			continue
		}
		o, r := h.rows[0][p.O].set, h.rows[1][p.R].set
		if o.Valid {
			sets[o.Int64] = append(sets[o.Int64], p)
		}
		if r.Valid && r != o {
			sets[r.Int64] = append(sets[r.Int64], p)
		}
	}
	for _, set := range h.sets() {
		if text := h.ofSet(sets[set], openSets[set]); text != "" {
			each("set", set, text)
		}
	}
}

// sets are the numbers of the sets with rows that are left over.
func (h *hinting) sets() []int64 {
	var out []int64
	for _, rows := range h.rows {
		for _, x := range rows {
			if x.set.Valid {
				out = append(out, x.set.Int64)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ofRow says which row of the other side it probably belongs to. The pairs of one row are
// all equally good.
func (h *hinting) ofRow(side int, pairs []near.Pair, open bool) string {
	if len(pairs) > mostAlike {
		pairs = nil
	}
	var texts []string
	for _, p := range pairs {
		texts = append(texts, h.place(1-side, [2]int{p.R, p.O}[side])+", because "+h.because(p))
	}
	return join("Probably ", texts, "; or ", open)
}

// ofSet says which of its rows probably belong together: the best of them.
func (h *hinting) ofSet(pairs []near.Pair, open bool) string {
	var texts []string
	for _, p := range pairs {
		texts = append(texts, h.place(0, p.O)+" and "+h.place(1, p.R)+", because "+h.because(p))
	}
	text := join("Probably together: ", texts[:min(len(texts), mostAlike)], "; ", open)
	if n := len(texts) - mostAlike; n > 0 {
		text += fmt.Sprintf(" Rows of the set have %d more.", n)
	}
	return text
}

func join(begin string, texts []string, between string, open bool) string {
	var out []string
	if len(texts) > 0 {
		out = append(out, begin+strings.Join(texts, between)+". A hint, by which nothing is linked.")
	}
	if open {
		out = append(out, hintOpen)
	}
	return strings.Join(out, " ")
}

// place names a row of a side in words.
func (h *hinting) place(side, i int) string {
	rid := h.rows[side][i].rid
	rel, name := h.c.relation(rules.Sides[side]), ""
	for _, f := range rel.Files {
		if int64(f.No) == rid>>40 {
			name = f.Name
		}
	}
	return fmt.Sprintf("%s %s record %d", rules.Sides[side], scan.Text(name), rid&(1<<40-1))
}

// because says by what a pair is apart, with the calculation, and in what it agrees.
func (h *hinting) because(p near.Pair) string {
	o, r := h.rows[0][p.O], h.rows[1][p.R]
	var steps, agreed []string
	for _, s := range p.Steps {
		switch s.What {
		case near.Amount:
			steps = append(steps, fmt.Sprintf("amount: the operation has %s, the result %s, %s", o.Amount, r.Amount, amountWords(s.Amount, o.Amount, r.Amount)))
		case near.Reference:
			f := h.refs[s.Index]
			steps = append(steps, fmt.Sprintf("%s: %s, %s apart", both(f.operations, f.results), h.references(f, o.Refs[s.Index], r.Refs[s.Index]), editWords(s.Edits)))
		case near.Day:
			f := h.days[s.Index]
			words := "a month apart"
			if s.Date == near.DayMonth {
				words = "day and month are swapped"
			}
			steps = append(steps, fmt.Sprintf("%s: the operation has %s, the result %s, %s", both(f.operations, f.results), date(*o.Days[s.Index]), date(*r.Days[s.Index]), words))
		}
	}
	for _, a := range p.Agreed {
		switch a.What {
		case near.Amount:
			name := "amount"
			if o.Currency != "" {
				name = "amount and currency"
			}
			agreed = append(agreed, name)
		case near.Entity:
			agreed = append(agreed, "entity")
		case near.Reference:
			agreed = append(agreed, both(h.refs[a.Index].operations, h.refs[a.Index].results))
		case near.Day:
			f := h.days[a.Index]
			name := both(f.operations, f.results)
			if !h.near.Days[a.Index].Hidden && a.Apart > 0 {
				name += " (days apart: " + fmt.Sprint(a.Apart) + ")"
			}
			agreed = append(agreed, name)
		}
	}
	return strings.Join(steps, "; ") + "; they agree in " + strings.Join(agreed, ", ")
}

// both names a field of both sides.
func both(operations, results string) string {
	if operations == results {
		return operations
	}
	return operations + " and " + results
}

// references shows two references that differ, neither of them where one is masked for
// people: the other one would tell it.
func (h *hinting) references(f hintRef, o, r string) string {
	redact := h.c.job.Redact
	if redact.LooksThrough(f.operations) && scan.Text(o) != o || redact.LooksThrough(f.results) && scan.Text(r) != r {
		return "values that are masked"
	}
	return fmt.Sprintf("the operation has %s, the result %s", o, r)
}

func editWords(n int) string {
	if n == 1 {
		return "one edit"
	}
	return fmt.Sprintf("%d edits", n)
}

func date(day int64) string { return time.Unix(day*24*60*60, 0).UTC().Format(time.DateOnly) }

// amountWords is the calculation by which a result comes from its operation.
func amountWords(kind near.AmountKind, o, r string) string {
	switch kind {
	case near.SignFlipped:
		return "the same with the other sign"
	case near.Times10:
		return fmt.Sprintf("%s × 10 = %s", o, r)
	case near.Times100:
		return fmt.Sprintf("%s × 100 = %s", o, r)
	case near.Tenth:
		return fmt.Sprintf("%s ÷ 10 = %s", o, r)
	case near.Hundredth:
		return fmt.Sprintf("%s ÷ 100 = %s", o, r)
	}
	difference, ninth := ninths(o, r)
	return fmt.Sprintf("two digits are swapped: the difference is %s = 9 × %s", difference, ninth)
}

// ninths are the difference of two amounts and a ninth of it, with the decimals of whichever
// has more. Of amounts with two neighbouring digits swapped it has no more: the difference
// is 9 times that of the digits at the place of the right one.
func ninths(o, r string) (difference, ninth string) {
	decimals := 0
	var value [2]*big.Rat
	for i, text := range []string{o, r} {
		_, rest, _ := strings.Cut(text, ".")
		decimals = max(decimals, len(rest))
		value[i], _ = new(big.Rat).SetString(text) // as the engine writes decimals
	}
	d := new(big.Rat).Sub(value[1], value[0])
	return d.FloatString(decimals), new(big.Rat).Quo(d, big.NewRat(9, 1)).FloatString(decimals)
}
