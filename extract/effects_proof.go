package extract

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// knownColumns are the columns that a source is known to have, those that its fields
// read among them, and the beginnings of names that are known as a whole.
func knownColumns(src *rules.Source, fields []rules.Field) (known map[string]bool, below []string) {
	known = map[string]bool{}
	for _, c := range src.Known.Columns {
		if prefix, ok := strings.CutSuffix(c, "*"); ok {
			below = append(below, prefix)
			c = strings.TrimSuffix(prefix, ".")
		}
		known[c] = true
	}
	for _, c := range neededColumns(src, fields) {
		if c.name != "" {
			known[c.name] = true
		}
	}
	return known, below
}

// isKnown tells whether a column is among them.
func isKnown(name string, known map[string]bool, below []string) bool {
	return known[name] || slices.ContainsFunc(below, func(p string) bool { return strings.HasPrefix(name, p) })
}

// prove counts what the declared proofs of the source say of one record.
func (c *converter) prove(rec *rawRecord) {
	p, t := c.proofs, c.tally
	for i := range p.ties {
		if !p.ties[i].holds(c.fields, c.vals) {
			tie := &t.ties[i]
			if tie.Broken++; tie.Broken == 1 || rec.no < tie.FirstRecord {
				tie.FirstRecord = rec.no
			}
		}
	}
	for i := range p.known {
		k := &p.known[i]
		v := &c.vals[k.field]
		if !v.null && (k.texts[string(v.text)] || !k.steps.none() && k.texts[string(k.steps.apply(v.text))]) {
			continue
		}
		text := string(v.text)
		if v.null {
			text = ""
		}
		t.unknown[i].add(text, rec.no)
	}
	if p.members == nil {
		return
	}
	for i := range rec.extra {
		name := rec.extra[i].Name
		if !isKnown(name, p.members, p.below) && len(t.members) < listedMembers {
			t.members[name] = true
		}
	}
}

// listedMembers bounds the list of unknown members of a file.
const listedMembers = 100

// holds checks one equation. Unreadable values are surfaced as such (V20); there is
// nothing to check then.
func (t *tieFields) holds(fields []*fieldReader, vals []value) bool {
	total := &vals[t.total]
	if total.null || total.bad {
		return true
	}
	for _, i := range t.same {
		a, b := &vals[t.same[0]], &vals[i]
		if !a.plain() || !b.plain() || !bytes.Equal(fields[t.same[0]].canonical(a), fields[i].canonical(b)) {
			return true
		}
	}
	var sum dec
	ok, any := true, false
	for side, list := range [2][]int{t.plus, t.minus} {
		for _, i := range list {
			v := &vals[i]
			if v.bad {
				return true
			}
			if v.null || !ok {
				continue
			}
			any = true
			d := v.d
			d.neg = d.neg != (side == 1) && !d.isZero()
			sum, ok = sum.plus(d)
		}
	}
	return !any || ok && sum == total.d
}

// sumZero adds the record to the sums that should be zero. It is called before parts
// are added to their effects, which changes no sum over all records but may move a
// value from one field to another.
func (c *converter) sumZero() {
	for i := range c.proofs.zero {
		z := &c.proofs.zero[i]
		b := c.token[:0]
		for _, f := range z.per {
			switch v := &c.vals[f]; {
			case v.null:
				b = append(b, tokenNull)
			case !v.plain():
				b = appendNeverToken(b, c.plan.layout.Side)
			default:
				b = appendValueToken(b, c.fields[f].canonical(v))
			}
		}
		c.token = b
		sum := c.tally.zero[i][string(b)]
		if sum == nil {
			sum = &totalSum{}
			c.tally.zero[i][string(b)] = sum
		}
		sum.rows++
		switch v := &c.vals[z.field]; {
		case v.bad:
			sum.unreadable++
		case !v.null:
			sum.sum.add(v.d)
		}
	}
}

func (u *unknownTally) add(text string, record int64) {
	if u.Records++; u.Records == 1 || record < u.FirstRecord {
		u.FirstRecord = record
	}
	if len(text) > listedText {
		text = strings.ToValidUTF8(text[:listedText], "") + "…"
	}
	if len(u.Texts) < listedTexts && !slices.Contains(u.Texts, text) {
		u.Texts = append(u.Texts, text)
	}
}

// merge adds the counts of another converter of the same file.
func (u *unknownTally) merge(o *unknownTally) {
	if o.Records == 0 {
		return
	}
	if u.Records == 0 || o.FirstRecord < u.FirstRecord {
		u.FirstRecord = o.FirstRecord
	}
	u.Records += o.Records
	for _, t := range o.Texts {
		if !slices.Contains(u.Texts, t) {
			u.Texts = append(u.Texts, t)
		}
	}
}

