package extract

import (
	"fmt"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/recon-batch/recon-batch/rules"
)

// stagePlan is everything that the conversion of one file follows from: the job,
// the source, and what the file's parts of effects add up to. It is immutable once
// records are converted.
type stagePlan struct {
	layout  *Layout
	src     *rules.Source
	schema  *arrow.Schema
	effects *effectIndex // of the file; nil where it has no parts of effects
}

func newStagePlan(layout *Layout, src *rules.Source) *stagePlan {
	return &stagePlan{layout: layout, src: src, schema: arrowSchema(layout)}
}

// sourceFields are the product fields as the source gives them.
func (p *stagePlan) sourceFields() []rules.Field {
	if len(p.src.Fields) == len(p.layout.spec.Fields) {
		return p.src.Fields
	}
	return p.layout.spec.Fields
}

func arrowSchema(l *Layout) *arrow.Schema {
	stored := l.Stored()
	fields := make([]arrow.Field, len(stored))
	for i, c := range stored {
		fields[i] = arrow.Field{Name: c.Name, Type: arrowType(c.Type), Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

func arrowType(t ColumnType) arrow.DataType {
	switch t {
	case ColText:
		return arrow.BinaryTypes.String
	case ColBigint:
		return arrow.PrimitiveTypes.Int64
	case ColHash:
		return arrow.PrimitiveTypes.Uint64
	case ColBoolean:
		return arrow.FixedWidthTypes.Boolean
	case ColDate:
		return arrow.FixedWidthTypes.Date32
	case ColInteger:
		return &arrow.Decimal128Type{Precision: maxDigits, Scale: 0}
	default: // DECIMAL(28,s)
		var precision, scale int32
		if _, err := fmt.Sscanf(string(t), "DECIMAL(%d,%d)", &precision, &scale); err != nil {
			panic(fmt.Sprintf("column type %s: %v", t, err)) // a fault of Layout, not of data
		}
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}
	}
}

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

// outColumns are the layout's columns, typed and in its order.
type outColumns struct {
	rec    *fixedColumn[int64]
	fields []fieldColumns
	bad    *fixedColumn[uint64]
	amb    *fixedColumn[uint64]
	st     *textColumn
	keys   []keyColumns
	kx     keyColumns
	own    []*textColumn // by comparison; nil where it has no column of its own
	pg     *textColumn
	print  [4]*fixedColumn[uint64] // p1, p2, w1, w2
}

type fieldColumns struct {
	text *textColumn
	num  *fixedColumn[int64]
	dec  *fixedColumn[decimal128.Num]
	date *fixedColumn[arrow.Date32]
	flag *flagColumn
	raw  *textColumn
	late *fixedColumn[int64]

	precision, scale int // of dec
}

type keyColumns struct {
	k    *textColumn
	h, g *fixedColumn[uint64]
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
		for _, s := range p.src.Controls.Sums {
			c.controls = append(c.controls, spec.FieldIndex(s.Field))
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
	for _, p := range l.job.Match {
		parts := make([]rules.KeyPart, len(p.On))
		for j, part := range p.On {
			parts[j] = part
			parts[j].Operations = l.partField(part)
		}
		c.keys = append(c.keys, newKey(c.fields, l.spec.FieldIndex, p.Identity, parts...))
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

// bindColumns makes the columns, walking the layout in its order.
func (c *converter) bindColumns() {
	l := c.plan.layout
	take := func(made column) {
		c.columns = append(c.columns, made)
	}
	hash := func() *fixedColumn[uint64] { h := &fixedColumn[uint64]{}; take(h); return h }
	number := func() *fixedColumn[int64] { n := &fixedColumn[int64]{}; take(n); return n }
	text := func() *textColumn { t := &textColumn{}; take(t); return t }
	o := &c.out
	o.rec = number()
	for _, f := range l.spec.Fields {
		var fc fieldColumns
		switch t := c.plan.schema.Field(len(c.columns)).Type.(type) {
		case *arrow.StringType:
			fc.text = text()
		case *arrow.Int64Type:
			fc.num = number()
		case *arrow.Decimal128Type:
			fc.dec = &fixedColumn[decimal128.Num]{}
			take(fc.dec)
			fc.precision, fc.scale = int(t.Precision), int(t.Scale)
		case *arrow.Date32Type:
			fc.date = &fixedColumn[arrow.Date32]{}
			take(fc.date)
		case *arrow.BooleanType:
			fc.flag = &flagColumn{}
			take(fc.flag)
		}
		if f.Type != rules.Text {
			fc.raw = text()
		}
		if f.Type == rules.Timestamp {
			fc.late = number()
		}
		o.fields = append(o.fields, fc)
	}
	o.bad, o.amb = hash(), hash()
	if l.HasStatus() {
		o.st = text()
	}
	for i, k := range c.keys {
		var kc keyColumns
		if l.Derived(fmt.Sprintf("k%d", i)) == "" {
			kc.k = text()
		}
		if k.identity {
			kc.h, kc.g = hash(), hash()
		}
		o.keys = append(o.keys, kc)
	}
	if c.recordID != nil {
		if l.Derived("kx") == "" {
			o.kx.k = text()
		}
		if l.Derived("hx") == "" {
			o.kx.h = hash()
		}
	}
	for _, m := range c.compared {
		var b *textColumn
		if m.own {
			b = text()
		}
		o.own = append(o.own, b)
	}
	if l.HasPages() {
		o.pg = text()
	}
	for i := range o.print {
		o.print[i] = hash()
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

// setKeys writes k<i>, h<i>, g<i>, kx and hx.
func (c *converter) setKeys(record int64) {
	for i, k := range c.keys {
		o := &c.out.keys[i]
		t, ok := k.text(c.scratch[:0], c.vals)
		c.setKey(o, t, ok)
		if ok {
			c.tally.key(i, t, record)
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

// count adds the record to the totals.
func (c *converter) count() {
	t := c.tally
	t.rows++
	if c.amount >= 0 {
		var code []byte
		if c.currency >= 0 {
			code = c.currencyOf()
		}
		sum := t.total(code)
		sum.rows++
		switch v := &c.vals[c.amount]; {
		case v.bad:
			sum.unreadable++
		case !v.null:
			sum.sum.add(v.d)
		}
	}
}

// countControls adds the record to the control sums, as the file writes it.
func (c *converter) countControls() {
	for i, f := range c.controls {
		switch v := &c.vals[f]; {
		case v.bad:
			c.tally.controls[i].unreadable++
		case !v.null:
			c.tally.controls[i].sum.add(v.written())
		}
	}
}

// currencyOf is the text of f_currency, so that the totals of extraction and those
// of the engine group alike; empty where that is NULL.
func (c *converter) currencyOf() []byte { return c.codeOf(c.currency) }

// codeOf is the text of a field that holds a currency.
func (c *converter) codeOf(field int) []byte {
	switch v := &c.vals[field]; {
	case v.null || v.bad:
		return nil
	case c.fields[field].kind == kindCurrency:
		return v.code[:]
	default:
		return v.text
	}
}

// tally is what a converter counts beside the rows.
type tally struct {
	rows     int64
	totals   map[string]*totalSum
	recent   [8]*totalSum // of the currencies met last: most files have few
	next     int          // the one to be replaced
	controls []totalSum
	keys     []keyTally
	ties     []tieTally             // by Source.Ties
	unknown  []unknownTally         // by the sorted names of Known.Values
	zero     []map[string]*totalSum // by Source.ZeroSums
	members  map[string]bool        // that the source is not known to have
}

type totalSum struct {
	currency         string
	rows, unreadable int64
	sum              decSum
}

// keyTally counts the usable keys of one pass, and those that look like numbers in
// scientific notation.
type keyTally struct {
	Filled      int64
	Scientific  int64
	FirstRecord int64 // of the scientific ones
}

func newTally(keys, controls int) *tally {
	return &tally{
		totals:   map[string]*totalSum{},
		controls: make([]totalSum, controls),
		keys:     make([]keyTally, keys),
	}
}

// ofProofs makes room for what the proofs count.
func (t *tally) ofProofs(p *proofs) {
	t.ties, t.unknown = make([]tieTally, len(p.ties)), make([]unknownTally, len(p.known))
	t.members = map[string]bool{}
	for range p.zero {
		t.zero = append(t.zero, map[string]*totalSum{})
	}
}

func (t *tally) total(code []byte) *totalSum {
	for _, r := range t.recent {
		if r != nil && r.currency == string(code) {
			return r
		}
	}
	s := t.totals[string(code)]
	if s == nil {
		s = &totalSum{currency: string(code)}
		t.totals[s.currency] = s
	}
	t.recent[t.next] = s
	t.next = (t.next + 1) % len(t.recent)
	return s
}

func (t *tally) key(i int, text []byte, record int64) {
	k := &t.keys[i]
	k.Filled++
	if text[0] <= '9' && looksScientific(text) {
		if k.Scientific == 0 || record < k.FirstRecord {
			k.FirstRecord = record
		}
		k.Scientific++
	}
}

// merge adds the counts of another converter of the same file.
func (t *tally) merge(o *tally) {
	t.rows += o.rows
	for code, s := range o.totals {
		sum := t.total([]byte(code))
		sum.rows += s.rows
		sum.unreadable += s.unreadable
		sum.sum.merge(&s.sum)
	}
	for i := range o.controls {
		t.controls[i].unreadable += o.controls[i].unreadable
		t.controls[i].sum.merge(&o.controls[i].sum)
	}
	for i, k := range o.keys {
		if k.Scientific > 0 && (t.keys[i].Scientific == 0 || k.FirstRecord < t.keys[i].FirstRecord) {
			t.keys[i].FirstRecord = k.FirstRecord
		}
		t.keys[i].Filled += k.Filled
		t.keys[i].Scientific += k.Scientific
	}
	t.mergeProofs(o)
}

// mergeProofs is the part of merge that concerns the proofs.
func (t *tally) mergeProofs(o *tally) {
	for i, b := range o.ties {
		a := &t.ties[i]
		if b.Broken > 0 && (a.Broken == 0 || b.FirstRecord < a.FirstRecord) {
			a.FirstRecord = b.FirstRecord
		}
		a.Broken += b.Broken
	}
	for i := range o.unknown {
		t.unknown[i].merge(&o.unknown[i])
	}
	for i := range o.zero {
		for k, s := range o.zero[i] {
			sum := t.zero[i][k]
			if sum == nil {
				t.zero[i][k] = s
				continue
			}
			sum.rows += s.rows
			sum.unreadable += s.unreadable
			sum.sum.merge(&s.sum)
		}
	}
	for m := range o.members {
		t.members[m] = true
	}
}

// merge adds another sum.
func (s *decSum) merge(o *decSum) {
	if s.spilled == nil {
		s.spilled = new(big.Rat)
	}
	s.spilled.Add(s.spilled, o.rat())
}
