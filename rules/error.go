package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one fault of a job file: where it is, which rule is broken, and what
// to do about it.
type Error struct {
	File   string
	Line   int    // from 1; 0: the file as a whole
	Column int    // from 1, counted in characters
	Path   string // of the value in the job: results.sources[0].csv.delimiter
	Msg    string // one sentence without a full stop
	Hint   string // the remedy; may be empty
	Source string // the source line
}

// Error gives the place and the message on the first line, then the source line
// with a caret under the column, then the remedy.
func (e Error) Error() string {
	var b strings.Builder
	if e.Line == 0 {
		fmt.Fprintf(&b, "%s: %s", e.File, e.Msg)
	} else {
		fmt.Fprintf(&b, "%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
	}
	if e.Source != "" {
		fmt.Fprintf(&b, "\n    %s\n    %s^", e.Source, caretIndent(e.Source, e.Column))
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "\n    %s", e.Hint)
	}
	return b.String()
}

// caretIndent is the white space that puts a caret under the column, with the
// tabs of the source line kept.
func caretIndent(source string, column int) string {
	var b strings.Builder
	n := 1
	for _, r := range source {
		if n >= column {
			break
		}
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
		n++
	}
	return b.String()
}

// Errors are all faults of one job file, in the order of their places.
type Errors []Error

// Error gives every fault, separated by empty lines.
func (es Errors) Error() string {
	texts := make([]string, len(es))
	for i, e := range es {
		texts[i] = e.Error()
	}
	return strings.Join(texts, "\n\n")
}

func (es Errors) sort() {
	slices.SortStableFunc(es, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Msg, b.Msg))
	})
}

// Warning is something that the job may do but probably does not mean.
type Warning struct {
	File   string
	Line   int // from 1
	Column int // from 1
	Path   string
	Msg    string
	Hint   string
}

// String gives the warning in one line, without its hint.
func (w Warning) String() string {
	return fmt.Sprintf("%s:%d:%d: warning: %s", w.File, w.Line, w.Column, w.Msg)
}