// sorted cuts the list to the same texts whatever the order of the batches, as far
// as there are no more than are listed.
func (u *unknownTally) sorted() unknownTally {
	slices.Sort(u.Texts)
	u.Texts = u.Texts[:min(len(u.Texts), listedTexts)]
	return *u
}

// judgeProofs refuses a file in which a declared equation fails, or a sum that
// should be zero is not.
func judgeProofs(f *foundFile, s *sidecar) error {
	for i, t := range f.source.Ties {
		if i >= len(s.Ties) || s.Ties[i].Broken == 0 {
			continue
		}
		e := fail.New(fail.Input, "%s: record %d: %s is not %s", f.rel, s.Ties[i].FirstRecord, t.Total, equation(t))
		if n := s.Ties[i].Broken; n > 1 {
			e.Msg += fmt.Sprintf("; so it is in %d records", n)
		}
		return e.WithHint("the file contradicts itself, or `ties` in the job file (or its preset) is not how its sender adds up")
	}
	if len(s.Rejects) > 0 {
		return nil // the rejected records are in the sums (V36)
	}
	for i, z := range f.source.ZeroSums {
		if i >= len(s.Zero) {
			continue
		}
		for _, sum := range s.Zero[i] {
			if sum.rat().Sign() == 0 && sum.Unreadable == 0 {
				continue
			}
			e := fail.New(fail.Input, "%s: the sum of %s is %s over %d records, it must be zero", f.rel, z.Field, sum.Sum, sum.Rows)
			if len(z.Per) > 0 {
				e.Msg += " for each " + strings.Join(z.Per, " and ")
			}
			if sum.Unreadable > 0 {
				e.Msg += fmt.Sprintf("; %d values of %s cannot be read as declared", sum.Unreadable, z.Field)
			}
			return e.WithHint("the file is not whole: have it sent again")
		}
	}
	return nil
}

// equation is the right side of a tie, in words.
func equation(t rules.Tie) string {
	text := strings.Join(t.Plus, " + ")
	for _, m := range t.Minus {
		text += " − " + m
	}
	return strings.TrimSpace(text)
}

// remarkOptional reports columns that may be missing, and are.
func (l *loader) remarkOptional(src *rules.Source) {
	if src.Format == rules.FormatNDJSON || src.Format == rules.FormatJSON {
		return // a member may be missing in any record
	}
	l.of(src.Name, func(i int, s *staged) {
		var missing []string
		for _, c := range neededColumns(src, newStagePlan(l.layout, src).sourceFields()) {
			if c.optional && c.name != "" && !slices.Contains(s.Header, c.name) {
				missing = append(missing, c.name)
			}
		}
		if len(missing) > 0 {
			l.find("missing_column", l.found[i], "%s does not have %s, which may be missing: the fields that read it are null", l.found[i].rel, quoteList(missing))
		}
	})
}

// remarkKnown reports columns that the source is not known to have.
func (l *loader) remarkKnown(src *rules.Source) {
	if src.Known == nil || len(src.Known.Columns) == 0 {
		return
	}
	fields := newStagePlan(l.layout, src).sourceFields()
	known, below := knownColumns(src, fields)
	l.of(src.Name, func(i int, s *staged) {
		var unknown []string
		for _, h := range slices.Concat(s.Header, s.Members) {
			if !isKnown(h, known, below) && !slices.Contains(unknown, h) {
				unknown = append(unknown, h)
			}
		}
		if len(unknown) > 0 {
			l.find("unknown_column", l.found[i], "%s has columns that its source is not known to have, and that nothing reads: %s", l.found[i].rel, quoteList(unknown))
		}
	})
}

// checkKnown withdraws the coverage of a source with records of a kind that it is
// not known to have: what they say of an operation is not known either.
func (l *loader) checkKnown() {
	for _, src := range l.sources() {
		if src.Known == nil {
			continue
		}
		names := make([]string, 0, len(src.Known.Values))
		for n := range src.Known.Values {
			names = append(names, n)
		}
		slices.Sort(names)
		l.of(src.Name, func(i int, s *staged) {
			for k, u := range s.Unknown {
				if u.Records == 0 {
					continue
				}
				file := l.found[i].rel
				why := fmt.Sprintf("%s has %s with an unknown %s, the first is record %d", file, plural(int(u.Records), "record"), names[k], u.FirstRecord)
				texts := quoteList(u.Texts)
				if l.job.Redact.Fields[names[k]] != "" {
					texts = hiddenCell
				}
				l.find("unknown_kind", l.found[i], "%s: %s. They are judged as unmapped, never by a default; add them to known.values, to the map of the status or to a scope rule once it is known what they are",
					why, texts)
				if l.spoiled == nil {
					l.spoiled = map[string]string{}
				}
				if l.spoiled[src.Name] == "" {
					l.spoiled[src.Name] = why
				}
			}
		})
	}
}
