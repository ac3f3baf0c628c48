package report

import "strconv"

// openItems carries the open items forward from the former run, with the dates on which
// they were first open, and what became of them.
func (x *workbook) openItems() {
	const items, amount = 3, 4
	note := "The open items (all queues but confirm) from the former run to this one: opening + new - cleared + changed = closing. Of the closing: the business date on which each case was first open."
	if c := x.s.Changes; c != nil {
		note += " The former run is " + c.RunID + " of " + c.BusinessDate + "."
	}
	s := x.sheet("Open items", note, sheetColumn{"currency", 9}, sheetColumn{"part", 28}, sheetColumn{"first open", 12}, sheetColumn{"items", 11}, sheetColumn{"amount", 20}, sheetColumn{checkColumn, 10},
		sheetColumn{"case", 34}, sheetColumn{"was", 36}, sheetColumn{"is", 36})
	for _, o := range x.s.Open {
		s.room(len(o.Carried) + 7)
		line := func(part string, sum OpenSum) {
			s.begin()
			s.text(o.Currency, styleText)
			s.sentence(part, styleText)
			s.skip(1)
			s.whole(sum.Items, styleCount)
			s.amount(sum.Amount, o.Currency, styleAmount)
		}
		d := max(decimalsOf(o.Opening.Amount), decimalsOf(o.New.Amount), decimalsOf(o.Cleared.Amount), decimalsOf(o.Changed.Amount), decimalsOf(o.Closing.Amount))
		texts := []string{o.Opening.Amount, o.New.Amount, o.Cleared.Amount, o.Changed.Amount, o.Closing.Amount}
		for _, c := range o.Carried {
			texts = append(texts, c.Amount)
			d = max(d, decimalsOf(c.Amount))
		}
		money := o.Closing.Amount != "" && d <= maxDecimals && heldSum(texts...)
		first := 0
		for _, p := range []struct {
			part string
			sum  OpenSum
		}{{"opening", o.Opening}, {"plus new", o.New}, {"less cleared", o.Cleared}, {"plus changed", o.Changed}} {
			line(p.part, p.sum)
			if first == 0 {
				first = s.row
			}
			s.end()
		}
		forward := func(col int) string {
			return s.ref(col, first) + "+" + s.ref(col, first+1) + "-" + s.ref(col, first+2) + "+" + s.ref(col, first+3)
		}
		line("closing", o.Closing)
		closing := s.row
		condition := forward(items) + "=" + s.ref(items, closing)
		if money {
			condition += "," + rounded(forward(amount)+"-"+s.ref(amount, closing), d) + "=0"
		}
		s.check("AND(" + condition + ")")
		s.end()
		from := s.row + 1
		for _, c := range o.Carried {
			part := "of it first open on"
			if c.Before {
				part = "of it first open on or before"
			}
			s.begin()
			s.text(o.Currency, styleText)
			s.sentence(part, styleText)
			s.day(c.Since)
			s.whole(c.Items, styleCount)
			s.amount(c.Amount, o.Currency, styleAmount)
			s.end()
		}
		if len(o.Carried) == 0 {
			continue
		}
		sum := func(col int) string { return "SUM(" + s.rows(col, from, closing+len(o.Carried)) + ")" }
		s.begin()
		s.text(o.Currency, styleText)
		s.sentence("sum of the dates", styleText)
		s.skip(1)
		s.formula(sum(items), strconv.FormatInt(o.Closing.Items, 10), styleSum)
		condition = s.ref(items, s.row) + "=" + s.ref(items, closing)
		if money {
			s.formula(rounded(sum(amount), d), o.Closing.Amount, styleTotal+max(d, x.minorDigits(o.Currency)))
			condition += "," + rounded(s.ref(amount, s.row)+"-"+s.ref(amount, closing), d) + "=0"
		} else {
			s.skip(1)
		}
		s.check("AND(" + condition + ")")
		s.end()
	}
	if c := x.s.Changes; c != nil {
		for _, k := range []struct {
			name string
			c    Change
		}{{"new", c.New}, {"gone", c.Gone}, {"of another queue, class or reason", c.Changed}, {"older, the same", c.Older}} {
			x.change(s, k.name, k.c)
		}
	}
	x.endSheet()
	x.columnCheck("open items: checks of the sheet", s, 5)
}

// change writes one kind of change with its samples.
func (x *workbook) change(s *sheet, name string, c Change) {
	s.begin()
	s.skip(1)
	s.sentence("since the former run: "+name, styleText)
	s.skip(1)
	s.whole(c.Items, styleCount)
	s.end()
	for _, m := range c.Amounts {
		s.begin()
		s.text(m.Currency, styleText)
		s.sentence(name+": with an amount", styleText)
		s.skip(1)
		s.whole(m.Items, styleCount)
		s.amount(m.Amount, m.Currency, styleAmount)
		s.end()
	}
	state := func(o *OpenState) {
		if o == nil {
			s.sentence("not open", styleText)
			return
		}
		s.text(o.Queue+": "+o.Class+"/"+o.Reason, styleText)
	}
	for _, e := range c.Samples {
		s.begin()
		s.text(e.Currency, styleText)
		s.sentence(name+": for example", styleText)
		s.day(e.Since)
		s.skip(1)
		s.amount(e.Amount, e.Currency, styleAmount)
		s.skip(1)
		s.text(e.CaseID, styleText)
		state(e.From)
		state(e.To)
		s.end()
	}
}

