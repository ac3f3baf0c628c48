package pages

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// Reader reads files that File wrote, and refuses others. It may be used by several
// goroutines.
type Reader struct {
	f      io.ReaderAt
	cols   []Column
	groups []readGroup
	rows   int64
}

type readGroup struct {
	rows int64
	cols []writtenColumn
}

// Open reads the footer of a file of so many bytes. by is who must have made it.
func Open(f io.ReaderAt, size int64, by string) (*Reader, error) {
	var tail [8]byte
	if size < 12 {
		return nil, fmt.Errorf("%d bytes are no file", size)
	}
	if _, err := f.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	if string(tail[4:]) != pqMagic || n > size-12 {
		return nil, errThrift
	}
	footer := make([]byte, n)
	if _, err := f.ReadAt(footer, size-8-n); err != nil {
		return nil, err
	}
	r := &Reader{f: f}
	if made := r.footer(&thriftIn{b: footer}); made != by {
		return nil, fmt.Errorf("the file was made by %q, not by %q", made, by)
	}
	for _, g := range r.groups {
		if len(g.cols) != len(r.cols) {
			return nil, errThrift
		}
		for _, c := range g.cols {
			if c.start() < 4 || c.bytes < 0 || c.start()+c.bytes > size-8-n {
				return nil, errThrift
			}
		}
	}
	return r, nil
}

// start is where the column chunk begins.
func (w writtenColumn) start() int64 {
	if w.dictionary >= 0 {
		return w.dictionary
	}
	return w.data
}

// footer reads FileMetaData and returns who made the file, "" where it is broken.
func (r *Reader) footer(t *thriftIn) (by string) {
	t.fields(func(id, typ int) {
		switch id {
		case 2:
			n, _ := t.list()
			for i := range n {
				var c Column
				c.converted = -1
				t.fields(func(id, typ int) {
					switch id {
					case 1:
						c.typ = t.varint()
					case 2:
						c.length = int(t.varint())
					case 4:
						c.name = t.text()
					case 6:
						c.converted = t.varint()
					case 7:
						c.scale = t.varint()
					case 8:
						c.precision = t.varint()
					default:
						t.skip(typ)
					}
				})
				if i > 0 { // the root
					r.cols = append(r.cols, c)
				}
			}
		case 3:
			r.rows = t.varint()
		case 4:
			n, _ := t.list()
			for range n {
				r.groups = append(r.groups, readRowGroup(t))
			}
		case 6:
			by = t.text()
		default:
			t.skip(typ)
		}
	})
	if t.err != nil {
		return ""
	}
	return by
}

func readRowGroup(t *thriftIn) (g readGroup) {
	t.fields(func(id, typ int) {
		switch id {
		case 1:
			n, _ := t.list()
			for range n {
				w := writtenColumn{dictionary: -1}
				t.fields(func(id, typ int) {
					if id != 3 {
						t.skip(typ)
						return
					}
					t.fields(func(id, typ int) {
						switch id {
						case 7:
							w.bytes = t.varint()
						case 9:
							w.data = t.varint()
						case 11:
							w.dictionary = t.varint()
						default:
							t.skip(typ)
						}
					})
				})
				g.cols = append(g.cols, w)
			}
		case 3:
			g.rows = t.varint()
		default:
			t.skip(typ)
		}
	})
	return g
}

// Rows is the number of rows of the file.
func (r *Reader) Rows() int64 { return r.rows }

// Groups is the number of row groups.
func (r *Reader) Groups() int { return len(r.groups) }

// GroupRows is the number of rows of a row group.
func (r *Reader) GroupRows(group int) int { return int(r.groups[group].rows) }

// Find returns the place of a column, -1 where there is none of that name.
func (r *Reader) Find(name string) int {
	for i := range r.cols {
		if r.cols[i].name == name {
			return i
		}
	}
	return -1
}

// chunk is one column of one row group, page by page.
type chunk struct {
	col  *Column
	b    []byte
	rows int // still to come
	dict [][]byte
}

// open reads a column chunk into buf, which grows where it is too small.
func (r *Reader) open(group, col int, buf *[]byte) (*chunk, error) {
	w := r.groups[group].cols[col]
	if int64(cap(*buf)) < w.bytes {
		*buf = make([]byte, w.bytes)
	}
	b := (*buf)[:w.bytes]
	if _, err := r.f.ReadAt(b, w.start()); err != nil {
		return nil, err
	}
	c := &chunk{col: &r.cols[col], b: b, rows: int(r.groups[group].rows)}
	if w.dictionary >= 0 {
		body, _, _, err := c.page(2)
		if err != nil {
			return nil, err
		}
		for len(body) > 0 {
			v, rest, ok := c.col.plain(body)
			if !ok {
				return nil, errThrift
			}
			c.dict = append(c.dict, v)
			body = rest
		}
	}
	return c, nil
}

