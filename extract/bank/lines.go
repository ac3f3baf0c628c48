package bank

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// lineReader cuts a text into lines. LF, CR LF and CR end a line: files that went
// through several systems hold all of them.
type lineReader struct {
	name  string
	r     *bufio.Reader
	no    int64 // of the last line, from 1
	buf   []byte
	after bool // the last line ended with CR: an LF belongs to it
	start bool
}

func newLineReader(f io.Reader, name, encoding string) (*lineReader, error) {
	l := &lineReader{name: name, start: true}
	switch {
	case encoding == "" || encoding == "utf-8":
	case charmaps[encoding] != nil:
		f = newCharmapReader(f, charmaps[encoding])
	default:
		return nil, fail.New(fail.Usage, "%s: the encoding %q is not known", name, encoding).
			WithHint("write encoding: utf-8, latin-1, windows-1252 or cp850")
	}
	l.r = bufio.NewReaderSize(f, 64<<10)
	return l, nil
}

// next returns the next line without its end, valid until the following call. A
// line with a byte that is not valid in the declared encoding is refused.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		chunk, err := l.r.Peek(1)
		if len(chunk) == 0 {
			if err == io.EOF && len(l.buf) > 0 {
				return l.line()
			}
			return nil, err
		}
		chunk, _ = l.r.Peek(l.r.Buffered())
		if l.start {
			l.start = false
			if bytes.HasPrefix(chunk, []byte("\xEF\xBB\xBF")) {
				l.r.Discard(3)
				continue
			}
		}
		if l.after {
			l.after = false
			if chunk[0] == '\n' {
				l.r.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			l.buf = append(l.buf, chunk...)
			l.r.Discard(len(chunk))
			if len(l.buf) > maxToken {
				return nil, bad(l.name, l.no+1, "more than %d bytes in one line, which is the limit", maxToken)
			}
			continue
		}
		l.after = chunk[end] == '\r'
		l.buf = append(l.buf, chunk[:end]...)
		l.r.Discard(end + 1)
		return l.line()
	}
}

func (l *lineReader) line() ([]byte, error) {
	l.no++
	if !utf8.Valid(l.buf) {
		at := 0
		for at < len(l.buf) {
			r, n := utf8.DecodeRune(l.buf[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return nil, bad(l.name, l.no, "byte %d of the line is not valid in the declared encoding", at+1).
			WithHint("declare `bank: {encoding: latin-1}`, or the one that the bank uses")
	}
	return l.buf, nil
}
