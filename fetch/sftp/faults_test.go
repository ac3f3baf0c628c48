package sftp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pkg/sftp"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

const always = 1 << 30

// TestFaults: what goes wrong at the server or on the way ends in its class, leaves nothing
// half, and the next pull brings what an undisturbed one does.
func TestFaults(t *testing.T) {
	t.Setenv("SFTP_TEST_PASSWORD", password)
	big, other := noise(10, 5<<20+1), noise(11, 5<<20+1)
	sound := func() map[string][]byte { return map[string][]byte{"a.csv": big, "b.csv": noise(12, 100), "c.csv": {}} }
	later := noon.Add(time.Hour)
	s := newServer(t)
	// on does something before the n-th operations of a kind on a name.
	on := func(op, name string, first, last int, do func(n int) error) func(string, string, int) error {
		return func(o, f string, n int) error {
			if o == op && f == name && n >= first && n <= last {
				return do(n)
			}
			return nil
		}
	}
	put := func(name string, body []byte, at time.Time) func(int) error {
		return func(int) error { s.put(name, body, at); return nil }
	}
	says := func(err error) func(int) error { return func(int) error { return err } }
	reset := func(int) error { s.reset(); return nil }
	stall := func(int) error { <-s.finished; return nil }
	failure := errors.New("something is full here") // SSH_FX_FAILURE
	for name, c := range map[string]struct {
		fault func(op, name string, n int) error
		class fail.Class // OK: the pull goes on to its end
		says  string     // in the error and its remedy
		ends  string     // the file that the server has otherwise in the end, and gives
		body  []byte     // nil: it is not there
	}{
		"changed before it is opened": {on("stat", "a.csv", 0, 0, put("a.csv", other, later)), fail.OK, "", "a.csv", other},
		"changed in mid-read":         {on("read", "a.csv", 70, 70, put("a.csv", other, later)), fail.OK, "", "a.csv", other},
		"changed after it was read":   {on("list", "in", 1, 1, put("b.csv", other, later)), fail.OK, "", "b.csv", other},
		"cut in mid-read":             {on("read", "a.csv", 100, 100, put("a.csv", big[:4000], noon)), fail.OK, "", "a.csv", big[:4000]},
		"grows in mid-read":           {on("read", "a.csv", 70, 70, put("a.csv", append(bytes.Clone(big), 'x'), noon)), fail.OK, "", "a.csv", append(bytes.Clone(big), 'x')},
		"an empty one grows":          {on("read", "c.csv", 0, 0, put("c.csv", []byte("id\n"), noon)), fail.OK, "", "c.csv", []byte("id\n")},
		"changed again and again": {on("stat", "b.csv", 0, always, func(n int) error {
			s.put("b.csv", noise(uint64(n), 100), later.Add(time.Duration(n)*time.Second))
			return nil
		}), fail.Input, "b.csv was changed", "", nil},
		"another one comes":             {on("list", "in", 1, 1, put("d.csv", other, later)), fail.OK, "", "d.csv", other},
		"deleted before it is opened":   {on("open", "b.csv", 0, 0, func(int) error { s.remove("b.csv"); return nil }), fail.OK, "", "b.csv", nil},
		"deleted in mid-read":           {on("read", "a.csv", 100, 100, func(int) error { s.remove("a.csv"); return nil }), fail.OK, "", "a.csv", nil},
		"deleted after it was read":     {on("list", "in", 1, 1, func(int) error { s.remove("b.csv"); return nil }), fail.OK, "", "b.csv", nil},
		"the server closes in mid-file": {on("read", "a.csv", 80, 80, reset), fail.OK, "", "", nil},
		"it closes again and again": {func(op, name string, n int) error {
			if op == "read" && name == "a.csv" && n%70 == 69 {
				s.reset()
			}
			return nil
		}, fail.OK, "", "", nil},
		"it closes at every block":        {on("read", "a.csv", 0, always, reset), fail.Temporary, "cannot be read", "", nil},
		"it closes at the listing":        {on("list", "in", 0, 1, reset), fail.OK, "", "", nil},
		"it closes at every listing":      {on("list", "in", 0, always, reset), fail.Temporary, "cannot be read", "", nil},
		"failure of a block":              {on("read", "a.csv", 3, 3, says(failure)), fail.OK, "", "", nil},
		"failure of every block":          {on("read", "a.csv", 0, always, says(failure)), fail.Temporary, "something is full here", "", nil},
		"failure of the listing":          {on("list", "in", 0, always, says(failure)), fail.Temporary, "something is full here", "", nil},
		"a block is forbidden":            {on("read", "a.csv", 0, always, says(sftp.ErrSSHFxPermissionDenied)), fail.Usage, "may not be read", "", nil},
		"a file is forbidden":             {on("open", "b.csv", 0, always, says(sftp.ErrSSHFxPermissionDenied)), fail.Usage, "b.csv may not be read", "", nil},
		"the folder is forbidden":         {on("list", "in", 0, always, says(sftp.ErrSSHFxPermissionDenied)), fail.Usage, "ask the owner of the server", "", nil},
		"a request that is not known":     {on("list", "in", 0, always, says(sftp.ErrSSHFxOpUnsupported)), fail.Usage, "version 3 is needed", "", nil},
		"a block that does not come":      {on("read", "a.csv", 9, 9, stall), fail.OK, "", "", nil},
		"a listing that does not come":    {on("list", "in", 0, 0, stall), fail.OK, "", "", nil},
		"no listing comes":                {on("list", "in", 0, always, stall), fail.Temporary, "nothing came in time", "", nil},
		"slow":                            {on("read", "a.csv", 0, always, func(int) error { time.Sleep(time.Millisecond); return nil }), fail.OK, "", "", nil},
		"a name that none of ours can be": {on("list", "in", 0, always, put("x\x1b[2J.csv", nil, noon)), fail.Input, "cannot be the name of a file", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			fresh := func() {
				s.mu.Lock()
				s.files = map[string]entry{"/in": {nil, noon}}
				s.mu.Unlock()
				for name, body := range sound() {
					s.put(name, body, noon)
				}
			}
			fresh()
			s.spoil(c.fault)
			defer s.spoil(nil)
			a := s.request("*.csv", "parallel: 2")
			a.Until = time.Now().Add(time.Minute)
			if c.class == fail.Temporary {
				a.Until = time.Time{} // then it is the attempts that end
			}
			p := Puller{pause: time.Millisecond}
			if strings.Contains(name, "come") && strings.Contains(name, "not ") || name == "no listing comes" {
				p.idle = 50 * time.Millisecond
			}
			snap, err := fetch.Pull(context.Background(), p, a.Request)
			if fail.ClassOf(err) != c.class {
				t.Fatalf("class %d, want %d: %v", fail.ClassOf(err), c.class, err)
			}
			if err == nil {
				want := sound()
				if delete(want, c.ends); c.ends != "" && c.body != nil {
					want[c.ends] = c.body
				}
				a.Whole(t, snap, want)
				if snap.Retries == 0 && name != "slow" {
					t.Error("nothing was done again")
				}
				return
			}
			e, _ := errors.AsType[*fail.Error](err)
			if text := e.Error() + " | " + e.Hint; !strings.Contains(text, c.says) || !strings.Contains(text, "the source results: ") || e.Hint == "" {
				t.Errorf("%s\nlacks %q", text, c.says)
			}
			if name != "changed again and again" { // its file was whole each time
				a.Nothing(t, sound())
			}
			fresh()
			s.spoil(nil)
			snap = pulled(t, a)
			a.Whole(t, snap, sound())
			if u := pulled(t, s.request("*.csv", "parallel: 2")); !slices.Equal(u.Files, snap.Files) || u.Proof != snap.Proof || u.Request != snap.Request {
				t.Errorf("an undisturbed pull differs:\n%+v\n%+v", snap, u)
			}
		})
	}
}

