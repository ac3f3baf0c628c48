package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// parquetBatch is the number of rows that are decoded at a time.
const parquetBatch = 8 << 10

// parquetBuffer is how many records of the greatest size one buffer of the library may
// have the bytes of: a page, or a column of one batch. Pages are packed, so that a small
// file can state a page of any size.
const parquetBuffer = 32

// boundedAllocator panics with an error of the file where one buffer goes past a limit,
// before it is there; parquetReader.guard returns the error.
type boundedAllocator struct {
	memory.Allocator
	most int // bytes
	name string
}

func (b boundedAllocator) Allocate(size int) []byte {
	b.check(size)
	return b.Allocator.Allocate(size)
}

func (b boundedAllocator) Reallocate(size int, was []byte) []byte {
	b.check(size)
	return b.Allocator.Reallocate(size, was)
}

func (b boundedAllocator) check(size int) {
	if size > b.most {
		panic(overLimit(b.name, "bytes in one page or one column of a batch", int64(b.most)))
	}
}

// parquetReader reads Apache Parquet. Cells are texts that lose nothing: see
// appendValue. Members of a struct are columns by their path, "source.id"; lists
// and maps are JSON text.
//
// FLOAT and DOUBLE columns are refused where a product field reads them: money in
// floats is not exact, and a float has no one text to be a key.
//
// Parquet needs random access: where the file is compressed as a whole, or is no
// file at all, its content is spooled to a temporary one.
type parquetReader struct {
	name    string
	limits  Limits
	content *content
	spool   *os.File // nil where the file itself is read
	rows    pqarrow.RecordReader
	total   int64 // rows by the footer
	header  []string
	leaves  []parquetLeaf
	needed  []bool // by column

	arrays  []arrow.Array   // of the present batch, by column
	parents [][]arrow.Array // structs around them
	batch   int             // rows of the present batch
	next    int             // row in it
	rec     Record
	text    []byte // of the present record
	ends    []int
	err     error
}

// parquetLeaf is a column by its place: the top column, then members of structs.
type parquetLeaf struct {
	place []int
	typ   arrow.DataType
}

func openParquet(src *rules.Source, need []neededColumn, f io.Reader, name string, lim Limits) (*parquetReader, error) {
	content, err := openContent(f, src.Compression, name, lim)
	if err != nil {
		return nil, err
	}
	p := &parquetReader{name: name, limits: lim, content: content}
	if err := p.open(need, f, lim); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *parquetReader) open(need []neededColumn, f io.Reader, lim Limits) (err error) {
	plain, ok := f.(*os.File)
	var to io.Writer = io.Discard // a plain file is only hashed on the way
	if !ok || p.content.kind != "" {
		if p.spool, err = os.CreateTemp("", "recon-batch-*.parquet"); err != nil {
			return fail.Wrap(fail.Resources, err, "%s: no temporary file for the Parquet content", p.name).
				WithHint("set TMPDIR to a folder with room for it")
		}
		plain, to = p.spool, p.spool
	}
	size, err := io.Copy(to, p.content)
	if err != nil {
		if _, ok := errors.AsType[*fail.Error](err); ok {
			return err
		}
		return fail.Wrap(fail.Resources, err, "%s: the Parquet content cannot be spooled", p.name).
			WithHint("set TMPDIR to a folder with room for it")
	}
	defer p.guard(&err)
	mem := boundedAllocator{Allocator: memory.DefaultAllocator, most: parquetBuffer * lim.RecordBytes, name: p.name}
	// a section, so that nobody closes the file for its owner
	pq, err := file.NewParquetReader(io.NewSectionReader(plain, 0, size), file.WithReadProps(parquet.NewReaderProperties(mem)))
	if err != nil {
		return p.corrupt(err)
	}
	p.total = pq.NumRows()
	// not in parallel: files are, and a panic over a corrupt page must stay in this goroutine
	arrows, err := pqarrow.NewFileReader(pq, pqarrow.ArrowReadProperties{BatchSize: parquetBatch}, mem)
	if err != nil {
		return p.corrupt(err)
	}
	schema, err := arrows.Schema()
	if err != nil {
		return p.corrupt(err)
	}
	var found []string
	for i, field := range schema.Fields() {
		found = p.addLeaves(found, field, []int{i}, "")
	}
	if len(found) > lim.Columns {
		return overLimit(p.name, "columns", int64(lim.Columns))
	}
	if p.header, err = bindHeader(found, "", need, p.name); err != nil {
		return err
	}
	if err := p.checkNeeded(need); err != nil {
		return err
	}
	p.rec.Cells = make([]Cell, len(p.header))
	p.ends = make([]int, len(p.header))
	p.arrays = make([]arrow.Array, len(p.header))
	p.parents = make([][]arrow.Array, len(p.header))
	if p.total == 0 {
		return nil
	}
	if p.rows, err = arrows.GetRecordReader(context.Background(), nil, nil); err != nil {
		return p.corrupt(err)
	}
	return nil
}

// addLeaves appends the columns of a field, in order.
func (p *parquetReader) addLeaves(found []string, field arrow.Field, place []int, prefix string) []string {
	name := prefix + field.Name
	if s, ok := field.Type.(*arrow.StructType); ok && s.NumFields() > 0 {
		for i, member := range s.Fields() {
			found = p.addLeaves(found, member, append(place[:len(place):len(place)], i), name+".")
		}
		return found
	}
	p.leaves = append(p.leaves, parquetLeaf{place: place, typ: field.Type})
	return append(found, name)
}

