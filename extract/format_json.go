package extract

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// jsonReader reads the records of an array inside one JSON document, element by
// element: the document is never in memory as a whole. What is around the array is
// checked as well, to the last byte; where the document is broken outside a
// record, or ends too early, the file is at fault.
type jsonReader struct {
	w     window
	rows  *jsonRecord
	toks  *jsonRecord // reads names and values around the array
	path  []string
	where string   // for messages
	first bool     // no element was read yet
	paths []string // of members beside the array
	texts []string // that stand there; in the order of paths
	found []bool
	err   error
}

func newJSONReader(d *rules.JSON, need []neededColumn, r io.Reader, name string, lim Limits) (*jsonReader, error) {
	path := d.Path
	j := &jsonReader{
		w: newWindow(r, name, lim), rows: newJSONRecord(need, lim), toks: newJSONRecord(nil, lim),
		where: "at the top", first: true,
		paths: d.Trailer, texts: make([]string, len(d.Trailer)), found: make([]bool, len(d.Trailer)),
	}
	if path != "" {
		j.path = strings.Split(path, ".")
		j.where = "at " + path
	}
	if err := j.findArray(); err != nil {
		return nil, err
	}
	return j, nil
}

func (j *jsonReader) Header() []string { return j.rows.header }
func (j *jsonReader) Trailer() []string {
	if len(j.paths) == 0 {
		return nil
	}
	return j.texts
}

func (j *jsonReader) ControlLines() int64 { return 0 }

func (j *jsonReader) Next() (*Record, error) {
	if j.err != nil {
		return nil, j.err
	}
	rec, err := j.next()
	if err != nil {
		if _, ok := err.(*RecordError); !ok {
			j.err = err
		}
		return nil, err
	}
	return rec, nil
}

func (j *jsonReader) next() (*Record, error) {
	c, err := j.peek()
	if err != nil {
		return nil, err
	}
	switch {
	case c == ']':
		j.w.pos++
		return nil, j.finish()
	case !j.first && c != ',':
		return nil, j.broken("a comma or a closing bracket is expected behind record %d", j.rows.rec.No)
	case !j.first:
		j.w.pos++
		if c, err = j.peek(); err != nil {
			return nil, err
		}
	}
	j.first = false
	if c == ']' || c == ',' || c == '}' || c == ':' {
		return nil, j.broken("a record is expected behind record %d", j.rows.rec.No)
	}
	text, err := j.element()
	if err != nil {
		return nil, err
	}
	rec, fault := j.rows.parse(text, 0)
	if fault != nil {
		return nil, fault.reject(&j.rows.rec, text)
	}
	return rec, nil
}

// findArray goes down the path to the opening bracket of the array.
func (j *jsonReader) findArray() error {
	for depth := 0; ; depth++ {
		c, err := j.peek()
		if err != nil {
			return err
		}
		if depth == len(j.path) {
			if c != '[' {
				return badFile(j.w.name, "there is no array %s", j.where).
					WithHint("correct json: {path: …} in the job file; for one object a line write format: ndjson")
			}
			j.w.pos++
			return nil
		}
		if c != '{' {
			return badFile(j.w.name, "there is no object with the member %s on the way to %s", quoteName(j.path[depth]), strings.Join(j.path, ".")).
				WithHint("correct json: {path: …} in the job file")
		}
		j.w.pos++
		if err := j.findMember(depth); err != nil {
			return err
		}
	}
}

// findMember passes members of an object up to the value of the one wanted.
func (j *jsonReader) findMember(depth int) error {
	want, above := j.path[depth], strings.Join(j.path[:depth], ".")
	var seen []string
	for {
		c, err := j.peek()
		if err != nil {
			return err
		}
		if c == '}' && len(seen) == 0 {
			return j.noMember(want, seen)
		}
		key, err := j.key()
		if err != nil {
			return err
		}
		if key == want {
			return nil
		}
		if len(seen) < 100 {
			seen = append(seen, key)
		}
		if err := j.passMember(above, key); err != nil {
			return err
		}
		more, err := j.comma('}')
		if err != nil {
			return err
		}
		if !more {
			return j.noMember(want, seen)
		}
	}
}

func (j *jsonReader) noMember(want string, seen []string) error {
	e := badFile(j.w.name, "there is no array %s: the member %s is missing", j.where, quoteName(want))
	e.Hint = "the members are: " + quoteList(seen)
	if s := closest(want, seen); s != "" {
		e.Hint = "did you mean " + quoteName(s) + "? " + e.Hint
	}
	return e
}

// finish reads what is behind the array. A second member of the path's name would
// be a second array of records.
func (j *jsonReader) finish() error {
	for depth := len(j.path) - 1; depth >= 0; depth-- {
		for {
			more, err := j.comma('}')
			if err != nil {
				return err
			}
			if !more {
				break
			}
			key, err := j.key()
			if err != nil {
				return err
			}
			if key == j.path[depth] {
				return badFile(j.w.name, "the member %s occurs twice", quoteName(strings.Join(j.path[:depth+1], ".")))
			}
			if err := j.passMember(strings.Join(j.path[:depth], "."), key); err != nil {
				return err
			}
		}
	}
	for j.w.at(0) {
		if !blankJSON(j.w.data()[:1]) {
			return j.broken("text follows the document")
		}
		j.w.pos++
	}
	if j.w.err != nil {
		return j.w.err
	}
	for i, found := range j.found {
		if !found {
			return badFile(j.w.name, "there is no member %s, which trailer.%d of the controls reads", quoteName(j.paths[i]), i+1).
				WithHint("correct json.trailer in the job file, or have the document sent again whole")
		}
	}
	return io.EOF
}

