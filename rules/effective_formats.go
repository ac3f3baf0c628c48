package rules

import "strconv"

// containers writes the mappings of a source for its container and record kinds.
func (t *tree) containers(s *Source) {
	t.bank(s.Bank, s.Format)
	if z := s.Zip; z != nil {
		t.sub("zip", func(t *tree) {
			t.text("member", z.Member)
			t.texts("ignore", z.Ignore)
		})
	}
	if f := s.Fixed; f != nil {
		t.sub("fixed", func(t *tree) { t.fixed(f, s) })
	} else if y := s.Typed; y != nil {
		t.sub("typed", func(t *tree) {
			t.integer("field", int64(y.Field))
			t.typed(y)
		})
	}
	if x := s.XLSX; x != nil {
		t.sub("xlsx", func(t *tree) { t.xlsx(x) })
	}
	if x := s.XML; x != nil {
		t.sub("xml", func(t *tree) {
			t.text("path", x.Path)
			t.sub("carry", func(t *tree) {
				for _, c := range x.Carry {
					t.text(c.Column, c.Path)
				}
			})
			t.texts("trailer", x.Trailer)
			t.text("encoding", x.Encoding)
		})
	}
}

func (t *tree) fixed(f *Fixed, s *Source) {
	t.integer("line_length", int64(f.LineLength))
	t.text("line_end", f.LineEnd)
	t.text("encoding", f.Encoding)
	t.text("trim", f.Trim)
	t.text("decimal", string(rune(s.CSV.Decimal)))
	if s.CSV.Group == 0 {
		t.text("group", "none")
	} else {
		t.text("group", string(rune(s.CSV.Group)))
	}
	t.text("padding", f.Padding)
	if f.KindAt.From == 0 {
		t.ranges(&s.Typed.Kinds[0])
		return
	}
	t.text("kind", f.KindAt.String())
	t.typed(s.Typed)
}

func (t *tree) typed(y *Typed) {
	t.text("column", y.Column)
	t.text("first", y.First)
	t.text("last", y.Last)
	t.list("kinds", len(y.Kinds), func(i int, t *tree) { t.kind(&y.Kinds[i]) })
}

func (t *tree) kind(k *RecordKind) {
	t.text("kind", k.Kind)
	t.text("as", string(k.As))
	if k.Ranges != nil {
		t.ranges(k)
	} else {
		t.texts("columns", k.Columns)
	}
	t.texts("of", k.Of)
	t.sub("carry", func(t *tree) {
		for _, c := range k.Carry {
			t.fieldRef(c.Column, c.From)
		}
	})
	t.text("since", k.Since)
	if b := k.By; b != nil {
		t.sub("by", func(t *tree) {
			t.fieldRef("field", b.At)
			t.text("column", b.Column)
		})
	}
	if c := k.Count; c != nil {
		t.sub("count", func(t *tree) {
			t.fieldRef("field", c.At)
			t.texts("of", c.Of)
			t.boolean("lines", c.Lines)
		})
	}
	t.list("sums", len(k.Sums), func(i int, t *tree) {
		s := &k.Sums[i]
		t.fieldRef("field", s.At)
		t.text("column", s.Column)
		t.texts("of", s.Of)
		textMap(t, "where", s.Where)
		textMap(t, "minus", s.Minus)
		t.text("tolerance", s.Tolerance)
	})
}

func (t *tree) fieldRef(key string, r FieldRef) {
	if r.Position > 0 {
		t.integer(key, int64(r.Position))
	} else {
		t.text(key, r.Name)
	}
}

func (t *tree) ranges(k *RecordKind) {
	t.sub("columns", func(t *tree) {
		for i, name := range k.Columns {
			t.text(name, k.Ranges[i].String())
		}
	})
}

// String writes the range as in a job file.
func (b Bytes) String() string {
	if b.From == b.To {
		return strconv.Itoa(b.From)
	}
	return strconv.Itoa(b.From) + "-" + strconv.Itoa(b.To)
}

func (t *tree) xlsx(x *XLSX) {
	t.text("sheet", x.Sheet)
	if x.HeaderRow >= 0 {
		t.integer("header_row", int64(x.HeaderRow))
	}
	t.texts("columns", x.Columns)
	t.text("header_names", x.HeaderNames)
	t.text("range", x.Range)
	t.boolean("skip_empty_rows", x.SkipEmptyRows)
	t.rows(x.Rows)
	t.sub("ends_before", func(t *tree) { t.text("first_field", x.EndsBefore) })
	t.texts("null_words", x.NullWords)
}

func (t *tree) rows(r *RowKinds) {
	if r == nil {
		return
	}
	t.sub("rows", func(t *tree) {
		t.integer("field", int64(r.Field))
		t.text("header", r.Header)
		t.text("record", r.Record)
		t.text("trailer", r.Trailer)
	})
}
