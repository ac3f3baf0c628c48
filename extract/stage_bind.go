package extract

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/recon-batch/recon-batch/rules"
)

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
	same *textColumn // of a pass by groups
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
		if k.same != nil {
			kc.same = text()
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
