package s3

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/testpull"
)

// TestLarge: memory does not grow with the object. 5 GB in a nightly run. The object is
// made by the server of this test, since the disk need not hold it twice.
func TestLarge(t *testing.T) {
	size := testpull.Size()
	t.Setenv("TEST_ACCESS", "AKIATEST")
	t.Setenv("TEST_SECRET", "a-secret-of-the-test")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"made"`)
		http.ServeContent(w, r, "", time.Unix(1787000000, 0), testpull.Repeated(size))
	}))
	defer server.Close()
	dir := t.TempDir()
	testpull.Flat(t, start(t, server.URL, dir, "parallel: 4;part_size: 8388608"), filepath.Join(dir, fetch.FilesDir, "big.csv"), size)
}

// BenchmarkPull reads one large object from the server, as the source does: pinned,
// hashed, noted part by part, listed twice, and compared with what the server keeps of it:
// a checksum, as the SDK does, or the MD5 in its ETag.
func BenchmarkPull(b *testing.B) {
	for _, checksums := range []string{"when_supported", "when_required"} {
		b.Run(checksums, func(b *testing.B) {
			w := newWorld(b)
			body := large(b, w)
			w.proxy.URL = w.server.Endpoint
			defer used(b)()
			for b.Loop() {
				a := w.request("s3://evidence/in/*.csv", "part_size: 8388608", "parallel: 4", "checksums: "+checksums)
				s := pulled(b, a)
				if s.Size() != body {
					b.Fatal(s.Size())
				}
				b.StopTimer()
				if err := os.RemoveAll(a.Dir); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// BenchmarkSDK reads the same with the downloader of the SDK, into a file that it brings
// to the disk.
func BenchmarkSDK(b *testing.B) {
	w := newWorld(b)
	body := large(b, w)
	client := transfermanager.New(w.api, func(o *transfermanager.Options) { o.PartSizeBytes, o.Concurrency = 8<<20, 4 })
	dir := b.TempDir()
	defer used(b)()
	for b.Loop() {
		f, err := os.Create(filepath.Join(dir, "big.csv"))
		if err != nil {
			b.Fatal(err)
		}
		_, err = client.DownloadObject(context.Background(), &transfermanager.DownloadObjectInput{Bucket: &w.bucket, Key: aws.String("in/big.csv"), WriterAt: f})
		if err == nil {
			err = f.Sync()
		}
		info, _ := f.Stat()
		if err := errors.Join(err, f.Close()); err != nil || info.Size() != body {
			b.Fatal(err)
		}
	}
}

// used reports the time of the processor that this program took for each reading. On a
// machine that others use as well it says more than the time on the clock.
func used(b *testing.B) (end func()) {
	now := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	begun := now()
	return func() { b.ReportMetric(float64((now()-begun).Milliseconds())/float64(b.N), "cpu-ms/op") }
}

// large uploads the object of the benchmarks.
func large(b *testing.B, w *world) int64 {
	const size = 256 << 20
	w.put("in/big.csv", noise(31, size))
	b.SetBytes(size)
	return size
}
