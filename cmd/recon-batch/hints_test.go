package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

var (
	flagInText    = regexp.MustCompile(`(?:^|[ (])--([a-z][a-z-]*)`)
	commandInText = regexp.MustCompile(`recon-batch ([a-z-]+)(?: ([a-z-]+))?`)
)

// Every flag and command that a text of the program names is one that it has.
func TestTextsNameWhatExists(t *testing.T) {
	flags, commands := []string{"help"}, map[string][]string{}
	var walk func([]*cli.Command, string)
	walk = func(list []*cli.Command, path string) {
		for _, c := range list {
			if path == "" {
				commands[c.Name] = []string{}
			} else {
				commands[path] = append(commands[path], c.Name)
			}
			for _, f := range c.Flags {
				flags = append(flags, f.Names()...)
			}
			walk(c.Subcommands, c.Name)
		}
	}
	s, _, _ := testSession(nil)
	walk(newApp(s).Commands, "")
	texts := 0
	for _, text := range literals(t, "../..") {
		for _, m := range flagInText.FindAllStringSubmatch(text, -1) {
			texts++
			if !slices.Contains(flags, m[1]) {
				t.Errorf("%q names the flag --%s, which no command has", text, m[1])
			}
		}
		for _, m := range commandInText.FindAllStringSubmatch(text, -1) {
			texts++
			subs, ok := commands[m[1]]
			if !ok {
				t.Errorf("%q names the command %s, which there is not", text, m[1])
			}
			if len(subs) > 0 && !slices.Contains(subs, m[2]) {
				t.Errorf("%q names the command %s %s, which there is not", text, m[1], m[2])
			}
		}
	}
	if texts < 60 {
		t.Errorf("only %d names were looked at", texts)
	}
}

// literals are all texts in the sources of the program, without tests and the
// tools of developers, which have flags of their own.
func literals(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	for _, dir := range []string{"cmd/recon-batch", "doctor", "internal/duck", "internal/fail", "internal/pipeline", "rules", "extract", "match", "classify", "report"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					if text, err := strconv.Unquote(l.Value); err == nil {
						out = append(out, text)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
