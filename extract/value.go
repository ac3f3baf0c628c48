package extract

import (
	"bytes"

	"github.com/recon-batch/recon-batch/rules"
)

// value is one product field of one record after conversion. text is as found and
// valid as long as the record; the other members depend on the field's type.
type value struct {
	text  []byte
	d     dec     // decimal, integer
	minor dec     // decimals in minor units: the number as written; else zero
	i     int64   // timestamp: microseconds; date: days since 1970-01-01
	late  int64   // timestamp: the second reading, where twice
	canon []byte  // the canonical text, once it is known
	code  [3]byte // currency
	b     bool    // boolean
	null  bool    // empty as found
	bad   bool    // not of its type (V20)
	never bool    // a local time that the zone skips
	twice bool    // a local time that exists twice
	worn  bool    // a long number of a workbook, whose last digits may be lost: no key
}

// plain tells that the value is there and means one thing.
func (v *value) plain() bool { return !v.null && !v.bad && !v.never && !v.twice }

// ambiguous tells that the text is a local time that exists twice or never.
func (v *value) ambiguous() bool { return v.never || v.twice }

// written is the number as the file writes it, in minor units where it is in
// minor units: what the file's own control sums add up.
func (v *value) written() dec {
	if !v.minor.isZero() {
		return v.minor
	}
	return v.d
}

// fieldKind is a rules.FieldType as a number: it is asked for at each value.
type fieldKind uint8

const (
	kindText fieldKind = iota
	kindDecimal
	kindInteger
	kindBoolean
	kindDate
	kindTimestamp
	kindCurrency
)

var fieldKinds = map[rules.FieldType]fieldKind{
	rules.Text: kindText, rules.Decimal: kindDecimal, rules.Integer: kindInteger, rules.Boolean: kindBoolean,
	rules.Date: kindDate, rules.Timestamp: kindTimestamp, rules.Currency: kindCurrency,
}

// fieldReader converts one product field from the cells of a record. One belongs
// to one goroutine.
type fieldReader struct {
	field   rules.Field
	index   int // in SideSpec.Fields: the bit in bad and amb
	kind    fieldKind
	cell    cellRef
	whence  *whence     // nil: the value is the text of cell
	where   []condition // in other records it is null
	buf     []byte      // of a canonical text that had to be made
	steps   *normaliser // typed fields: applied before the conversion
	form    decimalForm
	times   timeForm
	scale   int // decimals behind the mark that are readable; -1 any
	fixed   int // scale of the staged DECIMAL; -1 where it is staged as text
	sign    cellRef
	signs   map[string]bool // mark → negative
	minorOf int             // field index of the currency whose minor units the number is in; -1
	unit    unit
	zones   map[string]*zoneResolver // text of the column zone → zone; nil: one zone
	zone    cellRef
	long    bool // whole numbers of a workbook with many digits are no keys
}

// read converts the field. vals holds the fields of the record that were read
// before; the currency that minor units depend on is among them.
func (r *fieldReader) read(rec *rawRecord, vals []value) {
	v := &vals[r.index]
	c, readable := r.cell.of(rec), true
	if r.whence != nil {
		c, readable = r.whence.of(rec, &r.form)
	}
	if r.where != nil && !allHold(r.where, rec) {
		c, readable = &nullCell, true
	}
	v.text, v.canon = c.Text, nil
	v.null, v.bad, v.never, v.twice = c.Kind == CellNull, !readable, false, false
	v.worn = r.long && c.Kind == CellNumber && longNumber(c.Text)
	if r.kind == kindText || v.bad {
		return
	}
	if v.null {
		return // d, i, code and b mean nothing where there is no plain value
	}
	text := r.steps.apply(c.Text)
	if len(text) == 0 {
		// An empty JSON text, or one that normalisation empties, holds no value.
		v.null = true
		return
	}
	switch r.kind {
	case kindDecimal:
		v.bad = !r.readDecimal(v, text, c.Kind == CellNumber, rec, vals)
	case kindInteger:
		v.bad = !readInteger(v, text)
	case kindBoolean:
		v.bad = !readBoolean(v, text)
	case kindDate:
		var ok bool
		if len(r.field.Layouts) == 0 {
			v.i, ok = parseDay(text)
		} else {
			v.i, ok = parseDateLayouts(r.field.Layouts, text)
		}
		v.bad = !ok
	case kindTimestamp:
		if r.zones != nil {
			r.times.zone = r.zones[string(r.zone.of(rec).Text)]
		}
		t := r.times.parse(text)
		v.i, v.late, v.twice, v.never, v.bad = t.us, t.late, t.twice, t.never, !t.present
	case kindCurrency:
		v.bad = !currencyCode(text, &v.code)
	}
}

// readDecimal reads an amount: its digits, then the sign of another column, then
// the unit. A mark that is not listed makes it unreadable, and so does a number
// that brings a sign of its own beside a mark: either reading could be meant.
func (r *fieldReader) readDecimal(v *value, text []byte, number bool, rec *rawRecord, vals []value) bool {
	v.d, v.minor = dec{}, dec{}
	form := &r.form
	if number {
		form = &numberForm // declared marks are those of texts
	}
	d, canonical, ok := form.quick(text)
	if !ok {
		if d, ok = form.parse(text); !ok {
			return false
		}
	}
	if r.signs == nil && r.minorOf < 0 && !r.pair() {
		v.canon = canonical
	}
	if r.pair() {
		if d.neg {
			return false // a negative debit: either reading could be meant
		}
		d.neg = r.whence.debit && !d.isZero()
	}
	if r.signs != nil {
		negative, listed := r.signs[string(r.sign.of(rec).Text)]
		if !listed || d.neg {
			return false
		}
		d.neg = negative && !d.isZero()
	}
	if r.minorOf >= 0 {
		v.minor = d
	}
	if r.unit.of >= 0 {
		if d, ok = r.unit.apply(d, &vals[r.unit.of]); !ok {
			return false
		}
	}
	if r.scale >= 0 && d.scale > r.scale {
		return false // more decimals than declared: unreadable, never rounded (V20)
	}
	if r.fixed >= 0 {
		if _, ok := d.fixed(stagedPrecision, r.fixed); !ok {
			return false
		}
	}
	v.d = d
	return true
}

