package secret

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// command is a secret that a program writes.
func command(args ...string) rules.Secret {
	return rules.Secret{Exec: strings.Join(args, "\x00") + "\x00"}
}

func TestText(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("key", " k3y\n", 0o600)
	write("empty", "\n", 0o600)
	write("vault", "#!/bin/sh\nprintf '%s-%s in %s\\n' \"$1\" \"$VAULT_ROLE\" \"${PWD##*/}\"\n", 0o700)
	t.Setenv("KEY", "from-env")
	t.Setenv("VAULT_ROLE", "reader")
	for _, c := range []struct {
		of        rules.Secret
		want, err string
	}{
		{rules.Secret{}, "", ""},
		{rules.Secret{File: "key"}, "k3y", ""},
		{rules.Secret{File: "empty"}, "", "the file empty is empty"},
		{rules.Secret{File: "gone"}, "", "the file gone cannot be read"},
		{rules.Secret{Env: "KEY"}, "from-env", ""},
		{rules.Secret{Env: "NOKEY"}, "", "NOKEY is not set"},
		{command("./vault", "psp"), "psp-reader in " + filepath.Base(dir), ""},
		{command("printf", "%s %s", "a b", "a b"), "a b a b", ""}, // no shell, and an argument may be there twice
		{command("./gone"), "", "the program ./gone is not there"},
		{command("no-such-program"), "", "no-such-program is not there"},
		{command("true"), "", "writes nothing"},
		{command("sh", "-c", "echo s3cret; echo s3cret >&2; exit 3"), "", "ended with exit status 3"},
		{command("sh", "-c", "yes s3cret | head -c 3000000"), "", "more than 1048576 bytes"},
	} {
		got, err := Text(c.of, dir, "auth.bearer")
		if got != c.want || (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) || !strings.HasPrefix(err.Error(), "auth.bearer: ")) {
			t.Errorf("%+v: %q, %v; want %q, %q", c.of, got, err, c.want, c.err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%+v: the error tells the secret: %v", c.of, err)
		}
	}
}

// A program that does not end is ended, with what it started.
func TestProgramThatHangs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	pipe := filepath.Join(dir, "started")
	go func() {
		for {
			if _, err := os.Stat(pipe); err == nil {
				cancel()
				return
			}
		}
	}()
	if _, err := writtenUntil(ctx, []string{"sh", "-c", "sleep 1000 & echo $! >started; wait"}, dir); err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(pipe)
	if err != nil {
		t.Fatal(err)
	}
	// A signal takes its time; without one this would never end.
	for {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
