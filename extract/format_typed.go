package extract

import (
	"io"
	"unicode/utf8"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// typedLines are the lines of a record-typed CSV file, by a declared dialect.
// Lines without a byte, and those that skip_lines declares, are none of any kind.
type typedLines struct {
	d      *rules.CSV
	s      *csvSplitter
	field  int
	name   string
	nulls  map[string]bool
	fields []lineField
	skips  int64
}

// newTypedReader reads record-typed CSV: see kindReader.
func newTypedReader(src *rules.Source, need []neededColumn, r io.Reader, name string, lim Limits) (*kindReader, error) {
	d := src.CSV
	if d.Delimiter == 0 {
		d.Delimiter = ','
	}
	if d.Quote >= utf8.RuneSelf {
		return nil, fail.New(fail.Usage, "%s: the quote %q is not an ASCII character", name, d.Quote)
	}
	l := &typedLines{d: &d, s: newCSVSplitter(&d, newWindow(r, name, lim), lim), field: max(src.Typed.Field, 1), name: name}
	if len(d.NullWords) > 0 {
		l.nulls = map[string]bool{}
		for _, w := range d.NullWords {
			l.nulls[w] = true
		}
	}
	return newKindReader(src.Typed, l, need, d.HeaderNames, name, newDecimalForm(rules.Field{}, src), lim)
}

func (l *typedLines) next() (bool, error) {
	for {
		for l.d.SkipLines != "" && l.s.begins(l.d.SkipLines) {
			if l.s.eol == 0 {
				if err := l.s.findLineEnd(); err != nil {
					return false, err
				}
			}
			if _, err := l.s.skipLine(); err != nil {
				return false, err
			}
			l.skips++
		}
		if l.s.w.err != nil {
			return false, l.s.w.err
		}
		ok, err := l.s.next()
		if !ok || err != nil {
			return false, err
		}
		if len(l.s.raw) > 0 {
			return true, nil
		}
		l.skips++
	}
}

func (l *typedLines) kind() ([]byte, bool) {
	if l.field > len(l.s.fields) {
		return nil, false
	}
	return l.s.fields[l.field-1].text, true
}

func (l *typedLines) split(*lineKind) ([]lineField, int, string) {
	if l.s.n > len(l.s.fields) {
		return nil, -1, plural(l.s.n, "field")
	}
	if !utf8.Valid(l.s.raw) {
		for i, f := range l.s.fields {
			if why := invalidText(f.text, l.d.Encoding); why != "" {
				return nil, i, why
			}
		}
		return nil, -1, invalidText(l.s.raw, l.d.Encoding)
	}
	quotedText := l.d.EmptyText == "quoted_is_text"
	l.fields = l.fields[:0]
	for _, f := range l.s.fields {
		literal := f.quoted && quotedText
		l.fields = append(l.fields, lineField{f.text, !literal && (len(f.text) == 0 || l.nulls != nil && l.nulls[string(f.text)])})
	}
	return l.fields, -1, ""
}

func (l *typedLines) bad() string   { return l.s.bad }
func (l *typedLines) at() int64     { return l.s.line }
func (l *typedLines) raw() []byte   { return l.s.raw }
func (l *typedLines) end() error    { return io.EOF }
func (l *typedLines) passed() int64 { return l.skips }
