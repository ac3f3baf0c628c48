package sftp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testpull"
)

// TestMain is also the program that TestKilled kills.
func TestMain(m *testing.M) {
	testpull.Main(m, func() error {
		a := request(testpull.Child{}, os.Getenv("TEST_PATH"), strings.Split(os.Getenv("TEST_KEYS"), ";")...)
		a.Dir, a.Until = os.Getenv("TEST_DIR"), time.Now().Add(time.Hour) // it does not give up before it is killed
		_, err := fetch.Pull(context.Background(), quick, a.Request)
		return err
	})
}

// TestResume: a pull that was cut short goes on with what is missing, and ends as an undisturbed
// one; what was stored of a file that is another one by now is not used, also where size and time
// do not tell it.
func TestResume(t *testing.T) {
	t.Setenv("SFTP_TEST_PASSWORD", password)
	s := newServer(t)
	body, other := noise(30, 24<<20+5), noise(31, 24<<20+5)
	for name, c := range map[string]struct {
		body  []byte
		at    time.Time
		again bool // it is read from the beginning
	}{
		"same":              {body, noon, false},
		"replaced":          {other, noon.Add(time.Hour), true},
		"replaced secretly": {other, noon, true},
		"shorter":           {other[:9<<20], noon, true},
	} {
		t.Run(name, func(t *testing.T) {
			s.put("big.csv", body, noon)
			s.put("a.csv", noise(32, 100), noon)
			a := s.request("*.csv", "parallel: 1")
			ctx, cancel := context.WithCancelCause(context.Background())
			gone := fail.New(fail.Terminate, "the run was ended")
			a.Progress = func(name string, n, _ int64) {
				if name == "big.csv" && n >= 10<<20 {
					cancel(gone)
				}
			}
			if _, err := fetch.Pull(ctx, quick, a.Request); !errors.Is(err, error(gone)) {
				t.Fatal(err)
			}
			end := testpull.Stored(t, a.Dir)
			if end < 10<<20 || end > 24<<20 {
				t.Fatalf("%d bytes are stored", end)
			}
			a.Progress = func(string, int64, int64) {}
			s.put("big.csv", c.body, c.at)
			s.spoil(nil)
			snap := pulled(t, a)
			a.Whole(t, snap, map[string][]byte{"big.csv": c.body, "a.csv": noise(32, 100)})
			if s.counted("open", "a.csv") != 0 {
				t.Error("a whole file was asked for again")
			}
			// The end of what is stored is compared: two blocks, and one that says the end.
			from := int64(0)
			if !c.again {
				from = end
			}
			blocks := int((int64(len(c.body))-from)/blockSize) + 1
			if n := s.counted("read", "big.csv"); n < blocks || n > blocks+6 {
				t.Errorf("%d blocks were asked for, want about %d", n, blocks)
			}
			if u := pulled(t, s.request("*.csv", "parallel: 1")); !slices.Equal(u.Files, snap.Files) || u.Proof != snap.Proof {
				t.Errorf("an undisturbed pull differs:\n%+v\n%+v", snap, u)
			}
		})
	}
}

// child is a program that pulls a file of the server.
func (w *world) child(t *testing.T, name, dir string) []string {
	return []string{
		"TEST_PATH=" + w.at("in/"+name), "TEST_DIR=" + dir,
		"TEST_KEYS=" + strings.Join([]string{"user: " + w.User, "private_key: {file: " + w.Key + "}", "host_keys: [" + fingerprint(t, w.HostKeys["ed25519"]) + "]"}, ";"),
	}
}

// TestKilled: a program that is killed in mid-download leaves what the next one goes on from.
func TestKilled(t *testing.T) {
	w := newWorld(t)
	body := noise(33, 48<<20)
	w.put("big.csv", body)
	dir := t.TempDir()
	// The first connection goes on slowly from here on: it is reset before the file is whole, and
	// the second one never opens.
	w.proxy.Limit(func(n int) int64 { return map[int]int64{1: 20 << 20}[n] + map[bool]int64{true: 1}[n > 1] })
	end := testpull.Kill(t, testpull.Command(t, w.child(t, "big.csv", dir)...), dir, 8<<20)
	if end >= int64(len(body)) {
		t.Fatalf("%d bytes are stored", end)
	}
	w.proxy.Limit(func(n int) int64 { return map[int]int64{1: int64(len(body)) - end + 4<<20}[n] })
	a := w.request(w.at("in/big.csv"))
	a.Dir = dir
	s := pulled(t, a)
	a.Whole(t, s, map[string][]byte{"big.csv": body})
	if s.Retries != 0 || w.proxy.Connections() != 1 {
		t.Errorf("more than the rest was asked for: %d attempts more, %d connections", s.Retries, w.proxy.Connections())
	}
}

// TestDiskFull: a disk that takes no more ends the pull as what it is, and what it took before
// is not asked for again.
func TestDiskFull(t *testing.T) {
	w := newWorld(t)
	body := noise(34, 9<<20)
	w.put("big.csv", body)
	dir := t.TempDir()
	end := testpull.Full(t, testpull.Command(t, w.child(t, "big.csv", dir)...), dir, 5<<20)
	if end != 4<<20 {
		t.Errorf("%d bytes are stored", end)
	}
	w.proxy.Limit(func(n int) int64 { return map[int]int64{1: int64(len(body)) - end + 2<<20}[n] })
	a := w.request(w.at("in/big.csv"))
	a.Dir = dir
	s := pulled(t, a)
	a.Whole(t, s, map[string][]byte{"big.csv": body})
	if s.Retries != 0 || w.proxy.Connections() != 1 {
		t.Errorf("more than the rest was asked for: %d attempts more, %d connections", s.Retries, w.proxy.Connections())
	}
}

// TestLarge: memory does not grow with the file, which has holes, since the disk need not hold
// it twice.
func TestLarge(t *testing.T) {
	w := newWorld(t)
	size := testpull.Size()
	w.put("big.csv", nil)
	if err := os.Truncate(filepath.Join(w.Root, "in", "big.csv"), size); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	testpull.Flat(t, testpull.Command(t, w.child(t, "big.csv", dir)...), filepath.Join(dir, fetch.FilesDir, "big.csv"), size)
}
