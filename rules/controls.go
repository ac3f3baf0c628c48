package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Places in which a file states something about itself.
const (
	InTrailer   = "trailer"    // the last line by csv.rows, the footer of the whole file, or what xml.trailer and json.trailer name
	InTotalLine = "total_line" // the line named by ends_before
	InHeader    = "header"     // the first line by csv.rows, or of the outermost header kind
	InFile      = "file"       // a column, member or key of the control file
)

// Position is where one thing is stated.
type Position struct {
	In    string `json:",omitempty"` // one of the places; "" nowhere
	Field int    `json:",omitempty"` // of a line, from 1
	Name  string `json:",omitempty"` // of a column or member of the control file
}

// Stated tells whether there is such a place.
func (p Position) Stated() bool { return p.In != "" }

// String is the position as a job file writes it.
func (p Position) String() string {
	switch p.In {
	case "":
		return ""
	case InFile:
		return p.In + "." + p.Name
	}
	return p.In + "." + itoa(p.Field)
}

// Controls are totals that a file states about itself, or that a file beside it states.
type Controls struct {
	Count   Position
	Sums    []ControlSum
	By      *ControlBy   `json:",omitempty"` // nil: each total is stated once, over all records
	Balance *Balance     `json:",omitempty"`
	File    *ControlFile `json:",omitempty"`
}

// ControlSum is a stated sum of one product field, as the file writes its numbers, over
// all records read.
type ControlSum struct {
	Field string
	At    Position
}

// ControlBy says that the totals are stated once for each value of a product field, most
// often the currency: in trailers of one kind, or in rows of the control file.
type ControlBy struct {
	Field string
	At    Position // of the value
}

// Balance is opening + entries = closing, by a product field, as the file writes its numbers.
type Balance struct {
	Field            string
	Opening, Closing Position
}

// ControlFile is a small file of totals that comes beside the files of an input. Its
// totals are those of all files of the input together.
type ControlFile struct {
	Path      Template
	Form      string // csv, json, properties
	Delimiter rune   // of csv
	Rows      string // of json: dotted path of the object, or array of objects, with the totals
	Where     []ControlWhere
}

// ControlWhere: only rows in which the column has this text speak of the input.
type ControlWhere struct {
	Column string
	Text   Template
}

// Forms of a control file.
const (
	ControlCSV        = "csv"
	ControlJSON       = "json"
	ControlProperties = "properties"
)

const positionPattern = `^((trailer|total_line|header)\.[1-9][0-9]{0,3}|file\.\S.*)$`

func positionValue() schema { return patternValue(positionPattern) }

var controlsShape = &shape{
	name: "controls", doc: "Totals that are stated: trailer.N, header.N, total_line.N for the ends_before line (fields count from 1), or file.NAME for a control file.",
	keys: []key{
		{name: "count", doc: "Number of data records, rejects included.", value: positionValue()},
		{name: "sum", doc: "Sum of a product field over all records.", value: mapValue(positionValue())},
		{name: "by", doc: "Product field → where its value stands: the totals are stated once for each value, such as a currency, and there are as many trailers, or rows of the control file.", def: "once over all records", value: mapValue(positionValue())},
		{name: "balance", doc: "Opening + entries = closing.", value: shapeValue(balanceShape)},
		{name: "file", doc: "A file of totals beside the files of the source: its path, or a mapping.", value: anyValue(schema{"type": "string"}, shapeValue(controlFileShape))},
	},
}

var balanceShape = &shape{
	name: "balance", doc: "Opening + entries = closing, in the numbers as the file writes them.",
	keys: []key{
		{name: "field", doc: "Product field of the entries, with its sign.", def: "amount", value: patternValue(namePattern)},
		{name: "opening", doc: "Where the balance before the first record stands.", required: true, value: positionValue()},
		{name: "closing", doc: "Where the balance after the last record stands.", required: true, value: positionValue()},
	},
}

var controlFileShape = &shape{
	name: "control_file", doc: "A file of totals. They are those of all files of the source, or of its day, together.",
	keys: []key{
		{name: "path", doc: "The file, relative to the job file; with {date} and {file_date}.", required: true, value: schema{"type": "string"}},
		{name: "form", doc: "csv with a header line; json; or properties: lines NAME=VALUE.", def: "by the ending: .json, .csv; else properties", value: enumValue(ControlCSV, ControlJSON, ControlProperties)},
		{name: "delimiter", doc: "Of csv: one character, or tab.", def: "a comma", value: schema{"type": "string"}},
		{name: "rows", doc: "Of json: dotted path of the object with the totals, or of the array of such objects.", def: "the top", value: schema{"type": "string"}},
		{name: "where", doc: "Column → text: only rows that have it speak of this source; with {date} and {file_date}.", def: "all rows", value: mapValue(textValue())},
	},
}

