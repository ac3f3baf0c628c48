package pipeline

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testproxy"
)

// writeJob writes the job of the nights.
func (n *nights) writeJob(more string) { write(n.t, filepath.Join(n.dir, "job.yaml"), n.job+more+"\n") }

func (n *nights) date(date string) *outDir {
	n.t.Helper()
	d, err := newOutDir(n.out(), "nights", date)
	if err != nil {
		n.t.Fatal(err)
	}
	return d
}

func (n *nights) currentOf(date string) (string, error) { return n.date(date).currentID() }

// noSecrets looks for the keys of the bucket in everything that was written or said.
func (n *nights) noSecrets(b *bucket, said ...any) {
	n.t.Helper()
	texts := []string{fmt.Sprint(said...)}
	for _, where := range []map[string]string{filesUnder(n.t, n.dir), b.objects()} {
		for _, text := range where {
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		for _, secret := range []string{os.Getenv("RUNS_ACCESS"), os.Getenv("RUNS_SECRET")} {
			if secret != "" && strings.Contains(text, secret) {
				n.t.Errorf("a key of the bucket is in %.200q", text)
			}
		}
	}
}

// spoiled runs the second night while so many requests of a kind are spoiled, and wants an end
// of a class.
func (n *nights) spoiled(b *bucket, times int, of func(*http.Request) bool, f testproxy.Fault, class fail.Class) (*Result, error) {
	n.t.Helper()
	spoiled := b.proxy.First(times, of, f)
	o := n.options("2026-11-02")
	if class != fail.OK {
		o.Until = time.Now().Add(3 * time.Second)
	}
	res, err := Run(n.t.Context(), o)
	if fail.ClassOf(err) != class || spoiled() == 0 {
		n.t.Fatalf("%d spoiled, class %d, want %d: %v", spoiled(), fail.ClassOf(err), class, err)
	}
	return res, err
}

// TestTargetFaults: what goes wrong while a run is sent ends in its class, with the run kept
// here and nothing of it to be seen there; sending it again ends as if nothing had been.
func TestTargetFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	b, n := newBucket(t), newNights(t)
	n.files("2026-11-01", absent(1)...)
	n.run("2026-11-01", b.to, Allowed{})
	before := b.objects()
	n.files("2026-11-02", absent(2)...)
	put := func(end string) func(*http.Request) bool {
		return func(r *http.Request) bool { return r.Method == "PUT" && strings.HasSuffix(r.URL.Path, end) }
	}
	get := func(end string) func(*http.Request) bool {
		return func(r *http.Request) bool { return r.Method == "GET" && strings.HasSuffix(r.URL.Path, end) }
	}
	busy := testproxy.Fault{Status: 503, Body: "<Error><Code>SlowDown</Code><Message>said the store</Message></Error>"}
	const ever = 1 << 30
	for name, c := range map[string]struct {
		of    func(*http.Request) bool
		times int
		f     testproxy.Fault
		class fail.Class
		here  bool // the run is published here
	}{
		"503 of a file":             {put("report.json"), 2, busy, fail.OK, true},
		"500 of a file":             {put("report.json"), 1, testproxy.Fault{Status: 500}, fail.OK, true},
		"a reset":                   {put("report.html"), 2, testproxy.Fault{Reset: -1}, fail.OK, true},
		"a slow head":               {get("chain.json"), ever, testproxy.Fault{Slow: time.Millisecond, Piece: 16}, fail.OK, true},
		"503 of a file, always":     {put("report.json"), ever, busy, fail.Temporary, true},
		"reset, always":             {put("manifest.json"), ever, testproxy.Fault{Reset: -1}, fail.Temporary, true},
		"503 of the head":           {put("chain.json"), ever, busy, fail.Temporary, true},
		"503 of the pointer":        {put("current"), ever, busy, fail.Temporary, true},
		"403 of the pointer":        {put("current"), ever, testproxy.Fault{Status: 403, Body: "<Error><Code>AccessDenied</Code></Error>"}, fail.Usage, true},
		"wrong ETag of a file":      {func(r *http.Request) bool { return r.Method == "HEAD" && strings.HasSuffix(r.URL.Path, "report.json") }, ever, testproxy.Fault{Header: http.Header{"Etag": {`"00000000000000000000000000000000"`}}, Rewrite: func(b []byte) []byte { return b }}, fail.Conflict, true},
		"unreachable at the start":  {func(*http.Request) bool { return true }, ever, testproxy.Fault{Reset: -1}, fail.Temporary, false},
		"the head is another thing": {get("chain.json"), ever, testproxy.Fault{Rewrite: func([]byte) []byte { return []byte("<html>") }}, fail.Integrity, false},
	} {
		t.Run(name, func(t *testing.T) {
			n.t, b.t = t, t
			n.lose()
			b.restore(before)
			n.writeJob(b.to)
			if _, err := Run(t.Context(), n.options("2026-11-01")); err != nil { // brings it
				t.Fatal(err)
			}
			res, err := n.spoiled(b, c.times, c.of, c.f, c.class)
			n.noSecrets(b, err, res.Notes)
			id, e := n.currentOf("2026-11-02")
			if e != nil || (id != "") != c.here {
				t.Errorf("published here: %q, %v", id, e)
			}
			if err != nil {
				if there := b.objects(); there["recon/nights/2026-11-02/current"] != "" {
					t.Error("the pointer was written")
				}
				if c.here && !containsText(err, "recon-batch publish --business-date 2026-11-02 --out ") {
					t.Errorf("the remedy is not named: %v", err)
				}
			}
			b.proxy.Rule(nil)
			if c.here && err != nil {
				sent, _, err := Publish(t.Context(), n.options("2026-11-02"))
				if err != nil || len(sent.Pointers) != 1 || sent.RunID != id || sent.Current != "s3://runs/recon/nights/2026-11-02/current" {
					t.Fatalf("sent %+v, %v", sent, err)
				}
			} else if _, err := Run(t.Context(), n.options("2026-11-02")); err != nil {
				t.Fatal(err)
			}
			n.mirrors(b, "in the end")
			if sent, _, err := Publish(t.Context(), n.options("2026-11-02")); err != nil || sent.Runs+len(sent.Pointers) != 0 {
				t.Errorf("again: %+v, %v", sent, err)
			}
			n.noSecrets(b)
		})
	}
}

