package extract

import (
	"bytes"
	"unicode/utf8"

	"github.com/recon-batch/recon-batch/rules"
)

// csvField is one field of a CSV record, without its quotes.
type csvField struct {
	text   []byte
	quoted bool
}

// csvSplitter cuts a byte stream into CSV records and fields (RFC 4180, with the
// declared delimiter and quote). encoding/csv does not serve here: it does not
// tell a quoted empty field from a bare one, cannot go on behind a bad record,
// and allocates for each record.
//
// A line without a quote, which is nearly every line, is cut by bytes.IndexByte
// alone. Any other record is walked field by field.
//
// Lines end with LF or CRLF, mixed as they like, or all of them with CR alone; the
// first line end outside quotes decides. The other lone character, outside quotes,
// spoils its record. Where the first line ends with CR CR LF, as after a text file of
// Windows was written as text once more, both CRs belong to the line ends.
//
// Where a spoilt record ends: a quote that should not be where it is counts as a
// plain character, and the record ends at the next line end. A quoted field that
// goes over several lines belongs to the record up to its closing quote.
type csvSplitter struct {
	w     window
	delim []byte // one byte, or the UTF-8 of one character
	quote byte
	bare  bool // no quoting at all
	eol   byte // '\n' or '\r'; 0 until the first record
	crlf  bool // a CRLF was seen
	twice bool // the first line ends with CR CR LF
	open  bool // the file ends within a line
	max   int  // fields that are kept; further ones are only counted
	lines int64

	// the present record
	fields  []csvField
	n       int    // number of fields; may be more than len(fields)
	raw     []byte // without the line end
	plain   bool   // no quote in it: the fields and delimiters are all of raw
	line    int64  // where it starts, from 1
	bad     string // why it is no well-formed record; "" for a good one
	scratch []byte // fields with doubled quotes
}

func newCSVSplitter(d *rules.CSV, w window, lim Limits) *csvSplitter {
	s := &csvSplitter{w: w, quote: byte(d.Quote), bare: d.Quote == 0, max: lim.Columns}
	s.delim = utf8.AppendRune(nil, d.Delimiter)
	return s
}

// next cuts the next record. It returns false at the end of the file, or with an
// error of the file as a whole.
func (s *csvSplitter) next() (bool, error) {
	if s.eol == 0 {
		if err := s.findLineEnd(); err != nil {
			return false, err
		}
	}
	line, ok, err := s.physicalLine()
	if !ok || err != nil {
		return false, err
	}
	s.bad, s.n, s.fields, s.line, s.plain = "", 0, s.fields[:0], s.lines+1, false
	if !s.bare && bytes.IndexByte(line, s.quote) >= 0 {
		return true, s.walk()
	}
	s.w.pos += len(line) + 1
	s.lines++
	if s.w.pos > s.w.end { // the last line has no line end
		s.w.pos, s.open = s.w.end, true
	}
	if line, err = s.trimCR(line); err != nil {
		return false, err
	}
	s.checkStray(line)
	s.raw, s.plain = line, true
	if len(s.delim) > 1 {
		s.splitWide(line)
		return true, nil
	}
	d := s.delim[0]
	for {
		i := bytes.IndexByte(line, d)
		if i < 0 {
			s.add(line, false)
			return true, nil
		}
		s.add(line[:i], false)
		line = line[i+1:]
	}
}

func (s *csvSplitter) splitWide(line []byte) {
	for {
		i := bytes.Index(line, s.delim)
		if i < 0 {
			s.add(line, false)
			return
		}
		s.add(line[:i], false)
		line = line[i+len(s.delim):]
	}
}

func (s *csvSplitter) add(text []byte, quoted bool) {
	if s.n++; s.n <= s.max {
		s.fields = append(s.fields, csvField{text, quoted})
	}
}