// position reads where something is stated.
func (d *decoder) position(p, text string) (pos Position) {
	in, rest, _ := strings.Cut(text, ".")
	switch in {
	case InFile:
		if rest != "" {
			return Position{In: in, Name: rest}
		}
	case InTrailer, InTotalLine, InHeader:
		if field, err := strconv.Atoi(rest); err == nil && field >= 1 && field <= 9999 {
			return Position{In: in, Field: field}
		}
	}
	d.fail(p, "trailer.2 is the second field of the trailer; header.2 of the header; total_line.2 of the line named by csv.ends_before; file.total the column or member total of the control file", "%s: %q is no position", p, text)
	return Position{}
}

func (d *decoder) positionOf(o *object, name string) Position {
	if !o.has(name) {
		return Position{}
	}
	text := o.text(name, "")
	if text == "" {
		return Position{}
	}
	return d.position(o.at(name), text)
}

// positions reads a mapping of product fields to positions.
func (d *decoder) positions(o *object, name string) (out []ControlSum) {
	if n := o.node(name); n != nil {
		d.free(n, o.at(name), func(field string, _, v *yaml.Node, p string) {
			if text, ok := d.scalar(v, p); ok {
				out = append(out, ControlSum{Field: field, At: d.position(p, text)})
			}
		})
	}
	return out
}

// controls reads the totals of a source; dated tells that the source has `dates`.
func (d *decoder) controls(o *object, dated bool) *Controls {
	c := &Controls{Count: d.positionOf(o, "count"), Sums: d.positions(o, "sum")}
	if by := d.positions(o, "by"); len(by) == 1 {
		c.By = &ControlBy{Field: by[0].Field, At: by[0].At}
	} else if o.has("by") {
		o.fail("by", "by: {currency: trailer.2}", "%s names %d fields, it needs one", o.at("by"), len(by))
	}
	if b := o.sub("balance", balanceShape); b != nil {
		c.Balance = &Balance{Field: b.text("field", "amount"), Opening: d.positionOf(b, "opening"), Closing: d.positionOf(b, "closing")}
	}
	c.File = d.controlFile(o, dated)
	if !o.has("count") && !o.has("sum") && !o.has("balance") && c.File == nil {
		d.fail(o.path, "add `count: trailer.2`, `sum: {amount: trailer.3}` or `balance: {opening: header.4, closing: trailer.5}`", "%s states nothing", o.path)
	}
	return c
}

func (d *decoder) controlFile(o *object, dated bool) *ControlFile {
	n := o.node("file")
	if n == nil {
		return nil
	}
	f := &ControlFile{Delimiter: ','}
	p := o.at("file")
	if n.Kind != yaml.MappingNode {
		text, _ := d.scalar(n, p)
		f.Path = Template(text)
	} else if c := o.sub("file", controlFileShape); c != nil {
		p = c.at("path")
		f.Path = Template(c.text("path", ""))
		f.Form = choice(c, "form", "", ControlCSV, ControlJSON, ControlProperties)
		f.Delimiter = d.character(c, "delimiter", f.Delimiter, map[string]rune{"tab": '\t'})
		f.Rows = c.text("rows", "")
		if w := c.node("where"); w != nil {
			d.free(w, c.at("where"), func(column string, _, v *yaml.Node, p string) {
				if text, ok := d.scalar(v, p); ok && d.template(Template(text), p, dated) {
					f.Where = append(f.Where, ControlWhere{column, Template(text)})
				}
			})
			slices.SortFunc(f.Where, func(a, b ControlWhere) int { return cmp.Compare(a.Column, b.Column) })
		}
	}
	if f.Path != "" && d.template(f.Path, p, dated) && dated && !f.Path.uses("file_date") && len(f.Where) == 0 {
		d.fail(p, "put {file_date} where the day is in the name, or say by `where` which rows speak of the day", "the source has `dates`, but its control file is the same for every day")
	}
	if f.Form == "" {
		switch lower := strings.ToLower(string(f.Path)); {
		case strings.HasSuffix(lower, ".json"):
			f.Form = ControlJSON
		case strings.HasSuffix(lower, ".csv"):
			f.Form = ControlCSV
		default:
			f.Form = ControlProperties
		}
	}
	return f
}

