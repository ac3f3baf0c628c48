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

func openReaderLimits(src *rules.Source, fields []rules.Field, f io.Reader, name string, lim Limits) (fileReader, error) {
	need := neededColumns(src, fields)
	if src.Format == rules.FormatParquet {
		p, err := openParquet(src, need, f, name, lim)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	content, err := openContent(f, src.Compression, name, lim)
	if err != nil {
		return nil, err
	}
	var r Reader
	switch src.Format {
	case rules.FormatCSV:
		var text io.Reader
		if text, err = decodeText(content, src.CSV.Encoding, name); err == nil {
			r, err = newCSVReader(&src.CSV, need, text, name, lim)
		}
	case rules.FormatNDJSON, rules.FormatJSON:
		// RFC 8259 §8.1: JSON between systems is UTF-8
		var text io.Reader
		if text, err = decodeText(content, "utf-8", name); err == nil {
			if src.Format == rules.FormatJSON {
				r, err = newJSONReader(src.JSON.Path, need, text, name, lim)
			} else {
				r = newNDJSONReader(need, text, name, lim)
			}
		}
	default:
		err = fail.New(fail.Usage, "source %s: the format %q is not known", src.Name, src.Format).
			WithHint("write format: csv, tsv, ndjson, json or parquet")
	}
	if err != nil {
		content.Close()
		return nil, err
	}
	return &streamReader{Reader: r, content: content}, nil
}

// streamReader ties a Reader to the stream that it reads.
type streamReader struct {
	Reader
	content *content
}

func (s *streamReader) Digests() Digests { return s.content.digests() }
func (s *streamReader) Close() error     { return s.content.Close() }

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
