package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The guide shows the code that the tests run, to the letter.
func TestGuideShowsThisCode(t *testing.T) {
	guide, err := os.ReadFile("../../docs/workers-go.md")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob("*.*")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	blocks := regexp.MustCompile("(?s)```(?:go|sql)\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
	if len(blocks) < 8 {
		t.Fatalf("%d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		for piece := range strings.SplitSeq(strings.ReplaceAll(b[1], "\n}\n//", "\n}\n\x00//"), "\x00") {
			if !strings.Contains(all.String(), strings.TrimSpace(piece)) {
				t.Errorf("docs/workers-go.md shows what is not in the sources:\n%s", piece)
			}
		}
	}
}
