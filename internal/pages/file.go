package pages

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Physical types, converted types, encodings and codecs of parquet.thrift.
const (
	pqBoolean   = 0
	pqInt32     = 1
	pqInt64     = 2
	pqByteArray = 6
	pqFixed     = 7

	pqUTF8    = 0
	pqDecimal = 5
	pqDate    = 6
	pqUint64  = 14
	pqSigned  = 18 // INT_64

	pqOptional = 1
	pqPlain    = 0
	pqRLE      = 3
	pqDelta    = 5 // DELTA_BINARY_PACKED
	pqPlaces   = 8 // RLE_DICTIONARY

	pqNoCodec = 0
)

// A row group ends with whichever comes first. 122,880 rows are what the engine
// scans as one unit.
const (
	GroupRows  = 122_880
	groupBytes = 64 << 20
)

// Column says how one column of the layout is written.
type Column struct {
	name      string
	typ       int64
	converted int64 // -1 none
	length    int   // bytes of a decimal
	scale     int64
	precision int64
	few       bool // may turn out to have few values
}

// Columns derives the columns from a schema of texts, integers of 64 bits, booleans,
// dates and decimals. few tells of which texts, unsigned integers and decimals to try
// whether they have few values.
func Columns(schema *arrow.Schema, few func(arrow.Field) bool) []Column {
	cols := make([]Column, schema.NumFields())
	for i, f := range schema.Fields() {
		c := Column{name: f.Name}
		switch t := f.Type.(type) {
		case *arrow.StringType:
			c.typ, c.converted = pqByteArray, pqUTF8
			c.few = few(f)
		case *arrow.Int64Type:
			c.typ, c.converted = pqInt64, pqSigned
		case *arrow.Uint64Type:
			c.typ, c.converted = pqInt64, pqUint64
			c.few = few(f)
		case *arrow.BooleanType:
			c.typ, c.converted = pqBoolean, -1
		case *arrow.Date32Type:
			c.typ, c.converted = pqInt32, pqDate
		case *arrow.Decimal128Type:
			c.typ, c.converted, c.scale, c.precision = pqFixed, pqDecimal, int64(t.Scale), int64(t.Precision)
			c.length, c.few = 16, few(f)
			if t.Precision <= 28 {
				c.length = 12 // 10^28 < 2^95
			}
		default:
			panic(fmt.Sprintf("column %s: no Parquet form of %s", f.Name, f.Type)) // a fault of arrowType
		}
		cols[i] = c
	}
	return cols
}

// Page is one data page: encoded, header included, or coded, until its row group
// is whole.
type Page struct {
	bytes    []byte
	whole    *[]byte // what bytes are part of, for pageBuffers; nil
	coded    *coded
	dict     []byte // the dictionary page before it, where it is the only one of its row group
	encoding int64  // of the values, where it is neither PLAIN nor places
}

// pageBuffers keeps the memory of pages that are written, for those to come.
var pageBuffers = sync.Pool{New: func() any { return new([]byte) }}

// Encoder encodes record batches as pages. One belongs to one goroutine.
type Encoder struct {
	cols  []Column
	coder *coder
}

func NewEncoder(cols []Column) *Encoder {
	return &Encoder{cols: cols, coder: newCoder()}
}

// Encode returns one page a column.
func (e *Encoder) Encode(rec arrow.RecordBatch) []Page {
	pages := make([]Page, len(e.cols))
	for i := range e.cols {
		c, a := &e.cols[i], rec.Column(i)
		if c.few {
			if pages[i].coded = e.coder.code(c, a); pages[i].coded != nil {
				continue
			}
		}
		whole := pageBuffers.Get().(*[]byte)
		*whole = c.appendValues(appendLevels(beginPage(*whole), a), a)
		pages[i] = Page{bytes: endPage(*whole, rec.NumRows(), pqPlain), whole: whole}
	}
	return pages
}

// pageHead is more than the bytes of a page header.
const pageHead = 64

// beginPage leaves room for the header.
func beginPage(b []byte) []byte { return slices.Grow(b[:0], pageHead)[:pageHead] }

// endPage puts the header before the body that follows beginPage.
func endPage(b []byte, rows, encoding int64) []byte {
	body := int64(len(b) - pageHead)
	var h thrift
	h.i32(1, 0) // DATA_PAGE
	h.i32(2, body)
	h.i32(3, body)
	h.open(5)
	h.i32(1, rows)
	h.i32(2, encoding)
	h.i32(3, pqRLE)
	h.i32(4, pqRLE)
	h.close()
	h.end()
	from := pageHead - len(h.b)
	copy(b[from:], h.b)
	return b[from:]
}

