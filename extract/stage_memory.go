package extract

import (
	"math/bits"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// bufferPool is an Arrow allocator that uses buffers again: the batches of a file
// are all alike, and clearing and collecting a megabyte for each took a fifth of
// the conversion. Buffers come back when the engine lets go of a batch, from
// whichever thread. What it holds is bounded by the batches that are alive at once.
type bufferPool struct {
	mu   sync.Mutex
	free [bits.UintSize][][]byte // by the binary logarithm of their size
}

// zeroed is the size up to which a buffer used again is cleared: that covers the
// bitmaps of a batch, whose bits are set one by one; whole values are overwritten.
const zeroed = 4 << 10

// alignment of Arrow buffers in bytes (Arrow columnar format, "Buffer Alignment").
const alignment = 64

func (p *bufferPool) Allocate(size int) []byte {
	if size == 0 {
		return nil
	}
	class := bits.Len(uint(max(size, alignment) - 1))
	p.mu.Lock()
	if n := len(p.free[class]); n > 0 {
		b := p.free[class][n-1]
		p.free[class] = p.free[class][:n-1]
		p.mu.Unlock()
		b = b[:size]
		if size <= zeroed {
			clear(b)
		}
		return b
	}
	p.mu.Unlock()
	return memory.DefaultAllocator.Allocate(1 << class)[:size]
}

func (p *bufferPool) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	out := p.Allocate(size)
	copy(out, b)
	p.Free(b)
	return out
}

func (p *bufferPool) Free(b []byte) {
	if cap(b) == 0 {
		return
	}
	class := bits.Len(uint(cap(b)) - 1)
	if cap(b) != 1<<class {
		return // not one of ours
	}
	p.mu.Lock()
	p.free[class] = append(p.free[class], b[:0])
	p.mu.Unlock()
}
