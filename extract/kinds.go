package extract

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// lineReader cuts a file into lines and a line into fields. Everything that it
// gives is valid until the next call of next.
type lineReader interface {
	// next takes the next line that is not passed over; false at the end of the file.
	next() (bool, error)
	// kind is the text that tells the kind of the line; false where it has none.
	kind() ([]byte, bool)
	// split cuts the line into the fields of its kind. The fault of a line that
	// cannot be cut is text, with the place of the column from 0, or -1.
	split(k *lineKind) (fields []lineField, column int, fault string)
	// bad is the fault of a line that is no well-formed one, "" for a good one.
	bad() string
	at() int64   // number of the line, from 1
	raw() []byte // the line as found
	// end gives the error of a file that ends too early, or io.EOF.
	end() error
	// passed counts lines that are no lines of any kind.
	passed() int64
}

// lineField is one field of a line.
type lineField struct {
	text []byte
	null bool
}

// kindReader reads files whose lines are of several kinds (rules.Typed): records
// with columns of their own, headers whose fields the records after them get,
// lines that name columns, and footers that state how many records there are and
// what they add up to. The file is refused where a stated total is not the one of
// the lines read.
//
// What the records have as columns: the kind, the columns of their own kind, and
// what headers carry. A column that only other kinds have is null.
type kindReader struct {
	t     *rules.Typed
	lines lineReader
	name  string
	lim   Limits
	need  []neededColumn
	rule  string // how names of columns are compared
	form  decimalForm
	hide  bool // messages quote no cell

	kinds    map[string]*lineKind
	order    []*lineKind
	controls []*kindControl
	header   []string
	place    map[string]int  // column → index in header
	inFile   map[string]bool // columns that some kind of record has had
	names    []string        // of the last names line for all kinds
	carried  []carriedCell
	early    []earlyCarry

	control int64
	trailer []string
	head    []string // of the first line of the outermost header kind
	count   int64    // lines of any kind so far
	last    *lineKind
	lastAt  int64
	rec     Record
	held    *lineKind // the record in lines is not yet handed out
	pending error
	err     error // sticky
}

// lineKind is one kind of line and what is known of its columns.
type lineKind struct {
	*rules.RecordKind
	level   int      // of a header, from 1 for the outermost
	columns []string // as the reader knows them; nil until they are named
	to      []int    // of a record: index in the header for each field, -1 in Extra
	outside bool     // some column is not in the header
	used    bool     // a record had these columns
	adds    []*contribution
	carries []int // of a header: places of carried in the order of Carry
}

// carriedCell is a value that a header gives the records after it.
type carriedCell struct {
	kind *lineKind
	at   int // in the header
	cell Cell
	buf  []byte
}

func newKindReader(t *rules.Typed, lines lineReader, need []neededColumn, rule, name string, form decimalForm, lim Limits) (*kindReader, error) {
	k := &kindReader{
		t: t, lines: lines, name: name, lim: lim, need: need, rule: rule, form: form,
		kinds: map[string]*lineKind{}, place: map[string]int{}, inFile: map[string]bool{},
	}
	level := 0
	for i := range t.Kinds {
		kind := &lineKind{RecordKind: &t.Kinds[i]}
		if kind.As == rules.RoleHeader {
			level++
			kind.level = level
		}
		k.kinds[kind.Kind] = kind
		k.order = append(k.order, kind)
		if len(kind.Columns) > 0 {
			if err := k.setColumns(kind, kind.Columns); err != nil {
				return nil, err
			}
		}
	}
	k.compileControls()
	// everything above the first record, which may name the columns
	err := k.advance()
	if _, ok := err.(*RecordError); ok {
		k.pending = err
	} else if err != nil && err != io.EOF {
		return nil, err
	}
	if err == io.EOF {
		k.err = err
	}
	if err := k.makeHeader(err == io.EOF); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *kindReader) Header() []string    { return k.header }
func (k *kindReader) Trailer() []string   { return k.trailer }
func (k *kindReader) Head() []string      { return k.head }
func (k *kindReader) ControlLines() int64 { return k.control + k.lines.passed() }

func (k *kindReader) Next() (*Record, error) {
	if k.err != nil {
		return nil, k.err
	}
	if err := k.pending; err != nil {
		k.pending = nil
		return nil, err
	}
	var rec *Record
	var err error
	if k.held == nil {
		err = k.advance()
	}
	if kind := k.held; err == nil {
		k.held = nil
		rec, err = k.record(kind)
	}
	if err != nil {
		if _, ok := err.(*RecordError); !ok {
			k.err = err
		}
		return nil, err
	}
	return rec, nil
}

