package extract

import "slices"

// A batch ends with whichever comes first: batchRecords, so that the engine gets
// whole vectors, or batchBytes, so that wide records do not fill memory.
const (
	batchRecords = 8192
	batchBytes   = 2 << 20
)

// rawBatch holds copies of records, so that reader and converters can work at the
// same time. Cell texts share one buffer.
type rawBatch struct {
	width int
	text  []byte
	cells []rawCell
	no    []int64
	extra map[int][]NamedCell // by position in the batch; rare
	views []Cell
}

// rawCell says where a cell's text ends in the buffer. A batch holds batchBytes and
// one record more, which is far below 4 GiB.
type rawCell struct {
	end  uint32
	kind CellKind
}

func (b *rawBatch) reset(width int) {
	b.width = width
	b.text, b.cells, b.no = b.text[:0], b.cells[:0], b.no[:0]
	b.extra = nil
}

// grow makes room for a batch as large as the one before it.
func (b *rawBatch) grow(text, records int) {
	b.text = slices.Grow(b.text, text+text/8)
	b.cells = slices.Grow(b.cells, records*b.width)
	b.no = slices.Grow(b.no, records)
}

func (b *rawBatch) len() int { return len(b.no) }

func (b *rawBatch) full() bool { return len(b.no) >= batchRecords || len(b.text) >= batchBytes }

// add copies a record, which is valid only until the reader's next one. A record
// with fewer cells than the header has nulls for the rest.
func (b *rawBatch) add(r *Record) {
	for i := range b.width {
		var c Cell
		if i < len(r.Cells) {
			c = r.Cells[i]
		}
		b.text = append(b.text, c.Text...)
		b.cells = append(b.cells, rawCell{end: uint32(len(b.text)), kind: c.Kind})
	}
	if len(r.Extra) > 0 {
		if b.extra == nil {
			b.extra = map[int][]NamedCell{}
		}
		own := make([]NamedCell, len(r.Extra))
		for i, x := range r.Extra {
			own[i] = x
			own[i].Text = append([]byte(nil), x.Text...)
		}
		b.extra[len(b.no)] = own
	}
	b.no = append(b.no, r.No)
}

// record gives record i. Its cells are valid until the next call.
func (b *rawBatch) record(i int, r *rawRecord) {
	if len(b.views) < b.width {
		b.views = make([]Cell, b.width)
	}
	first := i * b.width
	start := uint32(0)
	if first > 0 {
		start = b.cells[first-1].end
	}
	for j := range b.width {
		c := b.cells[first+j]
		b.views[j] = Cell{Text: b.text[start:c.end:c.end], Kind: c.kind}
		start = c.end
	}
	r.no = b.no[i]
	r.cells = b.views[:b.width]
	r.extra = b.extra[i]
}