// Positions lists every position of the controls.
func (c *Controls) Positions() []Position {
	out := []Position{c.Count}
	for _, s := range c.Sums {
		out = append(out, s.At)
	}
	if c.By != nil {
		out = append(out, c.By.At)
	}
	if c.Balance != nil {
		out = append(out, c.Balance.Opening, c.Balance.Closing)
	}
	return slices.DeleteFunc(out, func(p Position) bool { return !p.Stated() })
}

// Fields are the product fields that the controls add up, the one of the balance last.
func (c *Controls) Fields() []string {
	var out []string
	for _, s := range c.Sums {
		out = append(out, s.Field)
	}
	if c.Balance != nil {
		out = append(out, c.Balance.Field)
	}
	return out
}

// controlsFit checks that the source has the lines that its controls stand in.
func (d *decoder) controlsFit(o *object, s *Source) {
	c := s.Controls
	if c == nil {
		return
	}
	p := o.at("controls")
	if _, ok := d.places[p]; !ok {
		p = join(o.at("coverage"), "controls")
	}
	var seen []string
	for _, at := range c.Positions() {
		if !slices.Contains(seen, at.In) {
			seen = append(seen, at.In)
			d.lineOf(p, s, at.In, "the controls")
		}
	}
	if c.File != nil && s.Remote != nil {
		d.fail(p, "have the totals checked where they are pulled, or pull the file first", "the control file of a source that is pulled is not read")
	}
	if b := c.Balance; b != nil && (b.Opening.In == InFile) != (b.Closing.In == InFile) {
		d.fail(join(p, "balance"), "take both from the file itself, or both from the control file", "%s: opening and closing stand in two files", p)
	}
	if by := c.By; by != nil {
		switch {
		case slices.ContainsFunc(seen, func(in string) bool { return in != by.At.In }):
			d.fail(join(p, "by"), "take all totals from the lines that name the value", "%s: the totals of one value stand in different places", p)
		case by.At.In != InFile && by.At.In != InTrailer || by.At.In == InTrailer && s.Format != FormatCSV && s.Format != FormatXLSX && s.Format != "":
			d.fail(join(p, "by"), "state them in trailers of a CSV file or a sheet, in a control file, or by `typed: {kinds: [{as: footer, by: …}]}`", "%s: this source cannot state its totals for each value of a field", p)
		}
	}
	if c.File != nil && !slices.Contains(seen, InFile) && (s.Coverage.Through == nil || s.Coverage.Through.At.In != InFile) {
		d.fail(p, "add `count: file.records` or `sum: {amount: file.total}`", "nothing is taken from the control file")
	}
}

// lineOf checks that the format has the line in which something stands; what names it.
func (d *decoder) lineOf(p string, s *Source, in, what string) {
	if in == InFile {
		if s.Controls == nil || s.Controls.File == nil {
			d.fail(p, "add `controls: {file: psp_{date}.ctl}`", "%s stand in a control file, but none is declared", what)
		}
		return
	}
	rows, ends, add := s.CSV.Rows, s.CSV.EndsBefore, "csv"
	switch s.Format {
	case "":
		return
	case FormatCSV:
	case FormatXLSX:
		rows, ends, add = s.XLSX.Rows, s.XLSX.EndsBefore, "xlsx"
	case FormatTyped, FormatFixed:
		switch {
		case in == InTotalLine:
			d.fail(p, "write trailer.2: the second field of the last footer of the whole file", "a %s file has no total line", s.Format)
		case in == InHeader && s.Typed != nil && !slices.ContainsFunc(s.Typed.Kinds, func(k RecordKind) bool { return k.As == RoleHeader }):
			d.fail(p, "declare a kind `as: header`", "%s stand in a header, but there is no kind of header", what)
		case in == InTrailer && s.Typed != nil && !slices.ContainsFunc(s.Typed.Kinds, func(k RecordKind) bool { return k.As == RoleFooter && k.Since == "" && k.By == nil }):
			d.fail(p, "declare a kind `as: footer` without `since` and `by`", "%s stand in a trailer, but there is no footer of the whole file", what)
		}
		return
	case FormatXML:
		switch {
		case in != InTrailer:
			d.fail(p, "write trailer.1: the first path of xml.trailer", "a document has no %s", strings.ReplaceAll(in, "_", " "))
		case s.XML != nil && len(s.XML.Trailer) == 0:
			d.fail(p, "add `xml: {trailer: [Document/Hdr/Count]}`", "%s stand in a trailer, but xml.trailer names no path", what)
		}
		return
	case FormatJSON:
		switch {
		case in != InTrailer:
			d.fail(p, "write trailer.1: the first path of json.trailer", "a document has no %s", strings.ReplaceAll(in, "_", " "))
		case len(s.JSON.Trailer) == 0:
			d.fail(p, "add `json: {path: data, trailer: [meta.count]}`", "%s stand in a trailer, but json.trailer names no path", what)
		}
		return
	default:
		d.fail(p, "state them in a control file (file.NAME), or use `stated_total` or `minimum_records`", "a %s file has no trailer", s.Format)
		return
	}
	switch {
	case in == InTrailer && (rows == nil || rows.Trailer == ""):
		d.fail(p, "add `"+add+": {rows: {field: 1, trailer: T}}`", "%s stand in a trailer, but no trailer is declared", what)
	case in == InHeader && (rows == nil || rows.Header == ""):
		d.fail(p, "add `"+add+": {rows: {field: 1, header: H}}`", "%s stand in a header, but no header is declared", what)
	case in == InTotalLine && ends == "":
		d.fail(p, "add `"+add+": {ends_before: {first_field: Total}}`", "%s stand in a total line, but no `ends_before` is declared", what)
	}
}

