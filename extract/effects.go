package extract

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// effectPlan is a declared rules.Effects over the fields of a side: roles, the key of
// an effect, and what the parts add to the record that stands for it. It reads the
// values of a record after conversion. One belongs to one goroutine.
type effectPlan struct {
	role     int
	currency int
	key      *key
	main     map[string]bool
	parts    map[string]*effectPart
	shared   []int // fields of `by` that identify: the record that stands for the effect has them alone
	targets  []int // field indexes that sums go to, each once
	scratch  []byte
}

type effectPart struct {
	rank  int8 // by the declared order; the main record has rank 0
	from  []int
	to    []int // index in targets
	trace bool  // a part in another currency adds nothing
}

func newEffectPlan(e *rules.Effects, identifies func(string) bool, fields []*fieldReader, fieldIndex func(string) int) *effectPlan {
	p := &effectPlan{role: fieldIndex(e.Role), currency: fieldIndex(e.Currency), main: map[string]bool{}, parts: map[string]*effectPart{}}
	by := make([]rules.KeyPart, len(e.By))
	for i, name := range e.By {
		by[i] = rules.KeyPart{Operations: name}
		if identifies(name) {
			p.shared = append(p.shared, fieldIndex(name))
		}
	}
	p.key = newKey(fields, fieldIndex, false, by...)
	for _, m := range e.Main {
		p.main[m] = true
	}
	for i, part := range e.Parts {
		x := &effectPart{rank: int8(min(i+1, 127)), trace: part.OtherCurrency == "trace"}
		for _, a := range part.Add {
			to := fieldIndex(a.To)
			at := slices.Index(p.targets, to)
			if at < 0 {
				at = len(p.targets)
				p.targets = append(p.targets, to)
			}
			x.from, x.to = append(x.from, fieldIndex(a.From)), append(x.to, at)
		}
		p.parts[part.Role] = x
	}
	return p
}

// effectID stands for the key of an effect: a fingerprint of 128 bits, as rows have.
type effectID [16]byte

func newEffectID(text []byte) effectID {
	sum := sha256.Sum256(text)
	return effectID(sum[:16])
}

// id gives the effect of a record; false where its key is empty or unreadable.
func (p *effectPlan) id(vals []value) (effectID, bool) {
	text, ok := p.key.text(p.scratch[:0], vals)
	if !ok {
		return effectID{}, false
	}
	return newEffectID(text), true
}

// effectIndex holds what the parts of one file add to their effects, and which record
// of an effect stands for it. It is complete before the file is staged, and not
// changed afterwards.
type effectIndex struct {
	sums map[effectID]*effectSum
	best map[effectID]int8 // of effects with parts that add nothing: the lowest rank there is
}

// effectSum is what the parts of one effect add up to.
type effectSum struct {
	first    int64   // record of the first part
	currency string  // of the parts
	mixed    int64   // record of the first part in a further currency; 0 none
	mains    []int64 // records that could stand for the effect, the first two
	sums     []dec   // by target
	filled   []bool  // by target: some part has a value for it
	bad      bool    // a value cannot be read, or the sum has too many digits
}

// open tells that the parts stay as they are: their effect is not in the file.
func (s *effectSum) open() bool { return s == nil || len(s.mains) == 0 }

// indexEffects reads a file for what its parts add up to, and, where there are any,
// once more for the records that they belong to. A file without parts has no index.
func (s *stager) indexEffects(ctx context.Context, f *foundFile, in io.ReadSeeker, plan *stagePlan) (*effectIndex, error) {
	index := &effectIndex{sums: map[effectID]*effectSum{}, best: map[effectID]int8{}}
	var trouble error
	for _, pass := range []func(*converter, int64){
		func(c *converter, no int64) { index.part(c, no) },
		func(c *converter, no int64) { index.mainRecord(c, no) },
	} {
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return nil, inputError(f.rel, err)
		}
		if err := eachRecord(ctx, f, in, plan, pass); err != nil {
			return nil, err
		}
		if len(index.sums)+len(index.best) == 0 {
			return nil, nil
		}
		if index.full() {
			return nil, fail.New(fail.Input, "%s: more than %d effects have parts that add something, or %d have steps, which is the limit", f.rel, maxSums, maxSteps).
				WithHint("look at effects.parts in the job file: a role of many records is no part; or take the files of shorter times")
		}
	}
	first := int64(0)
	for _, e := range index.sums { // the first fault in the file, whatever the order here
		if msg := e.fault(); msg != "" && (first == 0 || e.first < first) {
			first = e.first
			trouble = fail.New(fail.Input, "%s: record %d is part of an effect: %s", f.rel, e.first, msg).
				WithHint("correct effects in the job file: `by` names what only the records of one effect share")
		}
	}
	return index, trouble
}