// TestBringFaults: what is brought is whole and what was published, or nothing is run.
func TestBringFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	b, n := newBucket(t), newNights(t)
	n.files("2026-11-01", absent(1)...)
	n.files("2026-11-02", absent(2)...)
	n.run("2026-11-01", b.to, Allowed{})
	before := b.objects()
	n.run("2026-11-02", b.to, Allowed{})
	want := b.objects()
	of := func(end string) func(r *http.Request) bool {
		return func(r *http.Request) bool { return r.Method == "GET" && strings.HasSuffix(r.URL.Path, end) }
	}
	for name, c := range map[string]struct {
		of    func(*http.Request) bool
		times int
		f     testproxy.Fault
		class fail.Class
	}{
		"reset in a file":          {of("report.json"), 2, testproxy.Fault{Reset: 100}, fail.OK},
		"a short file":             {of("open.parquet"), 2, testproxy.Fault{Short: 50}, fail.OK},
		"a slow file":              {of("open.parquet"), 1, testproxy.Fault{Slow: time.Millisecond, Piece: 100}, fail.OK},
		"a short file, always":     {of("report.json"), 1 << 30, testproxy.Fault{Reset: 1}, fail.Temporary},
		"another file":             {of("report.json"), 1 << 30, testproxy.Fault{Rewrite: func(b []byte) []byte { return []byte(strings.Replace(string(b), "absent", "Absent", 1)) }}, fail.Integrity},
		"another manifest":         {of("manifest.json"), 1 << 30, testproxy.Fault{Rewrite: func(b []byte) []byte { return append(b, ' ') }}, fail.Integrity},
		"a file of another ETag":   {of("report.json"), 1 << 30, testproxy.Fault{Header: http.Header{"Etag": {`"00000000000000000000000000000000"`}}, Rewrite: func(b []byte) []byte { return b }}, fail.Input},
		"a listing without an end": {func(r *http.Request) bool { return r.URL.Query().Get("list-type") == "2" }, 1 << 30, testproxy.Fault{Status: 503}, fail.Temporary},
	} {
		t.Run(name, func(t *testing.T) {
			n.t, b.t = t, t
			n.lose()
			b.restore(before)
			_, err := n.spoiled(b, c.times, c.of, c.f, c.class)
			if err != nil {
				if id, e := n.currentOf("2026-11-02"); id != "" || e != nil {
					t.Errorf("the night ran all the same: %q, %v", id, e)
				}
				b.proxy.Rule(nil)
				if _, err := Run(t.Context(), n.options("2026-11-02")); err != nil {
					t.Fatal(err)
				}
			}
			wantSame(t, "the bucket", b.objects(), want)
			if pathExists(filepath.Join(n.out(), ".brought", "nights")) {
				t.Error("working files are left over")
			}
		})
	}
}

