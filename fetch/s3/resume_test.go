package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testpull"
)

// notAgain fails where a pull asked for what was stored, and tells how many parts it asked for.
func notAgain(t *testing.T, w *world, key string, end int64) int {
	t.Helper()
	n := 0
	for _, g := range w.proxy.requests("GET") {
		if !strings.HasSuffix(g.path, key) {
			t.Errorf("%s is asked for again", g.path)
			continue
		}
		var from, to int64
		if _, err := fmt.Sscanf(g.span, "bytes=%d-%d", &from, &to); err != nil || from < end {
			t.Errorf("%s is asked for again, %d bytes are stored: %v", g.span, end, err)
		}
		n++
	}
	return n
}

// TestResume: a pull that was cut short, by its context, goes on with what is missing, and
// ends as an undisturbed one.
func TestResume(t *testing.T) {
	for _, versions := range []bool{false, true} {
		t.Run(fmt.Sprint("versions ", versions), func(t *testing.T) {
			w := newWorld(t)
			if versions {
				w.versions()
			}
			want := map[string][]byte{"a.csv": noise(20, 1000), "big.csv": noise(21, 12<<20+5)}
			for name, body := range want {
				w.put("in/"+name, body)
			}
			a := w.request("s3://evidence/in/*.csv", "parallel: 2")
			ctx, cancel := context.WithCancelCause(context.Background())
			gone := fail.New(fail.Terminate, "the run was ended")
			a.Progress = func(name string, n, _ int64) {
				if name == "big.csv" && n >= 5<<20 {
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
			a.Progress = func(string, int64, int64) {}
			w.proxy.spoil(nil)
			s := pulled(t, a)
			if n := notAgain(t, w, "/big.csv", end) - int(s.Retries); n != int((12<<20+5-end+1<<20-1)>>20) {
				t.Errorf("%d parts for %d bytes", n, 12<<20+5-end)
			}
			whole(t, a, s, want)
			b := w.request("s3://evidence/in/*.csv")
			if u := pulled(t, b); !slices.Equal(u.Files, s.Files) || u.Proof != s.Proof {
				t.Errorf("an undisturbed pull differs:\n%+v\n%+v", s, u)
			}
		})
	}
}

// TestResumeOfAnother: what was stored of an object that is another one by now is not used.
func TestResumeOfAnother(t *testing.T) {
	w := newWorld(t)
	w.put("in/big.csv", noise(22, 5<<20))
	w.put("in/gone.csv", noise(22, 50))
	a := w.request("s3://evidence/in/*.csv", "parallel: 1")
	w.proxy.spoil(on("GET", 4, always, says(503, "SlowDown")))
	if _, err := fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Temporary {
		t.Fatal(err)
	}
	if testpull.Stored(t, a.Dir) == 0 {
		t.Fatal("nothing is stored")
	}
	body := noise(23, 5<<20)
	w.put("in/big.csv", body)
	w.remove("in/gone.csv")
	w.proxy.spoil(nil)
	whole(t, a, pulled(t, a), map[string][]byte{"big.csv": body})
}

// TestMain is also the program that TestKilled kills: it pulls s3://evidence/in/big.csv.
func TestMain(m *testing.M) {
	testpull.Main(m, func() error {
		w := &world{t: testpull.Child{}, proxy: &proxy{Server: &httptest.Server{URL: os.Getenv("TEST_SERVER")}}, bucket: "evidence"}
		a := w.request("s3://evidence/in/big.csv", strings.Split(os.Getenv("TEST_KEYS"), ";")...)
		a.Dir = os.Getenv("TEST_DIR")
		_, err := fetch.Pull(context.Background(), quick, a.Request)
		return err
	})
}

func start(t testing.TB, endpoint, dir, keys string) *exec.Cmd {
	t.Helper()
	return testpull.Command(t, "TEST_SERVER="+endpoint, "TEST_DIR="+dir, "TEST_KEYS="+keys)
}

// TestKilled: a program that is killed in mid-download leaves what the next one goes on
// from; what is stored is not asked for again.
func TestKilled(t *testing.T) {
	w := newWorld(t)
	body := noise(24, 24<<20)
	w.put("in/big.csv", body)
	var sent atomic.Int64
	w.proxy.spoil(func(rw http.ResponseWriter, r *http.Request, n int, f http.Handler) bool {
		if r.Method != "GET" || sent.Add(1) < 14 {
			return false
		}
		<-r.Context().Done() // so that it does not end by itself
		return true
	})
	dir := t.TempDir()
	end := testpull.Kill(t, start(t, w.proxy.URL, dir, "parallel: 2"), dir, 8<<20)
	w.proxy.spoil(nil)
	a := w.request("s3://evidence/in/big.csv", "parallel: 2")
	a.Dir = dir
	s := pulled(t, a)
	if n := notAgain(t, w, "/big.csv", end) - int(s.Retries); n != int((24<<20-end+1<<20-1)>>20) {
		t.Errorf("%d parts for %d bytes", n, 24<<20-end)
	}
	whole(t, a, s, map[string][]byte{"big.csv": body})
}

// TestDiskFull: a disk that takes no more ends the pull as what it is, and what it took
// before is not asked for again.
func TestDiskFull(t *testing.T) {
	w := newWorld(t)
	body := noise(25, 6<<20)
	w.put("in/big.csv", body)
	dir := t.TempDir()
	end := testpull.Full(t, start(t, w.proxy.URL, dir, "parallel: 1"), dir, 5<<19) // two parts and a half
	w.proxy.spoil(nil)
	a := w.request("s3://evidence/in/big.csv", "parallel: 1")
	a.Dir = dir
	s := pulled(t, a)
	if notAgain(t, w, "/big.csv", end); end != 2<<20 {
		t.Errorf("%d bytes were stored", end)
	}
	whole(t, a, s, map[string][]byte{"big.csv": body})
}