// checkNeeded refuses columns whose values are not exact.
func (p *parquetReader) checkNeeded(need []neededColumn) error {
	p.needed = make([]bool, len(p.header))
	for _, c := range need {
		at := c.position - 1
		for i := 0; at < 0 && i < len(p.header); i++ {
			if p.header[i] == c.name {
				at = i
			}
		}
		if at < 0 || at >= len(p.header) {
			continue // optional, and not in the file
		}
		p.needed[at] = true
		name := quoteName(p.header[at])
		switch p.leaves[at].typ.ID() {
		case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
			if c.kind == rules.Decimal {
				return badFile(p.name, "the column %s holds floats (%s), and the field %s reads decimals from it: money in floats is not exact", name, p.leaves[at].typ, c.field).
					WithHint("cast it in the export, for instance CAST(%s AS DECIMAL(18,2))", p.header[at])
			}
			return badFile(p.name, "the column %s holds floats (%s), which the field %s cannot read: a float has no one text", name, p.leaves[at].typ, c.field).
				WithHint("cast it in the export, for instance CAST(%s AS BIGINT), or to text", p.header[at])
		}
	}
	return nil
}

func (p *parquetReader) Header() []string    { return p.header }
func (p *parquetReader) Trailer() []string   { return nil }
func (p *parquetReader) ControlLines() int64 { return 0 }
func (p *parquetReader) Digests() Digests    { return p.content.digests() }

// Close lets go of the batch and removes the spooled content.
func (p *parquetReader) Close() error {
	if p.rows != nil {
		p.rows.Release()
		p.rows = nil
	}
	p.content.Close()
	if p.spool != nil {
		p.spool.Close()
		os.Remove(p.spool.Name())
		p.spool = nil
	}
	if p.err == nil {
		p.err = fail.New(fail.Internal, "%s: read after close", p.name)
	}
	return nil
}

func (p *parquetReader) Next() (*Record, error) {
	if p.err != nil {
		return nil, p.err
	}
	rec, err := p.nextRow()
	if err != nil {
		if _, ok := err.(*RecordError); !ok {
			p.err = err
		}
		return nil, err
	}
	return rec, nil
}

func (p *parquetReader) nextRow() (rec *Record, err error) {
	defer p.guard(&err)
	for p.next == p.batch {
		if p.rec.No == p.total {
			return nil, io.EOF
		}
		if err := p.nextBatch(); err != nil {
			return nil, err
		}
	}
	row := p.next
	p.next++
	p.rec.No++
	p.text = p.text[:0]
	why, column := "", 0
	for i, a := range p.arrays {
		kind, fault := CellNull, ""
		if p.valid(i, row) {
			p.text, kind, fault = appendValue(p.text, a, row, p.needed[i])
		}
		if fault != "" && why == "" {
			why, column = fault, i
		}
		if p.rec.Cells[i].Kind, p.ends[i] = kind, len(p.text); len(p.text) > p.limits.RecordBytes {
			return nil, overLimit(p.name, "bytes in one record", int64(p.limits.RecordBytes))
		}
	}
	if why != "" {
		return nil, &RecordError{No: p.rec.No, Column: p.header[column], Reason: why, Raw: clip(p.text)}
	}
	from := 0
	for i, end := range p.ends {
		p.rec.Cells[i].Text = p.text[from:end:end]
		from = end
	}
	return &p.rec, nil
}

// valid tells whether a value and all the structs around it are not null.
func (p *parquetReader) valid(column, row int) bool {
	for _, s := range p.parents[column] {
		if s.IsNull(row) {
			return false
		}
	}
	return p.arrays[column].IsValid(row)
}

// nextBatch decodes further rows.
func (p *parquetReader) nextBatch() error {
	if !p.rows.Next() {
		if err := p.rows.Err(); err != nil && err != io.EOF {
			return p.corrupt(err)
		}
		return cutFile(p.name, "%d rows can be read, the footer says %d", p.rec.No, p.total)
	}
	batch := p.rows.RecordBatch()
	p.batch, p.next = int(batch.NumRows()), 0
	for i, leaf := range p.leaves {
		a := batch.Column(leaf.place[0])
		p.parents[i] = p.parents[i][:0]
		for _, member := range leaf.place[1:] {
			p.parents[i] = append(p.parents[i], a)
			a = a.(*array.Struct).Field(member)
		}
		if a.Len() < p.batch {
			return p.corrupt(fmt.Errorf("the column %s has %d values for %d rows", quoteName(p.header[i]), a.Len(), p.batch))
		}
		p.arrays[i] = a
	}
	if p.batch == 0 || p.rec.No+int64(p.batch) > p.total {
		return p.corrupt(fmt.Errorf("more rows than the %d of the footer", p.total))
	}
	return nil
}

func (p *parquetReader) corrupt(err error) error {
	e := fail.Wrap(fail.Input, err, "%s: the file is no whole Parquet file: it is cut or corrupt", p.name)
	return e.WithHint("fetch the file again, and compare its size with the sender's")
}

// guard turns a panic of the Parquet library over a corrupt file into an error of
// that file. Nothing outside the library's own values can be half done: they are
// not used again.
func (p *parquetReader) guard(err *error) {
	switch r := recover().(type) {
	case nil:
	case *fail.Error: // of the allocator
		*err = r
	default:
		*err = p.corrupt(fmt.Errorf("%v", r))
	}
}

// validText is the fault of a text that is not UTF-8, "" for a good one.
func validText(text []byte) string {
	if utf8.Valid(text) {
		return ""
	}
	return invalidText(text, "utf-8")
}
