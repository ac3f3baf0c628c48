// Package secret resolves what a job file only refers to. The text of a secret reaches
// no output, no log and no error.
package secret

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// Text reads a secret; "" where none is declared. base is the folder of the job file,
// what names the key in errors. An error tells the name of the file, variable or program and
// nothing of what it holds or writes. White space around the secret is no part of it.
func Text(s rules.Secret, base, what string) (string, error) {
	switch {
	case s.File != "":
		path := s.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("%s: the file %s cannot be read", what, s.File)
		}
		if v := strings.TrimSpace(string(text)); v != "" {
			return v, nil
		}
		return "", fmt.Errorf("%s: the file %s is empty", what, s.File)
	case s.Env != "":
		if v := strings.TrimSpace(os.Getenv(s.Env)); v != "" {
			return v, nil
		}
		return "", fmt.Errorf("%s: the environment variable %s is not set", what, s.Env)
	case s.Exec != "":
		text, err := written(s.Command(), base)
		if err != nil {
			return "", fmt.Errorf("%s: %w", what, err)
		}
		return text, nil
	}
	return "", nil
}
