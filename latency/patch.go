package latency

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// snippet writes the proposals as a part of the job file.
func snippet(list []Proposal) string {
	var b strings.Builder
	for _, p := range list {
		if p.Proposed == nil {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("types:\n")
		}
		fmt.Fprintf(&b, "  %s:\n    window: %s\n", typeKey(p.Type), p.Proposed.Words)
	}
	return b.String()
}

// typeKey writes the name of a type as a YAML key; the type of operations without one
// is that of the defaults.
func typeKey(name string) string {
	if name == "" {
		name = "*"
	}
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return fmt.Sprintf("%q", name)
		}
	}
	return name
}

// Patch is the job file with the proposals in it, as a unified diff (POSIX diff -u)
// against the file as it was read. The patched text was loaded and says what was
// proposed. Types whose window stands in another file, is shared with other types, or
// in a form that is not two plain values are left out and named.
func Patch(s *Suggestion) (diff string, left []string, err error) {
	job := s.job
	e := &edits{lines: strings.Split(string(job.Source), "\n"), changed: map[int][]string{}}
	done := map[string]*Window{}
	for _, p := range s.Proposals {
		switch {
		case p.Proposed == nil:
		case e.window(job, nameOf(p.Type), p.Proposed):
			done[nameOf(p.Type)] = p.Proposed
		default:
			left = append(left, nameOf(p.Type))
		}
	}
	if len(done) == 0 {
		return "", left, nil
	}
	patched, err := rules.Parse([]byte(e.text()), job.File)
	if err != nil {
		return "", left, fail.Wrap(fail.Usage, err, "with the proposed windows the job file does not hold").
			WithHint("put the windows in by hand that you want; nothing was written")
	}
	for name, w := range done {
		if got := patched.Types[name]; got.Expected != w.Expected || got.Deadline != w.Deadline {
			return "", left, fail.New(fail.Usage, "the window of %s cannot be changed by a patch", name).
				WithHint("put it in by hand: window: %s", w.Words)
		}
	}
	for name, was := range job.Types {
		if now := patched.Types[name]; done[name] == nil && (now.Expected != was.Expected || now.Deadline != was.Deadline) {
			return "", left, fail.New(fail.Usage, "the window of %s would change with that of another type", name).
				WithHint("put the windows in by hand")
		}
	}
	return e.diff(job.File), left, nil
}

func nameOf(typ string) string {
	if typ == "" {
		return "*"
	}
	return typ
}

// edits are changes of lines of a file: a line is replaced by itself or another one,
// and further ones after it.
type edits struct {
	lines   []string
	changed map[int][]string // index of the line → what takes its place
}

// window puts the window of a type in, and tells whether it could.
func (e *edits) window(job *rules.Job, name string, w *Window) bool {
	path := "types." + name + ".window."
	el, ec, ef, eok := job.Given(path + "expected")
	dl, dc, df, dok := job.Given(path + "deadline")
	shared := func(key string, line, column int) bool {
		l, c, _, ok := job.Given("types.*.window." + key)
		return name != "*" && ok && l == line && c == column
	}
	own := func(ok bool, file, key string, line, column int) bool {
		return ok && file == "" && !shared(key, line, column)
	}
	switch {
	case own(eok, ef, "expected", el, ec) && own(dok, df, "deadline", dl, dc):
		// From the right, so that the first column still holds.
		if el == dl && ec < dc {
			return e.replace(dl-1, dc-1, Text(w.Deadline)) && e.replace(el-1, ec-1, Text(w.Expected))
		}
		return e.replace(el-1, ec-1, Text(w.Expected)) && e.replace(dl-1, dc-1, Text(w.Deadline))
	case own(eok, ef, "expected", el, ec) || own(dok, df, "deadline", dl, dc) || ef != "" || df != "":
		return false
	}
	return e.insert(name, "window: "+w.Words)
}

