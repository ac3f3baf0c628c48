package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Bounds of a program that writes a secret. Who asks a vault over a bad network needs some
// seconds; nobody's secret is larger than a chain of certificates.
const (
	timeout = 30 * time.Second
	most    = 1 << 20
)

// written starts a program in a folder, without a shell and with the environment of this
// process, where clients of vaults find who they are, and returns what it writes on its
// standard output. What it says on its standard error is shown to nobody: it may hold
// what the secret is made of. What it has started ends with it.
func written(command []string, dir string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return writtenUntil(ctx, command, dir)
}

func writtenUntil(ctx context.Context, command []string, dir string) (string, error) {
	name := command[0]
	path := name
	// A path is one that begins in the folder, whatever the working directory is.
	if strings.Contains(path, "/") && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path, err := filepath.Abs(path)
	if !strings.Contains(name, "/") {
		path, err = exec.LookPath(name)
	}
	if err != nil {
		return "", fmt.Errorf("the program %s is not there, or may not be started", name)
	}
	cmd := exec.CommandContext(ctx, path, command[1:]...)
	out := &bounded{}
	cmd.Dir, cmd.Stdout = dir, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if cmd.Process != nil {
		// Usually nobody is left in its group, which is an error of no interest.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	var exit *exec.ExitError
	switch {
	case out.tooMuch:
		return "", fmt.Errorf("the program %s writes more than %d bytes", name, most)
	case ctx.Err() != nil:
		return "", fmt.Errorf("the program %s did not end in %s", name, timeout)
	case errors.As(err, &exit):
		return "", fmt.Errorf("the program %s ended with %s", name, exit.ProcessState)
	case err != nil:
		return "", fmt.Errorf("the program %s is not there, or may not be started", name)
	}
	text := strings.TrimSpace(out.text.String())
	if text == "" {
		return "", fmt.Errorf("the program %s writes nothing", name)
	}
	return text, nil
}

// bounded takes so many bytes.
type bounded struct {
	text    bytes.Buffer
	tooMuch bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > most {
		b.tooMuch = true
		return 0, errors.New("too much output")
	}
	return b.text.Write(p)
}
