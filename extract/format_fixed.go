package extract

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// fixedLines are the lines of a file of fixed width. Columns are cut from the bytes
// as found and decoded afterwards, since that is how such files are described: a
// character of two bytes takes two places. A line of another length refuses the
// file, since all that follows a lost byte would be read from the wrong places.
type fixedLines struct {
	f       *rules.Fixed
	w       window
	one     bool // there is one kind of line
	line    []byte
	no      int64
	chars   *[256]string // of an encoding of one byte a character; nil for UTF-8
	fields  []lineField
	scratch []byte
	padded  bool // a padding line has come
	skips   int64
}

// newFixedReader reads lines of fixed width: see kindReader. r gives the bytes as
// found.
func newFixedReader(src *rules.Source, need []neededColumn, r io.Reader, name string, lim Limits) (*kindReader, error) {
	f := src.Fixed
	if f == nil || src.Typed == nil || len(src.Typed.Kinds) == 0 || f.LineLength < 1 {
		return nil, fail.New(fail.Usage, "source %s: nothing says how long the lines are and what is in them", src.Name).
			WithHint("write fixed: {line_length: 80, columns: {…}}")
	}
	if f.LineLength > lim.RecordBytes {
		return nil, overLimit(name, "bytes in one record", int64(lim.RecordBytes))
	}
	l := &fixedLines{f: f, one: f.KindAt.From == 0}
	if f.Encoding == "" || f.Encoding == "utf-8" {
		var err error
		if r, err = decodeText(r, "utf-8", name); err != nil { // takes a mark away, and changes nothing
			return nil, err
		}
	} else {
		l.chars = &newByteReader(nil, f.Encoding).table
	}
	l.w = newWindow(r, name, lim)
	if l.chars != nil && l.w.at(2) {
		if mark, _ := byteOrderMark(l.w.data()); mark != "" {
			return nil, badFile(name, "the file begins with a byte order mark of %s, the declared encoding is %s", mark, f.Encoding).
				WithHint("correct encoding: in the job file")
		}
	}
	return newKindReader(src.Typed, l, need, "exact", name, newDecimalForm(rules.Field{}, src), lim)
}

func (l *fixedLines) next() (bool, error) {
	for {
		ok, err := l.cut()
		if !ok || err != nil {
			return false, err
		}
		l.no++
		if len(l.line) != l.f.LineLength {
			return false, badFile(l.w.name, "line %d has %d bytes, %d are declared", l.no, len(l.line), l.f.LineLength).
				WithHint("bytes were lost, or blanks at line ends were taken away: fetch the file again, in binary mode")
		}
		if l.f.Padding == "" || !onlyOf(l.line, l.f.Padding) {
			break
		}
		l.padded = true
		l.skips++
	}
	if l.padded {
		return false, badFile(l.w.name, "line %d follows a line that only fills the last block", l.no).
			WithHint("two files may have been joined; have it sent again")
	}
	return true, nil
}

// onlyOf tells whether a line holds nothing but one character.
func onlyOf(line []byte, char string) bool {
	return bytes.HasPrefix(line, []byte(char)) && bytes.Count(line, []byte(char))*len(char) == len(line)
}

// cut takes the next line out of the window.
func (l *fixedLines) cut() (bool, error) {
	length := l.f.LineLength
	if l.f.LineEnd == "none" {
		if l.w.at(length - 1) {
			l.line = l.w.data()[:length]
			l.w.pos += length
			return true, nil
		}
		if l.w.err != nil || len(l.w.data()) == 0 {
			return false, l.w.err
		}
		return false, cutFile(l.w.name, "line %d has %d of %d bytes", l.no+1, len(l.w.data()), length)
	}
	// A line end is looked for where it should be, and two bytes behind: a longer
	// line is at fault whatever its length.
	l.w.at(length + 1)
	if l.w.err != nil {
		return false, l.w.err
	}
	data := l.w.data()
	if len(data) == 0 {
		return false, nil
	}
	i := bytes.IndexByte(data[:min(len(data), length+2)], '\n')
	switch {
	case i >= 0:
		l.line = data[:i]
		if i > 0 && data[i-1] == '\r' {
			l.line = data[:i-1]
		}
		l.w.pos += i + 1
	case len(data) > length:
		return false, badFile(l.w.name, "line %d has more than the declared %d bytes", l.no+1, length).
			WithHint("correct line_length in the job file, write line_end: none where lines have no ends, or fetch the file again, in binary mode")
	case len(data) < length:
		return false, cutFile(l.w.name, "line %d has %d of %d bytes", l.no+1, len(data), length)
	default:
		l.line = data
		l.w.pos += len(data)
	}
	return true, nil
}

func (l *fixedLines) kind() ([]byte, bool) {
	if l.one {
		return nil, true
	}
	return bytes.Trim(l.line[l.f.KindAt.From-1:l.f.KindAt.To], " "), true
}

func (l *fixedLines) split(k *lineKind) ([]lineField, int, string) {
	l.fields, l.scratch = l.fields[:0], l.scratch[:0]
	for i, r := range k.Ranges {
		text := l.line[r.From-1 : r.To]
		switch l.f.Trim {
		case "none":
		case "left":
			text = bytes.TrimLeft(text, " ")
		case "right":
			text = bytes.TrimRight(text, " ")
		default:
			text = bytes.Trim(text, " ")
		}
		text = l.decode(text)
		if !utf8.Valid(text) {
			return nil, i, fmt.Sprintf("bytes %s are %s", r, invalidText(text, l.f.Encoding))
		}
		l.fields = append(l.fields, lineField{text, len(text) == 0 || l.f.Trim == "none" && len(bytes.Trim(text, " ")) == 0})
	}
	return l.fields, -1, ""
}

// decode gives a field as UTF-8.
func (l *fixedLines) decode(text []byte) []byte {
	if l.chars == nil || ascii(text) {
		return text
	}
	from := len(l.scratch)
	for _, c := range text {
		l.scratch = append(l.scratch, l.chars[c]...)
	}
	return l.scratch[from:len(l.scratch):len(l.scratch)]
}

func ascii(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (l *fixedLines) bad() string   { return "" }
func (l *fixedLines) at() int64     { return l.no }
func (l *fixedLines) raw() []byte   { return l.line }
func (l *fixedLines) end() error    { return io.EOF }
func (l *fixedLines) passed() int64 { return l.skips }
