package near

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// The other way to find the same pairs: every operation with every result, by rules written
// apart from those of the package.

// within tells whether so many edits make one text the other, by the definition of the
// optimal string alignment and without a table.
func within(a, b []rune, edits int) bool {
	switch {
	case edits < 0:
		return false
	case len(a) == 0 || len(b) == 0:
		return len(a)+len(b) <= edits
	case a[0] == b[0] && within(a[1:], b[1:], edits):
		return true
	case len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] && within(a[2:], b[2:], edits-1):
		return true
	}
	return within(a[1:], b[1:], edits-1) || within(a[1:], b, edits-1) || within(a, b[1:], edits-1)
}

func nearRefs(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := min(len(x), len(y))
	most := 0
	if n >= 6 {
		most = 1
	}
	if n >= 12 {
		most = 2
	}
	if max(len(x), len(y)) > 40 {
		most = 0
	}
	for n := 1; n <= most; n++ {
		if within(x, y, n) {
			return n
		}
	}
	return 0
}

func rat(text string) *big.Rat {
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return x
}

// nearAmounts writes both amounts with as many decimals and as many digits.
func nearAmounts(o, r string) AmountKind {
	a, b := rat(o), rat(r)
	if a.Sign() == 0 {
		return AmountFar
	}
	for _, x := range []struct {
		kind   AmountKind
		factor string
	}{{SignFlipped, "-1"}, {Times10, "10"}, {Times100, "100"}, {Tenth, "0.1"}, {Hundredth, "0.01"}} {
		if new(big.Rat).Mul(a, rat(x.factor)).Cmp(b) == 0 {
			return x.kind
		}
	}
	if a.Sign() != b.Sign() {
		return AmountFar
	}
	decimals := func(x *big.Rat) int { // of which there are few in these tests
		n := 0
		for !new(big.Rat).Mul(x, rat("1"+strings.Repeat("0", n))).IsInt() {
			n++
		}
		return n
	}
	n := max(decimals(a), decimals(b))
	x, y := new(big.Rat).Abs(a).FloatString(n), new(big.Rat).Abs(b).FloatString(n)
	x, y = strings.ReplaceAll(x, ".", ""), strings.ReplaceAll(y, ".", "")
	if len(x) != len(y) {
		return AmountFar
	}
	var differ []int
	for i := range x {
		if x[i] != y[i] {
			differ = append(differ, i)
		}
	}
	if len(differ) == 2 && differ[1] == differ[0]+1 && x[differ[0]] == y[differ[1]] && x[differ[1]] == y[differ[0]] {
		return DigitsTurned
	}
	return AmountFar
}

func nearDays(a, b int64) DateKind {
	x, y := time.Unix(a*86400, 0).UTC(), time.Unix(b*86400, 0).UTC()
	months := func(t time.Time) int { return t.Year()*12 + int(t.Month()) }
	end := func(t time.Time) bool { return t.AddDate(0, 0, 1).Day() == 1 }
	if n := months(x) - months(y); (n == 1 || n == -1) && (x.Day() == y.Day() || end(x) && end(y)) {
		return MonthOff
	}
	if x.Year() == y.Year() && x.Day() == int(y.Month()) && int(x.Month()) == y.Day() && a != b {
		return DayMonth
	}
	return DateFar
}

