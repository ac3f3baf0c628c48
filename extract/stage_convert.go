package extract

import (
	"fmt"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recon-batch/recon-batch/rules"
)

// stagePlan is everything that the conversion of one file follows from: the job,
// the source, and the header of the file. It is immutable.
type stagePlan struct {
	layout *Layout
	src    *rules.Source
	schema *arrow.Schema
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
	order    []*fieldReader // in the order of reading: a currency before its minor units
	vals     []value
	keys     []*key
	recordID *key
	samePass int // identity pass whose key is the record id itself; -1
	compared []*compared
	print    *recordPrint
	page     cellRef
	status   *fieldReader // results with a mapped status
	steps    *normaliser  // of the status
	amount   int          // field index of a decimal amount; -1
	currency int          // field index of the currency; -1
	controls []int        // field indexes of the control sums
	tally    *tally

	build   *array.RecordBuilder
	out     outColumns
	texts   []*array.StringBuilder
	sizes   []int // bytes of each text column in the batch before, as the next one's first size
	scratch []byte
	token   []byte
}

// outColumns are the builders of the layout's columns, typed and in its order.
type outColumns struct {
	rec    *array.Int64Builder
	fields []fieldColumns
	bad    *array.Uint64Builder
	amb    *array.Uint64Builder
	st     *array.StringBuilder
	keys   []keyColumns
	kx     keyColumns
	own    []*array.StringBuilder // by comparison; nil where it has no column of its own
	pg     *array.StringBuilder
	print  [4]*array.Uint64Builder // p1, p2, w1, w2
}

type fieldColumns struct {
	text *array.StringBuilder
	num  *array.Int64Builder
	dec  *array.Decimal128Builder
	date *array.Date32Builder
	flag *array.BooleanBuilder
	raw  *array.StringBuilder
	late *array.Int64Builder

	precision, scale int // of dec
}

type keyColumns struct {
	k    *array.StringBuilder
	h, g *array.Uint64Builder
}

func newConverter(p *stagePlan, header []string, mem memory.Allocator) *converter {
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
		build:    array.NewRecordBuilder(mem, p.schema),
		scratch:  make([]byte, 0, 256),
	}
	for i, f := range p.sourceFields() {
		c.fields[i] = newFieldReader(p.src, f, spec.Fields[i], i, header, spec.FieldIndex)
	}
	for _, f := range c.fields {
		if f.minorOf < 0 {
			c.order = append(c.order, f)
		}
	}
	for _, f := range c.fields {
		if f.minorOf >= 0 {
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
	c.tally = newTally(len(c.keys), len(c.controls))
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
			if l.Side == rules.Results {
				parts[j].Operations = part.Results
			}
		}
		c.keys = append(c.keys, newKey(c.fields, l.spec.FieldIndex, p.Identity, parts...))
	}
	c.samePass = -1
	id := l.RecordID()
	if id == "" {
		return
	}
	c.recordID = newKey(c.fields, l.spec.FieldIndex, true, rules.KeyPart{Operations: id})
	for i, k := range c.keys {
		if k.identity && len(k.parts) == 1 && !k.parts[0].nullable && k.parts[0].field == c.recordID.parts[0].field {
			c.samePass = i
		}
	}
}

