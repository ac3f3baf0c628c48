package main

import (
	"os"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// The document and the code have one table.
func TestExitCodesDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), exitTable()) {
		t.Errorf("docs/exit-codes.md lacks this table:\n%s", exitTable())
	}
}

// Every class of fail has its line.
func TestExitCodesComplete(t *testing.T) {
	for _, c := range []fail.Class{
		fail.OK, fail.Internal, fail.Usage, fail.Gate, fail.Input, fail.Temporary, fail.Conflict, fail.Integrity,
		fail.Resources, fail.Policy, fail.Interrupt, fail.Terminate,
	} {
		if exitName(c) == "unknown" {
			t.Errorf("class %d has no line", c)
		}
	}
}