// advance reads lines up to the next record, which is then in k.held.
func (k *kindReader) advance() error {
	for {
		ok, err := k.lines.next()
		if err != nil {
			return err
		}
		if !ok {
			return k.finish()
		}
		k.count++
		text, ok := k.lines.kind()
		kind := k.kinds[string(text)]
		if why := k.lines.bad(); why != "" {
			ok, kind = false, nil
		}
		if k.count == 1 && k.t.First != "" && (kind == nil || kind.Kind != k.t.First) {
			return badFile(k.name, "line %d is not of the kind %s, which the first line must be", k.lines.at(), quoteName(k.t.First)).
				WithHint("the beginning is missing: fetch the file again whole")
		}
		if why := k.lines.bad(); why != "" {
			k.last = nil
			return k.rejectLine(nil, why, "")
		}
		if !ok || kind == nil {
			k.last = nil
			shown := `""`
			if ok {
				shown = quoteCell(string(text), k.hide)
			}
			return k.rejectLine(nil, "the row kind "+shown+" is none of the declared ones", "")
		}
		if k.last != nil && k.t.Last != "" && k.last.Kind == k.t.Last {
			return badFile(k.name, "line %d follows the line of the kind %s, which must be the last one", k.lines.at(), quoteName(k.t.Last)).
				WithHint("two files may have been joined; have it sent again")
		}
		k.last, k.lastAt = kind, k.lines.at()
		if kind.As == rules.RoleRecord {
			k.held = kind
			return nil
		}
		k.control++
		if err := k.structure(kind); err != nil {
			return err
		}
	}
}

// structure takes a line that is no record.
func (k *kindReader) structure(kind *lineKind) error {
	if kind.As == rules.RoleIgnored {
		return nil
	}
	if kind.As != rules.RoleNames && len(kind.Columns) == 0 && k.names != nil {
		if err := k.setColumns(kind, k.names); err != nil {
			return err
		}
	}
	fields, _, fault := k.lines.split(kind)
	if fault != "" {
		return badFile(k.name, "line %d, of the kind %s: %s", k.lines.at(), quoteName(kind.Kind), fault).
			WithHint("have the file sent again whole, or correct the declaration of its kinds of lines")
	}
	if kind.As != rules.RoleNames && kind.columns != nil && len(fields) != len(kind.columns) {
		return badFile(k.name, "line %d, of the kind %s, has %s, %d are declared", k.lines.at(), quoteName(kind.Kind), plural(len(fields), "field"), len(kind.columns)).
			WithHint("correct the columns of that kind, or have the file sent again whole")
	}
	switch kind.As {
	case rules.RoleNames:
		return k.takeNames(kind, fields)
	case rules.RoleHeader:
		if kind.level == 1 && k.head == nil {
			k.head = lineTexts(fields)
		}
		if err := k.openScope(kind, fields); err != nil {
			return err
		}
		return k.takeCarry(kind, fields)
	default:
		if kind.Since == "" && kind.By == nil {
			k.trailer = lineTexts(fields)
		}
		return k.takeFooter(kind, fields)
	}
}

// takeNames gives the kinds that a line speaks of the names in it.
func (k *kindReader) takeNames(kind *lineKind, fields []lineField) error {
	names := lineTexts(fields)
	if len(kind.Of) == 0 {
		k.names = names
	}
	for _, other := range k.order {
		if len(kind.Of) > 0 && !slices.Contains(kind.Of, other.Kind) || len(other.Columns) > 0 || other.As == rules.RoleNames {
			continue
		}
		if other.As == rules.RoleRecord || len(kind.Of) > 0 {
			if err := k.setColumns(other, names); err != nil {
				return err
			}
		}
	}
	return nil
}

// earlyCarry is a header line that was read before the columns were known.
type earlyCarry struct {
	kind   *lineKind
	fields []lineField
}

func (k *kindReader) takeCarry(kind *lineKind, fields []lineField) error {
	for _, c := range kind.Carry {
		if _, _, err := k.refOf(kind, fields, c.From); err != nil {
			return err
		}
	}
	if k.rec.Cells == nil {
		own := make([]lineField, len(fields))
		for i, f := range fields {
			own[i] = lineField{slices.Clone(f.text), f.null}
		}
		k.early = append(k.early, earlyCarry{kind, own})
		return nil
	}
	k.carry(kind, fields)
	return nil
}

