package extract

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/recon-batch/recon-batch/rules"
)

// converter turns records of one file into rows of the layout. One belongs to one
// goroutine; its tally is merged when the file is done.
type converter struct {
	plan     *stagePlan
	fields   []*fieldReader // by field index
	order    []*fieldReader // in the order of reading: a currency before its amounts
	vals     []value
	keys     []*key
	recordID *key
	compared []*compared
	print    *recordPrint
	page     cellRef
	status   *fieldReader // results with a mapped status
	steps    *normaliser  // of the status
	amount   int          // field index of a decimal amount; -1
	currency int          // field index of the currency; -1
	controls []int        // field indexes of the control sums
	by       int          // field index of what control totals go by; -1
	header   []string
	effects  *effectPlan // nil: each record stands for itself
	proofs   *proofs     // nil: nothing is declared
	tally    *tally

	out     outColumns
	columns []column // of the schema, in its order
	at      int      // the row of the batch that is being written
	scratch []byte
	token   []byte
}

func newConverter(p *stagePlan, header []string) *converter {
	l := p.layout
	spec := l.spec
	c := &converter{
		plan:     p,
		fields:   make([]*fieldReader, len(spec.Fields)),
		vals:     make([]value, len(spec.Fields)),
		print:    newRecordPrint(header, spec.TransportColumns),
		page:     cellRef{at: -1},
		amount:   -1,
		by:       -1,
		currency: spec.FieldIndex("currency"),
		scratch:  make([]byte, 0, 256),
		header:   header,
	}
	for i, f := range p.sourceFields() {
		c.fields[i] = newFieldReader(p.src, f, spec.Fields[i], i, header, spec.FieldIndex)
	}
	for _, f := range c.fields {
		if f.unit.of < 0 {
			c.order = append(c.order, f)
		}
	}
	for _, f := range c.fields {
		if f.unit.of >= 0 {
			c.order = append(c.order, f)
		}
	}
	c.compileKeys()
	c.compileCompared()
	if l.HasStatus() {
		c.status = c.fields[spec.FieldIndex("status")]
		c.steps = newNormaliser(c.status.field.Normalise)
	}
	if i := spec.FieldIndex("amount"); i >= 0 && spec.Fields[i].Type == rules.Decimal {
		c.amount = i
	}
	if p.src.Controls != nil {
		for _, f := range p.src.Controls.Fields() {
			c.controls = append(c.controls, spec.FieldIndex(f))
		}
		if by := p.src.Controls.By; by != nil {
			c.by = spec.FieldIndex(by.Field)
		}
	}
	if p.src.Pages != nil {
		c.page = refTo(header, p.src.Pages.Column, 0)
	}
	if e := p.src.Effects; e != nil {
		c.effects = newEffectPlan(e, l.identifies, c.fields, spec.FieldIndex)
	}
	c.tally = newTally(len(c.keys), len(c.controls))
	if p.src.Known != nil || len(p.src.Ties) > 0 || len(p.src.ZeroSums) > 0 {
		c.proofs = newProofs(p.src, p.sourceFields(), c.fields, spec.FieldIndex)
		c.tally.ofProofs(c.proofs)
	}
	c.bindColumns()
	return c
}

// compileKeys compiles the passes' keys as this side gives them, and the record id.
func (c *converter) compileKeys() {
	l := c.plan.layout
	compile := func(identity bool, on []rules.KeyPart) *key {
		parts := make([]rules.KeyPart, len(on))
		for j, part := range on {
			parts[j] = part
			parts[j].Operations = l.partField(part)
		}
		return newKey(c.fields, l.spec.FieldIndex, identity, parts...)
	}
	for _, p := range l.job.Match {
		k := compile(p.Identity, p.On)
		if p.Group != nil && len(p.Group.Same) > 0 {
			k.same = compile(false, p.Group.Same)
		}
		c.keys = append(c.keys, k)
	}
	if id := l.RecordID(); id != "" && (l.Derived("kx") == "" || l.Derived("hx") == "") {
		c.recordID = newKey(c.fields, l.spec.FieldIndex, true, rules.KeyPart{Operations: id})
	}
}

func (c *converter) compileCompared() {
	l := c.plan.layout
	for i, rule := range l.job.Compare {
		_, own := l.compareColumn(i)
		m := &compared{rule: rule, side: l.Side, own: own, status: l.HasStatus(),
			emptyIsNull: emptyIsNull(c.plan.src)}
		if j := l.spec.FieldIndex(l.compareField(rule)); j >= 0 {
			m.field = c.fields[j]
			m.steps = newNormaliser(m.field.field.Normalise, rule.Normalise)
		}
		for _, name := range rule.Fields {
			m.members = append(m.members, c.fields[l.spec.FieldIndex(name)])
		}
		c.compared = append(c.compared, m)
	}
}

// batch converts all records of b into one record batch of the layout, which is
// valid until the next call.
func (c *converter) batch(b *rawBatch) arrow.RecordBatch {
	n := b.len()
	for _, col := range c.columns {
		col.reset(n)
	}
	var rec rawRecord
	for c.at = range n {
		b.record(c.at, &rec)
		c.row(&rec)
	}
	arrays := make([]arrow.Array, len(c.columns))
	for i, col := range c.columns {
		arrays[i] = col.array(c.plan.schema.Field(i).Type, n)
		defer arrays[i].Release()
	}
	return array.NewRecordBatch(c.plan.schema, arrays, int64(n))
}

