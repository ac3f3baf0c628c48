package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// stored reads which bytes of the big object an interrupted pull kept: from 0 to there.
func stored(t *testing.T, dir string) (end int64) {
	t.Helper()
	lists, err := filepath.Glob(filepath.Join(dir, fetch.PartialDir, "*.list"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lists {
		text, err := os.ReadFile(l)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var n int64
			if _, err := fmt.Sscanf(line, "%d ", &n); err == nil && strings.HasSuffix(line, "\n") {
				end = max(end, n)
			}
		}
	}
	return end
}

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
			end := stored(t, a.Dir)
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
	if stored(t, a.Dir) == 0 {
		t.Fatal("nothing is stored")
	}
	body := noise(23, 5<<20)
	w.put("in/big.csv", body)
	w.remove("in/gone.csv")
	w.proxy.spoil(nil)
	whole(t, a, pulled(t, a), map[string][]byte{"big.csv": body})
}

// child is what the test binary does where these variables are set: one pull.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_CHILD") != "" {
		child()
		return
	}
	os.Exit(m.Run())
}

// child pulls s3://evidence/in/big.csv and says what it took.
func child() {
	w := &world{t: childT{}, proxy: &proxy{}, bucket: "evidence"}
	w.proxy.Server = childServer(os.Getenv("TEST_CHILD"))
	a := w.request("s3://evidence/in/big.csv", strings.Split(os.Getenv("TEST_KEYS"), ";")...)
	a.Dir = os.Getenv("TEST_DIR")
	if most, err := strconv.ParseUint(os.Getenv("TEST_MOST"), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	if _, err := fetch.Pull(context.Background(), quick, a.Request); err != nil {
		fmt.Println("error:", err)
		os.Exit(int(fail.ClassOf(err)))
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			fmt.Print(line)
		}
	}
}

func start(t testing.TB, endpoint, dir, keys string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "TEST_CHILD="+endpoint, "TEST_DIR="+dir, "TEST_KEYS="+keys)
	cmd.Stderr = os.Stderr
	return cmd
}

// TestKilled: a program that is killed in mid-download leaves what the next one goes on
// from; what is stored is not asked for again.
func TestKilled(t *testing.T) {
	w := newWorld(t)
	body := noise(24, 24<<20)
	w.put("in/big.csv", body)
	var sent atomic.Int64
	reached := make(chan struct{})
	w.proxy.spoil(func(rw http.ResponseWriter, r *http.Request, n int, f http.Handler) bool {
		if r.Method == "GET" && sent.Add(1) == 12 {
			close(reached)
		}
		if r.Method == "GET" && sent.Load() >= 14 {
			<-r.Context().Done() // so that it does not end by itself
			return true
		}
		return false
	})
	dir := t.TempDir()
	cmd := start(t, w.proxy.URL, dir, "parallel: 2")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-reached
	for stored(t, dir) < 8<<20 {
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, which is its error
	end := stored(t, dir)
	if names, err := os.ReadDir(filepath.Join(dir, fetch.FilesDir)); err != nil || len(names) > 0 {
		t.Fatalf("a killed pull left %v %v", names, err)
	}
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
	cmd := start(t, w.proxy.URL, dir, "parallel: 1")
	cmd.Env = append(cmd.Env, fmt.Sprint("TEST_MOST=", 5<<19)) // two parts and a half
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != int(fail.Resources) || !strings.Contains(string(out), "cannot be written") {
		t.Fatalf("%v %s", err, out)
	}
	if names, err := os.ReadDir(filepath.Join(dir, fetch.FilesDir)); err != nil || len(names) > 0 {
		t.Fatalf("%v %v", names, err)
	}
	end := stored(t, dir)
	w.proxy.spoil(nil)
	a := w.request("s3://evidence/in/big.csv", "parallel: 1")
	a.Dir = dir
	s := pulled(t, a)
	if notAgain(t, w, "/big.csv", end); end != 2<<20 {
		t.Errorf("%d bytes were stored", end)
	}
	whole(t, a, s, map[string][]byte{"big.csv": body})
}
