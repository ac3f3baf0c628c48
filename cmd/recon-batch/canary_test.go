package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Secrets of the job: no output holds them.
const (
	redactionKey = "redaction-key-zq7-0123456789abcdef"
	hookKey      = "hook-key-zq7-0123456789abcdef"
	mailPassword = "mail-password-zq7"
	pathSecret   = "path-secret-zq7"
)

// canaryRun is a folder with a job and its files, and all that came out of it.
type canaryRun struct {
	t      *testing.T
	dir    string
	env    []string
	worlds []*canaryWorld
	mu     sync.Mutex
	sent   map[string][]byte // what the server of the test was sent, and what commands printed
}

func newCanaryRun(t *testing.T, redact string, dates ...string) *canaryRun {
	c := &canaryRun{t: t, dir: t.TempDir(), sent: map[string][]byte{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body = gunzip(body)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		place := strings.ReplaceAll(r.URL.Path, pathSecret, "SECRET")
		c.sent[fmt.Sprintf("request %d to %s", len(c.sent), place)] = body
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	job := strings.NewReplacer("REDACT\n", redact, "HOST", fmt.Sprintf("%q", host)).Replace(canaryJob)
	files := map[string]string{"job.yaml": job, "redact.key": redactionKey + "\n", "hook.key": hookKey + "\n", "text/keep": "",
		"refusing.yaml": strings.ReplaceAll(job, "on_reject: keep", "on_reject: fail"), "stricter.yaml": strings.Replace(job, "deadline: 6h", "deadline: 5h", 1)}
	for _, date := range dates {
		w := newCanaryWorld(date, redact == "", date == dates[0])
		c.worlds = append(c.worlds, w)
		for name, text := range w.files() {
			files[name] = text
		}
	}
	for name, text := range files {
		path := filepath.Join(c.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	c.env = append(os.Environ(), "PUSH_URL="+server.URL+"/"+pathSecret, "OTLP_URL="+server.URL+"/"+pathSecret+"/v1/metrics",
		"HOOK_URL="+server.URL+"/"+pathSecret, "SLACK_URL="+server.URL+"/"+pathSecret, "SMTP_PASSWORD="+mailPassword)
	return c
}

// command runs the program and keeps what it prints. It returns the exit status.
func (c *canaryRun) command(args ...string) int {
	c.t.Helper()
	cmd := exec.Command("recon-batch", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	name := strings.Join(args, " ")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent["stdout of "+name], c.sent["stderr of "+name] = out.Bytes(), errs.Bytes()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		if e.ExitCode() == 1 {
			c.t.Errorf("%s: an internal error: %s", name, errs.String())
		}
		return e.ExitCode()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return 0
}

// secrets of all days, and those of the job.
func (c *canaryRun) secrets() map[string]bool {
	out := map[string]bool{redactionKey: true, hookKey: true, mailPassword: true, pathSecret: true}
	for _, w := range c.worlds {
		for s := range w.secrets {
			out[s] = true
		}
	}
	return out
}

func (c *canaryRun) free() map[string]bool {
	out := map[string]bool{}
	for _, w := range c.worlds {
		for s := range w.free {
			out[s] = true
		}
	}
	return out
}

// TestCanaries: values that are hidden, whichever way, and card numbers, IBANs and keys in
// free text are in no output and in nothing that a command prints or sends.
func TestCanaries(t *testing.T) {
	for part, how := range []string{"token", "mask", "drop"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			redact := "redact:\n  key: {file: redact.key}\n  fields:\n"
			for _, f := range hiddenFields {
				redact += "    " + f + ": " + how + "\n"
			}
			c := newCanaryRun(t, redact, "2026-11-28", "2026-11-29")
			c.days()
			c.commands(part)
			c.search(c.secrets())
			c.search(c.free())
			c.reachesEverything()
			c.keepsEvidence()
			if how == "token" {
				c.joins()
			}
		})
	}
}

// TestCanariesInFreeText: where no field is hidden, people see no card number, IBAN or key
// from any text; and files for machines have them only in fields by which rows are joined.
func TestCanariesInFreeText(t *testing.T) {
	t.Parallel()
	c := newCanaryRun(t, "", "2026-11-28", "2026-11-29")
	c.days()
	c.commands(1)
	c.search(c.secrets())
	c.search(c.free())
	keys := map[string]bool{}
	for _, w := range c.worlds {
		for s := range w.keys {
			keys[s] = true
		}
	}
	c.search(keys, forMachines)
	all := c.everything()
	current := "out/canary/2026-11-29/current"
	id, err := os.Readlink(filepath.Join(c.dir, current))
	if err != nil {
		t.Fatal(err)
	}
	run := "out/canary/2026-11-29/" + filepath.Base(id) + "/"
	for name, want := range map[string]string{
		"report.json": "453970******", "report.html": "453970******", "exceptions.parquet, decoded": "sk_live_…",
		"rejects.parquet, decoded": "453970******", "report.sarif": "free_text_masked",
	} {
		if !regexp.MustCompile(strings.ReplaceAll(want, "*", `\*`)).Match(all[run+name]) {
			t.Errorf("%s does not show %s", name, want)
		}
	}
	// What workers act by is whole.
	n := 0
	for s := range keys {
		if bytes.Contains(all[run+"queues/review.ndjson"], []byte(s)) {
			n++
		}
	}
	if n < 20 {
		t.Errorf("the review queue has %d of the keys, and should have those of its items", n)
	}
}

// reachesEverything asserts that there was something to hide in rows of every class, and that
// every way to tell somebody was gone.
func (c *canaryRun) reachesEverything() {
	c.t.Helper()
	all := c.everything()
	for _, side := range []string{"operations", "results"} {
		seen := map[string]bool{}
		for name, data := range all {
			if strings.HasSuffix(name, "/"+side+".parquet, decoded") {
				for _, m := range regexp.MustCompile(`"class":"([a-z_]+)","reason":"([a-z_]+)"`).FindAllSubmatch(data, -1) {
					seen[string(m[1])], seen[string(m[2])] = true, true
				}
			}
		}
		want := map[string][]string{
			"operations": {"correct", "divergent", "absent", "ambiguous", "duplicate", "not_due", "not_applicable", "out_of_period", "unmapped_status", "value_unreadable", "field_differs"},
			"results":    {"correct", "divergent", "unexpected", "ambiguous", "duplicate", "surplus_effect"},
		}[side]
		for _, w := range want {
			if !seen[w] {
				c.t.Errorf("no row of the %s is %s: %v", side, w, slices.Sorted(maps.Keys(seen)))
			}
		}
	}
	var names []string
	for name, data := range all {
		if len(data) > 0 {
			names = append(names, name)
		}
	}
	for _, want := range []string{"/request \\d+ to /SECRET/v1/metrics", "/request \\d+ to /SECRET/metrics/", "/request \\d+ to /SECRET$", "/queues/review.ndjson$", "/people/review.csv$", "/report.xlsx, xl/worksheets",
		"/report.html$", "/report.junit.xml$", "/report.sarif$", "/metrics.prom$", "/recon_batch_canary.prom$", "/attempts/", "/manifest.json$", "/open.parquet, decoded$", "/rejects.parquet, decoded$"} {
		want := regexp.MustCompile(want)
		if !slices.ContainsFunc(names, func(n string) bool { return want.MatchString("/" + n) }) {
			c.t.Errorf("nothing came out of %s", want)
		}
	}
}

// keepsEvidence asserts that the values themselves stand in the evidence store, which its
// owner alone may read.
func (c *canaryRun) keepsEvidence() {
	c.t.Helper()
	found := 0
	err := filepath.WalkDir(filepath.Join(c.dir, "out", ".stage"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			c.t.Errorf("%s has the rights %s", path, info.Mode())
		}
		if strings.HasSuffix(path, ".parquet") {
			found++
		}
		return nil
	})
	if err != nil || found == 0 {
		c.t.Errorf("%d staged files: %v", found, err)
	}
}

// joins asserts that a value has one token: on both sides, in every output and on both days.
func (c *canaryRun) joins() {
	c.t.Helper()
	all := c.everything()
	mac := func(value string) string {
		h := hmac.New(sha256.New, []byte(redactionKey))
		h.Write([]byte(value))
		return "tok_" + hex.EncodeToString(h.Sum(nil))[:32]
	}
	// The operation whose version differs: its e-mail stands on both sides.
	email := regexp.MustCompile(`"(zq7email[^"]*)","[^"]*","[^"]*","[^"]*","[^"]*","zq7order`)
	joined := 0
	for _, m := range email.FindAllStringSubmatch(c.worlds[0].ours.String(), -1) {
		token := mac(m[1])
		days := 0
		for name, data := range all {
			if strings.HasSuffix(name, "exceptions.parquet, decoded") && bytes.Contains(data, []byte(`"o_email":"`+token)) && bytes.Contains(data, []byte(`"r_email":"`+token)) {
				days++
			}
		}
		queue, report := false, false
		for name, data := range all {
			queue = queue || strings.HasSuffix(name, "queues/review.ndjson") && bytes.Contains(data, []byte(token))
			report = report || strings.HasSuffix(name, "report.json") && bytes.Contains(data, []byte(token))
		}
		if days == 2 && queue && report {
			joined++
		}
	}
	if joined < 5 {
		c.t.Errorf("%d values have their token on both sides, on both days, in the exceptions, a queue and the report", joined)
	}
}

// days runs every day.
func (c *canaryRun) days() {
	c.t.Helper()
	for _, w := range c.worlds {
		if code := c.command("run", "--business-date", w.date, "job.yaml"); code != 0 && code != 9 {
			c.t.Fatalf("run ended with %d: %s", code, c.sent["stderr of run --business-date "+w.date+" job.yaml"])
		}
	}
}

// commands runs every command that looks at runs, rows or files.
func (c *canaryRun) commands(part int) {
	w := c.worlds[len(c.worlds)-1]
	var all [][]string
	all = append(all, []string{"plan", "--business-date", w.date, "job.yaml"}, []string{"run", "--dry-run", "--business-date", w.date, "job.yaml"},
		[]string{"runs", "list", "job.yaml"}, []string{"runs", "show", "--business-date", w.date, "job.yaml"},
		[]string{"runs", "diff", "out/canary/" + c.worlds[0].date + "/current", "out/canary/" + w.date + "/current"},
		[]string{"windows", "suggest", "job.yaml"}, []string{"windows", "check", "job.yaml"}, []string{"whatif", "--rules", "stricter.yaml", "job.yaml"},
		[]string{"run", "--out", "refused", "--business-date", w.date, "refusing.yaml"}, []string{"runs", "list", "--out", "refused", "refusing.yaml"},
		[]string{"readiness", "--type", "charge", "job.yaml"}, []string{"readiness", "--type", "*", "job.yaml"}, []string{"verify", "out/canary/" + w.date + "/current"},
		[]string{"config", "show", "--effective", "job.yaml"}, []string{"validate", "job.yaml"},
		[]string{"keys", "report", "--business-date", w.date, "job.yaml"}, []string{"keys", "report", "--business-date", w.date, "--output", "json", "job.yaml"})
	// The rows of the second half are like those of the first; each way explains a part of them.
	for record := 1 + part; record <= w.nOurs/2+2; record += 12 {
		all = append(all, []string{"explain", "--business-date", w.date, "job.yaml", fmt.Sprintf("ours-%s.csv:%d", w.date, record)})
	}
	for record := 4 + part; record <= w.nRes/2+2; record += 12 {
		all = append(all, []string{"explain", "--business-date", w.date, "job.yaml", fmt.Sprintf("theirs-%s.csv:%d", w.date, record)})
	}
	for i, args := range all {
		c.command(args...)
		if i < 10 {
			c.command(append(slices.Clone(args[:1]), append([]string{"--output", "json"}, args[1:]...)...)...)
		}
	}
}
