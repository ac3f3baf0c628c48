package sql

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// sink writes rows as lines of JSON, compressed. Its memory does not grow with them.
type sink struct {
	to    io.Writer
	enc   *zstd.Encoder
	cols  []column
	heads [][]byte
	buf   []byte
	rows  int64
	tell  func(rows int64)
}

const (
	sinkBytes = 256 << 10 // that are collected before they are compressed
	window    = 1 << 20   // that the compression looks back
	mostKept  = 64 << 20  // that are kept after a row that was larger
	tellEvery = 8192      // rows
)

// newSink begins a file. The same rows give the same bytes.
func newSink(to io.Writer, cols []column, tell func(rows int64)) (*sink, error) {
	enc, err := zstd.NewWriter(to, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, err
	}
	return &sink{to: to, enc: enc, cols: cols, heads: heads(cols), buf: make([]byte, 0, sinkBytes+4096), tell: tell}, nil
}

// row writes one. A value is nil for null, else in the form that its column asked for.
func (s *sink) row(vals [][]byte) error {
	b := s.buf
	for i, v := range vals {
		b = append(b, s.heads[i]...)
		if v == nil {
			b = append(b, "null"...)
		} else {
			b = s.cols[i].write(b, v)
		}
	}
	s.buf = append(b, '}', '\n')
	s.rows++
	if s.rows%tellEvery == 0 {
		s.tell(s.rows)
	}
	if len(s.buf) < sinkBytes {
		return nil
	}
	return s.flush()
}

func (s *sink) flush() error {
	_, err := s.enc.Write(s.buf)
	s.buf = s.buf[:0]
	if cap(s.buf) > mostKept {
		s.buf = make([]byte, 0, sinkBytes+4096)
	}
	return fail.Disk(err, "the rows cannot be written")
}

// close brings everything to the writer below, which it leaves open.
func (s *sink) close() error {
	if err := s.flush(); err != nil {
		s.abort()
		return err
	}
	s.tell(s.rows)
	return fail.Disk(s.enc.Close(), "the rows cannot be written")
}

// abort lets go of the encoder. What was written means nothing.
func (s *sink) abort() { s.enc.Reset(nil) }

// keyed watches the keys of rows that come in the order of a keyset.
type keyed struct {
	t    *target
	cols []column
	at   []int    // of the key columns
	last [][]byte // of the row before; nil: there is none yet
	skip bool     // the first row is the last of the slice before, and not written again
}

var errKeyGone = "the last row of the slice before is not there any more"

// row looks at the key of a row and tells whether it is to be written.
func (k *keyed) row(vals [][]byte) (bool, error) {
	same := k.last != nil
	for i, c := range k.at {
		if vals[c] == nil {
			return false, k.t.badKey("a row has no value in the column " + k.cols[c].name)
		}
		same = same && bytes.Equal(vals[c], k.last[i])
	}
	if k.skip {
		if k.skip = false; !same {
			return false, k.t.badKey(errKeyGone)
		}
		return false, nil
	}
	if same {
		return false, k.t.badKey("two rows have the same values in the columns of the keyset")
	}
	if k.last == nil {
		k.last = make([][]byte, len(k.at))
	}
	for i, c := range k.at {
		k.last[i] = append(k.last[i][:0], vals[c]...)
	}
	return true, nil
}

func (t *target) badKey(what string) error {
	return fail.New(fail.Input, "the source %s (%s): %s", t.name, t.address, what).
		WithHint("sql.keyset.columns must be unique together and never null, and immutable rows must stay; name other columns, or read it without keyset")
}
