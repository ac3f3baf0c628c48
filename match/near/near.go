// Package near finds, among rows that nothing links, pairs that miss each other by a
// small and well-known mistake: a mistyped reference, swapped digits, a moved decimal
// point, a turned sign, another month. It is for hints to people alone.
//
// Rows are not compared each with each. A pair needs something in which both rows agree
// (an amount with its currency, an entity, a reference); the rows that agree in one of
// these are a block. The pairs of a small block are tried. Those of a large one are cut
// finer, by an exact key of the mistake itself: one row gives the values that it would
// become by each mistake, the other its own, and for references both give what is left
// without one or two characters. What is still crowded is not tried, and said.
package near

import (
	"cmp"
	"slices"
	"strconv"
)

// The bounds of a search.
const (
	// MostPairs are tried in one block, or under one key of a mistake.
	MostPairs = 64
	// MostRows of a side are looked at in one block.
	MostRows = 1000
	// mostSteps are the mistakes that one pair may be apart.
	mostSteps = 2
)

// Row is one row that nothing links; what is empty is unknown and contradicts nothing.
type Row struct {
	Print                  uint64 // orders rows however their files are ordered
	Type, Entity, Currency string
	Amount                 string   // -?digits(.digits)?
	Refs                   []string // in the order of Fields.Refs
	Days                   []*int64 // since 1970-01-01, in the order of Fields.Days
}

// Fields says what may be near. A hidden field may be equal and may contradict, but no
// near miss of it is looked for: that would tell something of its value.
type Fields struct {
	HiddenAmount bool
	Refs         []RefField
	Days         []DayField
}

// RefField is a reference that both sides have.
type RefField struct{ Hidden bool }

// DayField is a date or time that both sides have.
type DayField struct {
	Hidden bool
	Within int64 // days by which two rows may differ and agree
}

// What names what two rows agree in, or a step between them.
type What int

// What two rows have in common.
const (
	Amount What = iota
	Entity
	Reference // with its index
	Day       // with its index
)

// Step is one mistake by which a pair differs.
type Step struct {
	What   What
	Index  int
	Edits  int // of a reference
	Amount AmountKind
	Date   DateKind
}

// Agreed is one thing in which a pair agrees.
type Agreed struct {
	What  What
	Index int
	Apart int64 // days, within the window
}

// Pair is an operation and a result, by their index, and why they may belong together.
type Pair struct {
	O, R   int
	Steps  []Step
	Agreed []Agreed
}

// steps counts an edit as one and every other mistake as one.
func (p *Pair) steps() int {
	n := 0
	for _, s := range p.Steps {
		n += max(s.Edits, 1)
	}
	return n
}

// score of a pair: fewer is better.
type score struct{ steps, lacking int }

func (p *Pair) score() score { return score{p.steps(), -len(p.Agreed)} }

func (s score) compare(t score) int {
	return cmp.Or(cmp.Compare(s.steps, t.steps), cmp.Compare(s.lacking, t.lacking))
}

// Found is what a search found.
type Found struct {
	// Pairs are the best of both their rows, ordered by score, then by the rows.
	Pairs []Pair
	// OpenO and OpenR are the rows with which more rows agree than were tried.
	OpenO, OpenR map[int]bool
}

// Search looks for the pairs that are near each other and contradict in nothing. A pair is
// kept where neither of its rows has a better one.
func Search(o, r []Row, f Fields) Found {
	s := &search{o: prepare(o), r: prepare(r), f: f, seen: map[[2]int]bool{}, found: Found{OpenO: map[int]bool{}, OpenR: map[int]bool{}}}
	s.blocks()
	for _, b := range s.list {
		s.block(b)
	}
	s.best()
	return s.found
}

// prepared is a row in the form that is compared.
type prepared struct {
	Row
	amount amount
	refs   [][]rune
}

func prepare(rows []Row) []prepared {
	out := make([]prepared, len(rows))
	for i, x := range rows {
		out[i] = prepared{Row: x, amount: parseAmount(x.Amount)}
		for _, ref := range x.Refs {
			out[i].refs = append(out[i].refs, []rune(ref))
		}
	}
	return out
}

// block is all rows that agree in one thing.
type block struct {
	key  string
	o, r []int
}

func (b *block) pairs() int { return len(b.o) * len(b.r) }