// appendLevels appends the definition levels (1: a value, 0: null) behind their
// length. Arrow's validity bitmap is what Parquet calls a bit-packed run.
func appendLevels(b []byte, a arrow.Array) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	n := a.Len()
	switch a.NullN() {
	case 0:
		b = append(binary.AppendUvarint(b, uint64(n)<<1), 1)
	case n:
		b = append(binary.AppendUvarint(b, uint64(n)<<1), 0)
	default:
		groups := (n + 7) / 8
		b = binary.AppendUvarint(b, uint64(groups)<<1|1)
		b = append(b, a.NullBitmapBytes()[:groups]...)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// appendValues appends the values that are not null in PLAIN encoding. Whole words
// are copied as they lie in memory: every machine that the engine runs on is
// little-endian, as PLAIN is.
func (c *Column) appendValues(b []byte, a arrow.Array) []byte {
	full := a.NullN() == 0
	n := a.Len()
	if a.NullN() == n {
		return b
	}
	switch v := a.(type) {
	case *array.String:
		offsets, text := v.ValueOffsets(), v.ValueBytes()
		b = slices.Grow(b, len(text)+4*n)
		for i := range n {
			if full || v.IsValid(i) {
				b = c.appendPlain(b, text[offsets[i]:offsets[i+1]])
			}
		}
	case *array.Int64:
		if full {
			return append(b, arrow.Int64Traits.CastToBytes(v.Int64Values())...)
		}
		for i, x := range v.Int64Values() {
			if full || v.IsValid(i) {
				b = binary.LittleEndian.AppendUint64(b, uint64(x))
			}
		}
	case *array.Uint64:
		if full {
			return append(b, arrow.Uint64Traits.CastToBytes(v.Uint64Values())...)
		}
		for i, x := range v.Uint64Values() {
			if full || v.IsValid(i) {
				b = binary.LittleEndian.AppendUint64(b, x)
			}
		}
	case *array.Date32:
		for i, x := range v.Date32Values() {
			if full || v.IsValid(i) {
				b = binary.LittleEndian.AppendUint32(b, uint32(x))
			}
		}
	case *array.Decimal128:
		var be [16]byte
		for i, x := range v.Values() {
			if full || v.IsValid(i) {
				putDecimal(&be, x)
				b = append(b, be[16-c.length:]...)
			}
		}
	case *array.Boolean:
		b = appendBooleans(b, v)
	}
	return b
}

// appendPlain appends one value in PLAIN encoding; v has the bytes of it.
func (c *Column) appendPlain(b, v []byte) []byte {
	if c.typ == pqByteArray {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
	}
	return append(b, v...)
}

// putDecimal writes a decimal as Parquet has it: big-endian, in two's complement.
func putDecimal(be *[16]byte, x decimal128.Num) {
	binary.BigEndian.PutUint64(be[:8], uint64(x.HighBits()))
	binary.BigEndian.PutUint64(be[8:], x.LowBits())
}

// appendBooleans packs booleans, least significant bit first.
func appendBooleans(b []byte, v *array.Boolean) []byte {
	bit := 0
	for i := range v.Len() {
		if !v.IsValid(i) {
			continue
		}
		if bit%8 == 0 {
			b = append(b, 0)
		}
		if v.Value(i) {
			b[len(b)-1] |= 1 << (bit % 8)
		}
		bit++
	}
	return b
}

// File writes pages to a file. Its methods return the first error of all.
type File struct {
	w      *bufio.Writer
	by     string
	cols   []Column
	offset int64
	group  rowGroup
	dict   dictionary
	body   []byte
	groups []writtenGroup
	rows   int64
	err    error

	groupRows  int64
	groupBytes int
}

// rowGroup is the row group that is being collected.
type rowGroup struct {
	pages [][]Page // by column
	rows  int64
	bytes int
}

type writtenGroup struct {
	rows  int64
	cols  []writtenColumn
	bytes int64
}

// writtenColumn says where a column chunk lies. Its dictionary is before its data,
// or there is none.
type writtenColumn struct{ dictionary, data, bytes, encoding int64 }

const pqMagic = "PAR1"

// writeSize is how many bytes go to the file at a time. Pages have odd sizes: the
// kernel takes whole, aligned blocks in half the time, and the copy costs less.
const writeSize = 256 << 10

// NewFile begins a file; by is who made it.
func NewFile(f io.Writer, by string, cols []Column) *File {
	p := &File{
		w: bufio.NewWriterSize(f, writeSize), by: by, cols: cols,
		groupRows: GroupRows, groupBytes: groupBytes,
	}
	p.group.pages = make([][]Page, len(cols))
	p.write([]byte(pqMagic))
	return p
}

func (p *File) write(b []byte) {
	if p.err != nil {
		return
	}
	p.offset += int64(len(b))
	_, p.err = p.w.Write(b)
}

// Add takes the pages of one batch.
func (p *File) Add(pages []Page, rows int64) error {
	for i, pg := range pages {
		p.group.pages[i] = append(p.group.pages[i], pg)
		p.group.bytes += len(pg.bytes)
		if pg.coded != nil {
			p.group.bytes += pg.coded.bytes()
		}
	}
	p.group.rows += rows
	p.rows += rows
	if p.group.rows >= p.groupRows || p.group.bytes >= p.groupBytes {
		p.flush()
	}
	return p.err
}

// Limit makes row groups smaller than usual: whichever comes first, rows or bytes.
func (p *File) Limit(rows int64, bytes int) { p.groupRows, p.groupBytes = rows, bytes }

// flush writes the row group: the pages of a column stand together.
func (p *File) flush() {
	if p.group.rows == 0 {
		return
	}
	g := writtenGroup{rows: p.group.rows, cols: make([]writtenColumn, len(p.cols))}
	for i, pages := range p.group.pages {
		g.cols[i] = p.chunk(&p.cols[i], pages)
		g.bytes += g.cols[i].bytes
		clear(pages)
		p.group.pages[i] = pages[:0]
	}
	p.group.rows, p.group.bytes = 0, 0
	p.groups = append(p.groups, g)
}

// chunk writes the pages of one column.
func (p *File) chunk(c *Column, pages []Page) writtenColumn {
	from := p.offset
	w := writtenColumn{dictionary: -1, data: from}
	to := p.dict.merge(c, pages)
	if to != nil {
		w.dictionary = from
		p.write(p.dict.page())
		w.data = p.offset
	}
	for i, pg := range pages {
		if pg.coded == nil {
			if pg.dict != nil {
				w.dictionary = p.offset
				p.write(pg.dict)
				w.data = p.offset
			}
			w.encoding = pg.encoding
			p.write(pg.bytes)
			if pg.whole != nil {
				pageBuffers.Put(pg.whole)
			}
			continue
		}
		p.body = append(beginPage(p.body), pg.coded.levels...)
		encoding := int64(pqPlain)
		if to != nil && len(pg.coded.places) > 0 {
			encoding = pqPlaces
			p.body = p.dict.appendPlaces(p.body, pg.coded.places, to[i])
		} else {
			p.body = pg.coded.appendDecoded(p.body, c)
		}
		p.write(endPage(p.body, pg.coded.rows, encoding))
	}
	w.bytes = p.offset - from
	return w
}

// Close writes the footer.
func (p *File) Close() error {
	p.flush()
	footer := p.footer()
	p.write(footer)
	p.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	p.write([]byte(pqMagic))
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return p.err
}

// footer is the FileMetaData of parquet.thrift.
func (p *File) footer() []byte {
	var t thrift
	t.i32(1, 1) // version
	t.list(2, thriftStruct, len(p.cols)+1)
	t.element()
	t.text(4, "rows")
	t.i32(5, int64(len(p.cols)))
	t.end()
	for i := range p.cols {
		c := &p.cols[i]
		t.element()
		t.i32(1, c.typ)
		if c.typ == pqFixed {
			t.i32(2, int64(c.length))
		}
		t.i32(3, pqOptional)
		t.text(4, c.name)
		if c.converted >= 0 {
			t.i32(6, c.converted)
		}
		if c.converted == pqDecimal {
			t.i32(7, c.scale)
			t.i32(8, c.precision)
		}
		t.end()
	}
	t.i64(3, p.rows)
	t.list(4, thriftStruct, len(p.groups))
	for _, g := range p.groups {
		t.element()
		p.columnChunks(&t, &g)
		t.i64(2, g.bytes)
		t.i64(3, g.rows)
		t.end()
	}
	t.text(6, p.by)
	t.end()
	return t.b
}

func (p *File) columnChunks(t *thrift, g *writtenGroup) {
	t.list(1, thriftStruct, len(p.cols))
	for i := range p.cols {
		c, w := &p.cols[i], &g.cols[i]
		t.element()
		t.i64(2, w.data)
		t.open(3)
		t.i32(1, c.typ)
		encodings := []int64{w.encoding, pqRLE}
		if w.dictionary >= 0 {
			encodings = append(encodings, pqPlaces)
		}
		t.list(2, thriftI32, len(encodings))
		for _, e := range encodings {
			t.varint(e)
		}
		t.list(3, thriftBinary, 1)
		t.bytes(c.name)
		t.i32(4, pqNoCodec)
		t.i64(5, g.rows)
		t.i64(6, w.bytes)
		t.i64(7, w.bytes)
		t.i64(9, w.data)
		if w.dictionary >= 0 {
			t.i64(11, w.dictionary)
		}
		t.close()
		t.end()
	}
}
