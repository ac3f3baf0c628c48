package sftp

import (
	"bytes"
	"context"
	"io"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// TestStore: the server as a place with files: what is listed is read as it was listed, over
// connections that break, or refused.
func TestStore(t *testing.T) {
	t.Setenv("SFTP_TEST_PASSWORD", password)
	s := newServer(t)
	bodies := map[string][]byte{"a.csv": noise(40, 5<<20+3), "b.csv": noise(41, 100), "c.csv": {}}
	for name, body := range bodies {
		s.put(name, body, noon)
	}
	s.put("d.csv.tmp", noise(42, 10), noon)
	a := s.request("*.csv")
	st, pattern, err := quick.Store(context.Background(), a.Request)
	if err != nil || pattern != "/in/*.csv" {
		t.Fatal(pattern, err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	listed, err := st.List(context.Background(), pattern, false)
	if err != nil || len(listed) != 3 {
		t.Fatalf("%+v %v", listed, err)
	}
	for i, e := range listed {
		if name := path.Base(e.Name); e.Name != "/in/"+name || e.Size != int64(len(bodies[name])) || !e.Modified.Equal(noon) || name != []string{"a.csv", "b.csv", "c.csv"}[i] {
			t.Errorf("%+v", e)
		}
	}
	read := func(e fetch.Entry) ([]byte, error) {
		r, err := st.Open(context.Background(), e)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	s.spoil(func(op, _ string, n int) error {
		if op == "read" && n == 90 {
			s.reset()
		}
		return nil
	})
	for _, e := range listed {
		got, err := read(e)
		if err != nil || !bytes.Equal(got, bodies[path.Base(e.Name)]) {
			t.Errorf("%s: %v, %d bytes", e.Name, err, len(got))
		}
	}
	if one, err := st.List(context.Background(), "/in/b.csv", true); err != nil || len(one) != 1 || !one[0].Same(listed[1]) {
		t.Errorf("%+v %v", one, err)
	}
	for _, none := range []string{"/in/z.csv", "/in/z*", "/nowhere/*"} {
		if l, err := st.List(context.Background(), none, false); err != nil || len(l) > 0 {
			t.Errorf("%s: %v %v", none, l, err)
		}
	}
	refused := func(name string, f func(op, name string, n int) error, says string) {
		t.Helper()
		s.put("a.csv", bodies["a.csv"], noon)
		s.spoil(f)
		if _, err := read(listed[0]); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	at := func(o string, n int, do func()) func(string, string, int) error {
		return func(op, _ string, i int) error {
			if op == o && i == n {
				do()
			}
			return nil
		}
	}
	refused("changed", at("open", 0, func() { s.put("a.csv", bodies["b.csv"], noon) }), "was changed between the listing and the reading")
	refused("changed in the middle", at("read", 90, func() { s.put("a.csv", noise(43, 5<<20+3), noon.Add(time.Hour)) }), "was changed")
	refused("cut", at("read", 90, func() { s.put("a.csv", bodies["a.csv"][:9], noon) }), "ends after")
	refused("deleted", at("open", 1, func() { s.remove("a.csv") }), "was deleted after it was listed")
}
