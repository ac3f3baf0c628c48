package extract

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Columns of a batch while it is filled. Their memory is laid out as Arrow's and
// lent to the record batch, which must be released before the next batch begins:
// so that nothing is allocated, cleared or copied for a value. Arrow's own builders
// check for room and touch the validity bitmap at each value; here room is made
// once a batch, and a row that holds a value leaves the bitmap alone.

// column is one of the types below.
type column interface {
	// reset makes room for n rows.
	reset(n int)
	// array lends the rows to Arrow.
	array(t arrow.DataType, n int) arrow.Array
}

// validity is the bitmap of a column: all rows are valid but those that null marks.
type validity struct {
	bits  []byte
	nulls int
}

func (v *validity) resetValidity(n int) {
	size := (n + 7) / 8
	v.bits, v.nulls = slices.Grow(v.bits[:0], size)[:size], 0
	for i := range v.bits {
		v.bits[i] = 0xFF
	}
	if n%8 != 0 {
		v.bits[size-1] = 1<<(n%8) - 1
	}
}

func (v *validity) null(row int) {
	v.bits[row>>3] &^= 1 << (row & 7)
	v.nulls++
}

// data joins the bitmap and the values to what Arrow makes an array of.
func (v *validity) data(t arrow.DataType, n int, values ...[]byte) *array.Data {
	buffers := make([]*memory.Buffer, 1, 3)
	if v.nulls > 0 {
		buffers[0] = memory.NewBufferBytes(v.bits)
	}
	for _, b := range values {
		buffers = append(buffers, memory.NewBufferBytes(b))
	}
	return array.NewData(t, n, buffers, nil, v.nulls, 0)
}

// fixedColumn holds values of one size.
type fixedColumn[T int64 | uint64 | arrow.Date32 | decimal128.Num] struct {
	validity
	vals []T
}

func (c *fixedColumn[T]) reset(n int) {
	c.resetValidity(n)
	c.vals = slices.Grow(c.vals[:0], n)[:n]
}

func (c *fixedColumn[T]) set(row int, v T) { c.vals[row] = v }

// clear marks the row null. What an earlier batch left there is overwritten, so
// that the same rows always give the same bytes.
func (c *fixedColumn[T]) clear(row int) {
	var zero T
	c.vals[row] = zero
	c.null(row)
}

func (c *fixedColumn[T]) array(t arrow.DataType, n int) arrow.Array {
	d := c.data(t, n, arrow.GetBytes(c.vals))
	defer d.Release()
	return array.MakeFromData(d)
}

// flagColumn holds booleans.
type flagColumn struct {
	validity
	flags []byte
}

func (c *flagColumn) reset(n int) {
	c.resetValidity(n)
	size := (n + 7) / 8
	c.flags = slices.Grow(c.flags[:0], size)[:size]
	clear(c.flags)
}

func (c *flagColumn) set(row int, v bool) {
	if v {
		c.flags[row>>3] |= 1 << (row & 7)
	}
}

func (c *flagColumn) array(t arrow.DataType, n int) arrow.Array {
	d := c.data(t, n, c.flags)
	defer d.Release()
	return array.MakeFromData(d)
}

// textColumn holds texts. Each row is set or cleared once, in order. A batch holds
// far less than 2 GiB (rawBatch), so that offsets are 32 bits.
type textColumn struct {
	validity
	offsets []int32
	text    []byte
}

func (c *textColumn) reset(n int) {
	c.resetValidity(n)
	c.offsets = slices.Grow(c.offsets[:0], n+1)[:n+1]
	c.offsets[0] = 0
	c.text = c.text[:0]
}

func (c *textColumn) set(row int, text []byte) {
	c.text = append(c.text, text...)
	c.offsets[row+1] = int32(len(c.text))
}

func (c *textColumn) setString(row int, text string) {
	c.text = append(c.text, text...)
	c.offsets[row+1] = int32(len(c.text))
}

func (c *textColumn) clear(row int) {
	c.offsets[row+1] = int32(len(c.text))
	c.null(row)
}

func (c *textColumn) array(t arrow.DataType, n int) arrow.Array {
	d := c.data(t, n, arrow.GetBytes(c.offsets), c.text)
	defer d.Release()
	return array.MakeFromData(d)
}
