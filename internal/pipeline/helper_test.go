package pipeline

import (
	"errors"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// containsText looks in the message and in the hint.
func containsText(err error, text string) bool {
	hint := ""
	if e, ok := errors.AsType[*fail.Error](err); ok {
		hint = e.Hint
	}
	return strings.Contains(err.Error(), text) || strings.Contains(hint, text)
}