// everyPair is the oracle of Search.
func everyPair(o, r []Row, f Fields) map[[2]int]string {
	type candidate struct {
		steps, agreed int
		text          string
	}
	all := map[[2]int]candidate{}
	same := func(key func(Row) string, value string) bool { // more pairs agree in it than are tried
		n, m := 0, 0
		for _, x := range o {
			if key(x) == value {
				n++
			}
		}
		for _, x := range r {
			if key(x) == value {
				m++
			}
		}
		return n*m > MostPairs
	}
	amountOf := func(x Row) string {
		if x.Amount == "" {
			return ""
		}
		return x.Currency + " " + rat(x.Amount).RatString()
	}
	for i, a := range o {
		for j, b := range r {
			if a.Type != "" && b.Type != "" && a.Type != b.Type || a.Currency != "" && b.Currency != "" && a.Currency != b.Currency {
				continue
			}
			steps, agreed, blocks, strong, mistyped, far := 0, 0, 0, false, false, false
			agree := func(key func(Row) string) {
				agreed, blocks = agreed+1, blocks+1
				strong = strong || !same(key, key(a))
			}
			text := ""
			if a.Amount != "" && b.Amount != "" && a.Currency == b.Currency {
				kind := nearAmounts(a.Amount, b.Amount)
				switch {
				case rat(a.Amount).Cmp(rat(b.Amount)) == 0:
					agree(amountOf)
				case kind != AmountFar && !f.HiddenAmount:
					steps++
					text += fmt.Sprint(" amount ", kind)
				default:
					far = true
				}
			}
			if a.Entity != "" && b.Entity != "" {
				far = far || a.Entity != b.Entity
				agree(func(x Row) string { return x.Entity })
			}
			for k := range f.Refs {
				x, y := a.Refs[k], b.Refs[k]
				switch n := nearRefs(x, y); {
				case x == "" || y == "":
				case x == y:
					agree(func(x Row) string { return x.Refs[k] })
				case n > 0 && !f.Refs[k].Hidden:
					steps, mistyped = steps+n, true
					text += fmt.Sprint(" reference ", k, " ", n)
				default:
					far = true
				}
			}
			for k, d := range f.Days {
				if a.Days[k] == nil || b.Days[k] == nil {
					continue
				}
				x, y := *a.Days[k], *b.Days[k]
				if n := x - y; n <= d.Within && -n <= d.Within {
					agreed++
				} else if kind := nearDays(x, y); kind != DateFar && !d.Hidden {
					steps++
					text += fmt.Sprint(" day ", k, " ", kind)
				}
			}
			if !far && steps > 0 && steps <= 2 && blocks > 0 && (strong || mistyped || agreed > 1) {
				all[[2]int{i, j}] = candidate{steps, agreed, text}
			}
		}
	}
	out := map[[2]int]string{}
	for at, c := range all {
		best := true
		for other, d := range all {
			if (other[0] == at[0] || other[1] == at[1]) && (d.steps < c.steps || d.steps == c.steps && d.agreed > c.agreed) {
				best = false
			}
		}
		if best {
			out[at] = c.text
		}
	}
	return out
}

func found(p Pair) string {
	text := ""
	for _, s := range p.Steps {
		switch s.What {
		case Amount:
			text += fmt.Sprint(" amount ", s.Amount)
		case Reference:
			text += fmt.Sprint(" reference ", s.Index, " ", s.Edits)
		case Day:
			text += fmt.Sprint(" day ", s.Index, " ", s.Date)
		}
	}
	return text
}

// randomRows are rows with few different values, results among them that are operations
// with mistakes.
func randomRows(r *rand.Rand, n int) (o, res []Row) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	ref := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab1"[r.IntN(3)]
		}
		return string(b)
	}
	day := func() *int64 {
		if r.IntN(5) == 0 {
			return nil
		}
		d := time.Date(2026, time.Month(1+r.IntN(4)), 1+r.IntN(31), 0, 0, 0, 0, time.UTC).Unix() / 86400
		return &d
	}
	row := func() Row {
		return Row{Print: r.Uint64(), Type: pick("", "charge", "refund"), Entity: pick("", "c1", "c2", "c3"), Currency: pick("EUR", "EUR", "USD", ""),
			Amount: pick("", "12.5", "12.50", "125.00", "10", "-10", "0", "0.01", "105.2", "1250"), Refs: []string{pick("", ref(8)), pick("", ref(4), ref(12+r.IntN(3)))}, Days: []*int64{day()}}
	}
	for range n {
		x := row()
		o = append(o, x)
		if r.IntN(4) == 0 {
			res = append(res, row())
		}
		y := x
		y.Print, y.Refs = r.Uint64(), slices.Clone(x.Refs)
		for range 1 + r.IntN(2) {
			switch r.IntN(4) {
			case 0:
				y.Amount = pick("1.25", "12.5", "21.5", "105", "-12.5", "1.0", "1.052", "150.2", "0.1", "12.05")
			case 1:
				k := r.IntN(2)
				if b := []byte(y.Refs[k]); len(b) > 2 {
					i := 1 + r.IntN(len(b)-1)
					switch r.IntN(4) {
					case 0:
						b[i], b[i-1] = b[i-1], b[i]
					case 1:
						b = slices.Delete(b, i, i+1)
					case 2:
						b = slices.Insert(b, i, 'x')
					case 3:
						b[i] = 'y'
					}
					y.Refs[k] = string(b)
				}
			case 2:
				if y.Days[0] != nil {
					t := time.Unix(*y.Days[0]*86400, 0).UTC()
					t = []time.Time{t.AddDate(0, 1, 0), time.Date(t.Year(), time.Month(t.Day()), int(t.Month()), 0, 0, 0, 0, time.UTC), t.AddDate(0, 0, 1)}[r.IntN(3)]
					d := t.Unix() / 86400
					y.Days = []*int64{&d}
				}
			case 3:
				y.Entity, y.Currency = pick(y.Entity, ""), pick(y.Currency, "")
			}
		}
		res = append(res, y)
	}
	return o, res
}

