package extract

import (
	"io"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Limits bound what one file may ask of the reader. A file that goes past one of
// them is refused, and the message names the limit.
type Limits struct {
	ContentBytes int64 // decompressed bytes of one file
	Ratio        int64 // decompressed bytes for each compressed byte, judged from ratioFloor bytes on
	RecordBytes  int   // bytes of one record, line end included
	Columns      int   // columns of a header, members of a JSON record
	Depth        int   // nested objects and arrays of a JSON value
}

// DefaultLimits are the limits of openReader.
var DefaultLimits = Limits{
	ContentBytes: 256 << 30,
	Ratio:        500, // deflate reaches 1,032 at most, and only on bytes that never change
	RecordBytes:  16 << 20,
	Columns:      10_000,
	Depth:        100,
}

// maxRaw is how much of a bad record a RecordError keeps, in bytes.
const maxRaw = 4 << 10

// Digests are the SHA-256 sums (FIPS 180-4) of one file, known once the reader
// returned io.EOF.
type Digests struct {
	Raw     [32]byte // of the bytes as found
	Content [32]byte // of the decompressed bytes; equal to Raw without compression
	Size    int64    // bytes as found
}

// fileReader is what openReader returns: a Reader that knows the digests of its
// file and lets go of what it holds. Close may be called at any time, more than
// once; it does not close the file itself.
type fileReader interface {
	Reader
	io.Closer
	// Digests is meaningful after Next returned io.EOF: only then every byte of
	// the file has been read, whatever the decompressor needed of it.
	Digests() Digests
}

// openReader reads one file of a source with the declared compression, encoding
// and format. The columns that the product fields name must exist in it. f gives
// the bytes as found; name stands for the file in messages, and its ending says
// the compression where the source leaves that open.
//
// Errors are *fail.Error: of class Input where the file is at fault, of class
// Usage where the declaration cannot work.
func openReader(src *rules.Source, fields []rules.Field, f io.Reader, name string) (fileReader, error) {
	return openReaderLimits(src, fields, f, name, DefaultLimits)
}

// reader reads a file by the plan of its source, signatures included.
func (p *stagePlan) reader(f io.Reader, name string) (fileReader, error) {
	r, err := openReader(p.src, p.sourceFields(), f, name)
	if err == nil && p.src.Signature != nil {
		r = &signedReader{r, newSignatureCheck(p.src.Signature, p.keys, r.Header())}
	}
	if err == nil && p.src.IsListing() {
		r = &listedReader{fileReader: r}
	}
	return r, err
}

func openReaderLimits(src *rules.Source, fields []rules.Field, f io.Reader, name string, lim Limits) (fileReader, error) {
	need := neededColumns(src, fields)
	if compressionOf(src.Compression, name) == rules.CompressionZip {
		return openZip(src, fields, f, name, lim)
	}
	if src.Format == rules.FormatParquet {
		p, err := openParquet(src, need, f, name, lim)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	if src.Format == rules.FormatXLSX {
		return openXLSX(src, need, f, name, lim)
	}
	content, err := openContent(f, src.Compression, name, lim)
	if err != nil {
		return nil, err
	}
	r, err := openStream(src, need, content, name, lim)
	if err != nil {
		content.Close()
		return nil, err
	}
	return &streamReader{Reader: r, content: content}, nil
}

// openStream reads a format that is read from its first byte to its last.
func openStream(src *rules.Source, need []neededColumn, content io.Reader, name string, lim Limits) (Reader, error) {
	if src.Format.Bank() {
		return orNil(newBankReader(src, need, content, name))
	}
	text := func(encoding string) (io.Reader, error) { return decodeText(content, encoding, name) }
	switch src.Format {
	case rules.FormatCSV:
		t, err := text(src.CSV.Encoding)
		if err != nil {
			return nil, err
		}
		c, err := newCSVReader(&src.CSV, need, t, name, lim)
		if err == nil {
			c.hide, c.repeats = src.HideCells, src.Controls.Repeats()
		}
		return orNil(c, err)
	case rules.FormatTyped:
		t, err := text(src.CSV.Encoding)
		if err != nil {
			return nil, err
		}
		return hidingCells(src)(newTypedReader(src, need, t, name, lim))
	case rules.FormatFixed:
		return hidingCells(src)(newFixedReader(src, need, content, name, lim))
	case rules.FormatXML:
		return orNil(newXMLReader(src, need, content, name, lim))
	case rules.FormatNDJSON, rules.FormatJSON:
		// RFC 8259 §8.1: JSON between systems is UTF-8
		t, err := text("utf-8")
		if err != nil {
			return nil, err
		}
		if src.Format == rules.FormatJSON {
			return orNil(newJSONReader(&src.JSON, need, t, name, lim))
		}
		return newNDJSONReader(need, t, name, lim), nil
	default:
		return nil, fail.New(fail.Usage, "source %s: the format %q is not known", src.Name, src.Format).
			WithHint("write format: csv, tsv, ndjson, json, parquet, typed, fixed, xlsx or xml")
	}
}

// orNil gives a reader as the interface; nil where there is an error.
func orNil[R Reader](r R, err error) (Reader, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// headOf gives the fields of the header line of a file, nil where it has none.
func headOf(r Reader) []string {
	if h, ok := r.(interface{ Head() []string }); ok {
		return h.Head()
	}
	return nil
}

// trailersOf gives the fields of every trailer, in a file that has one for each value of a
// field.
func trailersOf(r Reader) [][]string {
	if t, ok := r.(interface{ Trailers() [][]string }); ok {
		return t.Trailers()
	}
	return nil
}

// notesOf gives what a reader, at the end of its file, says that people should know.
func notesOf(r Reader) []string {
	if n, ok := r.(interface{ Notes() []string }); ok {
		return n.Notes()
	}
	return nil
}

// outsideRows are rows of a sheet with values that its declared range leaves out.
type outsideRows struct {
	Rows  int64
	First int64 // number of the first one in the sheet
}

func (o *outsideRows) add(more outsideRows) {
	if o.Rows == 0 {
		o.First = more.First
	}
	o.Rows += more.Rows
}

// openEndOf tells whether a reader, at the end of its file, saw that its last line has no end.
func openEndOf(r Reader) bool {
	n, ok := r.(interface{ OpenEnd() bool })
	return ok && n.OpenEnd()
}

// outsideOf gives what a reader, at the end of its file, left out by its range.
func outsideOf(r Reader) outsideRows {
	if n, ok := r.(interface{ Outside() outsideRows }); ok {
		return n.Outside()
	}
	return outsideRows{}
}

// emptyIsNull tells whether the source holds an empty text for null.
func emptyIsNull(src *rules.Source) bool {
	if src.Format.Bank() {
		return true
	}
	switch src.Format {
	case rules.FormatCSV, rules.FormatTyped:
		return src.CSV.EmptyText != "quoted_is_text"
	case rules.FormatFixed, rules.FormatXLSX, rules.FormatXML:
		return true
	default:
		return false
	}
}

// streamReader ties a Reader to the stream that it reads.
type streamReader struct {
	Reader
	content *content
}

func (s *streamReader) Head() []string       { return headOf(s.Reader) }
func (s *streamReader) Trailers() [][]string { return trailersOf(s.Reader) }
func (s *streamReader) OpenEnd() bool        { return openEndOf(s.Reader) }
func (s *streamReader) Digests() Digests     { return s.content.digests() }
func (s *streamReader) Close() error         { return s.content.Close() }

// cutFile is the error of a file that ends before it should.
func cutFile(name, format string, args ...any) *fail.Error {
	e := fail.New(fail.Input, format, args...)
	e.Msg = name + ": " + e.Msg + ": the file is cut"
	return e.WithHint("fetch the file again, and compare its size with the sender's")
}

// badFile is the error of a file that breaks its declared form.
func badFile(name, format string, args ...any) *fail.Error {
	e := fail.New(fail.Input, format, args...)
	e.Msg = name + ": " + e.Msg
	return e
}

// overLimit is the error of a file that goes past one of the Limits.
func overLimit(name, what string, limit int64) *fail.Error {
	return badFile(name, "more than %d %s, which is the limit", limit, what).
		WithHint("look at the file: a quote that is never closed, or a file made to fill memory, looks like this")
}

// clip returns a copy of at most maxRaw bytes of a bad record.
func clip(raw []byte) []byte {
	if len(raw) > maxRaw {
		raw = raw[:maxRaw]
	}
	return append([]byte(nil), raw...)
}
