package extract

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
	if c.by < 0 {
		return
	}
	var key []byte
	if v := &c.vals[c.by]; v.plain() {
		key = c.fields[c.by].canonical(v)
	}
	g := c.tally.groups[string(key)]
	if g == nil {
		if len(c.tally.groups) >= maxControlGroups {
			return // such a file is refused
		}
		g = &groupTally{sums: make([]totalSum, len(c.controls))}
		c.tally.groups[string(key)] = g
	}
	g.rows++
	for i, f := range c.controls {
		if v := &c.vals[f]; !v.bad && !v.null {
			g.sums[i].sum.add(v.written())
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
	groups   map[string]*groupTally // by the value of Controls.By
	keys     []keyTally
	ties     []tieTally             // by Source.Ties
	unknown  []unknownTally         // by the sorted names of Known.Values
	zero     []map[string]*totalSum // by Source.ZeroSums
	members  map[string]bool        // that the source is not known to have
}

// groupTally is what is added up for one value of Controls.By.
type groupTally struct {
	rows int64
	sums []totalSum
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
		groups:   map[string]*groupTally{},
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
	for key, g := range o.groups {
		sum := t.groups[key]
		if sum == nil {
			t.groups[key] = g
			continue
		}
		sum.rows += g.rows
		for i := range g.sums {
			sum.sums[i].sum.merge(&g.sums[i].sum)
		}
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
