package extract

import (
	"bytes"
	"io"
)

// ndjsonReader reads one JSON object a line. Lines of white space alone are no
// records. A last line that ends inside its object is a cut file, whether or not a
// line end follows it; anywhere else such a line is a reject.
type ndjsonReader struct {
	w       window
	rows    *jsonRecord
	control int64
	line    int64
	err     error
}

func newNDJSONReader(need []neededColumn, r io.Reader, name string, lim Limits) *ndjsonReader {
	return &ndjsonReader{w: newWindow(r, name, lim), rows: newJSONRecord(need, lim)}
}

func (n *ndjsonReader) Header() []string    { return n.rows.header }
func (n *ndjsonReader) Trailer() []string   { return nil }
func (n *ndjsonReader) ControlLines() int64 { return n.control }

func (n *ndjsonReader) Next() (*Record, error) {
	for n.err == nil {
		line, ok := n.nextLine()
		if !ok {
			break
		}
		if blankJSON(line) {
			n.control++
			continue
		}
		rec, fault := n.rows.parse(line, n.line)
		if fault == nil {
			return rec, nil
		}
		reject := fault.reject(&n.rows.rec, line)
		if fault.cut && n.nothingFollows() {
			if n.err == nil {
				n.err = cutFile(n.w.name, "the last record (%d, on line %d) ends inside its object", reject.No, n.line)
			}
			break
		}
		return nil, reject
	}
	return nil, n.err
}

// nextLine takes the next line out of the window, without its line end.
func (n *ndjsonReader) nextLine() ([]byte, bool) {
	seen := 0
	for {
		data := n.w.data()
		if i := bytes.IndexByte(data[seen:], '\n'); i >= 0 {
			n.w.pos += seen + i + 1
			n.line++
			return data[:seen+i], true
		}
		seen = len(data)
		if n.w.more() {
			continue
		}
		if n.err = n.w.err; n.err != nil {
			return nil, false
		}
		if data = n.w.data(); len(data) == 0 {
			n.err = io.EOF
			return nil, false
		}
		n.w.pos = n.w.end
		n.line++
		return data, true
	}
}

// nothingFollows tells whether only white space is left of the file. It may read
// on, and so make the present line invalid.
func (n *ndjsonReader) nothingFollows() bool {
	for i := 0; n.w.at(i); i++ {
		if !blankJSON(n.w.buf[n.w.pos+i : n.w.pos+i+1]) {
			return false
		}
	}
	n.err = n.w.err
	return true
}

// blankJSON tells whether a text is JSON white space alone (RFC 8259 §2).
func blankJSON(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}