// Bounds of what one file has in memory: some 300 bytes for each effect with sums and
// 60 for each with steps.
const (
	maxSums  = 500_000
	maxSteps = 4_000_000
)

func (x *effectIndex) full() bool { return len(x.sums) > maxSums || len(x.best) > maxSteps }

func (e *effectSum) fault() string {
	switch {
	case len(e.mains) > 1:
		return fmt.Sprintf("records %d and %d could both stand for it", e.mains[0], e.mains[1])
	case e.mixed > 0:
		return fmt.Sprintf("record %d is a part of it in another currency, and amounts add up in one currency only", e.mixed)
	}
	return ""
}

// eachRecord converts the fields of every record of a file. What cannot be cut is
// left out here; it is judged when the file is staged.
func eachRecord(ctx context.Context, f *foundFile, in io.Reader, plan *stagePlan, visit func(c *converter, no int64)) error {
	r, err := plan.reader(in, f.rel)
	if err != nil {
		return inputError(f.rel, err)
	}
	defer r.Close()
	c := newConverter(plan, r.Header())
	var raw rawRecord
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rec, err := r.Next()
		var bad *RecordError
		switch {
		case errors.As(err, &bad):
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return inputError(f.rel, err)
		}
		raw.no, raw.extra = rec.No, rec.Extra
		raw.cells = append(raw.cells[:0], rec.Cells...)
		for len(raw.cells) < len(c.header) {
			raw.cells = append(raw.cells, Cell{})
		}
		for _, field := range c.order {
			field.read(&raw, c.vals)
		}
		visit(c, rec.No)
	}
}

// part adds a record to its effect, if it is a part of one.
func (x *effectIndex) part(c *converter, no int64) {
	p := c.effects
	part := p.parts[string(c.vals[p.role].text)]
	if part == nil {
		return
	}
	id, ok := p.id(c.vals)
	if !ok || x.full() {
		return // a part of nothing: it stays as it is
	}
	if len(part.from) == 0 {
		if best, ok := x.best[id]; !ok || part.rank < best {
			x.best[id] = part.rank
		}
		return
	}
	code := string(c.codeOf(p.currency))
	if part.trace { // parts in several currencies: those in the effect's add up
		id = id.in(code)
	}
	e := x.sums[id]
	if e == nil {
		e = &effectSum{first: no, currency: code, sums: make([]dec, len(p.targets)), filled: make([]bool, len(p.targets))}
		x.sums[id] = e
	}
	if code != e.currency && e.mixed == 0 {
		e.mixed = no
	}
	for i, from := range part.from {
		v := &c.vals[from]
		switch {
		case v.bad:
			e.bad = true
		case !v.null:
			sum, ok := e.sums[part.to[i]].plus(v.d)
			e.sums[part.to[i]], e.filled[part.to[i]] = sum, true
			e.bad = e.bad || !ok
		}
	}
}

// in is the effect as the parts in one currency see it.
func (id effectID) in(currency string) effectID {
	return newEffectID(append(id[:], currency...))
}

// of returns what the parts in the record's currency, and those of any, add up to.
func (x *effectIndex) of(id effectID, currency string) [2]*effectSum {
	return [2]*effectSum{x.sums[id], x.sums[id.in(currency)]}
}

// mainRecord notes a record that could stand for an effect with parts.
func (x *effectIndex) mainRecord(c *converter, no int64) {
	p := c.effects
	if !p.main[string(c.vals[p.role].text)] {
		return
	}
	id, ok := p.id(c.vals)
	if !ok {
		return
	}
	if _, ok := x.best[id]; ok {
		x.best[id] = 0
	}
	code := string(c.codeOf(p.currency))
	for _, e := range x.of(id, code) {
		if e == nil {
			continue
		}
		if len(e.mains) < 2 {
			e.mains = append(e.mains, no)
		}
		if code != e.currency && e.mixed == 0 {
			e.mixed = e.first
		}
	}
}

