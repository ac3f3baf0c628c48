package extract

import (
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// readOne converts one cell of each named column.
func readOne(t *testing.T, fields []rules.Field, cells map[string]string) []value {
	t.Helper()
	var header []string
	rec := rawRecord{no: 1}
	for i := range fields {
		if fields[i].Type == "" {
			fields[i].Type = rules.Text
		}
		if fields[i].Column == "" {
			fields[i].Column = fields[i].Name
		}
	}
	for name, text := range cells {
		header = append(header, name)
		c := Cell{Text: []byte(text), Kind: CellText}
		if text == "" {
			c.Kind = CellNull
		}
		rec.cells = append(rec.cells, c)
	}
	spec := rules.SideSpec{Fields: fields}
	vals := make([]value, len(fields))
	var late []*fieldReader
	for i, f := range fields {
		r := newFieldReader(&rules.Source{}, f, f, i, header, spec.FieldIndex)
		if r.unit.of >= 0 {
			late = append(late, r)
			continue
		}
		r.read(&rec, vals)
	}
	for _, r := range late {
		r.read(&rec, vals)
	}
	return vals
}

// C81: the sign comes from a mark; C82: minor units by the currency.
func TestReadAmount(t *testing.T) {
	marked := rules.Field{Name: "amount", Type: rules.Decimal, Scale: -1,
		SignFrom: &rules.SignFrom{Column: "dc_mark", Positive: []string{"C", "RD"}, Negative: []string{"D", "RC"}}}
	minor := rules.Field{Name: "amount", Type: rules.Decimal, Scale: -1, MinorUnitsOf: "currency"}
	scaled := decimalField("amount", 2)
	for _, c := range []struct {
		field rules.Field
		cells map[string]string
		want  string // "" null, "?" unreadable
	}{
		{marked, map[string]string{"amount": "100.00", "dc_mark": "C"}, "100"},
		{marked, map[string]string{"amount": "40.00", "dc_mark": "D"}, "-40"},
		{marked, map[string]string{"amount": "25.00", "dc_mark": "RC"}, "-25"},
		{marked, map[string]string{"amount": "60.00", "dc_mark": "RD"}, "60"},
		{marked, map[string]string{"amount": "10.00", "dc_mark": "X"}, "?"},
		{marked, map[string]string{"amount": "10.00", "dc_mark": ""}, "?"},
		{marked, map[string]string{"amount": "-10.00", "dc_mark": "D"}, "?"},
		{marked, map[string]string{"amount": "0.00", "dc_mark": "D"}, "0"},
		{marked, map[string]string{"amount": "", "dc_mark": "D"}, ""},
		{minor, map[string]string{"amount": "1234", "currency": "USD"}, "12.34"},
		{minor, map[string]string{"amount": "1500", "currency": "JPY"}, "1500"},
		{minor, map[string]string{"amount": "1234", "currency": "KWD"}, "1.234"},
		{minor, map[string]string{"amount": "100", "currency": "ZZZ"}, "?"},
		{minor, map[string]string{"amount": "100", "currency": ""}, "?"},
		{minor, map[string]string{"amount": "50", "currency": "usd"}, "0.5"},
		{minor, map[string]string{"amount": "45.0", "currency": "GBP"}, "0.45"},
		{minor, map[string]string{"amount": "45.5", "currency": "GBP"}, "?"}, // half a penny is not declared
		{scaled, map[string]string{"amount": "12.345"}, "?"},
		{scaled, map[string]string{"amount": "12.3400"}, "12.34"},
		{scaled, map[string]string{"amount": strings.Repeat("9", 27)}, "?"}, // DECIMAL(28,2) holds 26 before the mark
	} {
		v := readOne(t, []rules.Field{c.field, {Name: "currency"}}, c.cells)[0]
		got := "?"
		switch {
		case v.null:
			got = ""
		case v.plain():
			got = v.d.String()
		}
		if got != c.want {
			t.Errorf("%v = %q, want %q", c.cells, got, c.want)
		}
	}
}

func TestReadOtherTypes(t *testing.T) {
	for _, c := range []struct {
		typ  rules.FieldType
		text string
		want string // "?" unreadable
	}{
		{rules.Integer, "0012", "12"}, {rules.Integer, "-0", "0"}, {rules.Integer, "+7", "7"}, {rules.Integer, "12.0", "?"},
		{rules.Integer, "1e3", "?"}, {rules.Integer, "9223372036854775808", "9223372036854775808"}, {rules.Integer, "-", "?"},
		{rules.Integer, strings.Repeat("9", 38), strings.Repeat("9", 38)}, {rules.Integer, strings.Repeat("9", 39), "?"}, {rules.Integer, "12-3", "?"},
		{rules.Boolean, "true", "true"}, {rules.Boolean, "F", "false"}, {rules.Boolean, "1", "true"}, {rules.Boolean, "yes", "?"}, {rules.Boolean, "TrUe", "?"},
		{rules.Currency, "usd", "USD"}, {rules.Currency, "EUR", "EUR"}, {rules.Currency, "EURO", "?"}, {rules.Currency, "€", "?"}, {rules.Currency, " EU", "?"},
		{rules.Date, "2031-02-28", "2031-02-28"}, {rules.Date, "2031-02-29", "?"},
		{rules.Timestamp, "2031-04-01T12:00:00.5+02:00", "2031-04-01T10:00:00.5Z"},
		{rules.Text, "  x ", "  x "},
	} {
		fields := []rules.Field{{Name: "x", Type: c.typ}}
		v := readOne(t, fields, map[string]string{"x": c.text})[0]
		got := "?"
		if v.plain() {
			got = string((&fieldReader{field: fields[0], kind: fieldKinds[fields[0].Type]}).appendCanonical(nil, &v))
		}
		if got != c.want {
			t.Errorf("%s %q = %q, want %q", c.typ, c.text, got, c.want)
		}
	}
}

// Typed fields are normalised before they are read, and not otherwise.
func TestReadNormalised(t *testing.T) {
	plain, trimmed := decimalField("x", 2), decimalField("x", 2)
	trimmed.Normalise = []rules.Normalise{rules.NormTrim}
	if v := readOne(t, []rules.Field{plain}, map[string]string{"x": " 12.30 "})[0]; !v.bad {
		t.Error("blanks around a number are read although nothing is declared")
	}
	if v := readOne(t, []rules.Field{trimmed}, map[string]string{"x": " 12.30 "})[0]; v.d.String() != "12.3" {
		t.Errorf("trimmed number is %s", v.d)
	}
	if v := readOne(t, []rules.Field{trimmed}, map[string]string{"x": "  "})[0]; !v.null {
		t.Error("a field of blanks, trimmed, is not empty")
	}
}

func TestSemanticOrder(t *testing.T) {
	// SemVer 2.0.0 §11, in ascending order.
	order := []string{
		"0.0.1", "0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
		"1.0.0", "1.0.1-0", "1.0.1", "1.2.0", "1.10.0", "2.0.0", "10.0.0", "123456789012345678901234567890.0.0",
	}
	var last string
	for _, v := range order {
		b, ok := semanticOrder(nil, []byte(v))
		if !ok || string(b) <= last {
			t.Errorf("%s sorts as %q after %q (%v)", v, b, last, ok)
		}
		last = string(b)
	}
	a, _ := semanticOrder(nil, []byte("1.0.0+build.1"))
	b, _ := semanticOrder(nil, []byte("1.0.0"))
	if string(a) != string(b) {
		t.Error("build metadata decides the order")
	}
	for _, v := range []string{"", "1", "1.0", "v1.0.0", "1.0.0-", "1.0.0-01", "01.0.0", "1.0.0.0", "1.0.0-a..b", "1.0.0+", "1.0.x", "-1.0.0"} {
		if _, ok := semanticOrder(nil, []byte(v)); ok {
			t.Errorf("%q is read as a semantic version", v)
		}
	}
}
