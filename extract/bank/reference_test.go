package bank

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// columnTable is the table of columns of rules/REFERENCE.md.
func columnTable() string {
	var b strings.Builder
	b.WriteString("| column | holds | formats |\n|---|---|---|\n")
	for c := range columnDocs {
		d := &columnDocs[c]
		formats := "all"
		if len(d.formats) < len(everywhere) {
			var names []string
			for _, f := range d.formats {
				names = append(names, string(f))
			}
			formats = strings.Join(names, ", ")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", d.name, d.doc, formats)
	}
	return b.String()
}

// The reference of the job file lists the columns that fields can be bound to, with
// the words of the code.
func TestReferenceListsColumns(t *testing.T) {
	text, err := os.ReadFile("../../rules/REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	if table := columnTable(); !strings.Contains(string(text), table) {
		t.Errorf("rules/REFERENCE.md does not hold this table:\n%s", table)
	}
	for c := range columnDocs {
		if d := &columnDocs[c]; d.name == "" || !strings.HasSuffix(d.doc, ".") || len(d.formats) == 0 {
			t.Errorf("column %d: %+v", c, d)
		}
	}
}