type search struct {
	o, r  []prepared
	f     Fields
	list  []*block // those with rows of both sides, by key
	large map[string]bool
	seen  map[[2]int]bool
	pairs []Pair
	found Found
}

// agreeing is what a row of a block agrees in, as a key.
func agreeing(x *prepared, each func(key string)) {
	if x.Amount != "" {
		each(amountKey(x))
	}
	if x.Entity != "" {
		each("entity/" + x.Entity)
	}
	for i, ref := range x.Refs {
		if ref != "" {
			each(refKey(i, ref))
		}
	}
}

func amountKey(x *prepared) string {
	return "amount/" + x.Currency + "/" + valueKey(x.amount)
}

func valueKey(a amount) string {
	sign := ""
	if a.minus {
		sign = "-"
	}
	return sign + a.digits + "/" + strconv.Itoa(a.scale)
}

func refKey(i int, ref string) string { return "reference/" + strconv.Itoa(i) + "/" + ref }

func (s *search) blocks() {
	all := map[string]*block{}
	for i := range s.o {
		agreeing(&s.o[i], func(key string) {
			if all[key] == nil {
				all[key] = &block{key: key}
			}
			all[key].o = append(all[key].o, i)
		})
	}
	for i := range s.r {
		agreeing(&s.r[i], func(key string) {
			if b := all[key]; b != nil {
				b.r = append(b.r, i)
			}
		})
	}
	s.large = map[string]bool{}
	for key, b := range all {
		if len(b.r) > 0 {
			s.list = append(s.list, b)
			s.large[key] = b.pairs() > MostPairs
		}
	}
	slices.SortFunc(s.list, func(a, b *block) int { return cmp.Compare(a.key, b.key) })
}

func (s *search) block(b *block) {
	switch {
	case b.pairs() <= MostPairs:
		s.try(b.o, b.r)
	case len(b.o) > MostRows || len(b.r) > MostRows:
		s.open(b.o, b.r)
	default:
		s.finer(b)
	}
}

func (s *search) open(o, r []int) {
	for _, i := range o {
		s.found.OpenO[i] = true
	}
	for _, i := range r {
		s.found.OpenR[i] = true
	}
}

func (s *search) try(o, r []int) {
	for _, i := range o {
		for _, j := range r {
			if s.seen[[2]int{i, j}] {
				continue
			}
			s.seen[[2]int{i, j}] = true
			if p, ok := s.pair(i, j); ok {
				s.pairs = append(s.pairs, p)
			}
		}
	}
}

// keyed is a row of a block under the key of a mistake.
type keyed struct {
	key uint64
	row int // of the results: -1 - index
}

// finer tries the pairs of a large block that have a key of a mistake in common.
func (s *search) finer(b *block) {
	var list []keyed
	for _, i := range b.o {
		s.mistakes(&s.o[i], true, func(key uint64) { list = append(list, keyed{key, i}) })
	}
	for _, i := range b.r {
		s.mistakes(&s.r[i], false, func(key uint64) { list = append(list, keyed{key, -1 - i}) })
	}
	slices.SortFunc(list, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row)) })
	list = slices.Compact(list)
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].key == list[0].key {
			n++
		}
		var o, r []int
		for _, x := range list[:n] {
			if x.row < 0 {
				r = append(r, -1-x.row)
			} else {
				o = append(o, x.row)
			}
		}
		if len(o)*len(r) > MostPairs {
			s.open(o, r)
		} else {
			s.try(o, r)
		}
		list = list[n:]
	}
}

// mistakes calls each for the keys of a row: of an operation what it would become by a
// mistake, of a result what it is; of both what is left of their references. Two keys that
// collide only make a pair be tried.
func (s *search) mistakes(x *prepared, operation bool, each func(key uint64)) {
	if x.Amount != "" && !s.f.HiddenAmount {
		of := hash(hash(hashStart, "amount/"), x.Currency)
		if operation {
			x.amount.each(func(_ AmountKind, a amount) { each(hash(of, valueKey(a))) })
		} else {
			each(hash(of, valueKey(x.amount)))
		}
	}
	for i, day := range x.Days {
		if day == nil || s.f.Days[i].Hidden {
			continue
		}
		of := hash(hashStart, "day/"+strconv.Itoa(i)+"/")
		if operation {
			eachDay(*day, func(_ DateKind, d int64) { each(hash(of, strconv.FormatInt(d, 10))) })
		} else {
			each(hash(of, strconv.FormatInt(*day, 10)))
		}
	}
	for i, ref := range x.refs {
		if most := edits(len(ref)); most > 0 && !s.f.Refs[i].Hidden {
			of := hash(hashStart, "reference/"+strconv.Itoa(i)+"/")
			deletions(ref, most, func(left []rune) {
				h := of
				for _, c := range left {
					h = (h ^ uint64(c)) * hashPrime
				}
				each(h)
			})
		}
	}
}

