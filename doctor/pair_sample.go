package doctor

import (
	"errors"
	"io"
	"math/big"
	"os"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// What is read of two files to see how their amounts go together.
const (
	sampleLeft  = 20_000
	sampleRight = 200_000
)

// sample calls take with the texts of the named columns of one file, record by record,
// up to most records. What cannot be read is left out.
func (l *look) sample(columns []string, most int, take func(texts []string)) error {
	f, err := os.Open(l.path)
	if err != nil {
		return fail.Wrap(fail.Input, err, "%s cannot be read", l.path)
	}
	defer f.Close()
	l.f = f
	defer func() { l.f = nil }()
	r, err := l.reader(l.src, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	header := r.Header()
	at := make([]int, len(columns))
	for i, name := range columns {
		at[i] = slices.Index(header, name)
	}
	texts := make([]string, len(columns))
	for n := 0; n < most; n++ {
		if n%4096 == 0 && l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if _, bad := errors.AsType[*extract.RecordError](err); bad {
			continue
		}
		if err != nil {
			return err
		}
		for i, name := range columns {
			texts[i] = ""
			if at[i] >= 0 {
				texts[i] = string(rec.Cells[at[i]].Text)
				continue
			}
			for j := range rec.Extra {
				if rec.Extra[j].Name == name {
					texts[i] = string(rec.Extra[j].Text)
				}
			}
		}
		take(texts)
	}
	return nil
}

// matched gives the texts of columns of both files for records with one key, where a
// key is in each file once. The pairs are at most sampleLeft.
func (p *Pair) matched(left, right []string, take func(left, right []string)) error {
	if len(p.keys) == 0 {
		return nil
	}
	var lk, rk []string
	for _, k := range p.keys {
		lk, rk = append(lk, k[0].Name), append(rk, k[1].Name)
	}
	type found struct {
		left, right []string
		n, m        int
	}
	n := len(p.keys)
	all := map[string]*found{}
	var order []*found
	err := p.Left.look.sample(slices.Concat(lk, left), sampleLeft, func(texts []string) {
		if key := strings.Join(texts[:n], "\x00"); strings.Trim(key, "\x00") != "" {
			f := all[key]
			if f == nil {
				f = &found{left: slices.Clone(texts[n:])}
				all[key], order = f, append(order, f)
			}
			f.n++
		}
	})
	if err != nil {
		return err
	}
	err = p.Right.look.sample(slices.Concat(rk, right), sampleRight, func(texts []string) {
		if f := all[strings.Join(texts[:n], "\x00")]; f != nil {
			f.right = slices.Clone(texts[n:])
			f.m++
		}
	})
	if err != nil {
		return err
	}
	for _, f := range order {
		if f.n == 1 && f.m == 1 {
			take(f.left, f.right)
		}
	}
	return nil
}

// numberOf reads a number as the marks of its column say; nil where it is none.
func numberOf(c *column, text string) *big.Rat {
	best, _ := c.bestNumber()
	if best == nil || text == "" {
		return nil
	}
	form := numberForms[best.form]
	one := extract.NewDecimals(rules.Field{DecimalMark: form.mark, GroupMark: form.group, Notation: []string{"parentheses", "trailing_minus"}}, nil)
	if _, ok := one.Add([]byte(text)); !ok {
		return nil
	}
	return one.Sum()
}

// oneAmount pairs the amount that only one side is known to have with the column of
// the other that holds the same numbers. Where there is none, neither side declares
// an amount: totals of one side alone would be a difference that does not exist.
func (p *Pair) oneAmount() error {
	for _, x := range []struct {
		has, lacks *Report
		flip       bool
	}{{p.Left, p.Right, false}, {p.Right, p.Left, true}} {
		if !x.has.look.gives("amount") || x.lacks.look.gives("amount") {
			continue
		}
		column := x.has.fieldColumns()["amount"]
		if p.opt.Compare == nil && x.lacks.look.d.preset == nil && x.has.Column(column) != nil && x.has.look.reads("amount", column) {
			twin, equal, of, err := p.twin(x.has.Column(column), x.has, x.lacks, x.flip)
			if err != nil {
				return err
			}
			if twin != nil {
				x.lacks.look.rebind("amount", twin)
				p.assume("%s of %s is the amount: it equals %s of %s in %s of %s with one key", quoted(twin.Name), quoted(x.lacks.File), quoted(column), quoted(x.has.File), grouped(equal), plural(of, "record"))
				return nil
			}
		}
		if x.has.look.d.preset != nil {
			return nil // the preset declares it
		}
		x.has.look.drop("amount")
		remedy := "declare `amount` on both sides, if there is one"
		if p.opt.Plain {
			if remedy = quoted(column) + "=COLUMN"; x.flip {
				remedy = "COLUMN=" + quoted(column)
			}
			remedy = "--compare " + remedy + " names it"
		}
		p.assume("no amount found in %s, so that no amounts are compared and none are added up: %s", quoted(x.lacks.File), remedy)
		return nil
	}
	return nil
}

// reads tells whether the field is one column.
func (l *look) reads(name, column string) bool {
	return slices.ContainsFunc(l.d.fields, func(f field) bool {
		v, ok := f.value.(pairs)
		if !ok || f.name != name {
			return false
		}
		c, _ := v.get("column")
		return c == column
	})
}

// drop takes a field out.
func (l *look) drop(name string) {
	l.d.fields = slices.DeleteFunc(l.d.fields, func(f field) bool { return f.name == name })
	if sums, ok := l.d.controls.get("sum"); ok {
		if rest := slices.DeleteFunc(slices.Clone(sums.(pairs)), func(q pair) bool { return q.key == name }); len(rest) > 0 {
			l.d.controls.set("sum", rest)
		} else {
			l.d.controls = slices.DeleteFunc(l.d.controls, func(q pair) bool { return q.key == "sum" })
		}
	}
	for i := range l.r.Columns {
		if c := &l.r.Columns[i]; c.Field == name {
			c.Field = ""
		}
	}
}

// twin finds the column of the other side that has the numbers of an amount in most
// records with one key.
func (p *Pair) twin(amount *Column, has, lacks *Report, flip bool) (best *Column, equal, of int64, err error) {
	var columns []*Column
	var names []string
	for i := range lacks.Columns {
		if c := &lacks.Columns[i]; (c.Field == "" || fieldPlace(c.Field) == len(roles)) && numberColumn(c) && !idName(c.Name) && !lacks.look.duplicate(c.Name) {
			columns, names = append(columns, c), append(names, c.Name)
		}
	}
	if len(columns) == 0 {
		return nil, 0, 0, nil
	}
	same := make([]int64, len(columns))
	left, right := []string{amount.Name}, names
	if flip {
		left, right = right, left
	}
	err = p.matched(left, right, func(l, r []string) {
		if flip {
			l, r = r, l
		}
		v := numberOf(has.look.column(amount), l[0])
		if v == nil {
			return
		}
		of++
		for i, text := range r {
			if w := numberOf(lacks.look.column(columns[i]), text); w != nil && v.Cmp(w) == 0 {
				same[i]++
			}
		}
	})
	for i, c := range columns {
		if same[i]*2 > of && same[i] > equal {
			best, equal = c, same[i]
		}
	}
	return best, equal, of, err
}

// signs looks whether the amounts of a bank's file have the signs that are opposite to
// those of the other side: money out is negative for a bank, and positive for who
// lists payouts.
func (p *Pair) signs() error {
	if slices.ContainsFunc(p.opt.Compare, func(spec string) bool { return strings.Contains(spec, "=") && strings.Contains(spec, "amount") }) {
		return nil // somebody chose the column
	}
	for _, x := range []struct{ bank, other *Report }{{p.Right, p.Left}, {p.Left, p.Right}} {
		l := x.bank.look
		if !rules.Format(l.d.format).Bank() || rules.Format(x.other.look.d.format).Bank() || !l.reads("amount", "amount") {
			continue
		}
		column := x.other.fieldColumns()["amount"]
		side, unsigned := x.bank.Column("side"), x.bank.Column("unsigned_amount")
		if column == "" || side == nil || unsigned == nil || !x.other.look.reads("amount", column) {
			continue
		}
		var opposite, of int64
		left, right := p.Left.Column(p.Left.fieldColumns()["amount"]), p.Right.Column(p.Right.fieldColumns()["amount"])
		err := p.matched([]string{left.Name}, []string{right.Name}, func(a, b []string) {
			v, w := numberOf(p.Left.look.column(left), a[0]), numberOf(p.Right.look.column(right), b[0])
			if v == nil || w == nil || v.Sign() == 0 || w.Sign() == 0 {
				return
			}
			if of++; v.Sign() != w.Sign() {
				opposite++
			}
		})
		if err != nil {
			return err
		}
		if of == 0 || opposite < of {
			return nil
		}
		for i := range l.d.fields {
			if f := &l.d.fields[i]; f.name == "amount" {
				f.value = pairs{{"column", "unsigned_amount"}, {"type", "decimal"}, {"sign_from", pairs{{"column", "side"}, {"positive", []string{"DBIT"}}, {"negative", []string{"CRDT"}}}}}
				f.comment = "GUESS, likely: money out is positive, as on the other side"
			}
		}
		p.assume("money out is positive in %s, and negative for the bank, in all of %s with one key: the amount of %s is its unsigned_amount, negative where the column side says CRDT",
			quoted(x.other.File), plural(of, "record"), quoted(x.bank.File))
		return nil
	}
	return nil
}

// bindAmount makes a named pair of columns the amount of both sides.
func (p *Pair) bindAmount(l, r *Column) {
	for _, x := range []struct {
		look *look
		c    *Column
	}{{p.Left.look, l}, {p.Right.look, r}} {
		switch {
		case x.c.Field == "amount":
		case rules.Format(x.look.d.format).Bank(): // the column as it is, without a sign from another
			x.look.drop("amount")
			x.c.Field = "amount"
			x.look.d.fields = append(x.look.d.fields, field{"amount", pairs{{"column", x.c.Name}, {"type", "decimal"}}, "compared"})
		default:
			x.look.rebind("amount", x.c)
		}
	}
}

// amountPair tells whether a named pair of columns is the amount.
func (p *Pair) amountPair(a, b *Column) bool {
	if !numberColumn(a) || !numberColumn(b) || slices.ContainsFunc(p.compare, func(l line) bool { return l.text == "- {field: amount}" }) {
		return false
	}
	if a.Field == "amount" || b.Field == "amount" {
		return true
	}
	none := p.Left.fieldColumns()["amount"] == "" && p.Right.fieldColumns()["amount"] == ""
	return none && (fieldOfName(a.Name) == "amount" || fieldOfName(b.Name) == "amount")
}
