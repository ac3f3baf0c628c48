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

// rawCell says where a cell's text lies in the buffer. A batch holds batchBytes and
// one record more, which is far below 4 GiB.
type rawCell struct {
	from, end uint32
	kind      CellKind
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
	at := len(b.cells)
	b.cells = slices.Grow(b.cells, b.width)[:at+b.width]
	cells := b.cells[at:]
	from := uint32(len(b.text))
	if r.whole != nil && len(r.Cells) == b.width {
		b.text = append(b.text, r.whole...)
		for i := range cells {
			c := &r.Cells[i]
			end := from + uint32(len(c.Text))
			cells[i] = rawCell{from: from, end: end, kind: c.Kind}
			from = end + uint32(r.gap)
		}
	} else {
		for i := range cells {
			var c Cell
			if i < len(r.Cells) {
				c = r.Cells[i]
			}
			b.text = append(b.text, c.Text...)
			end := uint32(len(b.text))
			cells[i] = rawCell{from: from, end: end, kind: c.Kind}
			from = end
		}
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
	views := b.views[:b.width]
	for j, c := range b.cells[i*b.width : (i+1)*b.width] {
		views[j] = Cell{Text: b.text[c.from:c.end:c.end], Kind: c.kind}
	}
	r.no = b.no[i]
	r.cells = views
	r.extra = b.extra[i]
}