// stagedPrecision is the number of digits of a staged DECIMAL with a declared
// scale. Sums over 10^10 rows of it cannot leave DECIMAL(38).
const stagedPrecision = 28

// numberForm is how numbers are written where the format itself has numbers.
var numberForm = decimalForm{mark: '.'}

// longNumber tells whether a text is a whole number of so many digits that a
// workbook may have lost the last ones.
func longNumber(text []byte) bool {
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) >= sheetDigits
}

// readInteger reads an optional sign and digits, up to 38 of them; leading zeros
// do not count, minus zero is zero. A mark, a group or an exponent is unreadable.
func readInteger(v *value, text []byte) bool {
	var ok bool
	if v.d, v.canon, ok = integerForm.quick(text); ok && bytes.IndexByte(text, integerForm.mark) < 0 {
		return true
	}
	v.d, v.canon = dec{}, nil
	for i, c := range text {
		if (c < '0' || c > '9') && (i > 0 || c != '-' && c != '+') {
			return false
		}
	}
	v.d, ok = integerForm.parse(text)
	return ok
}

// integerForm has no mark that a text of digits could hold.
var integerForm = decimalForm{mark: '.'}

// readBoolean reads true and false, t and f, in any letter case, and 1 and 0: the
// spellings of JSON, of PostgreSQL's and of MySQL's exports. yes, no, on, off and
// empty words are unreadable.
func readBoolean(v *value, text []byte) bool {
	switch string(text) {
	case "true", "t", "1", "TRUE", "True", "T":
		v.b = true
	case "false", "f", "0", "FALSE", "False", "F":
		v.b = false
	default:
		return false
	}
	return true
}

// canonical returns the canonical text of a plain value. It is valid as long as the
// record, and must not be written to.
func (r *fieldReader) canonical(v *value) []byte {
	switch {
	case r.kind == kindText:
		return v.text
	case v.canon == nil:
		r.buf = r.appendCanonical(r.buf[:0], v)
		v.canon = r.buf
	}
	return v.canon
}

// appendCanonical appends the canonical text of a plain value: equal values have
// equal texts, whatever their spelling.
func (r *fieldReader) appendCanonical(b []byte, v *value) []byte {
	switch r.kind {
	case kindDecimal, kindInteger:
		return v.d.appendText(b)
	case kindBoolean:
		if v.b {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case kindDate:
		return appendDate(b, v.i)
	case kindTimestamp:
		return appendInstant(b, v.i)
	case kindCurrency:
		return append(b, v.code[:]...)
	default:
		return append(b, v.text...)
	}
}

// rawRecord is one record in a batch: its number, its cells by header position,
// and the members that the header does not name.
type rawRecord struct {
	no    int64
	cells []Cell
	extra []NamedCell
}

// cellRef is where a declared column is found: a position of the header, or the
// name of a member that the header does not hold.
type cellRef struct {
	at   int // -1: by name
	name string
}

var nullCell Cell

func (c *cellRef) of(r *rawRecord) *Cell {
	if c.at >= 0 {
		return &r.cells[c.at]
	}
	if c.name != "" {
		for i := range r.extra {
			if r.extra[i].Name == c.name {
				return &r.extra[i].Cell
			}
		}
	}
	return &nullCell
}

// refTo binds a declared column to a header. A column that is nowhere gives null.
func refTo(header []string, name string, position int) cellRef {
	if position > 0 && position <= len(header) {
		return cellRef{at: position - 1}
	}
	for i, h := range header {
		if name != "" && h == name {
			return cellRef{at: i}
		}
	}
	return cellRef{at: -1, name: name}
}

// pair tells whether the amount stands in two columns, for debit and credit.
func (r *fieldReader) pair() bool { return r.field.DebitCredit != nil }

// newFieldReader compiles one field of a source for a header. spec is the field
// of the side, which decides the staged type.
func newFieldReader(src *rules.Source, f, spec rules.Field, index int, header []string, fieldIndex func(string) int) *fieldReader {
	r := &fieldReader{
		long:    wornKeys(src, &f),
		field:   f,
		index:   index,
		kind:    fieldKinds[f.Type],
		cell:    refTo(header, f.Column, f.Position),
		steps:   newNormaliser(f.Normalise),
		form:    newDecimalForm(f, src),
		times:   newTimeForm(f),
		scale:   f.Scale,
		fixed:   spec.Scale,
		sign:    cellRef{at: -1},
		minorOf: -1,
		unit:    newUnit(f, fieldIndex),
		whence:  newWhence(f, header),
		where:   newConditions(f.Where, header),
	}
	if f.SignFrom != nil {
		r.sign = refTo(header, f.SignFrom.Column, 0)
		r.signs = map[string]bool{}
		for _, m := range f.SignFrom.Positive {
			r.signs[m] = false
		}
		for _, m := range f.SignFrom.Negative {
			r.signs[m] = true
		}
	}
	if f.MinorUnitsOf != "" {
		r.minorOf = r.unit.of
	}
	if z := f.ZoneFrom; z != nil {
		r.zone = refTo(header, z.Column, 0)
		r.zones = newZones(z)
	}
	return r
}
