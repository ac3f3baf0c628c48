package extract

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonRecord turns the text of one JSON object into a Record. It is strict (RFC
// 8259): what another reader might take in another way is a fault. encoding/json
// does not serve here: it keeps the last of two equal members, replaces bytes that
// are not UTF-8, and is too slow.
//
// Members of nested objects are known by their path, "source.metadata.op_id".
// Numbers keep their digits as written, arrays their text as written; an object is
// text only where a column names it, or where it is empty. Everything that no
// column names is in Record.Extra, by path.
type jsonRecord struct {
	header []string
	index  map[string]int // path → column
	lim    Limits
	rec    Record
	filled []bool // by column, in the present record

	buf     []byte // the text, from its first byte
	i       int
	path    []byte            // of the object that is read, with a point behind it
	keys    [][]byte          // members of the open objects
	scratch []byte            // texts with escapes
	names   map[string]string // names of Extra, so that each is allocated once
}

// jsonFault is why a text is no record.
type jsonFault struct {
	why    string
	column string
	cut    bool // the text ends before the value does
}

func (f *jsonFault) reject(rec *Record, raw []byte) *RecordError {
	return &RecordError{No: rec.No, Line: rec.Line, Column: f.column, Reason: f.why, Raw: clip(raw)}
}

func newJSONRecord(need []neededColumn, lim Limits) *jsonRecord {
	j := &jsonRecord{index: map[string]int{}, lim: lim, names: map[string]string{}}
	for _, c := range need {
		if c.name == "" {
			continue
		}
		j.index[c.name] = len(j.header)
		j.header = append(j.header, c.name)
	}
	j.rec.Cells = make([]Cell, len(j.header))
	j.filled = make([]bool, len(j.header))
	return j
}

// What becomes of the members of a value.
type jsonUse int

const (
	jsonSkip    jsonUse = iota // checked only: inside an array
	jsonColumns                // columns only: inside an object that is itself a column
	jsonAll                    // columns, and Extra for the rest
)

// parse reads one record. The Record is valid until the following call, and as
// long as the text is. Each call counts as a record.
func (j *jsonRecord) parse(text []byte, line int64) (*Record, *jsonFault) {
	j.rec.No++
	j.rec.Line = line
	clear(j.rec.Cells)
	clear(j.filled)
	j.rec.Extra = j.rec.Extra[:0]
	j.buf, j.i = text, 0
	j.path, j.keys, j.scratch = j.path[:0], j.keys[:0], j.scratch[:0]
	j.space()
	if j.i < len(j.buf) && j.buf[j.i] != '{' {
		return nil, &jsonFault{why: "the record is not a JSON object"}
	}
	if _, fault := j.object(1, jsonAll); fault != nil {
		return nil, fault
	}
	if j.space(); j.i < len(j.buf) {
		return nil, &jsonFault{why: "text after the JSON object"}
	}
	if !slices.IsSortedFunc(j.rec.Extra, byName) {
		slices.SortStableFunc(j.rec.Extra, byName)
	}
	return &j.rec, nil
}

func byName(a, b NamedCell) int { return strings.Compare(a.Name, b.Name) }

func (j *jsonRecord) space() {
	for j.i < len(j.buf) {
		switch j.buf[j.i] {
		case ' ', '\t', '\r', '\n':
			j.i++
		default:
			return
		}
	}
}

// want passes the character c behind white space.
func (j *jsonRecord) want(c byte, what string) *jsonFault {
	j.space()
	if j.i == len(j.buf) {
		return j.short()
	}
	if j.buf[j.i] != c {
		return &jsonFault{why: "broken JSON: " + what + " is expected at byte " + itoa(j.i+1)}
	}
	j.i++
	return nil
}

func (j *jsonRecord) short() *jsonFault {
	return &jsonFault{why: "broken JSON: the text ends too early", cut: true}
}

// object reads an object from its brace on, and tells its number of members.
func (j *jsonRecord) object(depth int, use jsonUse) (int, *jsonFault) {
	if depth > j.lim.Depth {
		return 0, &jsonFault{why: "more than " + itoa(j.lim.Depth) + " nested values, which is the limit"}
	}
	if fault := j.want('{', "an object"); fault != nil {
		return 0, fault
	}
	first, prefix := len(j.keys), len(j.path)
	defer func() { j.keys, j.path = j.keys[:first], j.path[:prefix] }()
	var many map[string]bool // members seen, once they are many
	j.space()
	if j.i < len(j.buf) && j.buf[j.i] == '}' {
		j.i++
		return 0, nil
	}
	for {
		j.space()
		if j.i < len(j.buf) && j.buf[j.i] != '"' {
			return 0, &jsonFault{why: "broken JSON: a member name is expected at byte " + itoa(j.i+1)}
		}
		key, fault := j.text()
		if fault != nil {
			return 0, fault
		}
		members := j.keys[first:]
		if len(members) == j.lim.Columns {
			return 0, &jsonFault{why: "more than " + itoa(j.lim.Columns) + " members, which is the limit"}
		}
		if len(members) == 32 {
			many = make(map[string]bool, 64)
			for _, k := range members {
				many[string(k)] = true
			}
		}
		twice := false
		if many != nil {
			twice = many[string(key)]
			many[string(key)] = true
		} else {
			for _, k := range members {
				twice = twice || bytes.Equal(k, key)
			}
		}
		if twice {
			return 0, j.twice(key)
		}
		j.keys = append(j.keys, key)
		if fault := j.want(':', "a colon"); fault != nil {
			return 0, fault
		}
		if fault := j.member(key, depth, use); fault != nil {
			if fault.column == "" {
				fault.column = string(j.path) + string(key)
			}
			return 0, fault
		}
		j.space()
		if j.i < len(j.buf) && j.buf[j.i] == ',' {
			j.i++
			continue
		}
		if fault := j.want('}', "a comma or a closing brace"); fault != nil {
			return 0, fault
		}
		return len(j.keys) - first, nil
	}
}

// twice names the member, and the column where its path is one.
func (j *jsonRecord) twice(key []byte) *jsonFault {
	path := string(j.path) + string(key)
	return &jsonFault{why: "the member " + quoteName(path) + " occurs twice", column: path}
}

// member reads the value of a member, and keeps it where it belongs.
func (j *jsonRecord) member(key []byte, depth int, use jsonUse) *jsonFault {
	j.space()
	if use == jsonSkip {
		_, fault := j.value(depth, jsonSkip)
		return fault
	}
	prefix := len(j.path)
	path := key
	if prefix > 0 {
		j.path = append(j.path, key...)
		path = j.path
	}
	column, isColumn := j.index[string(path)]
	if j.i < len(j.buf) && j.buf[j.i] == '{' {
		start := j.i
		inner := use
		if isColumn {
			inner = jsonColumns
		}
		if prefix == 0 {
			j.path = append(j.path, key...)
		}
		end := len(j.path)
		j.path = append(j.path, '.')
		n, fault := j.object(depth+1, inner)
		if fault != nil {
			return fault
		}
		j.path = j.path[:end]
		if isColumn || n == 0 {
			fault = j.keep(column, isColumn, use, j.path, Cell{Text: j.buf[start:j.i], Kind: CellText})
		}
		j.path = j.path[:prefix]
		return fault
	}
	cell, fault := j.value(depth, use)
	if fault == nil {
		fault = j.keep(column, isColumn, use, path, cell)
	}
	j.path = j.path[:prefix]
	return fault
}

// keep puts a value into its column, or into Extra.
func (j *jsonRecord) keep(column int, isColumn bool, use jsonUse, path []byte, cell Cell) *jsonFault {
	if isColumn {
		if j.filled[column] { // "a.b" beside {"a": {"b": …}}
			return &jsonFault{why: "the member " + quoteName(string(path)) + " occurs twice", column: string(path)}
		}
		j.filled[column] = true
		j.rec.Cells[column] = cell
		return nil
	}
	if use != jsonAll {
		return nil
	}
	if len(j.rec.Extra) == j.lim.Columns {
		return &jsonFault{why: "more than " + itoa(j.lim.Columns) + " members, which is the limit"}
	}
	name, ok := j.names[string(path)]
	if !ok {
		name = string(path)
		if len(j.names) < j.lim.Columns {
			j.names[name] = name
		}
	}
	j.rec.Extra = append(j.rec.Extra, NamedCell{Name: name, Cell: cell})
	return nil
}

// value reads any value; of an object or array its text.
func (j *jsonRecord) value(depth int, use jsonUse) (Cell, *jsonFault) {
	j.space()
	if j.i == len(j.buf) {
		return Cell{}, j.short()
	}
	start := j.i
	switch c := j.buf[j.i]; {
	case c == '"':
		text, fault := j.text()
		return Cell{Text: text, Kind: CellText}, fault
	case c == '-' || c >= '0' && c <= '9':
		return j.number()
	case c == '{':
		_, fault := j.object(depth+1, jsonSkip)
		return Cell{Text: j.buf[start:j.i], Kind: CellText}, fault
	case c == '[':
		fault := j.array(depth + 1)
		return Cell{Text: j.buf[start:j.i], Kind: CellText}, fault
	case c == 't':
		return j.word("true", CellBool)
	case c == 'f':
		return j.word("false", CellBool)
	case c == 'n':
		cell, fault := j.word("null", CellNull)
		cell.Text = nil
		return cell, fault
	default:
		return Cell{}, &jsonFault{why: "broken JSON: a value is expected at byte " + itoa(j.i+1)}
	}
}

func (j *jsonRecord) array(depth int) *jsonFault {
	if depth > j.lim.Depth {
		return &jsonFault{why: "more than " + itoa(j.lim.Depth) + " nested values, which is the limit"}
	}
	j.i++
	if j.space(); j.i < len(j.buf) && j.buf[j.i] == ']' {
		j.i++
		return nil
	}
	for {
		if _, fault := j.value(depth, jsonSkip); fault != nil {
			return fault
		}
		j.space()
		if j.i < len(j.buf) && j.buf[j.i] == ',' {
			j.i++
			continue
		}
		return j.want(']', "a comma or a closing bracket")
	}
}

func (j *jsonRecord) word(w string, kind CellKind) (Cell, *jsonFault) {
	rest := j.buf[j.i:]
	if len(rest) < len(w) && strings.HasPrefix(w, string(rest)) {
		return Cell{}, j.short()
	}
	if !bytes.HasPrefix(rest, []byte(w)) {
		return Cell{}, &jsonFault{why: "broken JSON: a value is expected at byte " + itoa(j.i+1)}
	}
	j.i += len(w)
	return Cell{Text: rest[:len(w)], Kind: kind}, nil
}

// number reads a number by the grammar of RFC 8259 §6 and keeps it as written.
func (j *jsonRecord) number() (Cell, *jsonFault) {
	start := j.i
	if j.buf[j.i] == '-' {
		j.i++
	}
	zero := j.i < len(j.buf) && j.buf[j.i] == '0'
	n, fault := j.digits()
	if fault != nil {
		return Cell{}, fault
	}
	if zero && n > 1 {
		return Cell{}, &jsonFault{why: "broken JSON: a number with leading zeros"}
	}
	if j.i < len(j.buf) && j.buf[j.i] == '.' {
		j.i++
		if _, fault := j.digits(); fault != nil {
			return Cell{}, fault
		}
	}
	if j.i < len(j.buf) && j.buf[j.i]|0x20 == 'e' {
		j.i++
		if j.i < len(j.buf) && (j.buf[j.i] == '+' || j.buf[j.i] == '-') {
			j.i++
		}
		if _, fault := j.digits(); fault != nil {
			return Cell{}, fault
		}
	}
	return Cell{Text: j.buf[start:j.i], Kind: CellNumber}, nil
}

// digits passes one digit or more.
func (j *jsonRecord) digits() (int, *jsonFault) {
	start := j.i
	for j.i < len(j.buf) && j.buf[j.i] >= '0' && j.buf[j.i] <= '9' {
		j.i++
	}
	switch {
	case j.i > start:
		return j.i - start, nil
	case j.i == len(j.buf):
		return 0, j.short()
	default:
		return 0, &jsonFault{why: "broken JSON: a digit is expected at byte " + itoa(j.i+1)}
	}
}

// text reads a string from its quote on: part of the record's text where it has
// no escapes, else of the scratch space.
func (j *jsonRecord) text() ([]byte, *jsonFault) {
	if j.i == len(j.buf) {
		return nil, j.short()
	}
	j.i++
	start, mark, ascii := j.i, -1, true
	for i := j.i; i < len(j.buf); i++ {
		switch c := j.buf[i]; {
		case c == '"':
			text := j.buf[start:i]
			if mark >= 0 {
				j.scratch = append(j.scratch, text...)
				text = j.scratch[mark:len(j.scratch):len(j.scratch)]
			}
			j.i = i + 1
			if !ascii && !utf8.Valid(text) {
				return nil, &jsonFault{why: invalidText(text, "utf-8")}
			}
			return text, nil
		case c == '\\':
			if mark < 0 {
				mark = len(j.scratch)
			}
			j.scratch = append(j.scratch, j.buf[start:i]...)
			n, fault := j.escape(i)
			if fault != nil {
				return nil, fault
			}
			start = i + n
			i += n - 1
		case c < 0x20:
			return nil, &jsonFault{why: "broken JSON: a control character inside a text, at byte " + itoa(i+1)}
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, j.short()
}

// escape writes the escaped character at byte i into the scratch space, and tells
// the length of the escape. Half a surrogate pair is no character.
func (j *jsonRecord) escape(i int) (int, *jsonFault) {
	if i+1 == len(j.buf) {
		return 0, j.short()
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	c := j.buf[i+1]
	if k := strings.IndexByte(from, c); k >= 0 {
		j.scratch = append(j.scratch, to[k])
		return 2, nil
	}
	if c != 'u' {
		return 0, &jsonFault{why: "broken JSON: an unknown escape at byte " + itoa(i+1)}
	}
	r, fault := j.hex(i + 2)
	if fault != nil {
		return 0, fault
	}
	if !utf16.IsSurrogate(r) {
		j.scratch = utf8.AppendRune(j.scratch, r)
		return 6, nil
	}
	lone := &jsonFault{why: "an unpaired surrogate (" + string(j.buf[i:i+6]) + ")"}
	if i+6 == len(j.buf) || i+7 == len(j.buf) && j.buf[i+6] == '\\' {
		return 0, j.short()
	}
	if j.buf[i+6] != '\\' || j.buf[i+7] != 'u' {
		return 0, lone
	}
	low, fault := j.hex(i + 8)
	if fault != nil {
		return 0, fault
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, lone
	}
	j.scratch = utf8.AppendRune(j.scratch, r)
	return 12, nil
}

// hex reads four hexadecimal digits.
func (j *jsonRecord) hex(i int) (rune, *jsonFault) {
	var r rune
	for k := i; k < i+4; k++ {
		if k >= len(j.buf) {
			return 0, j.short()
		}
		switch c := j.buf[k]; {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, &jsonFault{why: "broken JSON: four hexadecimal digits are expected at byte " + itoa(i+1)}
		}
	}
	return r, nil
}
