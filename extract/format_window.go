package extract

import "io"

// windowStart is the first size of a window in bytes: large enough to make reads
// rare, small enough to stay in a core's cache.
const windowStart = 256 << 10

// window is the part of a stream that a reader looks at: buf[pos:end]. It grows
// only where one record is larger than it.
type window struct {
	r        io.Reader
	buf      []byte
	pos, end int
	eof      bool
	err      error // of r, or the limit; io.EOF apart
	limits   Limits
	name     string
}

func newWindow(r io.Reader, name string, lim Limits) window {
	return window{r: r, name: name, limits: lim, buf: make([]byte, windowStart)}
}

// data is what is in view.
func (w *window) data() []byte { return w.buf[w.pos:w.end] }

// more brings further bytes behind the ones in view, which it keeps but may move.
// It returns false at the end of the stream and on an error. The window is filled
// as far as it goes, so that a caller that starts again after each call looks at
// each byte a bounded number of times.
func (w *window) more() bool {
	if w.eof || w.err != nil {
		return false
	}
	if w.end-w.pos > w.limits.RecordBytes {
		w.err = overLimit(w.name, "bytes in one record", int64(w.limits.RecordBytes))
		return false
	}
	if w.pos > 0 {
		w.end = copy(w.buf, w.buf[w.pos:w.end])
		w.pos = 0
	}
	if w.end == len(w.buf) {
		w.buf = append(w.buf, make([]byte, len(w.buf))...)
	}
	before := w.end
	for w.end < len(w.buf) {
		n, err := w.r.Read(w.buf[w.end:])
		w.end += n
		if err == io.EOF {
			w.eof = true
			break
		}
		if err != nil {
			w.err = err
			break
		}
	}
	return w.end > before
}

// at brings byte i (counted from pos) into view, and tells whether there is one.
func (w *window) at(i int) bool {
	for w.pos+i >= w.end {
		if !w.more() {
			return w.pos+i < w.end
		}
	}
	return true
}
