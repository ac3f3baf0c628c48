package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// endless is a service that makes pages as they are asked for.
func endless(t testing.TB, pages, records int) *httptest.Server {
	filler := fmt.Sprintf("%0128d", 0)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k, _ := strconv.Atoi(r.FormValue("cursor"))
		b := bufio.NewWriterSize(w, 64<<10)
		defer b.Flush()
		io.WriteString(b, `{"data":{"items":[`)
		for i := range records {
			if i > 0 {
				b.WriteByte(',')
			}
			id := k*records + i
			// Texts that do not shrink to nothing when they are compressed.
			a := b.AvailableBuffer()
			a = strconv.AppendInt(append(a, `{"id":"op-`...), int64(id), 10)
			a = strconv.AppendInt(append(a, `","amount":"`...), int64(id%1000), 10)
			a = strconv.AppendUint(append(a, `.10","note":"`...), uint64(id)*0x9E3779B97F4A7C15, 16)
			b.Write(append(append(a, filler...), `"}`...))
		}
		next := "null"
		if k+1 < pages {
			next = strconv.Quote(strconv.Itoa(k + 1))
		}
		fmt.Fprintf(b, `]},"meta":{"total":%d,"next":%s}}`, pages*records, next)
	}))
	t.Cleanup(s.Close)
	return s
}

const endlessSource = `{url: AT/x, records: data.items, total: meta.total, limits: {page_bytes: 10000000000}, pagination: {style: cursor, next: meta.next}}`

// TestFlatMemory: neither many pages nor a large one are in memory. Nightly five gigabytes.
func TestFlatMemory(t *testing.T) {
	pages, records := 150, 2000 // about 60 MB, and a page of 40 MB
	if os.Getenv("RECON_NIGHTLY") != "" {
		pages, records = 2500, 10_000
	}
	for name, c := range map[string][2]int{"many pages": {pages, records}, "one page": {1, pages * records * 2 / 3}} {
		s := endless(t, c[0], c[1])
		r := request(t, endlessSource, s.URL)
		var most, bytes uint64
		var m runtime.MemStats
		watch := func(n int64) {
			bytes = uint64(n)
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse+m.StackInuse)
		}
		r.Progress = func(_ string, n, _ int64) { watch(n) }
		stop := make(chan struct{})
		peak := make(chan uint64)
		go func() { // the page that is read tells of itself at its end only
			most := uint64(0)
			var m runtime.MemStats
			for {
				select {
				case <-stop:
					peak <- most
					return
				default:
				}
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse+m.StackInuse)
				time.Sleep(5 * time.Millisecond)
			}
		}()
		snap, err := pull(r)
		close(stop)
		most = max(most, <-peak)
		if err != nil {
			t.Fatal(err)
		}
		if n := snap.Files[0].Records; n != int64(c[1]) {
			t.Errorf("%d records on a page", n)
		}
		t.Logf("%s: %d MB came, %d MB of heap at most", name, bytes>>20, most>>20)
		if most > 100<<20 {
			t.Errorf("%s: %d MB of heap for %d MB", name, most>>20, bytes>>20)
		}
		if bytes < 30<<20 {
			t.Errorf("%s: only %d bytes came: nothing was tested", name, bytes)
		}
	}
}

// BenchmarkPull against what a plain client does: it asks for page after page, reads the
// records and the cursor, and keeps nothing.
func BenchmarkPull(b *testing.B) {
	const pages, records = 20, 5000
	// The pages are made before, so that the client is what is measured.
	made := endless(b, pages, records)
	texts := make([][]byte, pages)
	for k := range texts {
		res, err := http.Get(fmt.Sprint(made.URL, "/x?cursor=", k))
		if err != nil {
			b.Fatal(err)
		}
		texts[k], err = io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			b.Fatal(err)
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k, _ := strconv.Atoi(r.FormValue("cursor"))
		w.Header().Set("Content-Length", strconv.Itoa(len(texts[k])))
		w.Write(texts[k])
	}))
	defer s.Close()
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			n, cursor := int64(0), ""
			for k := 0; k == 0 || cursor != ""; k++ {
				res, err := http.Get(s.URL + "/x?cursor=" + cursor)
				if err != nil {
					b.Fatal(err)
				}
				text, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil {
					b.Fatal(err)
				}
				var page struct {
					Data struct{ Items []json.RawMessage }
					Meta struct{ Next string }
				}
				if err := json.Unmarshal(text, &page); err != nil || len(page.Data.Items) != records {
					b.Fatal(err)
				}
				n, cursor = n+int64(len(text)), page.Meta.Next
			}
			b.SetBytes(n)
		}
	})
	b.Run("pull", func(b *testing.B) {
		for b.Loop() {
			r := request(b, endlessSource, s.URL)
			n := int64(0)
			r.Note = func(string, ...any) {}
			r.Progress = func(_ string, bytes, _ int64) { n = bytes }
			snap, err := pull(r)
			if err != nil || len(snap.Files) != pages {
				b.Fatal(err)
			}
			b.SetBytes(n)
			os.RemoveAll(r.Dir)
		}
	})
}