// ageing writes the open items by age.
func (x *workbook) ageing() {
	const items = 4
	s := x.sheet("Ageing", "The open items by their age at "+x.s.AsOf+". An age of unknown is none that is known; waiting: a source proves nothing for their time, and their age counts nowhere.",
		sheetColumn{"queue", 13}, sheetColumn{"age", 10}, sheetColumn{"from days", 10}, sheetColumn{"until days", 10}, sheetColumn{"items", 11}, sheetColumn{"currency", 9}, sheetColumn{"items with an amount", 11}, sheetColumn{"amount", 20}, sheetColumn{"items of the queue", 11}, sheetColumn{checkColumn, 10})
	days := func(secs *int64) {
		if secs == nil {
			s.skip(1)
			return
		}
		s.whole(*secs/daySecs, styleCount)
	}
	for _, q := range x.s.Queues {
		rows, n := 0, 0
		for _, b := range x.s.Ageing {
			if b.Queue == q.Queue {
				n++
				rows += max(1, len(b.Amounts))
			}
		}
		if n == 0 {
			continue
		}
		s.room(rows + 1)
		first := s.row + 1
		for _, b := range x.s.Ageing {
			if b.Queue != q.Queue {
				continue
			}
			for i := range max(1, len(b.Amounts)) {
				s.begin()
				s.text(b.Queue, styleText)
				s.text(b.Bucket, styleText)
				days(b.FromSecs)
				days(b.UntilSecs)
				if i == 0 {
					s.whole(b.Items, styleCount) // of all currencies, so that they add up
				} else {
					s.skip(1)
				}
				if i < len(b.Amounts) {
					m := b.Amounts[i]
					s.text(m.Currency, styleText)
					s.whole(m.Items, styleCount)
					s.amount(m.Amount, m.Currency, styleAmount)
				}
				s.end()
			}
		}
		last := s.row
		s.begin()
		s.text(q.Queue, styleText)
		s.sentence("all", styleText)
		s.skip(2)
		s.formula("SUM("+s.rows(items, first, last)+")", strconv.FormatInt(q.Items, 10), styleSum)
		s.skip(3)
		s.whole(q.Items, styleCount)
		s.check(s.ref(items, s.row) + "=" + s.ref(8, s.row))
		s.end()
	}
	x.endSheet()
	x.columnCheck("ageing: checks of the sheet", s, 9)
}

// queues writes what each queue has, by class and reason.
func (x *workbook) queues() {
	s := x.sheet("Queues", "What is proposed to be done. The items themselves are on the sheets Confirm to Close, for people; machines take the files in queues/. Ages are at "+x.s.AsOf+".",
		sheetColumn{"queue", 13}, sheetColumn{"written", 10}, sheetColumn{"what", 16}, sheetColumn{"reason", 28}, sheetColumn{"items", 11}, sheetColumn{"currency", 9}, sheetColumn{"amount", 20}, sheetColumn{"oldest hours", 13}, sheetColumn{"observe only", 10}, sheetColumn{"deferred", 10})
	for _, q := range x.s.Queues {
		written := "yes"
		if !q.Written {
			written = "withheld"
		}
		start := func(what, reason string, items int64) {
			s.begin()
			s.text(q.Queue, styleText)
			s.text(written, styleText)
			s.text(what, styleText)
			s.text(reason, styleText)
			s.whole(items, styleCount)
		}
		oldest := func(secs *int64) {
			if secs == nil {
				s.skip(1)
				return
			}
			s.amount(twoDecimals(*secs, 3600), "", styleAmount)
		}
		start("all", "", q.Items)
		s.skip(2)
		oldest(q.OldestSecs)
		s.whole(q.ObserveOnly, styleCount)
		s.whole(q.Deferred, styleCount)
		s.end()
		for _, m := range q.Amounts {
			start("with an amount", "", m.Items)
			s.text(m.Currency, styleText)
			s.amount(m.Amount, m.Currency, styleAmount)
			s.end()
		}
		for _, r := range q.Reasons {
			start(r.Class, r.Reason, r.Items)
			s.skip(2)
			oldest(r.OldestSecs)
			s.end()
		}
		for _, c := range q.Refused {
			start("refused check", c.Code, c.Items)
			s.end()
		}
	}
	x.endSheet()
}

// twoDecimals is a quotient with two decimals, rounded toward zero.
func twoDecimals(n, of int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	h := n/of*100 + n%of*100/of
	return sign + strconv.FormatInt(h/100, 10) + "." + strconv.Itoa(int(h%100/10)) + strconv.Itoa(int(h%10))
}