// TestKilledWhileSending: killed at any request by which a run is sent, and run again, on the
// same disk or on an empty one, the bucket ends as if nothing had been.
func TestKilledWhileSending(t *testing.T) {
	if dir := os.Getenv("NIGHT_OF_ANOTHER_PROCESS"); dir != "" {
		n := &nights{t: t, dir: dir}
		_, err := Run(t.Context(), n.options("2026-11-02"))
		t.Fatalf("it was not killed: %v", err)
	}
	if testing.Short() {
		t.Skip("many runs")
	}
	b, n := newBucket(t), newNights(t)
	n.files("2026-11-01", absent(1)...)
	n.files("2026-11-02", absent(2)...)
	n.run("2026-11-01", b.to, Allowed{})
	before := b.objects()
	n.run("2026-11-02", b.to, Allowed{})
	want := b.objects()
	for _, end := range []string{"/.conditions", "/report.json", "/manifest.json", "/nights/chain.json", "/2026-11-02/current"} {
		for _, empty := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, disk lost %v", end, empty), func(t *testing.T) {
				n.t, b.t = t, t
				n.lose()
				b.restore(before)
				cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileSending$")
				cmd.Env = append(os.Environ(), "NIGHT_OF_ANOTHER_PROCESS="+n.dir)
				reached := make(chan struct{})
				var once sync.Once
				b.proxy.Rule(func(_ int, r *http.Request) testproxy.Fault {
					if r.Method != "PUT" || !strings.HasSuffix(r.URL.Path, end) {
						return testproxy.Fault{}
					}
					once.Do(func() { close(reached) })
					return testproxy.Fault{Silent: true}
				})
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				<-reached
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				if err := cmd.Wait(); err == nil {
					t.Fatal("it was not killed")
				}
				b.proxy.Rule(nil)
				if empty {
					n.lose()
				}
				res, err := Run(t.Context(), n.options("2026-11-02"))
				if err != nil {
					t.Fatal(err)
				}
				notes := strings.Join(res.Notes, "\n")
				wantSame(t, "the bucket", b.objects(), want)
				if res.NoOp != (!empty || end == "/nights/chain.json" || end == "/2026-11-02/current") {
					t.Errorf("no-op %v, notes %s", res.NoOp, notes)
				}
				if empty && end == "/nights/chain.json" && !strings.Contains(notes, "was sent to s3://runs/recon/nights/ before, and not published there: it is taken as it is") {
					t.Errorf("notes %s", notes)
				}
			})
		}
	}
}

// TestTwoMachines: of two machines that publish from the same state one is refused, and goes
// on from what the other one published.
func TestTwoMachines(t *testing.T) {
	b, n := newBucket(t), newNights(t)
	other := &nights{t: t, dir: t.TempDir(), job: n.job}
	for _, m := range []*nights{n, other} {
		for i, date := range []string{"2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"} {
			m.files(date, absent(i+1)...)
		}
		m.run("2026-11-01", b.to, Allowed{})
	}

	// The other one publishes while this one works: nothing is published here.
	n.writeJob(b.to)
	o := n.options("2026-11-03")
	o.Checkpoint = func(_ context.Context, done Stage, _ *duck.DB) error {
		if done == StageMatch {
			other.run("2026-11-02", b.to, Allowed{})
		}
		return nil
	}
	_, err := Run(t.Context(), o)
	if fail.ClassOf(err) != fail.Conflict || !containsText(err, "of 2026-11-02, which is not here: another machine published it") {
		t.Fatalf("%v", err)
	}
	if id, err := n.currentOf("2026-11-03"); id != "" || err != nil {
		t.Errorf("published here: %q, %v", id, err)
	}
	n.run("2026-11-03", b.to, Allowed{})

	// The other one publishes when this one has published here: the chains part, and that of
	// the bucket counts. What was sent of the run is not taken for published.
	other.run("2026-11-03", b.past, Allowed{})
	var once sync.Once
	b.proxy.Rule(func(_ int, r *http.Request) testproxy.Fault {
		if r.Method == "PUT" && strings.HasSuffix(r.URL.Path, "/nights/chain.json") {
			once.Do(func() { other.run("2026-11-04", b.past, Allowed{}) })
		}
		return testproxy.Fault{}
	})
	n.files("2026-11-02", absent(3)...)
	n.writeJob(b.to)
	_, err = Run(t.Context(), n.options("2026-11-02"))
	if fail.ClassOf(err) != fail.Conflict || !containsText(err, "was written by another run since this one began") {
		t.Fatalf("%v", err)
	}
	b.proxy.Rule(nil)
	for range 2 {
		_, err = Run(t.Context(), n.options("2026-11-02"))
		if fail.ClassOf(err) != fail.Conflict || !containsText(err, "is not one of those that s3://runs/recon/nights/ goes on from") || !containsText(err, "mv "+shellQuote(displayPath(filepath.Join(n.out(), "nights")))) {
			t.Fatalf("%v", err)
		}
	}
	if err := os.Rename(filepath.Join(n.out(), "nights"), filepath.Join(n.dir, "parted")); err != nil {
		t.Fatal(err)
	}
	n.run("2026-11-02", b.to, Allowed{})
	// What the machine lacked of rows is not among what it sends.
	there := b.objects()
	for name, text := range filesUnder(t, n.out()) {
		if key := "recon/" + filepath.ToSlash(name); strings.HasSuffix(name, "/"+manifestName) && there[key] != text {
			t.Errorf("%s is not what is here", key)
		}
	}
	n.noSecrets(b)
}

