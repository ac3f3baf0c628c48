package extract

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/xmlstream"
	"github.com/recon-batch/recon-batch/rules"
)

// xmlReader reads the elements of one path of an XML document as records. Names are
// local ones, whatever their namespace. The columns of a record are the paths of
// the texts and attributes inside its element: "Amt", "Amt/@Ccy", "@id", "." for
// its own text. An empty element is null. A column that a product field reads and
// that occurs twice in one record makes it a reject; others get a number: "Id#2".
type xmlReader struct {
	x     *rules.XML
	t     *xmlTokens
	name  string
	lim   Limits
	rows  string // absolute path of the records
	carry []xmlCarried
	total []xmlTotal

	path   []byte // of the open elements from the root
	ends   []int  // length of path before each of them
	deep   string // the longest part of rows that was seen
	beside []string

	header []string
	column map[string]int // relative path → column of the header
	names  map[string]*xmlName
	seen   []*xmlName // of the present record, in order
	text   []byte
	open   []xmlOpen // elements of the present record
	rec    Record
	err    error
}

// xmlName is a relative path that records have.
type xmlName struct {
	name  string
	at    int // column of the header; -1 others
	count int // in the present record
	cells []xmlSpan
}

// xmlSpan is a value in the text of a record.
type xmlSpan struct{ from, end int }

// xmlOpen is an element of a record that has not ended.
type xmlOpen struct {
	text  []byte // its own
	child bool
}

type xmlCarried struct {
	column, path string
	set          bool
	text         []byte
	missed       bool // a record came before it
	waits        bool // no record has got the value yet
}

type xmlTotal struct {
	path  string
	set   bool
	value string
}

func newXMLReader(src *rules.Source, need []neededColumn, r io.Reader, name string, lim Limits) (*xmlReader, error) {
	x := src.XML
	if x == nil || x.Path == "" {
		return nil, fail.New(fail.Usage, "source %s: nothing says which elements are records", src.Name).
			WithHint("write xml: {path: Document/Stmt/Ntry}")
	}
	t, err := newXMLTokens(r, x.Encoding, name, lim)
	if err != nil {
		return nil, err
	}
	d := &xmlReader{x: x, t: t, name: name, lim: lim, rows: x.Path, column: map[string]int{}, names: map[string]*xmlName{}}
	add := func(column string) {
		if _, ok := d.column[column]; !ok {
			d.column[column] = len(d.header)
			d.header = append(d.header, column)
		}
	}
	for _, c := range need {
		add(c.name)
	}
	for _, c := range x.Carry {
		add(c.Column)
		d.carry = append(d.carry, xmlCarried{column: c.Column, path: c.Path})
	}
	for _, p := range x.Trailer {
		d.total = append(d.total, xmlTotal{path: p})
	}
	d.rec.Cells = make([]Cell, len(d.header))
	return d, nil
}

func (d *xmlReader) Header() []string    { return d.header }
func (d *xmlReader) ControlLines() int64 { return 0 }

func (d *xmlReader) Trailer() []string {
	if len(d.total) == 0 {
		return nil
	}
	out := make([]string, len(d.total))
	for i, t := range d.total {
		out[i] = t.value
	}
	return out
}

func (d *xmlReader) Next() (*Record, error) {
	if d.err != nil {
		return nil, d.err
	}
	rec, err := d.next()
	if err != nil {
		if _, ok := err.(*RecordError); !ok {
			d.err = err
		}
		return nil, err
	}
	return rec, nil
}

// next passes what is between the records.
func (d *xmlReader) next() (*Record, error) {
	for {
		d.t.Mark()
		tok, err := d.t.next()
		if err == io.EOF {
			return nil, d.finish()
		}
		if err != nil {
			return nil, err
		}
		switch tok.Kind {
		case xmlstream.Start:
			d.enter(tok.Name)
			if string(d.path) == d.rows {
				rec, err := d.record(tok)
				d.leave()
				return rec, err
			}
			for _, a := range tok.Attrs {
				if err := d.outside(a.Name, a.Value); err != nil {
					return nil, err
				}
			}
			d.text = d.text[:0]
		case xmlstream.Text:
			if d.wantsText() {
				d.text = append(d.text, tok.Text...)
			}
		case xmlstream.End:
			if d.wantsText() {
				if err := d.outside(nil, d.text); err != nil {
					return nil, err
				}
			}
			d.text = d.text[:0]
			d.leave()
		}
	}
}