// plain cuts one value in PLAIN encoding from b.
func (c *Column) plain(b []byte) (v, rest []byte, ok bool) {
	n := c.size()
	if n == 0 {
		if len(b) < 4 {
			return nil, nil, false
		}
		n, b = int(binary.LittleEndian.Uint32(b)), b[4:]
	}
	if n > len(b) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// size is the length of a value in bytes, 0 where it is not the same for all.
func (c *Column) size() int {
	switch c.typ {
	case pqInt32:
		return 4
	case pqInt64:
		return 8
	case pqFixed:
		return c.length
	}
	return 0
}

// page reads the header of the next page and returns its body.
func (c *chunk) page(kind int64) (body []byte, rows int, encoding int64, err error) {
	t := thriftIn{b: c.b}
	var typ, size int64
	t.fields(func(id, ft int) {
		switch id {
		case 1:
			typ = t.varint()
		case 3:
			size = t.varint()
		case 5:
			t.fields(func(id, ft int) {
				switch id {
				case 1:
					rows = int(t.varint())
				case 2:
					encoding = t.varint()
				default:
					t.skip(ft)
				}
			})
		default:
			t.skip(ft)
		}
	})
	if t.err != nil || typ != kind || size < 0 || size > int64(len(c.b)-t.at) {
		return nil, 0, 0, errThrift
	}
	body = c.b[t.at : t.at+int(size)]
	c.b = c.b[t.at+int(size):]
	return body, rows, encoding, nil
}

// values are those of one data page.
type values struct {
	rows   int
	valid  []byte // bit i: row i holds a value; nil: all or none do
	none   bool   // no row holds a value
	plain  []byte // in PLAIN encoding; nil: places
	places []byte // packed
	width  int    // bits of a place
	one    uint32 // the place of all values, where places is nil too
}

// next reads the next data page; io.EOF after the last one.
func (c *chunk) next() (v values, err error) {
	if c.rows == 0 {
		return v, io.EOF
	}
	body, rows, encoding, err := c.page(0)
	if err != nil || rows <= 0 || rows > c.rows || len(body) < 4 {
		return v, errThrift
	}
	c.rows -= rows
	v.rows = rows
	n := binary.LittleEndian.Uint32(body)
	if uint64(n) > uint64(len(body)-4) {
		return v, errThrift
	}
	levels := body[4 : 4+n]
	body = body[4+n:]
	head, k := binary.Uvarint(levels)
	switch {
	case k <= 0:
		return v, errThrift
	case head&1 == 0:
		if int(head>>1) != rows || len(levels) != k+1 {
			return v, errThrift
		}
		v.none = levels[k] == 0
	default:
		if v.valid = levels[k:]; len(v.valid) != (rows+7)/8 {
			return v, errThrift
		}
	}
	if encoding == pqPlain || v.none {
		if v.plain = body; v.plain == nil {
			v.plain = []byte{}
		}
		return v, nil
	}
	if encoding != pqPlaces || len(body) < 2 {
		return v, errThrift
	}
	v.width = int(body[0])
	head, k = binary.Uvarint(body[1:])
	body = body[1+max(k, 0):]
	if k <= 0 || v.width < 1 || v.width > 16 || head&1 == 0 && len(body) != (v.width+7)/8 || head&1 == 1 && len(body) != int(head>>1)*v.width {
		return v, errThrift
	}
	if head&1 == 1 {
		v.places = body
		return v, nil
	}
	v.one = uint32(body[0])
	if len(body) > 1 {
		v.one |= uint32(body[1]) << 8
	}
	return v, nil
}

// isNull tells whether row i holds no value.
func (v *values) isNull(i int) bool {
	return v.none || v.valid != nil && v.valid[i>>3]>>(i&7)&1 == 0
}

// rank counts the rows in [from, to) that hold a value.
func (v *values) rank(from, to int) int {
	if v.none {
		return 0
	}
	if v.valid == nil {
		return to - from
	}
	n := 0
	for ; from < to && from&7 != 0; from++ {
		n += int(v.valid[from>>3] >> (from & 7) & 1)
	}
	for ; from+64 <= to; from += 64 {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(v.valid[from>>3:]))
	}
	for ; from < to; from++ {
		n += int(v.valid[from>>3] >> (from & 7) & 1)
	}
	return n
}

// place is the place of the value with number i among those of the page.
func (v *values) place(i int) uint32 {
	if v.places == nil {
		return v.one
	}
	bit := i * v.width
	at, shift := bit>>3, bit&7
	var w uint32
	for k := 0; k < 3 && at+k < len(v.places); k++ {
		w |= uint32(v.places[at+k]) << (8 * k)
	}
	return w >> shift & (1<<v.width - 1)
}