// TestMovedPointer: a date that is run again with its former files is its former run again;
// that goes to the bucket and from there to others, and not over what they say.
func TestMovedPointer(t *testing.T) {
	b, n := newBucket(t), newNights(t)
	n.files("2026-11-01", absent(1)...)
	first := n.run("2026-11-01", b.to, Allowed{})
	n.files("2026-11-01", absent(2)...)
	second := n.run("2026-11-01", b.to, Allowed{})
	other := &nights{t: t, dir: t.TempDir(), job: n.job}
	other.files("2026-11-01", absent(2)...)
	other.files("2026-11-02", absent(1)...)
	if res := other.run("2026-11-01", b.to, Allowed{}); !res.NoOp || res.Manifest.RunID != second.Manifest.RunID {
		t.Fatalf("run %s, no-op %v", res.Manifest.RunID, res.NoOp)
	}
	n.files("2026-11-01", absent(1)...)
	if back := n.run("2026-11-01", b.to, Allowed{}); !back.NoOp || back.Manifest.RunID != first.Manifest.RunID || len(back.Sent.Pointers) != 1 {
		t.Fatalf("sent %+v", back.Sent)
	}
	n.mirrors(b, "moved back")
	// Run there with the files of the second, the pointer goes forth again.
	if res := other.run("2026-11-01", b.to, Allowed{}); !res.NoOp || len(res.Sent.Pointers) != 1 {
		t.Fatalf("sent %+v", res.Sent)
	}
	// Here it is taken over by another night.
	n.files("2026-11-02", absent(1)...)
	n.run("2026-11-02", b.to, Allowed{})
	if id, err := n.currentOf("2026-11-01"); id != second.Manifest.RunID || err != nil {
		t.Errorf("current is %s, %v", id, err)
	}
	n.mirrors(b, "taken over")

	// Moved on both sides, since nothing was sent in between.
	if err := n.date("2026-11-01").switchCurrent(first.Manifest.RunID); err != nil {
		t.Fatal(err)
	}
	other.run("2026-11-02", b.to, Allowed{})
	if err := other.date("2026-11-01").switchCurrent(first.Manifest.RunID); err != nil {
		t.Fatal(err)
	}
	other.writeJob(b.to)
	if sent, _, err := Publish(t.Context(), other.options("2026-11-02")); err != nil || len(sent.Pointers) != 1 {
		t.Fatalf("%+v, %v", sent, err)
	}
	n.writeJob(b.to)
	if _, _, err := Publish(t.Context(), n.options("2026-11-01")); err != nil { // both say the same
		t.Fatal(err)
	}
	n.mirrors(b, "agreed")
}

// TestConnectTarget: whether runs could be sent is asked with the sources.
func TestConnectTarget(t *testing.T) {
	b, n := newBucket(t), newNights(t)
	n.writeJob(b.to)
	if problems, asked, err := Connect(t.Context(), n.options("2026-11-01")); asked != 1 || len(problems) != 0 || err != nil {
		t.Fatal(problems, asked, err)
	}
	if there := b.objects(); len(there) != 1 {
		t.Errorf("the bucket has %d objects", len(there))
	}
	b.proxy.Rule(func(_ int, r *http.Request) testproxy.Fault {
		if r.Header.Get("If-Match") != "" {
			return testproxy.Fault{Status: 200}
		}
		return testproxy.Fault{}
	})
	want := func(text string) {
		t.Helper()
		problems, _, err := Connect(t.Context(), n.options("2026-11-01"))
		if err != nil || len(problems) != 1 || !strings.HasPrefix(problems[0], "outputs.publish: ") || !strings.Contains(problems[0], text) {
			t.Errorf("%q, %v, want %q", problems, err, text)
		}
		n.noSecrets(b, problems)
	}
	want("the store ignores If-Match")
	b.proxy.Rule(func(_ int, r *http.Request) testproxy.Fault {
		if r.Method == "PUT" {
			return testproxy.Fault{Status: 403, Body: "<Error><Code>AccessDenied</Code></Error>"}
		}
		return testproxy.Fault{}
	})
	want("allow s3:PutObject on arn:aws:s3:::runs/recon/.conditions")
	b.proxy.Rule(nil)
	t.Setenv("RUNS_SECRET", "another")
	want("correct access key and secret key")
	t.Setenv("RUNS_ACCESS", "nobody") // who is answered with 404, which is not that of an object
	want("correct access key and secret key")
	t.Setenv("RUNS_SECRET", "")
	want("RUNS_SECRET")
}
