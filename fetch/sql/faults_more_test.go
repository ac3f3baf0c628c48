package sql

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// behind sends the connections of a database through a relay.
func (d *db) behind(t *testing.T, answered func([]byte) []byte) {
	t.Helper()
	address := relay(t, func() string {
		if d.engine == rules.MySQL {
			return mariaSocket
		}
		return pgSocket + "/.s.PGSQL.5432"
	}, nil, answered)
	d.host, d.port, _ = net.SplitHostPort(address.String())
}

// TestCutInGoodOrder: a connection that is closed in good order in the middle of the rows
// is as bad as one that is reset.
func TestCutInGoodOrder(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		d.charges()
		first := requests(t, d.source("psp", allCharges, ""))[0]
		pulled(t, first)
		var left atomic.Int64
		left.Store(700_000)
		d.behind(t, func(b []byte) []byte {
			if left.Add(-int64(len(b))) < 0 {
				left.Store(1 << 40)
				return nil // ends the connection
			}
			return b
		})
		r := requests(t, d.source("psp", allCharges, ""))[0]
		if _, s := pulled(t, r); s.Retries != 1 || !bytes.Equal(raw(t, r), raw(t, first)) {
			t.Errorf("%d retries, or another result", s.Retries)
		}
	})
}

// TestStalls: a connection over which nothing comes any more ends with the time of the
// query.
func TestStalls(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		d.charges()
		end := make(chan struct{})
		t.Cleanup(func() { close(end) })
		var left atomic.Int64
		left.Store(700_000)
		d.behind(t, func(b []byte) []byte {
			if left.Add(-int64(len(b))) < 0 {
				<-end
			}
			return b
		})
		refused(t, requests(t, d.source("psp", allCharges, "timeout: 3s"))[0], fail.Temporary, "sql.timeout")
	})
}

// TestFullDisk: a disk that is full has its class and leaves nothing that could be taken
// for the rows; the pull after that gives what an undisturbed one gives.
func TestFullDisk(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		d.charges()
		query := strings.Replace(allCharges, "note", "MD5("+map[bool]string{true: "id", false: "id::text"}[d.engine == rules.MySQL]+") AS note", 1)
		for _, keyset := range []string{"", "keyset: {columns: [id], rows: 7000}"} {
			first := requests(t, d.source("psp", query, keyset))[0]
			pulled(t, first)
			r := requests(t, d.source("psp", query, keyset))[0]
			if err := os.MkdirAll(r.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mount("tmpfs", r.Dir, "tmpfs", 0, "size=600k"); err != nil {
				t.Skipf("NOT TESTED: a small disk cannot be made: %v", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(r.Dir, syscall.MNT_DETACH) })
			refused(t, r, fail.Resources, "free disk and run again")
			if err := syscall.Mount("tmpfs", r.Dir, "tmpfs", syscall.MS_REMOUNT, "size=16m"); err != nil {
				t.Fatal(err)
			}
			pulled(t, again(r))
			if !bytes.Equal(raw(t, r), raw(t, first)) {
				t.Errorf("%q: another result", keyset)
			}
		}
	})
}

// TestKilled: what a program that was killed was writing goes away with the next pull.
func TestKilled(t *testing.T) {
	d := postgres(t)
	for _, keyset := range []string{"", "keyset: {columns: [id], rows: 2}"} {
		r := requests(t, d.source("psp", "SELECT n AS id FROM generate_series(1, 5) AS n", keyset))[0]
		for _, name := range []string{".part-1", "files/old.csv", "files/sub/a", "slices/.part-2", "slices/files/000001"} {
			path := filepath.Join(r.Dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		pulled(t, r)
		var left []string
		_ = filepath.Walk(r.Dir, func(path string, info os.FileInfo, _ error) error {
			if !info.IsDir() && !strings.HasPrefix(path, filepath.Join(r.Dir, slicesDir)) {
				left = append(left, strings.TrimPrefix(path, r.Dir))
			}
			return nil
		})
		if want := fmt.Sprint([]string{"/" + fetch.FilesDir + "/rows.ndjson.zst", "/" + fetch.SnapshotFile}); fmt.Sprint(left) != want {
			t.Errorf("the folder holds %v", left)
		}
	}
}
