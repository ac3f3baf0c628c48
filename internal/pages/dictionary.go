package pages

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Columns of few values are written as places in a dictionary: a type, a state, a
// currency, a version are read by the engine several times faster that way. Whether
// a column has few values, each row group decides from its values alone: then its
// batches, coded on their own and at the same time, are brought to one dictionary.

// maxDictionary is the number of values from which on a dictionary gains nothing.
const maxDictionary = 4000

// fewValues tells whether so many values among so many rows may become a dictionary.
// A column of ids is given up after some hundreds of them.
func fewValues(values, rows int) bool { return values <= 256+rows/8 }

// coded is one column of one batch as places in the list of its values.
type coded struct {
	rows   int64
	levels []byte   // definition levels, as appendLevels makes them
	places []uint16 // of the rows that hold a value
	ends   []int    // of each value in text
	text   []byte   // the values, in the order in which they first come
}

func (c *coded) value(i int) []byte {
	from := 0
	if i > 0 {
		from = c.ends[i-1]
	}
	return c.text[from:c.ends[i]]
}

// bytes is about what it takes of memory.
func (c *coded) bytes() int { return len(c.levels) + 2*len(c.places) + len(c.text) + 8*len(c.ends) }

// coder finds the places of values. One belongs to one goroutine.
type coder struct {
	seed  maphash.Seed
	slots [4096]uint16 // place + 1 by hash; a batch has at most 256 + batchRecords/8 values
	out   coded
}

func newCoder() *coder { return &coder{seed: maphash.MakeSeed()} }

// place returns the place of a value; false where there are too many of them.
func (d *coder) place(v []byte) (uint16, bool) {
	c := &d.out
	slot := maphash.Bytes(d.seed, v) % uint64(len(d.slots))
	for ; d.slots[slot] != 0; slot = (slot + 1) % uint64(len(d.slots)) {
		if at := d.slots[slot] - 1; bytes.Equal(c.value(int(at)), v) {
			return at, true
		}
	}
	if !fewValues(len(c.ends)+1, len(c.places)) {
		return 0, false
	}
	at := uint16(len(c.ends))
	c.text = append(c.text, v...)
	c.ends = append(c.ends, len(c.text))
	d.slots[slot] = at + 1
	return at, true
}

// code returns the column as places, or nil where it has too many values.
func (d *coder) code(c *Column, a arrow.Array) *coded {
	n := a.Len()
	clear(d.slots[:])
	d.out.places, d.out.ends, d.out.text = d.out.places[:0], d.out.ends[:0], d.out.text[:0]
	if a.NullN() < n && !d.codeValues(c, a) {
		return nil
	}
	return &coded{
		rows:   int64(n),
		levels: appendLevels(nil, a),
		places: slices.Clone(d.out.places),
		ends:   slices.Clone(d.out.ends),
		text:   slices.Clone(d.out.text),
	}
}

func (d *coder) codeValues(c *Column, a arrow.Array) bool {
	var (
		out   = &d.out
		full  = a.NullN() == 0
		n     = a.Len()
		begun bool // last is the value before
		at    uint16
		ok    bool
	)
	switch v := a.(type) {
	case *array.String:
		offsets, text := v.ValueOffsets(), v.ValueBytes()
		var last []byte
		for i := range n {
			if !full && v.IsNull(i) {
				continue
			}
			t := text[offsets[i]:offsets[i+1]]
			if !begun || !bytes.Equal(t, last) {
				if at, ok = d.place(t); !ok {
					return false
				}
				last, begun = t, true
			}
			out.places = append(out.places, at)
		}
	case *array.Uint64:
		var last uint64
		var le [8]byte
		for i, x := range v.Uint64Values() {
			if !full && v.IsNull(i) {
				continue
			}
			if !begun || x != last {
				binary.LittleEndian.PutUint64(le[:], x)
				if at, ok = d.place(le[:]); !ok {
					return false
				}
				last, begun = x, true
			}
			out.places = append(out.places, at)
		}
	case *array.Decimal128:
		var last decimal128.Num
		var be [16]byte
		for i, x := range v.Values() {
			if !full && v.IsNull(i) {
				continue
			}
			if !begun || x != last {
				putDecimal(&be, x)
				if at, ok = d.place(be[16-c.length:]); !ok {
					return false
				}
				last, begun = x, true
			}
			out.places = append(out.places, at)
		}
	default:
		return false
	}
	return true
}

// dictionary is the common one of a row group's batches.
type dictionary struct {
	places map[string]uint32
	plain  []byte // its values in PLAIN encoding
}

// merge gives the places in the common dictionary of each batch's values. It is nil
// where a batch is not coded, or where there are too many values or none.
func (d *dictionary) merge(c *Column, pages []Page) [][]uint32 {
	d.places, d.plain = map[string]uint32{}, d.plain[:0]
	to := make([][]uint32, len(pages))
	for i, pg := range pages {
		if pg.coded == nil {
			return nil
		}
		to[i] = make([]uint32, len(pg.coded.ends))
		for j := range to[i] {
			v := pg.coded.value(j)
			at, known := d.places[string(v)]
			if !known {
				if at = uint32(len(d.places)); at == maxDictionary {
					return nil
				}
				d.places[string(v)] = at
				d.plain = c.appendPlain(d.plain, v)
			}
			to[i][j] = at
		}
	}
	if len(d.places) == 0 {
		return nil
	}
	return to
}

// width is the number of bits of a place; one at least, since readers differ over
// none.
func (d *dictionary) width() int { return max(1, bits.Len(uint(len(d.places)-1))) }

// page is the dictionary page.
func (d *dictionary) page() []byte {
	var h thrift
	h.i32(1, 2) // DICTIONARY_PAGE
	h.i32(2, int64(len(d.plain)))
	h.i32(3, int64(len(d.plain)))
	h.open(7)
	h.i32(1, int64(len(d.places)))
	h.i32(2, pqPlain)
	h.close()
	h.end()
	return append(h.b, d.plain...)
}

// appendPlaces appends the body of a data page behind its levels: the width, and
// all places as one run of packed bits, or of one value.
func (d *dictionary) appendPlaces(b []byte, places []uint16, to []uint32) []byte {
	width := d.width()
	b = append(b, byte(width))
	if oneValue(places) {
		b = binary.AppendUvarint(b, uint64(len(places))<<1)
		at := to[places[0]]
		b = append(b, byte(at))
		if width > 8 {
			b = append(b, byte(at>>8))
		}
		return b
	}
	groups := (len(places) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	var word uint64
	n := 0
	for i := range groups * 8 {
		if i < len(places) {
			word |= uint64(to[places[i]]) << n
		}
		for n += width; n >= 8; n -= 8 {
			b = append(b, byte(word))
			word >>= 8
		}
	}
	return b
}

func oneValue(places []uint16) bool {
	for _, p := range places {
		if p != places[0] {
			return false
		}
	}
	return true
}

// appendDecoded appends the values as PLAIN encoding has them.
func (c *coded) appendDecoded(b []byte, col *Column) []byte {
	for _, p := range c.places {
		b = col.appendPlain(b, c.value(int(p)))
	}
	return b
}