// passMember passes the value of a member outside the records, and keeps the text of one
// that json.trailer names.
func (j *jsonReader) passMember(above, key string) error {
	path := strings.TrimPrefix(above+"."+key, ".")
	at := slices.Index(j.paths, path)
	below := slices.ContainsFunc(j.paths, func(p string) bool { return strings.HasPrefix(p, path+".") })
	c, err := j.peek()
	switch {
	case err != nil:
		return err
	case at >= 0 && j.found[at]:
		return badFile(j.w.name, "the member %s occurs twice", quoteName(path))
	case at >= 0 && c != '{' && c != '[':
		text, err := j.element()
		if err != nil {
			return err
		}
		cell, err := j.scalar(text)
		j.texts[at], j.found[at] = string(cell.Text), true
		return err
	case !below || c != '{':
		return j.skipValue(1)
	}
	j.w.pos++
	if next, err := j.peek(); err != nil {
		return err
	} else if next == '}' {
		j.w.pos++
		return nil
	}
	for more := true; more; {
		key, err := j.key()
		if err != nil {
			return err
		}
		if err = j.passMember(path, key); err != nil {
			return err
		}
		if more, err = j.comma('}'); err != nil {
			return err
		}
	}
	return nil
}

// peek shows the next character that is not white space.
func (j *jsonReader) peek() (byte, error) {
	for j.w.at(0) {
		if c := j.w.buf[j.w.pos]; !blankJSON(j.w.buf[j.w.pos : j.w.pos+1]) {
			return c, nil
		}
		j.w.pos++
	}
	return 0, j.short()
}

func (j *jsonReader) short() error {
	if j.w.err != nil {
		return j.w.err
	}
	return cutFile(j.w.name, "the JSON document ends too early, behind record %d", j.rows.rec.No)
}

func (j *jsonReader) broken(format string, args ...any) error {
	return badFile(j.w.name, "broken JSON: %s", fmt.Sprintf(format, args...)).
		WithHint("fetch the file again, or ask the sender for a valid JSON document")
}

// comma passes a comma, or the closing character, and tells which.
func (j *jsonReader) comma(closing byte) (bool, error) {
	c, err := j.peek()
	if err != nil {
		return false, err
	}
	if c != ',' && c != closing {
		return false, j.broken("a comma or %q is expected outside the records", closing)
	}
	j.w.pos++
	return c == ',', nil
}

// key reads a member name and its colon.
func (j *jsonReader) key() (string, error) {
	c, err := j.peek()
	if err != nil {
		return "", err
	}
	if c != '"' {
		return "", j.broken("a member name is expected outside the records")
	}
	text, err := j.element()
	if err != nil {
		return "", err
	}
	key, err := j.scalar(text)
	if err != nil {
		return "", err
	}
	name := string(key.Text)
	if c, err = j.peek(); err != nil {
		return "", err
	}
	if c != ':' {
		return "", j.broken("a colon is expected behind the member %s", quoteName(name))
	}
	j.w.pos++
	return name, nil
}

// skipValue passes a value outside the records, of any size, and checks it.
func (j *jsonReader) skipValue(depth int) error {
	if depth > j.w.limits.Depth {
		return overLimit(j.w.name, "nested values", int64(j.w.limits.Depth))
	}
	c, err := j.peek()
	if err != nil {
		return err
	}
	if c != '{' && c != '[' {
		text, err := j.element()
		if err != nil {
			return err
		}
		_, err = j.scalar(text)
		return err
	}
	closing := c + 2 // '{' and '}', '[' and ']' are two apart in ASCII
	j.w.pos++
	if next, err := j.peek(); err != nil {
		return err
	} else if next == closing {
		j.w.pos++
		return nil
	}
	for more := true; more; {
		if c == '{' {
			if _, err = j.key(); err != nil {
				return err
			}
		}
		if err = j.skipValue(depth + 1); err != nil {
			return err
		}
		if more, err = j.comma(closing); err != nil {
			return err
		}
	}
	return nil
}

// scalar reads one text, number or word.
func (j *jsonReader) scalar(text []byte) (Cell, error) {
	t := j.toks
	t.buf, t.i, t.scratch = text, 0, t.scratch[:0]
	cell, fault := t.value(1, jsonSkip)
	if fault != nil || t.i < len(text) {
		return cell, j.broken("a value is expected outside the records")
	}
	return cell, nil
}

// element takes the next value whole out of the window: by its brackets, which
// need not fit each other yet, or up to the next separator.
func (j *jsonReader) element() ([]byte, error) {
	depth, quoted := 0, false
	i := 0
scan:
	for ; ; i++ {
		if !j.w.at(i) {
			return nil, j.short()
		}
		c := j.w.buf[j.w.pos+i]
		if quoted {
			switch c {
			case '\\':
				i++
			case '"':
				if quoted = false; depth == 0 {
					i++
					break scan
				}
			}
			continue
		}
		switch c {
		case '"':
			if depth == 0 && i > 0 {
				break scan
			}
			quoted = true
		case '{', '[':
			if depth == 0 && i > 0 {
				break scan
			}
			depth++
		case '}', ']':
			if depth == 0 {
				break scan
			}
			if depth--; depth == 0 {
				i++
				break scan
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				break scan
			}
		}
	}
	text := j.w.data()[:i]
	j.w.pos += i
	return text, nil
}