// enter opens an element outside the records: carried values of an element that
// begins anew end.
func (d *xmlReader) enter(local []byte) {
	d.ends = append(d.ends, len(d.path))
	if len(d.path) > 0 {
		d.path = append(d.path, '/')
	}
	parent := len(d.path)
	d.path = append(d.path, local...)
	for i := range d.carry {
		if c := &d.carry[i]; below(c.path, d.path) {
			c.set = false
			around := below(d.rows, d.path) // the records' own element begins anew
			c.missed, c.waits = c.missed && !around, c.waits && !around
		}
	}
	switch {
	case below(d.rows, d.path):
		if len(d.path) > len(d.deep) {
			d.deep, d.beside = string(d.path), nil
		}
	case len(d.beside) < 30 && string(d.path[:max(0, parent-1)]) == d.deep && !slices.Contains(d.beside, string(local)):
		d.beside = append(d.beside, string(local))
	}
}

// below tells whether a path is prefix, or lies below it.
func below(path string, prefix []byte) bool {
	return len(path) >= len(prefix) && path[:len(prefix)] == string(prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/')
}

func (d *xmlReader) leave() {
	n := len(d.ends) - 1
	d.path, d.ends = d.path[:d.ends[n]], d.ends[:n]
}

// wantsText tells whether the text of the open element is carried or a total.
func (d *xmlReader) wantsText() bool {
	for i := range d.carry {
		if d.carry[i].path == string(d.path) {
			return true
		}
	}
	for i := range d.total {
		if d.total[i].path == string(d.path) {
			return true
		}
	}
	return false
}

// outside takes a value that stands outside the records: of an attribute, or the
// text of the open element.
func (d *xmlReader) outside(attr, text []byte) error {
	if len(d.carry) == 0 && len(d.total) == 0 {
		return nil
	}
	path := string(d.path)
	if attr != nil {
		path += "/@" + string(attr)
	}
	for i := range d.carry {
		if c := &d.carry[i]; c.path == path {
			if c.missed && len(text) > 0 {
				return badFile(d.name, "line %d: %s stands behind records of its element, which need it as the column %s", d.t.Line(), quoteName(path), quoteName(c.column)).
					WithHint("a value can be carried to the records behind it only: take it out of `carry`, or have the document written with it in front")
			}
			if c.waits && string(c.text) != string(text) {
				return badFile(d.name, "line %d: %s stands there twice before a record, with two values, and is carried as the column %s", d.t.Line(), quoteName(path), quoteName(c.column)).
					WithHint("which of them counts is not clear: carry a path that there is once, or take it out of `carry`")
			}
			c.set, c.waits, c.text = true, true, append(c.text[:0], text...)
		}
	}
	for i := range d.total {
		t := &d.total[i]
		if t.path != path {
			continue
		}
		value := strings.TrimSpace(string(text))
		if t.set && t.value != value {
			return badFile(d.name, "line %d: %s stands there twice, with two values, and should be the total of the document", d.t.Line(), quoteName(path)).
				WithHint("name a path that there is once; a total of each part is not read")
		}
		t.set, t.value = true, value
	}
	return nil
}

// record reads the element of one record to its end.
func (d *xmlReader) record(start *xmlstream.Token) (*Record, error) {
	line := d.t.Line()
	d.rec.No++
	d.rec.Line = line
	for _, n := range d.seen {
		n.count, n.cells = 0, n.cells[:0]
	}
	d.seen, d.text, d.open = d.seen[:0], d.text[:0], d.open[:0]
	base := d.t.Depth() - 1
	root := len(d.path)
	if err := d.begin(start, root); err != nil {
		return nil, err
	}
	for d.t.Depth() > base {
		tok, err := d.t.next()
		if err != nil {
			return nil, err
		}
		switch tok.Kind {
		case xmlstream.Start:
			d.open[len(d.open)-1].child = true
			d.path = append(append(d.path, '/'), tok.Name...)
			if err := d.begin(tok, root); err != nil {
				return nil, err
			}
		case xmlstream.Text:
			o := &d.open[len(d.open)-1]
			o.text = append(o.text, tok.Text...)
		case xmlstream.End:
			if err := d.end(root); err != nil {
				return nil, err
			}
		}
	}
	return d.make()
}

// begin opens an element of the record, with its attributes.
func (d *xmlReader) begin(v *xmlstream.Token, root int) error {
	if n := len(d.open); n < cap(d.open) {
		d.open = d.open[:n+1]
		o := &d.open[n]
		o.text, o.child = o.text[:0], false
	} else {
		d.open = append(d.open, xmlOpen{})
	}
	for _, a := range v.Attrs {
		n := len(d.path)
		d.path = append(append(d.path, "/@"...), a.Name...)
		err := d.add(d.path[root+1:], a.Value)
		d.path = d.path[:n]
		if err != nil {
			return err
		}
	}
	return nil
}

// end takes the text of an element that has no elements in it, or has text beside
// them.
func (d *xmlReader) end(root int) error {
	o := &d.open[len(d.open)-1]
	d.open = d.open[:len(d.open)-1]
	own := []byte(".")
	if len(d.path) > root {
		own = d.path[root+1:]
	}
	if len(o.text) > 0 && (!o.child || len(bytes.TrimSpace(o.text)) > 0) {
		if err := d.add(own, o.text); err != nil {
			return err
		}
	}
	if len(d.path) > root {
		d.path = d.path[:bytes.LastIndexByte(d.path, '/')]
	}
	return nil
}

// add keeps a value of the record.
func (d *xmlReader) add(path, text []byte) error {
	n := d.names[string(path)]
	if n == nil {
		if len(d.names) >= d.lim.Columns {
			return overLimit(d.name, "columns", int64(d.lim.Columns))
		}
		n = &xmlName{name: string(path), at: -1}
		if at, ok := d.column[n.name]; ok {
			n.at = at
		}
		d.names[n.name] = n
	}
	if n.count == 0 {
		d.seen = append(d.seen, n)
	}
	if n.count++; n.count > d.lim.Columns {
		return overLimit(d.name, "elements of one name in a record", int64(d.lim.Columns))
	}
	from := len(d.text)
	d.text = append(d.text, text...)
	n.cells = append(n.cells, xmlSpan{from, len(d.text)})
	return nil
}

// make gives the record that was read.
func (d *xmlReader) make() (*Record, error) {
	r := &d.rec
	clear(r.Cells)
	r.Extra = r.Extra[:0]
	for i := range d.carry {
		c := &d.carry[i]
		c.missed, c.waits = c.missed || !c.set, false
		if c.set && len(c.text) > 0 {
			r.Cells[d.column[c.column]] = Cell{Text: c.text, Kind: CellText}
		}
	}
	for _, n := range d.seen {
		if n.at >= 0 && n.count > 1 {
			return nil, &RecordError{No: r.No, Line: r.Line, Column: n.name, Reason: "it occurs " + itoa(n.count) + " times in the record", Raw: clip(d.text)}
		}
		for i, s := range n.cells {
			text := d.text[s.from:s.end:s.end]
			c := Cell{Text: text, Kind: CellText}
			switch {
			case n.at >= 0:
				r.Cells[n.at] = c
			case i == 0:
				r.Extra = append(r.Extra, NamedCell{Name: n.name, Cell: c})
			default:
				r.Extra = append(r.Extra, NamedCell{Name: n.name + "#" + itoa(i+1), Cell: c})
			}
		}
	}
	slices.SortFunc(r.Extra, func(a, b NamedCell) int { return strings.Compare(a.Name, b.Name) })
	return r, nil
}

// finish is the end of a whole document. One without the element that the records
// should be in is another document than the one declared: no records are no proof
// that nothing happened.
func (d *xmlReader) finish() error {
	parent := ""
	if i := strings.LastIndexByte(d.rows, '/'); i >= 0 {
		parent = d.rows[:i]
	}
	if len(d.deep) < len(parent) || parent == "" && d.deep == "" {
		missing := nextPart(d.rows, d.deep)
		if d.deep != "" {
			missing = d.deep + "/" + missing
		}
		e := badFile(d.name, "there is no element %s", quoteText(missing))
		at := "the document begins with "
		if d.deep != "" {
			at = "the elements in " + d.deep + " are: "
		}
		e.Hint = at + quoteList(d.beside)
		if s := closest(nextPart(d.rows, d.deep), d.beside); s != "" {
			e.Hint = "did you mean " + quoteName(s) + "? " + e.Hint
		}
		return e
	}
	for i, t := range d.total {
		if !t.set {
			return badFile(d.name, "there is no %s, which trailer.%d of the controls reads", quoteText(t.path), i+1).
				WithHint("correct xml.trailer in the job file, or have the document sent again whole")
		}
	}
	return io.EOF
}

// nextPart is the part of a path behind the part that was found.
func nextPart(path, found string) string {
	rest := strings.TrimPrefix(strings.TrimPrefix(path, found), "/")
	part, _, _ := strings.Cut(rest, "/")
	return part
}