// TestSmallPackets: a server that answers with less than it is asked for gives whole files
// (pkg/sftp#658).
func TestSmallPackets(t *testing.T) {
	t.Setenv("SFTP_TEST_PASSWORD", password)
	s := newServer(t)
	body := noise(13, 3<<20+17)
	s.put("a.csv", body, noon)
	for _, packet := range []int{1000, 8 << 10, 32<<10 - 1} {
		s.set(func() { s.packet = packet })
		a := s.request("a.csv")
		snap := pulled(t, a)
		a.Whole(t, snap, map[string][]byte{"a.csv": body})
		if snap.Retries != 0 {
			t.Errorf("%d: %d attempts more", packet, snap.Retries)
		}
	}
}

// TestListedTwice: a listing that cannot be is not relied upon.
func TestListedTwice(t *testing.T) {
	t.Setenv("SFTP_TEST_PASSWORD", password)
	s := newServer(t)
	s.put("a.csv", nil, noon)
	s.set(func() { s.twice = true })
	if _, err := fetch.Pull(context.Background(), quick, s.request("*.csv").Request); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "a.csv is listed twice") {
		t.Error(err)
	}
}

// TestUntil: nothing is done again after the time of the request, and nothing is waited for.
func TestUntil(t *testing.T) {
	t.Setenv("SFTP_TEST_PASSWORD", password)
	s := newServer(t)
	s.put("a.csv", noise(14, 100), noon)
	// By the clock of the run: it stands, until the eighth listing.
	s.spoil(func(op, _ string, _ int) error {
		if op == "list" {
			s.reset()
		}
		return nil
	})
	a := s.request("*.csv")
	now := time.Now()
	a.Until = now.Add(time.Minute)
	a.Now = func() time.Time {
		if s.counted("list", "in") < 8 {
			return now
		}
		return now.Add(time.Hour)
	}
	if _, err := fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Temporary || s.counted("list", "in") != 8 {
		t.Errorf("%d listings: %v", s.counted("list", "in"), err)
	}
	// A server that answers nothing holds nobody up beyond it.
	s.spoil(func(op, _ string, _ int) error {
		if op == "list" {
			<-s.finished
		}
		return nil
	})
	a = s.request("*.csv")
	a.Until = time.Now().Add(200 * time.Millisecond)
	if _, err := fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Temporary || !strings.Contains(err.Error(), "the time of the run is over") {
		t.Error(err)
	}
}