// carry sets what a header line gives the records after it, and ends what the
// headers below it gave.
func (k *kindReader) carry(kind *lineKind, fields []lineField) {
	for i := range k.carried {
		c := &k.carried[i]
		if c.kind.level > kind.level {
			c.cell = Cell{}
		}
	}
	for i, from := range kind.Carry {
		f, _, _ := k.refOf(kind, fields, from.From)
		c := &k.carried[kind.carries[i]]
		c.buf = append(c.buf[:0], f.text...)
		c.cell = Cell{Text: c.buf, Kind: CellText}
		if f.null {
			c.cell = Cell{}
		}
	}
}

// refOf finds a field of a line by position or name.
func (k *kindReader) refOf(kind *lineKind, fields []lineField, ref rules.FieldRef) (lineField, int, error) {
	i := ref.Position - 1
	if ref.Name != "" {
		i = slices.IndexFunc(kind.columns, func(c string) bool { return headerName(c, k.rule) == headerName(ref.Name, k.rule) })
	}
	if i < 0 || i >= len(fields) {
		what := "field " + itoa(ref.Position)
		if ref.Name != "" {
			what = "column " + quoteName(ref.Name)
		}
		return lineField{}, 0, badFile(k.name, "line %d, of the kind %s, has no %s", k.lines.at(), quoteName(kind.Kind), what).
			WithHint("correct the kind in the job file, or have the file sent again whole")
	}
	return fields[i], i, nil
}

// record makes the record of the line at hand.
func (k *kindReader) record(kind *lineKind) (*Record, error) {
	fields, column, fault := k.lines.split(kind)
	if fault == "" && kind.columns == nil {
		return nil, badFile(k.name, "line %d is a record of the kind %s, and no line above it names its columns", k.lines.at(), quoteName(kind.Kind)).
			WithHint("declare `columns` for the kind, or correct which kind names them")
	}
	if fault == "" && len(fields) != len(kind.columns) {
		fault, column = fmt.Sprintf("%s, the kind %s has %s", plural(len(fields), "field"), quoteName(kind.Kind), plural(len(kind.columns), "column")), -1
	}
	if fault != "" {
		name := ""
		if column >= 0 && column < len(kind.columns) {
			name = kind.columns[column]
		}
		return nil, k.rejectLine(kind, fault, name)
	}
	if !kind.used {
		k.markUsed(kind)
	}
	if err := k.addUp(kind, fields); err != nil {
		return nil, err
	}
	r := &k.rec
	r.No, r.Line = r.No+1, k.lines.at()
	clear(r.Cells)
	r.Extra = r.Extra[:0]
	for i := range k.carried {
		r.Cells[k.carried[i].at] = k.carried[i].cell
	}
	if at, ok := k.place[k.t.Column]; ok && k.t.Field == 0 && kind.Kind != "" {
		text, _ := k.lines.kind()
		r.Cells[at] = Cell{Text: text, Kind: CellText}
	}
	for i, f := range fields {
		c := Cell{Text: f.text, Kind: CellText}
		if f.null {
			c.Kind = CellNull
		}
		if at := kind.to[i]; at >= 0 {
			r.Cells[at] = c
		} else {
			r.Extra = append(r.Extra, NamedCell{Name: kind.columns[i], Cell: c})
		}
	}
	if kind.outside {
		slices.SortFunc(r.Extra, func(a, b NamedCell) int { return strings.Compare(a.Name, b.Name) })
	}
	return r, nil
}

// rejectLine makes the error of the line at hand; kind is nil where it is not known.
func (k *kindReader) rejectLine(kind *lineKind, why, column string) error {
	k.rec.No++
	k.countReject(kind)
	return &RecordError{No: k.rec.No, Line: k.lines.at(), Column: column, Reason: why, Raw: clip(k.lines.raw())}
}

// finish is the end of the file: io.EOF, or what is missing.
func (k *kindReader) finish() error {
	if err := k.lines.end(); err != io.EOF {
		return err
	}
	if k.t.Last != "" && (k.last == nil || k.last.Kind != k.t.Last) {
		return cutFile(k.name, "the last line is not of the kind %s", quoteName(k.t.Last))
	}
	if k.count == 0 && k.t.First != "" {
		return cutFile(k.name, "the file is empty, where the first line should be of the kind %s", quoteName(k.t.First))
	}
	if err := k.closeAll(); err != nil {
		return err
	}
	if k.rec.No == 0 {
		return io.EOF
	}
	var found []string
	for c := range k.inFile {
		found = append(found, c)
	}
	slices.Sort(found)
	if _, err := bindHeader(found, k.rule, k.need, k.name); err != nil {
		return err
	}
	return io.EOF
}

// lineTexts copies the fields of a line.
func lineTexts(fields []lineField) []string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = string(f.text)
	}
	return texts
}
