package https

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testpull"
)

// TestMain is also the program that TestKilled kills: it pulls from a server without TLS.
func TestMain(m *testing.M) {
	testpull.Main(m, func() error {
		a := requestAt(testpull.Child{}, os.Getenv("TEST_URL"))
		a.Dir = os.Getenv("TEST_DIR")
		_, err := fetch.Pull(context.Background(), quick, a.Request)
		return err
	})
}

// TestResume: a pull that was cut short goes on with what is missing, and ends as an
// undisturbed one; not with another content.
func TestResume(t *testing.T) {
	w := newWorld(t)
	body, other := noise(20, 12<<20+5), noise(21, 12<<20+5)
	for _, etag := range []bool{false, true} {
		for _, replaced := range []bool{false, true} {
			t.Run(fmt.Sprint("ETag ", etag, " replaced ", replaced), func(t *testing.T) {
				w.etag = etag
				w.put("big.csv", body)
				a := w.request("big.csv")
				ctx, cancel := context.WithCancelCause(context.Background())
				gone := fail.New(fail.Terminate, "the run was ended")
				a.Progress = func(_ string, n, _ int64) {
					if n >= 5<<20 {
						cancel(gone)
					}
				}
				if _, err := fetch.Pull(ctx, quick, a.Request); !errors.Is(err, error(gone)) {
					t.Fatal(err)
				}
				end := testpull.Stored(t, a.Dir)
				if end < 5<<20 || end > 12<<20 {
					t.Fatalf("%d bytes are stored", end)
				}
				want, span := body, fmt.Sprintf("bytes=%d-", end)
				if replaced {
					want, span = other, ""
					w.putAt("big.csv", other, noon.Add(time.Hour))
				}
				a.Progress = func(string, int64, int64) {}
				w.spoil(nil)
				s := pulled(t, a)
				whole(t, a, s, "big.csv", want)
				if g := w.requests("GET"); len(g) != 1 || g[0].span != span {
					t.Errorf("%+v, %d bytes are stored", g, end)
				}
				if u := pulled(t, w.request("big.csv")); !slices.Equal(u.Files, s.Files) || u.Proof != s.Proof {
					t.Errorf("an undisturbed pull differs:\n%+v\n%+v", s, u)
				}
			})
		}
	}
}

// TestKilled: a program that is killed in mid-download leaves what the next one goes on from.
func TestKilled(t *testing.T) {
	w := newWorld(t)
	plain := httptest.NewServer(w)
	defer plain.Close()
	body := noise(22, 24<<20)
	w.put("big.csv", body)
	w.spoil(on("GET", 0, 0, func(rw http.ResponseWriter, r *http.Request, files http.Handler) {
		sent(10<<20, func(rw http.ResponseWriter) {
			_ = http.NewResponseController(rw).Flush() // the pull that is killed is the client
			<-r.Context().Done()                       // so that it does not end by itself
		})(rw, r, files)
	}))
	dir := t.TempDir()
	end := testpull.Kill(t, testpull.Command(t, "TEST_URL="+plain.URL+"/big.csv", "TEST_DIR="+dir), dir, 8<<20)
	plain.CloseClientConnections()
	w.spoil(nil)
	a := requestAt(t, plain.URL+"/big.csv")
	a.Dir = dir
	whole(t, a, pulled(t, a), "big.csv", body)
	if g := w.requests("GET"); len(g) != 1 || g[0].span != fmt.Sprintf("bytes=%d-", end) {
		t.Errorf("%+v, %d bytes are stored", g, end)
	}
}

// TestDiskFull: a disk that takes no more ends the pull as what it is, and what it took before
// is not asked for again.
func TestDiskFull(t *testing.T) {
	w := newWorld(t)
	plain := httptest.NewServer(w)
	defer plain.Close()
	body := noise(23, 9<<20)
	w.put("big.csv", body)
	dir := t.TempDir()
	end := testpull.Full(t, testpull.Command(t, "TEST_URL="+plain.URL+"/big.csv", "TEST_DIR="+dir), dir, 5<<20+1)
	w.spoil(nil)
	a := requestAt(t, plain.URL+"/big.csv")
	a.Dir = dir
	whole(t, a, pulled(t, a), "big.csv", body)
	if g := w.requests("GET"); len(g) != 1 || g[0].span != fmt.Sprintf("bytes=%d-", end) || end != 5<<20 {
		t.Errorf("%+v, %d bytes are stored", g, end)
	}
}

// TestLarge: memory does not grow with the file, which is made by the server of this test,
// since the disk need not hold it twice.
func TestLarge(t *testing.T) {
	size := testpull.Size()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"made"`)
		http.ServeContent(w, r, "", noon, testpull.Repeated(size))
	}))
	defer server.Close()
	dir := t.TempDir()
	testpull.Flat(t, testpull.Command(t, "TEST_URL="+server.URL+"/big.csv", "TEST_DIR="+dir), filepath.Join(dir, fetch.FilesDir, "big.csv"), size)
}
