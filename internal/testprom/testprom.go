// Package testprom gives tests promtool and a Pushgateway of their own. Only tests import it.
package testprom

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// tester is what this package needs of a test.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Cleanup(func())
}

// find looks for a program. Where it is missing the test is skipped, and says so; with
// CI=true it fails.
func find(t tester, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	const how = "%s is missing: run scripts/install-promtool, as root on Debian"
	if os.Getenv("CI") == "true" {
		t.Fatalf(how, program)
	}
	t.Skipf("NOT TESTED: "+how, program)
	return ""
}

// Promtool runs promtool in a folder and returns what it prints, stdout and stderr, and
// whether it was content.
func Promtool(t tester, dir, stdin string, args ...string) (string, bool) {
	t.Helper()
	cmd := exec.Command(find(t, "promtool"), args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatalf("promtool: %v", err)
	}
	return string(out), err == nil
}

// CheckMetrics asks promtool whether a text in the Prometheus format is well formed and
// follows the rules for names.
func CheckMetrics(t tester, text string) {
	t.Helper()
	if out, ok := Promtool(t, "", text, "check", "metrics"); !ok || strings.TrimSpace(out) != "" {
		t.Fatalf("promtool check metrics: %s\n%s", out, text)
	}
}

// Pushgateway starts a Pushgateway that ends with the test and returns its URL. It keeps
// nothing on disk and listens on this machine only.
func Pushgateway(t tester) string {
	t.Helper()
	program := find(t, "prometheus-pushgateway")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil { // the address is the server's from here on
		t.Fatalf("%v", err)
	}
	var log bytes.Buffer
	cmd := exec.Command(program, "--web.listen-address="+address, "--persistence.file=")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatalf("the Pushgateway cannot be started: %v", err)
	}
	stop := func() {
		// A server that has ended by itself cannot be killed, and one that was killed says
		// so: neither is a fault of the test.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(stop)
	for range 600 {
		res, err := http.Get("http://" + address + "/-/ready")
		if err == nil {
			_ = res.Body.Close() // nothing of it was read
			if res.StatusCode == http.StatusOK {
				return "http://" + address
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop() // it writes to the log no more
	t.Fatalf("the Pushgateway does not get ready: %s", log.String())
	return ""
}