// physicalLine shows the bytes up to the next line end, without moving on.
func (s *csvSplitter) physicalLine() ([]byte, bool, error) {
	seen := 0 // bytes known to hold no line end
	for {
		data := s.w.data()
		if i := bytes.IndexByte(data[seen:], s.eol); i >= 0 {
			return data[:seen+i], true, nil
		}
		seen = len(data)
		if s.w.more() {
			continue
		}
		if s.w.err != nil {
			return nil, false, s.w.err
		}
		data = s.w.data()
		return data, len(data) > 0, nil
	}
}

// trimCR takes the CR of a CRLF away. At the very end of the file a CR without its
// LF, in a file that has CRLF elsewhere, shows that the file was cut between them.
func (s *csvSplitter) trimCR(line []byte) ([]byte, error) {
	n := len(line) - 1
	if n < 0 || s.eol != '\n' || line[n] != '\r' {
		return line, nil
	}
	if s.w.eof && s.w.pos == s.w.end && s.w.buf[s.w.end-1] == '\r' {
		if s.crlf {
			return nil, cutFile(s.w.name, "line %d ends with half a line end", s.lines)
		}
		return line, nil
	}
	s.crlf = true
	return s.withoutCR(line), nil
}

// withoutCR takes the CR of a line end away, or both of them.
func (s *csvSplitter) withoutCR(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if s.twice {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	return line
}

// checkStray looks for the line end character that this file does not use.
func (s *csvSplitter) checkStray(text []byte) {
	stray := byte('\r')
	if s.eol == '\r' {
		stray = '\n'
	}
	if bytes.IndexByte(text, stray) >= 0 {
		s.spoil(s.strayText())
	}
}

func (s *csvSplitter) strayText() string {
	if s.eol == '\r' {
		return "a line feed outside quotes, in a file whose lines end with a carriage return"
	}
	return "a lone carriage return outside quotes"
}

// spoil keeps the first fault of the record.
func (s *csvSplitter) spoil(why string) {
	if s.bad == "" {
		s.bad = why
	}
}

// Outcomes of one attempt to walk a record.
type walked int

const (
	walkedWhole walked = iota
	walkedShort        // the window ends before the record does
	walkedOpen         // the file ends inside a quoted field
)

// walk cuts a record that holds a quote. Whenever the window is too short it
// grows, by doubling, and the walk starts again: at most twice the work.
func (s *csvSplitter) walk() error {
	for {
		s.bad, s.n, s.fields, s.scratch = "", 0, s.fields[:0], s.scratch[:0]
		end, breaks, outcome := s.walkOnce()
		switch outcome {
		case walkedShort:
			s.w.more()
			if s.w.err != nil {
				return s.w.err
			}
			continue
		case walkedOpen:
			return cutFile(s.w.name, "a quote that is opened in the record on line %d is never closed", s.line)
		}
		data := s.w.data()
		s.raw = data[:end]
		s.lines += breaks + 1
		if end == len(data) && s.crlf && s.eol == '\n' && data[end-1] == '\r' {
			return cutFile(s.w.name, "line %d ends with half a line end", s.lines)
		}
		s.w.pos += min(end+1, len(data))
		s.open = end == len(data)
		if end > 0 && s.eol == '\n' && end < len(data) && s.raw[end-1] == '\r' {
			s.raw = s.withoutCR(s.raw)
			s.crlf = true
		}
		return nil
	}
}

// walkOnce walks the record at the start of the window. It returns the place of
// its line end, or of the end of the file, and the line ends inside quotes.
func (s *csvSplitter) walkOnce() (end int, breaks int64, outcome walked) {
	data, last := s.w.data(), s.w.eof
	eol := -1 // the next line end at or after i, once known
	i := 0
	for {
		start, text, quoted := i, []byte(nil), false
		if i < len(data) && data[i] == s.quote {
			quoted = true
			inner := i + 1
			if i, text = s.quotedField(data, inner); i < 0 {
				if last {
					return 0, 0, walkedOpen
				}
				return 0, 0, walkedShort
			}
			if i == len(data) && !last {
				return 0, 0, walkedShort // the quote may be doubled
			}
			breaks += int64(bytes.Count(data[inner:i], []byte{s.eol}))
		}
		// from here to the delimiter or line end: all of a bare field, nothing of a quoted one
		if eol < i {
			if k := bytes.IndexByte(data[i:], s.eol); k >= 0 {
				eol = i + k
			} else if last {
				eol = len(data)
			} else {
				return 0, 0, walkedShort
			}
		}
		stop, final := eol, true
		if k := bytes.Index(data[i:eol], s.delim); k >= 0 {
			stop, final = i+k, false
		}
		rest := data[i:stop]
		if final && s.eol == '\n' && stop < len(data) && len(rest) > 0 && rest[len(rest)-1] == '\r' {
			rest = s.withoutCR(rest)
		}
		s.checkStray(rest)
		switch {
		case !quoted:
			if text = rest; bytes.IndexByte(text, s.quote) >= 0 {
				s.spoil("a quote inside an unquoted field")
			}
		case len(rest) > 0:
			s.spoil("text after a closing quote")
			text = data[start : i+len(rest)]
		}
		s.add(text, quoted)
		if final {
			return stop, breaks, walkedWhole
		}
		i = stop + len(s.delim)
	}
}

// quotedField reads from behind an opening quote. It returns the place behind the
// closing quote, or -1 where data ends before it, and the text with doubled quotes
// made single.
func (s *csvSplitter) quotedField(data []byte, i int) (int, []byte) {
	from, mark, spilled := i, len(s.scratch), false
	for {
		k := bytes.IndexByte(data[i:], s.quote)
		if k < 0 {
			return -1, nil
		}
		i += k + 1
		if i == len(data) || data[i] != s.quote {
			break
		}
		s.scratch = append(s.scratch, data[from:i]...) // one of the two quotes
		spilled = true
		i++
		from = i
	}
	if !spilled {
		return i, data[from : i-1]
	}
	s.scratch = append(s.scratch, data[from:i-1]...)
	return i, s.scratch[mark:len(s.scratch):len(s.scratch)]
}

// findLineEnd decides which line end the file has, by the first one outside quotes.
func (s *csvSplitter) findLineEnd() error {
	quoted := false
	for i := 0; ; i++ {
		if !s.w.at(i) {
			s.eol = '\n'
			return s.w.err
		}
		switch c := s.w.buf[s.w.pos+i]; {
		case c == s.quote && !s.bare:
			quoted = !quoted
		case quoted:
		case c == '\n':
			s.eol = '\n'
			return nil
		case c == '\r':
			s.eol = '\r'
			if s.w.at(i+1) && s.w.buf[s.w.pos+i+1] == '\n' {
				s.eol = '\n'
			} else if s.w.at(i+2) && string(s.w.data()[i+1:i+3]) == "\r\n" {
				s.eol, s.twice = '\n', true
			}
			return s.w.err
		}
	}
}

// begins tells whether the next line begins with the prefix.
func (s *csvSplitter) begins(prefix string) bool {
	return s.w.at(len(prefix)-1) && string(s.w.data()[:len(prefix)]) == prefix
}

// skipLine passes one physical line, whatever is in it.
func (s *csvSplitter) skipLine() (bool, error) {
	line, ok, err := s.physicalLine()
	if !ok || err != nil {
		return false, err
	}
	s.w.pos += min(len(line)+1, len(s.w.data()))
	s.lines++
	return true, nil
}

// firstField shows the first field of the next physical line, without moving on:
// for lines that need not be records, such as the text above a header.
func (s *csvSplitter) firstField() (string, bool, error) {
	if s.eol == 0 {
		if err := s.findLineEnd(); err != nil {
			return "", false, err
		}
	}
	line, ok, err := s.physicalLine()
	if !ok || err != nil {
		return "", false, err
	}
	if s.eol == '\n' {
		line = s.withoutCR(line)
	}
	if !s.bare && len(line) > 0 && line[0] == s.quote {
		s.scratch = s.scratch[:0]
		if i, text := s.quotedField(line, 1); i >= 0 {
			return string(text), true, nil
		}
	}
	if i := bytes.Index(line, s.delim); i >= 0 {
		line = line[:i]
	}
	return string(line), true, nil
}
