package extract

import (
	"bytes"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// benchmarkFormat reads a file through and reports MB/s, rows/s and the greatest
// heap beside the file itself.
func benchmarkFormat(b *testing.B, src *rules.Source, data []byte, fields []rules.Field, name string, rows int64) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	runtime.GC()
	peak := watchHeap()
	for b.Loop() {
		if n := readThrough(b, src, fields, bytes.NewReader(data), name); n != rows {
			b.Fatalf("%d rows, want %d", n, rows)
		}
	}
	b.ReportMetric(float64(peak())/1e6, "peak-MB")
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// watchHeap samples the heap until the returned function is called, which gives how
// far it grew, in bytes.
func watchHeap() func() uint64 {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	base := heap()
	var most atomic.Uint64
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				most.Store(max(most.Load(), heap()))
			}
		}
	}()
	return func() uint64 {
		close(done)
		return max(most.Load(), heap(), base) - base
	}
}