// FNV-1a: the same keys in every run.
const (
	hashStart uint64 = 14695981039346656037
	hashPrime uint64 = 1099511628211
)

func hash(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * hashPrime
	}
	return h
}

// pair compares two rows; false where they contradict, are not near or agree in too little.
func (s *search) pair(i, j int) (Pair, bool) {
	o, r := &s.o[i], &s.r[j]
	p := Pair{O: i, R: j}
	if contradict(o.Type, r.Type) || contradict(o.Entity, r.Entity) || contradict(o.Currency, r.Currency) {
		return p, false
	}
	strong, mistyped := 0, false
	agree := func(what What, index int, key string) {
		p.Agreed = append(p.Agreed, Agreed{What: what, Index: index})
		if !s.large[key] {
			strong++
		}
	}
	if o.Amount != "" && r.Amount != "" && o.Currency == r.Currency {
		switch kind := amountKind(o.amount, r.amount); {
		case o.amount == r.amount:
			agree(Amount, 0, amountKey(o))
		case kind == AmountFar || s.f.HiddenAmount:
			return p, false
		default:
			p.Steps = append(p.Steps, Step{What: Amount, Amount: kind})
		}
	}
	if o.Entity != "" && o.Entity == r.Entity {
		agree(Entity, 0, "entity/"+o.Entity)
	}
	for k := range o.Refs {
		a, b := o.refs[k], r.refs[k]
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		if o.Refs[k] == r.Refs[k] {
			agree(Reference, k, refKey(k, o.Refs[k]))
			continue
		}
		most := min(edits(len(a)), edits(len(b)))
		if most == 0 || s.f.Refs[k].Hidden {
			return p, false
		}
		n := Distance(a, b, most)
		if n > most {
			return p, false
		}
		p.Steps, mistyped = append(p.Steps, Step{What: Reference, Index: k, Edits: n}), true
	}
	common := len(p.Agreed) // in something of which there are blocks
	s.days(o, r, &p)
	if len(p.Steps) == 0 || p.steps() > mostSteps || common == 0 {
		return p, false
	}
	return p, strong > 0 || mistyped || len(p.Agreed) > 1
}

// days adds what the dates of a pair say. Other days contradict nothing.
func (s *search) days(o, r *prepared, p *Pair) {
	for k, f := range s.f.Days {
		a, b := o.Days[k], r.Days[k]
		if a == nil || b == nil {
			continue
		}
		apart := max(*a-*b, *b-*a)
		switch kind := dateKind(*a, *b); {
		case apart <= f.Within:
			p.Agreed = append(p.Agreed, Agreed{What: Day, Index: k, Apart: apart})
		case kind != DateFar && !f.Hidden:
			p.Steps = append(p.Steps, Step{What: Day, Index: k, Date: kind})
		}
	}
}

// contradict: both are known and differ.
func contradict(a, b string) bool { return a != "" && b != "" && a != b }

// best keeps the pairs of which neither row has a better one.
func (s *search) best() {
	top := [2]map[int]score{{}, {}}
	for i := range s.pairs {
		p := &s.pairs[i]
		for side, row := range [2]int{p.O, p.R} {
			if t, ok := top[side][row]; !ok || p.score().compare(t) < 0 {
				top[side][row] = p.score()
			}
		}
	}
	for _, p := range s.pairs {
		if p.score() == top[0][p.O] && p.score() == top[1][p.R] {
			s.found.Pairs = append(s.found.Pairs, p)
		}
	}
	slices.SortFunc(s.found.Pairs, func(a, b Pair) int {
		return cmp.Or(a.score().compare(b.score()), cmp.Compare(s.o[a.O].Print, s.o[b.O].Print), cmp.Compare(s.r[a.R].Print, s.r[b.R].Print),
			cmp.Compare(a.O, b.O), cmp.Compare(a.R, b.R))
	})
}