// checkControls: what is added up is a number, and what the totals go by can be read.
func (d *decoder) checkControls(job *Job, s Side, src *Source, path string) {
	if src.Controls == nil {
		return
	}
	at := func(keys ...string) string {
		p := join(path, "controls")
		if _, ok := d.places[p]; !ok {
			p = join(join(path, "coverage"), "controls")
		}
		for _, k := range keys {
			p = join(p, k)
		}
		return p
	}
	numberOf := func(name, p string) {
		if f, ok := d.fieldOf(job, s, name, p); ok && !numeric(f.Type) {
			d.fail(p, "declare `type: decimal`", "the field %s is %s, it has no sum", f.Name, f.Type)
		}
	}
	for _, sum := range src.Controls.Sums {
		numberOf(sum.Field, at("sum", sum.Field))
	}
	if b := src.Controls.Balance; b != nil {
		numberOf(b.Field, at("balance"))
	}
	if by := src.Controls.By; by != nil {
		if f, ok := d.fieldOf(job, s, by.Field, at("by", by.Field)); ok && f.Type != Text && f.Type != Currency {
			d.fail(at("by", by.Field), "name a field of texts or currencies", "the field %s is %s, totals do not go by it", f.Name, f.Type)
		} else if ok && job.Redact.Fields[f.Name] != "" {
			d.fail(at("by", by.Field), "have the totals stated by another field", "the field %s is hidden in outputs, where the totals of each value stand", f.Name)
		}
	}
}

func (t *tree) controls(c *Controls) {
	t.text("count", c.Count.String())
	sums := func(key string, list []ControlSum) {
		t.sub(key, func(t *tree) {
			for _, s := range list {
				t.text(s.Field, s.At.String())
			}
		})
	}
	sums("sum", c.Sums)
	if c.By != nil {
		sums("by", []ControlSum{{c.By.Field, c.By.At}})
	}
	if b := c.Balance; b != nil {
		t.sub("balance", func(t *tree) {
			t.text("field", b.Field)
			t.text("opening", b.Opening.String())
			t.text("closing", b.Closing.String())
		})
	}
	if f := c.File; f != nil {
		t.sub("file", func(t *tree) {
			t.text("path", string(f.Path))
			t.text("form", f.Form)
			if f.Form == ControlCSV {
				t.text("delimiter", string(f.Delimiter))
			}
			t.text("rows", f.Rows)
			t.sub("where", func(t *tree) {
				for _, w := range f.Where {
					t.text(w.Column, string(w.Text))
				}
			})
		})
	}
}

// InLines tells whether something stands in the file itself, and not in a control file.
func (c *Controls) InLines() bool {
	return c != nil && slices.ContainsFunc(c.Positions(), func(p Position) bool { return p.In != InFile })
}

// Repeats tells whether the file has a trailer for each value of a field.
func (c *Controls) Repeats() bool { return c != nil && c.By != nil && c.By.At.In == InTrailer }
