package extract

import (
	"io"
	"sync/atomic"
)

// countingReader counts the bytes that were read, for progress.
type countingReader struct {
	f io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.f.Read(b)
	c.n.Add(int64(n))
	return n, err
}