// row writes one record.
func (c *converter) row(rec *rawRecord) {
	for _, f := range c.order {
		f.read(rec, c.vals)
	}
	c.countControls()
	if c.proofs != nil {
		c.sumZero()
	}
	if c.plan.effects != nil {
		c.fold()
	}
	if c.proofs != nil {
		c.prove(rec)
	}
	st := c.statusOf()
	broken := c.setCompared(st)
	var bad, amb uint64
	for i := range c.vals {
		v := &c.vals[i]
		if v.bad {
			bad |= 1 << i
		}
		if v.ambiguous() {
			amb |= 1 << i
		}
	}
	o, at := &c.out, c.at
	o.rec.set(at, rec.no)
	for i := range c.vals {
		c.setField(&o.fields[i], c.fields[i], &c.vals[i])
	}
	o.bad.set(at, bad|broken)
	o.amb.set(at, amb)
	if o.st != nil {
		o.st.setString(at, st)
	}
	c.setKeys(rec.no)
	if o.pg != nil {
		if cell := c.page.of(rec); cell.Kind != CellNull {
			o.pg.set(at, cell.Text)
		} else {
			o.pg.clear(at)
		}
	}
	w1, w2 := c.print.of(rec)
	o.print[2].set(at, w1)
	o.print[3].set(at, w2)
	c.count()
}

// statusOf gives the canonical status by the declared map (V19).
func (c *converter) statusOf() string {
	if c.status == nil {
		return ""
	}
	v := &c.vals[c.status.index]
	if !v.null {
		m := c.status.field.Map
		if s, ok := m[string(v.text)]; ok {
			return string(s)
		}
		if !c.steps.none() {
			if s, ok := m[string(c.steps.apply(v.text))]; ok {
				return string(s)
			}
		}
	}
	return string(rules.Unmapped)
}

// setCompared writes the columns c<i> and the fingerprint of all of them. The
// bits that it returns mark fields that cannot be read as their comparison asks.
func (c *converter) setCompared(st string) (broken uint64) {
	b := c.token[:0]
	for i, m := range c.compared {
		t, null, never, bad := m.value(c.scratch[:0], c.vals, st)
		switch {
		case never:
			b = appendNeverToken(b, m.side)
		case null:
			b = append(b, tokenNull)
		default:
			b = appendValueToken(b, t)
		}
		if bad {
			broken |= 1 << m.field.index
		}
		if col := c.out.own[i]; col != nil {
			if null || never && m.rule.As != rules.AsFingerprint {
				col.clear(c.at)
			} else {
				col.set(c.at, t)
			}
		}
	}
	var p1, p2 uint64
	p1, p2, c.token = c.print.hash.ofOwn(b)
	c.out.print[0].set(c.at, p1)
	c.out.print[1].set(c.at, p2)
	return broken
}

// setField writes f_<field>, raw_<field> and late_<field>.
func (c *converter) setField(o *fieldColumns, f *fieldReader, v *value) {
	at := c.at
	gone := v.null || v.bad || v.never
	switch {
	case o.text != nil && o.raw == nil: // text, as found
		if v.null {
			o.text.clear(at)
		} else {
			o.text.set(at, v.text)
		}
		return
	case o.text != nil:
		// a currency, or a decimal without a declared scale
		if gone {
			o.text.clear(at)
		} else {
			o.text.set(at, f.canonical(v))
		}
	case o.num != nil:
		if gone {
			o.num.clear(at)
		} else {
			o.num.set(at, v.i)
		}
	case o.dec != nil:
		if gone {
			o.dec.clear(at)
		} else if n, ok := v.d.fixed(o.precision, o.scale); ok {
			o.dec.set(at, n)
		} else {
			o.dec.clear(at)
		}
	case o.date != nil:
		if gone {
			o.date.clear(at)
		} else {
			o.date.set(at, arrow.Date32(v.i))
		}
	case o.flag != nil:
		if gone {
			o.flag.null(at)
		} else {
			o.flag.set(at, v.b)
		}
	}
	if v.bad || v.ambiguous() {
		o.raw.set(at, v.text)
	} else {
		o.raw.clear(at)
	}
	if o.late != nil {
		if v.twice {
			o.late.set(at, v.late)
		} else {
			o.late.clear(at)
		}
	}
}

// setKeys writes k<i>, s<i>, h<i>, g<i>, kx and hx.
func (c *converter) setKeys(record int64) {
	for i, k := range c.keys {
		o := &c.out.keys[i]
		t, ok := k.text(c.scratch[:0], c.vals)
		c.setKey(o, t, ok)
		if ok {
			c.tally.key(i, t, record)
		}
		if k.same != nil {
			if t, ok := k.same.text(c.scratch[:0], c.vals); ok {
				o.same.set(c.at, t)
			} else {
				o.same.clear(c.at)
			}
		}
	}
	if c.recordID != nil {
		t, ok := c.recordID.text(c.scratch[:0], c.vals)
		c.setKey(&c.out.kx, t, ok)
	}
}

// setKey writes a canonical key and its fingerprint, as far as the staged file
// stores them.
func (c *converter) setKey(o *keyColumns, t []byte, ok bool) {
	at := c.at
	if !ok {
		if o.k != nil {
			o.k.clear(at)
		}
		if o.h != nil {
			o.h.clear(at)
		}
		if o.g != nil {
			o.g.clear(at)
		}
		return
	}
	if o.k != nil {
		o.k.set(at, t)
	}
	if o.h == nil {
		return
	}
	h, g := c.print.hash.of(t)
	o.h.set(at, h)
	if o.g != nil {
		o.g.set(at, g)
	}
}
