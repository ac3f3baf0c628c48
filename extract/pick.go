package extract

import (
	"io"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pages"
)

// recBits is how many bits of a row id are the record number; those above it are the
// number of the file.
const recBits = 40

// OpenStaged opens a staged file for reading without the engine. The caller closes
// the file.
func OpenStaged(path string) (*pages.Reader, *os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, stagedError(path, err)
	}
	info, err := f.Stat()
	if err == nil {
		var r *pages.Reader
		if r, err = pages.Open(f, info.Size(), StagedBy); err == nil {
			return r, f, nil
		}
	}
	f.Close()
	return nil, nil, stagedError(path, err)
}

func stagedError(path string, err error) error {
	return fail.Wrap(fail.Resources, err, "the staged file %s cannot be read", path).
		WithHint("remove it: the next run stages its input again")
}

// PickedRows reads single rows of a side. It is an array.RecordReader of the columns
// file_no and those of names, which staged files must store; the rows come in the order
// of their ids.
type PickedRows struct {
	rel    *Relation
	names  []string
	ids    []int64
	file   int // the next one of rel.Files
	open   *os.File
	picker *pages.Picker
	reader *pages.Reader
	group  int
	no     int32
	words  []uint64
	buf    []byte
	schema *arrow.Schema
	batch  arrow.RecordBatch
	err    error
}

// Pick reads the rows with these ids, which must be ascending.
func (r *Relation) Pick(ids []int64, names []string) (*PickedRows, error) {
	p := &PickedRows{rel: r, names: names, ids: ids}
	for _, f := range r.Files {
		if f.Staged != "" {
			reader, file, err := OpenStaged(f.Staged)
			if err != nil {
				return nil, err
			}
			picker, err := reader.Picker(names)
			file.Close()
			if err != nil {
				return nil, stagedError(f.Staged, err)
			}
			fields := append([]arrow.Field{{Name: "file_no", Type: arrow.PrimitiveTypes.Int32}}, picker.Schema().Fields()...)
			p.schema = arrow.NewSchema(fields, nil)
			return p, nil
		}
	}
	return nil, fail.New(fail.Internal, "rows are asked of a side without files")
}

// Retain and Release do nothing: Close ends the reading.
func (p *PickedRows) Retain() {}

// Release does nothing.
func (p *PickedRows) Release() {}

// Close ends the reading. Rows that were asked for and are not there are an error.
func (p *PickedRows) Close() error {
	p.release()
	if p.open != nil {
		p.open.Close()
		p.open = nil
	}
	if p.err == nil && len(p.ids) > 0 {
		p.err = fail.New(fail.Internal, "the row %d of file %d is not staged", p.ids[0]&(1<<recBits-1), p.ids[0]>>recBits)
	}
	return p.err
}

func (p *PickedRows) release() {
	if p.batch != nil {
		p.batch.Release()
		p.batch = nil
	}
}

// Schema is that of the record batches.
func (p *PickedRows) Schema() *arrow.Schema { return p.schema }

// RecordBatch is the batch that Next has read.
func (p *PickedRows) RecordBatch() arrow.RecordBatch { return p.batch }

// Record is RecordBatch under its former name, which the interface still has.
func (p *PickedRows) Record() arrow.RecordBatch { return p.batch }

// Err is the first error.
func (p *PickedRows) Err() error { return p.err }

// Next reads the wanted rows of the next row group that has any.
func (p *PickedRows) Next() bool {
	p.release()
	for p.err == nil && len(p.ids) > 0 {
		if p.picker == nil {
			if !p.nextFile() {
				return false
			}
		}
		if p.group == p.reader.Groups() || p.ids[0]>>recBits != int64(p.no) {
			p.picker = nil
			continue
		}
		rows, err := p.wanted()
		if err == nil && len(rows) > 0 {
			err = p.pick(rows)
		}
		p.group++
		if err != nil {
			p.err = stagedError(p.rel.Files[p.file-1].Staged, err)
			return false
		}
		if p.batch != nil {
			return true
		}
	}
	return false
}

// nextFile opens the file of the next row; false where it is none of the side's.
func (p *PickedRows) nextFile() bool {
	if p.open != nil {
		p.open.Close()
		p.open = nil
	}
	for p.file < len(p.rel.Files) {
		f := &p.rel.Files[p.file]
		p.file++
		if f.Staged == "" || int64(f.No) != p.ids[0]>>recBits {
			continue
		}
		p.no, p.group = int32(f.No), 0
		if p.reader, p.open, p.err = OpenStaged(f.Staged); p.err != nil {
			return false
		}
		if p.picker, p.err = p.reader.Picker(p.names); p.err != nil {
			p.err = stagedError(f.Staged, p.err)
			return false
		}
		return true
	}
	return false
}

// wanted takes the rows of the row group from the ids: their numbers in it.
func (p *PickedRows) wanted() ([]int32, error) {
	var err error
	if p.words, _, err = p.reader.Words(p.group, p.reader.Find("rec"), p.words, nil, &p.buf); err != nil {
		return nil, err
	}
	var rows []int32
	for i := 0; i < len(p.words) && len(p.ids) > 0 && p.ids[0]>>recBits == int64(p.no); {
		switch want := uint64(p.ids[0] & (1<<recBits - 1)); {
		case p.words[len(p.words)-1] < want:
			return rows, nil
		case p.words[i] < want:
			// Records are numbered without gaps as a rule, so that the row is near.
			i = max(i+1, min(len(p.words)-1, i+int(want-p.words[i])))
			for p.words[i] > want && p.words[i-1] >= want {
				i--
			}
		case p.words[i] > want:
			return nil, fail.New(fail.Internal, "the record %d is not staged", want)
		default:
			rows = append(rows, int32(i))
			p.ids = p.ids[1:]
			i++
		}
	}
	return rows, nil
}

func (p *PickedRows) pick(rows []int32) error {
	picked, err := p.picker.Pick(p.group, rows)
	if err != nil {
		return err
	}
	defer picked.Release()
	b := array.NewInt32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(slices.Repeat([]int32{p.no}, len(rows)), nil)
	no := b.NewArray()
	defer no.Release()
	p.batch = array.NewRecordBatch(p.schema, append([]arrow.Array{no}, picked.Columns()...), int64(len(rows)))
	return nil
}

var _ array.RecordReader = (*PickedRows)(nil)
var _ io.Closer = (*PickedRows)(nil)
