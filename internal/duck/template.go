package duck

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// Template is one SQL statement from an embedded .sql file. It stays readable
// SQL: what varies stands in slots written as comments, /*$name*/. A slot takes
// an expression that was rendered by code (identifiers quoted, literals escaped),
// never a text from a job file.
type Template struct {
	name  string
	text  string
	slots []string
}

var slotRE = regexp.MustCompile(`/\*\$([a-z_0-9]+)\*/`)

// MustParse reads a template; a missing file is a bug and panics at start-up.
func MustParse(fsys fs.FS, name string) *Template {
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		panic(fmt.Sprintf("duck: template %s: %v", name, err))
	}
	t := &Template{name: name, text: string(b)}
	for _, m := range slotRE.FindAllStringSubmatch(t.text, -1) {
		if !slices.Contains(t.slots, m[1]) {
			t.slots = append(t.slots, m[1])
		}
	}
	return t
}

// Slots gives each slot its text.
type Slots map[string]string

// Render fills the slots. A missing or an unused slot is a bug and panics: every
// template is rendered by a test.
func (t *Template) Render(s Slots) string {
	for _, n := range t.slots {
		if _, ok := s[n]; !ok {
			panic(fmt.Sprintf("duck: template %s: slot %s is not filled", t.name, n))
		}
	}
	for n := range s {
		if !slices.Contains(t.slots, n) {
			panic(fmt.Sprintf("duck: template %s has no slot %s", t.name, n))
		}
	}
	return strings.TrimSpace(slotRE.ReplaceAllStringFunc(t.text, func(m string) string {
		return s[m[3:len(m)-2]]
	}))
}