// fold moves what the parts hold to the record that stands for their effect. Nothing
// is added or lost: totals before and after are equal.
func (c *converter) fold() {
	p := c.effects
	role := c.vals[p.role].text
	part := p.parts[string(role)]
	if part == nil && !p.main[string(role)] {
		return
	}
	id, ok := p.id(c.vals)
	if !ok {
		return
	}
	code := string(c.codeOf(p.currency))
	if part != nil {
		switch {
		case len(part.from) == 0 && c.plan.effects.best[id] >= part.rank:
			return // it stands for the effect itself
		case len(part.from) > 0 && part.trace && c.plan.effects.sums[id.in(code)].open(),
			len(part.from) > 0 && !part.trace && c.plan.effects.sums[id].open():
			return
		}
		for _, from := range part.from {
			if v := &c.vals[from]; !v.bad {
				v.null, v.d, v.minor, v.canon = true, dec{}, dec{}, nil
			}
		}
		for _, f := range p.shared {
			c.vals[f].null = true
		}
		return
	}
	for _, e := range c.plan.effects.of(id, code) {
		if e.open() {
			continue
		}
		for i, to := range p.targets {
			if e.filled[i] || e.bad {
				c.vals[to].add(e.sums[i], e.bad, c.fields[to])
			}
		}
	}
}

// add adds to a decimal value; a null counts as zero.
func (v *value) add(d dec, bad bool, f *fieldReader) {
	if v.bad {
		return
	}
	if v.null {
		v.d, v.text = dec{}, nil
	}
	sum, ok := v.d.plus(d)
	if ok && f.scale >= 0 && sum.scale > f.scale {
		ok = false
	}
	if ok && f.fixed >= 0 {
		_, ok = sum.fixed(stagedPrecision, f.fixed)
	}
	v.null, v.minor, v.canon = false, dec{}, nil
	v.d, v.bad = sum, bad || !ok
}

// tieTally counts the records that break an equation.
type tieTally struct {
	Broken      int64
	FirstRecord int64
}

// unknownTally counts the texts of a field that are not among the known ones.
type unknownTally struct {
	Records     int64
	FirstRecord int64
	Texts       []string // the first of them
}

// Of texts that are not known, so many are listed, each so long at most.
const (
	listedTexts = 10
	listedText  = 40
)

// proofs are the declared proofs of a source, over its fields.
type proofs struct {
	ties    []tieFields
	zero    []zeroFields
	known   []knownField
	members map[string]bool // columns that are known, where extra members are reported
	below   []string        // beginnings of their names: "source."
}

type tieFields struct {
	total             int
	plus, minus, same []int
}

type zeroFields struct {
	field int
	per   []int
}

type knownField struct {
	field int
	name  string
	texts map[string]bool
	steps *normaliser
}

func newProofs(src *rules.Source, fields []rules.Field, readers []*fieldReader, fieldIndex func(string) int) *proofs {
	p := &proofs{}
	indexes := func(names []string) (out []int) {
		for _, n := range names {
			out = append(out, fieldIndex(n))
		}
		return out
	}
	for _, t := range src.Ties {
		p.ties = append(p.ties, tieFields{fieldIndex(t.Total), indexes(t.Plus), indexes(t.Minus), indexes(t.Same)})
	}
	for _, z := range src.ZeroSums {
		p.zero = append(p.zero, zeroFields{fieldIndex(z.Field), indexes(z.Per)})
	}
	if k := src.Known; k != nil {
		names := make([]string, 0, len(k.Values))
		for n := range k.Values {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			f := knownField{field: fieldIndex(n), name: n, texts: map[string]bool{}}
			f.steps = readers[f.field].steps
			for _, t := range k.Values[n] {
				f.texts[t] = true
			}
			p.known = append(p.known, f)
		}
		if len(k.Columns) > 0 {
			p.members, p.below = knownColumns(src, fields)
		}
	}
	return p
}
