package pages

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Picker takes single rows out of a file. Where few rows are wanted it reads a column
// many times faster than an engine that decodes all of its values. One belongs to one
// goroutine.
type Picker struct {
	r      *Reader
	cols   []int
	schema *arrow.Schema
	buf    []byte
}

// Picker takes the columns of these names, which must be there, in this order.
func (r *Reader) Picker(names []string) (*Picker, error) {
	p := &Picker{r: r}
	fields := make([]arrow.Field, len(names))
	for i, n := range names {
		at := r.Find(n)
		if at < 0 {
			return nil, fmt.Errorf("the file has no column %s", n)
		}
		p.cols = append(p.cols, at)
		fields[i] = arrow.Field{Name: n, Type: r.cols[at].arrowType(), Nullable: true}
	}
	p.schema = arrow.NewSchema(fields, nil)
	return p, nil
}

// Schema is that of the record batches.
func (p *Picker) Schema() *arrow.Schema { return p.schema }

func (c *Column) arrowType() arrow.DataType {
	switch {
	case c.typ == pqBoolean:
		return arrow.FixedWidthTypes.Boolean
	case c.typ == pqInt32:
		return arrow.FixedWidthTypes.Date32
	case c.typ == pqInt64 && c.converted == pqUint64:
		return arrow.PrimitiveTypes.Uint64
	case c.typ == pqInt64:
		return arrow.PrimitiveTypes.Int64
	case c.typ == pqFixed:
		return &arrow.Decimal128Type{Precision: int32(c.precision), Scale: int32(c.scale)}
	}
	return arrow.BinaryTypes.String
}

// Pick returns the rows of a row group with these numbers, from 0 and ascending. The
// caller releases the batch.
func (p *Picker) Pick(group int, rows []int32) (arrow.RecordBatch, error) {
	arrays := make([]arrow.Array, len(p.cols))
	defer func() {
		for _, a := range arrays {
			if a != nil {
				a.Release()
			}
		}
	}()
	for i, col := range p.cols {
		b := array.NewBuilder(memory.DefaultAllocator, p.schema.Field(i).Type)
		b.Reserve(len(rows))
		err := p.column(group, col, rows, b)
		if err == nil {
			arrays[i] = b.NewArray()
		}
		b.Release()
		if err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(p.schema, arrays, int64(len(rows))), nil
}

func (p *Picker) column(group, col int, rows []int32, b array.Builder) error {
	c, err := p.r.open(group, col, &p.buf)
	if err != nil {
		return err
	}
	from := 0 // of the page, in the row group
	for len(rows) > 0 {
		v, err := c.next()
		if err == io.EOF {
			return fmt.Errorf("row %d is not in row group %d", rows[0], group)
		}
		if err != nil {
			return err
		}
		n := 0
		for n < len(rows) && int(rows[n]) < from+v.rows {
			n++
		}
		if n > 0 {
			if err := v.pick(c, rows[:n], from, b); err != nil {
				return err
			}
		}
		rows, from = rows[n:], from+v.rows
	}
	return nil
}

// pick appends the values of the rows, numbered from the start of the page at from.
func (v *values) pick(c *chunk, rows []int32, from int, b array.Builder) error {
	size, at, row, value := c.col.size(), 0, 0, 0
	if c.col.typ == pqBoolean {
		size = -1 // packed bits are found by their number
	}
	for _, want := range rows {
		to := int(want) - from
		next := value + v.rank(row, to)
		if v.isNull(to) {
			b.AppendNull()
			row, value, at = to, next, v.walk(size, at, next-value)
			if at < 0 {
				return errThrift
			}
			continue
		}
		if at = v.walk(size, at, next-value); at < 0 {
			return errThrift
		}
		row, value = to, next
		var err error
		if v.plain == nil {
			place := v.place(value)
			if int(place) >= len(c.dict) || v.places != nil && value*v.width/8 >= len(v.places) {
				return errThrift
			}
			err = appendValue(b, c.dict[place])
		} else if c.col.typ == pqBoolean {
			if value/8 >= len(v.plain) {
				return errThrift
			}
			b.(*array.BooleanBuilder).Append(v.plain[value/8]>>(value%8)&1 == 1)
		} else {
			x, _, ok := c.col.plain(v.plain[at:])
			if !ok {
				return errThrift
			}
			err = appendValue(b, x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walk goes over n PLAIN values from offset at; -1 where they are not there. size is
// that of a value, 0 where each has its own, less where they are not walked over.
func (v *values) walk(size, at, n int) int {
	if v.plain == nil || size < 0 {
		return 0
	}
	if size > 0 {
		if at += n * size; at > len(v.plain) {
			return -1
		}
		return at
	}
	b := v.plain
	for range n {
		if at+4 > len(b) {
			return -1
		}
		at += 4 + int(binary.LittleEndian.Uint32(b[at:]))
	}
	if at > len(b) {
		return -1
	}
	return at
}

// appendValue appends a value in PLAIN encoding, without the length of a text.
func appendValue(b array.Builder, x []byte) error {
	switch b := b.(type) {
	case *array.StringBuilder:
		b.BinaryBuilder.Append(x)
	case *array.Int64Builder:
		b.Append(int64(binary.LittleEndian.Uint64(x)))
	case *array.Uint64Builder:
		b.Append(binary.LittleEndian.Uint64(x))
	case *array.Date32Builder:
		b.Append(arrow.Date32(binary.LittleEndian.Uint32(x)))
	case *array.Decimal128Builder:
		var be [16]byte
		copy(be[16-len(x):], x)
		if x[0] >= 0x80 {
			for i := range 16 - len(x) {
				be[i] = 0xff
			}
		}
		b.Append(decimal128.New(int64(binary.BigEndian.Uint64(be[:8])), binary.BigEndian.Uint64(be[8:])))
	default:
		return fmt.Errorf("no value of %s can be read", b.Type())
	}
	return nil
}

// Words reads a whole column of 64-bit integers of one row group, reusing the memory
// of all three arguments: the values, 0 where there is none, and which rows hold none;
// nil where every row holds a value.
func (r *Reader) Words(group, col int, words []uint64, null []bool, buf *[]byte) ([]uint64, []bool, error) {
	if r.cols[col].typ != pqInt64 {
		return nil, nil, fmt.Errorf("the column %s has no integers of 64 bits", r.cols[col].name)
	}
	c, err := r.open(group, col, buf)
	if err != nil {
		return nil, nil, err
	}
	words, null = words[:0], null[:0]
	nulls := false
	for {
		v, err := c.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if v.plain == nil || len(v.plain) != 8*v.rank(0, v.rows) {
			return nil, nil, errThrift
		}
		at := 0
		if v.valid == nil && !v.none {
			for ; at < len(v.plain); at += 8 {
				words = append(words, binary.LittleEndian.Uint64(v.plain[at:]))
			}
			null = append(null, make([]bool, v.rows)...)
			continue
		}
		for i := range v.rows {
			if v.isNull(i) {
				words, null, nulls = append(words, 0), append(null, true), true
				continue
			}
			words, null = append(words, binary.LittleEndian.Uint64(v.plain[at:])), append(null, false)
			at += 8
		}
	}
	if !nulls {
		return words, nil, nil
	}
	return words, null, nil
}