// TestSearchAgreesWithEveryPair: the search by blocks and keys finds what trying every pair
// finds, and says so where it did not try them all.
func TestSearchAgreesWithEveryPair(t *testing.T) {
	whole, cut, pairs, kinds := 0, 0, 0, map[string]bool{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 1 + r.IntN(40)
		o, res := randomRows(r, n)
		f := Fields{HiddenAmount: r.IntN(8) == 0, Refs: []RefField{{Hidden: r.IntN(8) == 0}, {Hidden: r.IntN(8) == 0}}, Days: []DayField{{Hidden: r.IntN(8) == 0, Within: int64(r.IntN(3))}}}
		got := Search(o, res, f)
		want := everyPair(o, res, f)
		open := len(got.OpenO)+len(got.OpenR) > 0
		if open {
			cut++
			continue
		}
		whole++
		pairs += len(got.Pairs)
		for _, p := range got.Pairs {
			for _, s := range p.Steps {
				kinds[fmt.Sprint(s.What, s.Edits, s.Amount, s.Date)] = true
			}
			at := [2]int{p.O, p.R}
			if text, ok := want[at]; !ok || text != found(p) {
				t.Errorf("seed %d: %v and %v: found%s, want%s", seed, o[p.O], res[p.R], found(p), text)
			}
			delete(want, at)
		}
		for at, text := range want {
			t.Errorf("seed %d: %v and %v were not found:%s", seed, o[at[0]], res[at[1]], text)
		}
		if t.Failed() {
			return
		}
	}
	// Ten kinds: two numbers of edits, five of amounts and their turned digits, two of days.
	if whole < 100 || pairs < 500 || len(kinds) < 10 {
		t.Errorf("%d worlds compared, %d not, with %d pairs of %d kinds: too few to mean anything", whole, cut, pairs, len(kinds))
	}
}

// TestLargeBlocks: of a block whose pairs are not all tried those that are near are found
// all the same, and where too many rows have a mistake in common that is said.
func TestLargeBlocks(t *testing.T) {
	var o, r []Row
	for i := range MostRows {
		o = append(o, Row{Print: uint64(i), Currency: "EUR", Amount: "9.99", Refs: []string{fmt.Sprintf("%08d-order", i*7919)}})
		r = append(r, Row{Print: uint64(i), Currency: "EUR", Amount: "9.99", Refs: []string{fmt.Sprintf("%08d-payout", i*104729)}})
	}
	r[17].Refs[0] = strings.Replace(o[400].Refs[0], "-order", "-odrer", 1)
	f := Fields{Refs: []RefField{{}}}
	got := Search(o, r, f)
	if len(got.Pairs) != 1 || got.Pairs[0].O != 400 || got.Pairs[0].R != 17 || got.Pairs[0].Steps[0].Edits != 1 {
		t.Errorf("%+v", got.Pairs)
	}
	if len(got.OpenO) > 0 {
		t.Errorf("%d operations were not searched to the end", len(got.OpenO))
	}
	got = Search(append(o, o[0]), r, f)
	if len(got.Pairs) != 0 || len(got.OpenO) != MostRows+1 || len(got.OpenR) != MostRows {
		t.Errorf("past the bound: %d pairs, %d and %d rows left open", len(got.Pairs), len(got.OpenO), len(got.OpenR))
	}
	for i := range o {
		o[i].Refs[0], r[i].Refs[0] = "same-for-all-of-us", "same-for-all-of-uz"
	}
	if got = Search(o, r, f); len(got.Pairs) != 0 || len(got.OpenO) != MostRows || len(got.OpenR) != MostRows {
		t.Errorf("a crowded key: %d pairs, %d and %d rows left open", len(got.Pairs), len(got.OpenO), len(got.OpenR))
	}
}

// TestOrderOfRows: the same pairs in whatever order rows come.
func TestOrderOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	o, res := randomRows(r, 30)
	f := Fields{Refs: make([]RefField, 2), Days: make([]DayField, 1)}
	texts := func() string {
		var b strings.Builder
		for _, p := range Search(o, res, f).Pairs {
			fmt.Fprintln(&b, o[p.O].Print, res[p.R].Print, found(p), p.Agreed)
		}
		return b.String()
	}
	want := texts()
	r.Shuffle(len(o), func(i, j int) { o[i], o[j] = o[j], o[i] })
	slices.Reverse(res)
	if got := texts(); got != want || want == "" {
		t.Errorf("%s\nbut was\n%s", got, want)
	}
}
