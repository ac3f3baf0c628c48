package rules

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// place is a position in the job file, both from 1; or in a preset, whose name and
// version file is then; or in a policy file, by its mark.
type place struct {
	line, column int
	file         string
}

// at is where a node stands. Nodes of presets carry their preset as a comment.
func at(n *yaml.Node) place { return place{line: n.Line, column: n.Column, file: n.LineComment} }

func (d *decoder) failAt(p place, path, hint, format string, args ...any) {
	if len(d.errs) == maxErrors {
		d.errs = append(d.errs, Error{File: d.file, Line: len(d.lines) + 1, Column: 1, Msg: "more faults than are listed", Hint: "correct these first"})
	}
	if len(d.errs) > maxErrors {
		return
	}
	e := Error{File: d.file, Line: p.line, Column: p.column, Path: path, Hint: hint, Msg: fmt.Sprintf(format, args...)}
	e.File = d.fileOf(p)
	if line, ok := d.line(p); ok {
		e.Source = printable(line)
	}
	d.errs = append(d.errs, e)
}

// fileOf names the file of a place, as messages do.
func (d *decoder) fileOf(p place) string {
	name, ok := strings.CutPrefix(p.file, fileMark)
	switch {
	case p.file == "":
		return d.file
	case !ok:
		return "preset " + p.file
	case filepath.IsAbs(filepath.FromSlash(name)):
		return name
	}
	return filepath.ToSlash(filepath.Join(filepath.Dir(d.file), filepath.FromSlash(name)))
}

// line is the text at a place; false where it is not known, as in a preset.
func (d *decoder) line(p place) (string, bool) {
	lines := d.fileLines[p.file]
	if p.file == "" {
		lines = d.lines
	}
	if p.line < 1 || p.line > len(lines) {
		return "", false
	}
	return lines[p.line-1], true
}

// maxSourceLine bounds the source line shown with an error, in characters.
const maxSourceLine = 200

// printable makes a source line safe for a terminal: control characters become
// blanks, which keeps the caret in its column.
func printable(line string) string {
	rs := []rune(line)
	if len(rs) > maxSourceLine {
		rs = append(rs[:maxSourceLine:maxSourceLine], '…')
	}
	for i, r := range rs {
		if r != '\t' && !strconv.IsPrint(r) {
			rs[i] = ' '
		}
	}
	return string(rs)
}

// faulty tells whether a fault was reported at the path or below it. What depends
// on such a value is not judged, so that one fault does not bring others.
func (d *decoder) faulty(path string) bool {
	return slices.ContainsFunc(d.errs, func(e Error) bool {
		return e.Path == path || strings.HasPrefix(e.Path, path+".")
	})
}

// fail reports a fault of the value at the path, or of the nearest one above it
// that the file has.
func (d *decoder) fail(path, hint, format string, args ...any) {
	d.failAt(d.place(path), path, hint, format, args...)
}

func (d *decoder) warn(path, hint, format string, args ...any) {
	p := d.place(path)
	d.warnings = append(d.warnings, Warning{File: d.fileOf(p), Line: p.line, Column: p.column, Path: path, Hint: hint, Msg: fmt.Sprintf(format, args...)})
}

func (d *decoder) place(path string) place {
	for {
		if p, ok := d.places[path]; ok {
			return p
		}
		path = parentPath(path)
	}
}

// parentPath of a.b[2] is a.b, and of that a; "" is the job.
func parentPath(path string) string {
	if i := strings.LastIndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return ""
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// described names the value at a path; the file as a whole by what it is.
func (d *decoder) described(path string) string {
	switch {
	case path != "":
		return path
	case d.what != jobFile:
		return "the " + d.what
	}
	return "the job"
}

func (o *object) at(name string) string { return join(o.path, name) }

func (o *object) fail(name, hint, format string, args ...any) {
	o.d.fail(o.at(name), hint, format, args...)
}