func (c *converter) compileCompared() {
	l := c.plan.layout
	for i, rule := range l.job.Compare {
		_, own := l.compareColumn(i)
		m := &compared{rule: rule, side: l.Side, own: own, status: l.HasStatus(),
			emptyIsNull: c.plan.src.Format == rules.FormatCSV && c.plan.src.CSV.EmptyText != "quoted_is_text"}
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

// bindColumns finds the builder of each column, walking the layout in its order.
func (c *converter) bindColumns() {
	l := c.plan.layout
	next := 0
	take := func() array.Builder {
		b := c.build.Field(next)
		next++
		return b
	}
	hash := func() *array.Uint64Builder { return take().(*array.Uint64Builder) }
	text := func() *array.StringBuilder { return take().(*array.StringBuilder) }
	for _, b := range c.build.Fields() {
		if b, ok := b.(*array.StringBuilder); ok {
			c.texts = append(c.texts, b)
		}
	}
	c.sizes = make([]int, len(c.texts))
	o := &c.out
	o.rec = take().(*array.Int64Builder)
	for _, f := range l.spec.Fields {
		var fc fieldColumns
		switch b := take().(type) {
		case *array.StringBuilder:
			fc.text = b
		case *array.Int64Builder:
			fc.num = b
		case *array.Decimal128Builder:
			fc.dec = b
			t := b.Type().(*arrow.Decimal128Type)
			fc.precision, fc.scale = int(t.Precision), int(t.Scale)
		case *array.Date32Builder:
			fc.date = b
		case *array.BooleanBuilder:
			fc.flag = b
		}
		if f.Type != rules.Text {
			fc.raw = text()
		}
		if f.Type == rules.Timestamp {
			fc.late = take().(*array.Int64Builder)
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
		o.kx.h = hash()
	}
	for _, m := range c.compared {
		var b *array.StringBuilder
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

// release lets go of the builders.
func (c *converter) release() { c.build.Release() }

// batch converts all records of b into one record batch of the layout.
func (c *converter) batch(b *rawBatch) arrow.RecordBatch {
	c.build.Reserve(b.len())
	for i, t := range c.texts {
		t.ReserveData(c.sizes[i])
	}
	var rec rawRecord
	for i := range b.len() {
		b.record(i, &rec)
		c.row(&rec)
	}
	for i, t := range c.texts {
		c.sizes[i] = t.DataLen()
	}
	return c.build.NewRecordBatch()
}

// row appends one record.
func (c *converter) row(rec *rawRecord) {
	for _, f := range c.order {
		f.read(rec, c.vals)
	}
	st := c.statusOf()
	broken := c.appendCompared(st)
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
	o := &c.out
	o.rec.UnsafeAppend(rec.no)
	for i := range c.vals {
		c.appendField(&o.fields[i], &c.vals[i])
	}
	o.bad.UnsafeAppend(bad | broken)
	o.amb.UnsafeAppend(amb)
	if o.st != nil {
		o.st.Append(st)
	}
	c.appendKeys(rec.no)
	if o.pg != nil {
		if cell := c.page.of(rec); cell.Kind != CellNull {
			o.pg.BinaryBuilder.Append(cell.Text)
		} else {
			o.pg.AppendNull()
		}
	}
	w1, w2 := c.print.of(rec)
	o.print[2].UnsafeAppend(w1)
	o.print[3].UnsafeAppend(w2)
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

// appendCompared appends the columns c<i> and the fingerprint of all of them. The
// bits that it returns mark fields that cannot be read as their comparison asks.
func (c *converter) appendCompared(st string) (broken uint64) {
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
				col.AppendNull()
			} else {
				col.BinaryBuilder.Append(t)
			}
		}
	}
	c.token = b
	p1, p2 := fingerprint(b)
	c.out.print[0].UnsafeAppend(p1)
	c.out.print[1].UnsafeAppend(p2)
	return broken
}

// appendField appends f_<field>, raw_<field> and late_<field>.
func (c *converter) appendField(o *fieldColumns, v *value) {
	gone := v.null || v.bad || v.never
	switch {
	case o.text != nil && o.raw == nil: // text, as found
		if v.null {
			o.text.AppendNull()
		} else {
			o.text.BinaryBuilder.Append(v.text)
		}
		return
	case o.text != nil:
		c.appendTyped(o.text, v, gone)
	case o.num != nil:
		if gone {
			o.num.AppendNull()
		} else {
			o.num.UnsafeAppend(v.i)
		}
	case o.dec != nil:
		if n, ok := v.d.fixed(o.precision, o.scale); ok && !gone {
			o.dec.UnsafeAppend(n)
		} else {
			o.dec.AppendNull()
		}
	case o.date != nil:
		if gone {
			o.date.AppendNull()
		} else {
			o.date.UnsafeAppend(arrow.Date32(v.i))
		}
	case o.flag != nil:
		if gone {
			o.flag.AppendNull()
		} else {
			o.flag.UnsafeAppend(v.b)
		}
	}
	if v.bad || v.ambiguous() {
		o.raw.BinaryBuilder.Append(v.text)
	} else {
		o.raw.AppendNull()
	}
	if o.late != nil {
		if v.twice {
			o.late.UnsafeAppend(v.late)
		} else {
			o.late.AppendNull()
		}
	}
}

// appendTyped appends a value that is staged as text: a currency, or a decimal
// without a declared scale in canonical form.
func (c *converter) appendTyped(o *array.StringBuilder, v *value, gone bool) {
	switch {
	case gone:
		o.AppendNull()
	case v.code != [3]byte{}:
		o.BinaryBuilder.Append(v.code[:])
	default:
		o.BinaryBuilder.Append(v.d.appendText(c.scratch[:0]))
	}
}

// text appends the canonical key, where the staged file stores it.
func (k *keyColumns) text(t []byte, ok bool) {
	switch {
	case k.k == nil:
	case ok:
		k.k.BinaryBuilder.Append(t)
	default:
		k.k.AppendNull()
	}
}

// appendKeys appends k<i>, h<i>, g<i>, kx and hx.
func (c *converter) appendKeys(record int64) {
	var same uint64
	for i, k := range c.keys {
		o := &c.out.keys[i]
		t, ok := k.text(c.scratch[:0], c.vals)
		o.text(t, ok)
		if !ok {
			if k.identity {
				o.h.AppendNull()
				o.g.AppendNull()
			}
			continue
		}
		c.tally.key(i, t, record)
		if k.identity {
			h, g := fingerprint(t)
			o.h.UnsafeAppend(h)
			o.g.UnsafeAppend(g)
			if i == c.samePass {
				same = h
			}
		}
	}
	if c.recordID == nil {
		return
	}
	o := &c.out.kx
	t, ok := c.recordID.text(c.scratch[:0], c.vals)
	o.text(t, ok)
	if !ok {
		o.h.AppendNull()
		return
	}
	if c.samePass < 0 {
		same, _ = fingerprint(t)
	}
	o.h.UnsafeAppend(same)
}

// count adds the record to the totals and control sums.
func (c *converter) count() {
	t := c.tally
	t.rows++
	if c.amount >= 0 {
		code := ""
		if c.currency >= 0 {
			code = t.intern(c.currencyOf(&c.vals[c.currency]))
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
	for i, f := range c.controls {
		switch v := &c.vals[f]; {
		case v.bad:
			t.controls[i].unreadable++
		case !v.null:
			t.controls[i].sum.add(v.written())
		}
	}
}

// currencyOf is the text of f_currency, so that the totals of extraction and those
// of the engine group alike; empty where that is NULL.
func (c *converter) currencyOf(v *value) []byte {
	switch {
	case v.null || v.bad:
		return nil
	case c.fields[c.currency].field.Type == rules.Currency:
		return v.code[:]
	default:
		return v.text
	}
}

// tally is what a converter counts beside the rows.
type tally struct {
	rows     int64
	totals   map[string]*totalSum
	last     string // the currency of the record before: most files have runs of one
	lastSum  *totalSum
	controls []totalSum
	keys     []keyTally
}

type totalSum struct {
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

func (t *tally) intern(code []byte) string {
	if string(code) == t.last {
		return t.last
	}
	return string(code)
}

func (t *tally) total(code string) *totalSum {
	if t.lastSum != nil && code == t.last {
		return t.lastSum
	}
	s := t.totals[code]
	if s == nil {
		s = &totalSum{}
		t.totals[code] = s
	}
	t.last, t.lastSum = code, s
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
		sum := t.total(code)
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
}

// merge adds another sum.
func (s *decSum) merge(o *decSum) {
	if s.spilled == nil {
		s.spilled = new(big.Rat)
	}
	s.spilled.Add(s.spilled, o.rat())
}
