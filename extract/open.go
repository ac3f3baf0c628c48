package extract

import (
	"encoding/json"
	"io"
	"math/big"
	"time"

	"github.com/recon-batch/recon-batch/extract/bank"
	"github.com/recon-batch/recon-batch/rules"
)

// What follows is for tools that look at one file apart from a run. It is what a
// run reads with: a tool that says what a run would find must not read otherwise.

// FileReader is the Reader of one file. Close lets go of what it holds, at any
// time, and leaves the file itself open.
type FileReader interface {
	Reader
	io.Closer
}

// Open reads one file by the declarations of a source. fields are the product
// fields whose columns must exist; nil: whatever columns the file has. f gives the
// bytes as found, name stands for the file in messages, and its ending says the
// compression where the source leaves that open. Errors are *fail.Error: of class
// Input where the file is at fault, of class Usage where the declaration cannot work.
func Open(src *rules.Source, fields []rules.Field, f io.Reader, name string, lim Limits) (FileReader, error) {
	return openReaderLimits(src, fields, f, name, lim)
}

// OpenContent gives the decompressed bytes of a file; zip is not among the
// compressions. It ends with io.EOF only when the compressed stream is whole.
func OpenContent(f io.Reader, c rules.Compression, name string, lim Limits) (io.ReadCloser, error) {
	return openContent(f, c, name, lim)
}

// DecodeText turns an encoding into UTF-8 without a byte order mark. What is not
// valid in the encoding is not valid in UTF-8 either; nothing is replaced.
func DecodeText(r io.Reader, encoding, name string) (io.Reader, error) {
	return decodeText(r, encoding, name)
}

// BankFacts reads what the Trailer of a bank's file says: its statements, what the
// bank notes, and whether its rows are final.
func BankFacts(trailer []string) (*bank.Facts, error) {
	var f bank.Facts
	if len(trailer) != 1 {
		return &f, nil
	}
	err := json.Unmarshal([]byte(trailer[0]), &f)
	return &f, err
}

// Decimals reads texts as a field of type decimal does, and adds them up exactly.
type Decimals struct {
	form decimalForm
	sum  decSum
}

// NewDecimals takes marks and notations from the field, and from the dialect of the
// source where the field does not say them.
func NewDecimals(f rules.Field, src *rules.Source) *Decimals {
	return &Decimals{form: newDecimalForm(f, src)}
}

// Read gives the number with its decimals, without zeros at the end.
func (d *Decimals) Read(text []byte) (n *big.Rat, scale int, ok bool) {
	v, ok := d.form.parse(text)
	if !ok {
		return nil, 0, false
	}
	return v.rat(), v.scale, true
}

// Add adds a readable text to the sum.
func (d *Decimals) Add(text []byte) (scale int, ok bool) {
	v, _, ok := d.form.quick(text)
	if !ok {
		v, ok = d.form.parse(text)
	}
	if ok {
		d.sum.add(v)
	}
	return v.scale, ok
}

// Sum of what was added.
func (d *Decimals) Sum() *big.Rat { return d.sum.rat() }

// DecimalText writes an exact decimal.
func DecimalText(r *big.Rat) string { return ratText(r) }

// MinorUnit gives the decimals of a currency by ISO 4217.
func MinorUnit(code string) (int, bool) { return minorExponent(code) }

// Times reads texts as a field of type timestamp or date does.
type Times struct {
	form timeForm
	days []string // layouts of a date
	date bool
}

// NewTimes takes type, layouts and zone from the field.
func NewTimes(f rules.Field) *Times {
	return &Times{form: newTimeForm(f), days: f.Layouts, date: f.Type == rules.Date}
}

// Read gives the instant, for a date its start in UTC.
func (t *Times) Read(text []byte) (time.Time, bool) {
	if t.date {
		day, ok := int64(0), false
		if len(t.days) == 0 {
			day, ok = parseDay(text)
		} else {
			day, ok = parseDateLayouts(t.days, text)
		}
		return time.Unix(day*secPerDay, 0).UTC(), ok
	}
	v := t.form.parse(text)
	return time.UnixMicro(v.us).UTC(), v.present
}

// RequiredColumn is a column that a product field reads and cannot do without.
type RequiredColumn struct{ Column, Field string }

// RequiredColumns lists the columns by name that a file of the source must have for
// its fields, each once, with the first field that reads it.
func RequiredColumns(src *rules.Source, fields []rules.Field) []RequiredColumn {
	var out []RequiredColumn
	for _, c := range neededColumns(src, fields) {
		if !c.optional && c.position == 0 {
			out = append(out, RequiredColumn{c.name, c.field})
		}
	}
	return out
}