// TestChecksum: the file beside each file says its digest; it is not read as one of them.
func TestChecksum(t *testing.T) {
	t.Setenv("SFTP_TEST_PASSWORD", password)
	s := newServer(t)
	body := noise(15, 3<<20)
	sum := func(b []byte) []byte { return []byte(fmt.Sprintf("%x  a.csv\n", digestOf(b))) }
	s.put("a.csv", body, noon)
	s.put("a.csv.sha256", sum(body), noon)
	a := s.request("a*", "checksum: {suffix: .sha256}")
	snap := pulled(t, a)
	a.Whole(t, snap, map[string][]byte{"a.csv": body})
	if !strings.Contains(snap.Proof, "fits the checksum beside it") {
		t.Error(snap.Proof)
	}
	for says, text := range map[string][]byte{
		"was read twice and does not fit": sum(body[1:]),
		"says no digest":                  {},
		"has 65537 bytes":                 make([]byte, 65537),
	} {
		s.put("a.csv.sha256", text, noon)
		s.spoil(nil)
		_, err := fetch.Pull(context.Background(), quick, s.request("a*", "checksum: {suffix: .sha256}").Request)
		if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), says) {
			t.Error(err)
		}
		if want := map[bool]int{false: 0, true: 2}[strings.Contains(says, "twice")]; s.counted("open", "a.csv") != want {
			t.Errorf("%s: read %d times", says, s.counted("open", "a.csv"))
		}
	}
	s.remove("a.csv.sha256")
	if _, err := fetch.Pull(context.Background(), quick, s.request("a*", "checksum: {suffix: .sha256}").Request); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "a.csv.sha256 is not there") {
		t.Error(err)
	}
}
