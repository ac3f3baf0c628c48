package pipeline

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var confirm = flag.Bool("confirm-semantics", false, "write down the statements of match and classify as those of the present Semantics")

var (
	sqlComment = regexp.MustCompile(`(?m)--.*$`)
	sqlBlanks  = regexp.MustCompile(`\s+`)
)

// TestSemantics fails when a statement of match or classify is another one than
// when Semantics was confirmed last. Comments and blanks do not count.
func TestSemantics(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "Semantics %d\n", Semantics)
	for _, stage := range []string{"classify", "match"} {
		files, err := filepath.Glob("../../" + stage + "/sql/*.sql")
		if err != nil || len(files) < 5 {
			t.Fatalf("%d statements of %s: %v", len(files), stage, err)
		}
		for _, f := range files {
			if strings.HasPrefix(filepath.Base(f), "promise_") {
				continue // they check what was decided, and decide nothing
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s/%s %s\n", stage, filepath.Base(f), statementDigest(string(text)))
		}
	}
	const path = "testdata/semantics.txt"
	if *confirm {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() == string(want) {
		return
	}
	t.Errorf(`statements changed:
%s
Could the same job and files get another verdict, proposal or number than from the
last release? Then raise Semantics (semantics.go says when). In either case confirm:
  go test ./internal/pipeline -run TestSemantics -confirm-semantics`, strings.Join(changedLines(string(want), b.String()), "\n"))
}

func statementDigest(text string) string {
	text = sqlBlanks.ReplaceAllString(sqlComment.ReplaceAllString(text, ""), " ")
	return fmt.Sprintf("%.16x", sha256.Sum256([]byte(strings.TrimSpace(text))))
}

// changedLines lists the names whose lines are not the same in both texts.
func changedLines(was, is string) []string {
	lines := func(text string) map[string]string {
		m := map[string]string{}
		for l := range strings.Lines(text) {
			name, digest, _ := strings.Cut(strings.TrimSpace(l), " ")
			m[name] = digest
		}
		return m
	}
	a, b := lines(was), lines(is)
	var out []string
	for l := range strings.Lines(was) {
		name, _, _ := strings.Cut(strings.TrimSpace(l), " ")
		if now, ok := b[name]; !ok {
			out = append(out, "  gone     "+name)
		} else if now != a[name] {
			out = append(out, "  changed  "+name)
		}
	}
	for l := range strings.Lines(is) {
		name, _, _ := strings.Cut(strings.TrimSpace(l), " ")
		if _, ok := a[name]; !ok {
			out = append(out, "  new      "+name)
		}
	}
	return out
}

// TestStatementDigest: what counts as a change.
func TestStatementDigest(t *testing.T) {
	same := statementDigest("-- why\nSELECT a,\n  b FROM t\n")
	if same != statementDigest("SELECT a, b FROM t -- another reason") {
		t.Error("comments and blanks count")
	}
	if same == statementDigest("SELECT a, b FROM t WHERE a") {
		t.Error("a condition does not count")
	}
	got := changedLines("Semantics 1\nmatch/a.sql 1\nmatch/b.sql 1\n", "Semantics 1\nmatch/a.sql 2\nmatch/c.sql 1\n")
	if fmt.Sprint(got) != "[  changed  match/a.sql   gone     match/b.sql   new      match/c.sql]" {
		t.Errorf("%q", got)
	}
}
