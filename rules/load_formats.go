package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// containers reads the mappings of the declared format; those of other formats
// say nothing about the source.
func (d *decoder) containers(o *object, s *Source) {
	for _, m := range []struct {
		name   string
		format Format
	}{{"typed", FormatTyped}, {"fixed", FormatFixed}, {"xlsx", FormatXLSX}, {"xml", FormatXML}} {
		if o.has(m.name) && s.Format != m.format && s.Format != "" {
			o.fail(m.name, "remove it, or declare `format: "+m.name+"`", "the source is %s, `%s` says nothing about it", s.Format, m.name)
			continue
		}
		if !o.has(m.name) && s.Format == m.format && m.format != FormatXLSX {
			d.fail(o.path, "add `"+m.name+":`, see the reference", "the source is %s, but nothing says how it is read", m.format)
		}
	}
	switch s.Format {
	case FormatTyped:
		d.typed(o.sub("typed", typedShape), s)
	case FormatFixed:
		d.fixed(o.sub("fixed", fixedShape), s)
	case FormatXLSX:
		d.xlsx(o.sub("xlsx", xlsxShape), s)
	case FormatXML:
		d.xml(o.sub("xml", xmlShape), s)
	}
	defer d.bank(o, s) // which looks at the archive too
	if o.has("zip") && s.Compression != CompressionZip {
		o.fail("zip", "declare `compression: zip`", "the source is no zip archive, `zip` says nothing about it")
	} else if c := o.sub("zip", zipShape); c != nil {
		s.Zip = &Zip{Member: c.text("member", ""), Ignore: c.texts("ignore")}
		d.memberPattern(c, "member", s.Zip.Member)
		for _, i := range s.Zip.Ignore {
			d.memberPattern(c, "ignore", i)
		}
	} else if s.Compression == CompressionZip {
		s.Zip = &Zip{}
	}
}

func (d *decoder) memberPattern(o *object, name, text string) {
	if _, err := path.Match(text, "x"); err != nil {
		o.fail(name, "in brackets stand characters: [0-9]; a backslash takes the next character as it is", "%s: %q is no pattern", o.at(name), text)
	}
}

// memberEnding is the ending of the member's name, where that is declared.
func memberEnding(o *object) string {
	n := o.node("zip")
	if n == nil || n.Kind != yaml.MappingNode {
		return ""
	}
	if m := lookup(n, "member"); m != nil {
		return strings.ToLower(path.Ext(m.Value))
	}
	return ""
}

func (d *decoder) xlsx(o *object, s *Source) {
	x := &XLSX{HeaderRow: -1, HeaderNames: "exact", SkipEmptyRows: true}
	s.XLSX = x
	if o == nil {
		return
	}
	x.Sheet = o.text("sheet", "")
	x.HeaderRow = int(o.integer("header_row", -1, 0, 1<<20))
	x.Columns = o.texts("columns")
	x.HeaderNames = choice(o, "header_names", "exact", "exact", "trim", "ignore_case")
	x.Range = o.text("range", "")
	if x.Range != "" && !regexp.MustCompile(rangePattern).MatchString(x.Range) {
		o.fail("range", "write A1:F200, A3:F or A:F", "%s: %q is no range of cells", o.at("range"), x.Range)
		x.Range = ""
	}
	x.SkipEmptyRows = o.boolean("skip_empty_rows", true)
	x.NullWords = o.texts("null_words")
	if c := o.sub("rows", rowsShape); c != nil {
		x.Rows = &RowKinds{
			Field: int(c.integer("field", 1, 1, 10_000)), Header: c.text("header", ""),
			Record: c.text("record", ""), Trailer: c.text("trailer", ""),
		}
		d.rowKinds(c, x.Rows)
	}
	if c := o.sub("ends_before", firstFieldShape); c != nil {
		x.EndsBefore = c.text("first_field", "")
	}
	if x.EndsBefore != "" && x.Rows != nil && x.Rows.Trailer != "" {
		o.fail("ends_before", "keep the one that the last row shows", "rows.trailer and ends_before are declared together")
	}
	if len(x.Columns) > 0 && x.HeaderRow != 0 {
		o.fail("columns", "add `header_row: 0`, or remove the names", "names of columns are taken from the header row")
	}
}

var xmlPath = regexp.MustCompile(`^[^\s/@<>&]+(/[^\s/@<>&]+)*(/@[^\s/@<>&]+)?$`)

func (d *decoder) xml(o *object, s *Source) {
	if o == nil {
		return
	}
	x := &XML{Path: d.elementPath(o.at("path"), o.text("path", "")), Encoding: strings.ToLower(o.text("encoding", ""))}
	if strings.Contains(x.Path, "@") {
		o.fail("path", "name the element", "%s: an attribute is no record", o.at("path"))
	}
	if n := o.node("carry"); n != nil {
		d.free(n, o.at("carry"), func(name string, _, v *yaml.Node, p string) {
			if text, ok := d.scalar(v, p); ok {
				x.Carry = append(x.Carry, XMLCarry{Column: name, Path: d.elementPath(p, text)})
			}
		})
		slices.SortFunc(x.Carry, func(a, b XMLCarry) int { return strings.Compare(a.Column, b.Column) })
	}
	for i, text := range o.texts("trailer") {
		x.Trailer = append(x.Trailer, d.elementPath(index(o.at("trailer"), i), text))
	}
	for _, c := range x.Carry {
		if c.Path == x.Path || strings.HasPrefix(c.Path, x.Path+"/") {
			d.fail(o.at("carry"), "name the column of the field by its path below the record", "%s lies in the record itself", c.Path)
		}
	}
	s.XML = x
}

// elementPath checks a path from the root; a first slash may be written.
func (d *decoder) elementPath(p, text string) string {
	path := strings.TrimPrefix(text, "/")
	if path != "" && !xmlPath.MatchString(path) {
		d.fail(p, "local names joined by a slash, such as Document/Stmt/Ntry", "%s: %q is no path of elements", p, text)
	}
	return path
}

// jsonTrailer: what is beside the array can be read, what is in it are the records.
func (d *decoder) jsonTrailer(o *object, j *JSON) {
	for i, t := range j.Trailer {
		p := index(o.at("trailer"), i)
		switch {
		case j.Path == "":
			d.fail(p, "add `path: data`, where the records are", "the document is the array of records: nothing stands beside it")
		case t == j.Path || strings.HasPrefix(t, j.Path+"."):
			d.fail(p, "name a member beside the records", "%s lies in the records", t)
		}
	}
}

// fixedColumns are the names of all columns that the records of the source can
// have, where the job names them all; nil where the file does.
func (s *Source) fixedColumns() []string {
	switch {
	case s.Format == FormatCSV && len(s.CSV.Columns) > 0:
		return s.CSV.Columns
	case s.Format == FormatXLSX && s.XLSX != nil:
		return s.XLSX.Columns
	case s.Typed == nil || len(s.Typed.Kinds) == 0:
		return nil
	}
	names := []string{s.Typed.Column}
	for i := range s.Typed.Kinds {
		k := &s.Typed.Kinds[i]
		if k.As == RoleRecord && len(k.Columns) == 0 {
			return nil
		}
		for _, c := range k.Columns {
			if k.As == RoleRecord && !slices.Contains(names, c) {
				names = append(names, c)
			}
		}
		for _, c := range k.Carry {
			names = append(names, c.Column)
		}
	}
	return names
}