// insert adds a key to a type that stands in the file in one of the two usual forms,
// or adds the type. What came of it is checked by loading the text.
func (e *edits) insert(name, entry string) bool {
	types := slices.IndexFunc(e.lines, func(l string) bool { return blockKey(l) == "types" && indent(l) == 0 })
	if types < 0 {
		return false
	}
	first := -1 // the first type: how deep they stand
	for i := types + 1; i < len(e.lines); i++ {
		l := e.lines[i]
		if text := strings.TrimSpace(l); text == "" || text[0] == '#' {
			continue
		}
		if indent(l) == 0 {
			break
		}
		if first < 0 {
			first = i
		}
		if indent(l) != indent(e.lines[first]) {
			continue
		}
		key, rest, _ := strings.Cut(strings.TrimSpace(l), ":")
		if strings.Trim(key, `"'`) != name {
			continue
		}
		rest = strings.TrimSpace(rest)
		switch {
		case strings.HasPrefix(rest, "{"):
			at := strings.Index(l, "{") + 1
			now := e.now(i)
			e.changed[i][0] = now[:at] + entry + ", " + now[at:]
			return true
		case (rest == "" || rest[0] == '#') && i+1 < len(e.lines) && indent(e.lines[i+1]) > indent(l):
			e.now(i)
			e.changed[i] = append(e.changed[i], strings.Repeat(" ", indent(e.lines[i+1]))+entry)
			return true
		}
		return false
	}
	if first < 0 {
		return false
	}
	deep := strings.Repeat(" ", indent(e.lines[first]))
	e.now(types)
	e.changed[types] = append(e.changed[types], deep+typeKey(name)+": {"+entry+"}")
	return true
}

// now is the line as changed so far, and makes it one that is changed.
func (e *edits) now(line int) string {
	if e.changed[line] == nil {
		e.changed[line] = []string{e.lines[line]}
	}
	return e.changed[line][0]
}

// blockKey is the key of a line that only has one, or "".
func blockKey(line string) string {
	key, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
	if rest = strings.TrimSpace(rest); !ok || rest != "" && rest[0] != '#' {
		return ""
	}
	return key
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// replace puts another text in the place of the plain or quoted scalar at a column.
func (e *edits) replace(line, column int, text string) bool {
	if line < 0 || line >= len(e.lines) {
		return false
	}
	runes := []rune(e.now(line)) // columns count characters
	if column < 0 || column >= len(runes) {
		return false
	}
	end := column
	if q := runes[column]; q == '"' || q == '\'' {
		end++
		for end < len(runes) && runes[end] != q {
			end++
		}
		end++
	} else {
		for end < len(runes) && !strings.ContainsRune(" ,}\t\r", runes[end]) {
			end++
		}
	}
	if end > len(runes) {
		return false
	}
	e.changed[line][0] = string(runes[:column]) + text + string(runes[end:])
	return true
}

func (e *edits) text() string {
	out := []string{}
	for i, l := range e.lines {
		if c, ok := e.changed[i]; ok {
			out = append(out, c...)
			continue
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

// around is the number of lines around a change, as diff -u has it.
const around = 3

// diff writes the changes in the unified format of POSIX diff. A file whose last line
// has no end is told as GNU diff does.
func (e *edits) diff(name string) string {
	n := len(e.lines)
	if e.lines[n-1] == "" {
		n-- // the text ended with a line end
	}
	var at []int
	for i := range e.changed {
		at = append(at, i)
	}
	slices.Sort(at)
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name, name)
	shift := 0 // lines that were added before
	for i := 0; i < len(at); {
		from, j := max(at[i]-around, 0), i
		for j+1 < len(at) && at[j+1]-at[j] <= 2*around {
			j++
		}
		until := min(at[j]+around+1, n)
		var body strings.Builder
		added := 0
		line := func(mark, text string, last bool) {
			body.WriteString(mark + text + "\n")
			if last && n == len(e.lines) {
				body.WriteString("\\ No newline at end of file\n")
			}
		}
		for k := from; k < until; k++ {
			c, ok := e.changed[k]
			if !ok {
				line(" ", e.lines[k], k == n-1)
				continue
			}
			if c[0] == e.lines[k] && (k < n-1 || n < len(e.lines)) {
				line(" ", c[0], false)
				c = c[1:]
				added++
			} else {
				line("-", e.lines[k], k == n-1)
			}
			for x, text := range c {
				line("+", text, k == n-1 && x == len(c)-1)
			}
			added += len(c) - 1
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s", from+1, until-from, from+1+shift, until-from+added, body.String())
		shift += added
		i = j + 1
	}
	return b.String()
}
