package extract

import (
	"github.com/recon-batch/recon-batch/rules"
)

// whence finds the value of a field that is not simply the text of one column: a
// constant, the first filled one of several columns, an amount in two columns, or a
// member inside a column that holds JSON. One belongs to one goroutine.
type whence struct {
	constant *Cell
	cells    []cellRef // first_of, cases, join; or debit and credit
	cases    [][]condition
	join     bool
	pair     bool
	json     *jsonWay
	cell     cellRef // of json
	debit    bool    // the last value stood in the column debit
	made     Cell    // of a text that had to be made
}

// newWhence compiles the places of a field; nil where it is one column's text.
func newWhence(f rules.Field, header []string) *whence {
	w := &whence{}
	switch {
	case f.Constant != "":
		w.constant = &Cell{Text: []byte(f.Constant), Kind: CellText}
	case len(f.FirstOf) > 0:
		for _, c := range f.FirstOf {
			w.cells = append(w.cells, refTo(header, c, 0))
		}
	case len(f.Cases) > 0:
		for _, c := range f.Cases {
			w.cells = append(w.cells, refTo(header, c.Column, 0))
			w.cases = append(w.cases, newConditions(c.Where, header))
		}
	case len(f.Join) > 0:
		w.join = true
		for _, c := range f.Join {
			w.cells = append(w.cells, refTo(header, c, 0))
		}
	case f.DebitCredit != nil:
		w.pair = true
		w.cells = []cellRef{refTo(header, f.DebitCredit.Debit, 0), refTo(header, f.DebitCredit.Credit, 0)}
	case len(f.JSONPath) > 0:
		w.json = newJSONWay(f.JSONPath)
		w.cell = refTo(header, f.Column, f.Position)
	default:
		return nil
	}
	return w
}

// of gives the cell of the value. It is false for what no value can be read from:
// two filled columns of a pair, or a text that should be JSON and is none.
func (w *whence) of(rec *rawRecord, form *decimalForm) (*Cell, bool) {
	switch {
	case w.constant != nil:
		return w.constant, true
	case w.json != nil:
		c := w.cell.of(rec)
		if !holdsText(c) {
			return &nullCell, true
		}
		made, ok := w.json.find(c.Text)
		if !ok {
			return c, false
		}
		w.made = made
		return &w.made, true
	case w.join:
		return w.ofJoin(rec), true
	case w.pair:
		return w.ofPair(w.cells[0].of(rec), w.cells[1].of(rec), form)
	}
	for i := range w.cases {
		if allHold(w.cases[i], rec) {
			return w.cells[i].of(rec), true
		}
	}
	if w.cases != nil {
		return &nullCell, true
	}
	for i := range w.cells {
		if c := w.cells[i].of(rec); holdsText(c) {
			return c, true
		}
	}
	return &nullCell, true
}

// holdsText tells a cell that holds something from one that is null or an empty text.
func holdsText(c *Cell) bool { return c.Kind != CellNull && len(c.Text) > 0 }

// ofJoin gives the texts of all columns with / between them.
func (w *whence) ofJoin(rec *rawRecord) *Cell {
	w.made = Cell{Text: w.made.Text[:0], Kind: CellText}
	none := true
	for i := range w.cells {
		c := w.cells[i].of(rec)
		none = none && !holdsText(c)
		if i > 0 {
			w.made.Text = append(w.made.Text, '/')
		}
		w.made.Text = append(w.made.Text, c.Text...)
	}
	if none {
		return &nullCell
	}
	return &w.made
}

// ofPair chooses between debit and credit. A zero beside a number says nothing; two
// numbers contradict each other.
func (w *whence) ofPair(debit, credit *Cell, form *decimalForm) (*Cell, bool) {
	w.debit = false
	switch {
	case !holdsText(debit):
		return credit, true
	case !holdsText(credit):
		w.debit = true
		return debit, true
	}
	d, okDebit := form.parse(debit.Text)
	c, okCredit := form.parse(credit.Text)
	switch {
	case okDebit && d.isZero():
		return credit, true
	case okCredit && c.isZero():
		w.debit = true
		return debit, true
	}
	w.made.Kind = CellText
	w.made.Text = append(append(append(w.made.Text[:0], debit.Text...), " | "...), credit.Text...)
	return &w.made, false
}

// condition says in which records a field holds something.
type condition struct {
	cell cellRef
	in   map[string]bool
}

func newConditions(where []rules.Where, header []string) (out []condition) {
	for _, w := range where {
		c := condition{cell: refTo(header, w.Column, 0), in: map[string]bool{}}
		for _, text := range w.In {
			c.in[text] = true
		}
		out = append(out, c)
	}
	return out
}

func (c *condition) holds(rec *rawRecord) bool { return c.in[string(c.cell.of(rec).Text)] }

func allHold(list []condition, rec *rawRecord) bool {
	for i := range list {
		if !list[i].holds(rec) {
			return false
		}
	}
	return true
}

// jsonWay goes to a value inside a JSON text (RFC 8259), by the strict reader of the
// JSON formats. Nothing is evaluated and nothing is built: it walks over the text.
// One belongs to one goroutine.
type jsonWay struct {
	steps []rules.JSONStep
	j     *jsonRecord
}

func newJSONWay(steps []rules.JSONStep) *jsonWay {
	return &jsonWay{steps: steps, j: newJSONRecord(nil, DefaultLimits)}
}

// find returns the value at the end of the way, null where there is nothing. It is
// false where a text on the way is no JSON, or has a member twice. The cell is valid
// until the next call, and as long as the text.
func (w *jsonWay) find(text []byte) (Cell, bool) {
	w.j.scratch = w.j.scratch[:0]
	cell := Cell{Text: text, Kind: CellText}
	for i := range w.steps {
		switch {
		case cell.Kind == CellNull || cell.Kind == CellText && len(cell.Text) == 0:
			return Cell{}, true
		case cell.Kind != CellText:
			return Cell{}, true // a number has no members
		}
		next, ok := w.step(cell.Text, &w.steps[i])
		if !ok {
			return Cell{}, false
		}
		cell = next
	}
	return cell, true
}

// step checks a whole JSON text and returns the member or element of it.
func (w *jsonWay) step(text []byte, s *rules.JSONStep) (Cell, bool) {
	j := w.j
	j.buf, j.i = text, 0
	j.path, j.keys = j.path[:0], j.keys[:0]
	if _, fault := j.value(1, jsonSkip); fault != nil {
		return Cell{}, false
	}
	if j.space(); j.i < len(j.buf) {
		return Cell{}, false
	}
	j.i = 0
	j.space()
	open := byte('{')
	if s.Index != 0 {
		open = '['
	}
	if j.buf[j.i] != open {
		return Cell{}, true
	}
	j.i++
	var ends []Cell // the last elements, where counted from the end
	for n := 1; ; n++ {
		if j.space(); j.buf[j.i] == '}' || j.buf[j.i] == ']' {
			break
		}
		wanted := n == s.Index
		if s.Index == 0 {
			key, fault := j.text()
			if fault != nil || j.want(':', "a colon") != nil {
				return Cell{}, false
			}
			wanted = string(key) == s.Member
		}
		cell, fault := j.value(1, jsonSkip)
		if fault != nil {
			return Cell{}, false
		}
		if wanted {
			return cell, true
		}
		if s.Index < 0 {
			if ends = append(ends, cell); len(ends) > -s.Index {
				ends = ends[1:]
			}
		}
		if j.space(); j.buf[j.i] == ',' {
			j.i++
		}
	}
	if s.Index < 0 && len(ends) == -s.Index {
		return ends[0], true
	}
	return Cell{}, true
}
