package main

import (
	"strings"
	"text/tabwriter"

	"github.com/recon-batch/recon-batch/internal/fail"
)

func flush(w *tabwriter.Writer) error {
	if err := w.Flush(); err != nil {
		return fail.Wrap(fail.Resources, err, "stdout cannot be written")
	}
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// join puts a comma between two texts that are not empty.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
