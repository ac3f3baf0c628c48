package rules

import (
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

func itoa(n int) string { return strconv.Itoa(n) }

// source reads one source, without its fields.
func (d *decoder) source(o *object, side Side, operations []Field) Source {
	s := Source{
		Need:     choice(o, "need", Required, Required, Optional, LateOK),
		OnReject: choice(o, "on_reject", RejectFail, RejectFail, RejectKeep),
	}
	s.Preset = d.presetUse(o)
	if o.has("name") {
		s.Name = d.matching(o, "name", sourceNamePattern, "letters, digits, hyphens and underscores, at most 63")
	}
	d.dates(o, &s)
	d.path(o, &s)
	if d.remote(o, &s); s.Remote == nil && !o.has("path") {
		d.fail(o.path, "add `path: file.csv`", "%s has no path", o.path)
	}
	d.listing(o, &s)
	d.ready(o, &s)
	d.format(o, &s)
	s.MinimumRecords = o.integer("minimum_records", 0, 0, 1<<40)
	d.coverage(o, &s, side, operations)
	if c := o.sub("controls", controlsShape); c != nil {
		if s.Controls != nil {
			o.fail("controls", "keep one of the two", "the controls of the source are declared twice, here and in its coverage")
		}
		s.Controls = d.controls(c, s.Dates != nil)
	}
	d.signature(o, &s)
	d.bankCoverage(o, &s, side)
	d.controlsFit(o, &s)
	d.throughFits(o, &s)
	d.proofs(o, &s)
	if c := o.sub("pages", pagesShape); c != nil {
		s.Pages = &Pages{Column: c.text("column", ""), OnOverlap: choice(c, "on_overlap", "withdraw", "withdraw")}
	}
	if c := o.sub("stated_total", statedTotalShape); c != nil {
		s.StatedDistinct = map[string]int64{"distinct_keys": c.integer("distinct_keys", 0, 0, 1<<40)}
	}
	d.identity(o, &s)
	d.lookupForm(o, &s, side)
	return s
}

func (d *decoder) path(o *object, s *Source) {
	n := o.node("path")
	if n == nil {
		return
	}
	p := o.at("path")
	if n.Kind == yaml.MappingNode {
		c := d.object(n, pathShape, p)
		if c == nil {
			return
		}
		s.Literal = true
		s.Path = Template(c.text("exact", ""))
		p = c.at("exact")
	} else {
		text, _ := d.scalar(n, p)
		s.Path = Template(text)
	}
	if s.Path == "" {
		return
	}
	d.template(s.Path, p, s.Dates != nil)
	if s.Dates != nil && !s.Path.uses("file_date") {
		d.fail(p, "put {file_date} where the day is in the name", "the source has `dates`, but its path is the same for every day")
	}
}

// template checks the placeholders of a template.
func (d *decoder) template(t Template, p string, fileDate bool) bool {
	if _, err := t.parts(); err != nil {
		d.fail(p, "placeholders: {date}, {date-3}, {date+1}, {file_date}, {date:20060102}; {{ and }} stand for braces", "%s: %s", p, err)
		return false
	}
	if t.uses("file_date") && !fileDate {
		d.fail(p, "add `dates: {from: …, until: …}` to the source, or use {date}", "%s: {file_date} is known only in a source with `dates`", p)
		return false
	}
	return true
}

func (d *decoder) dates(o *object, s *Source) {
	c := o.sub("dates", datesShape)
	if c == nil {
		return
	}
	r := DateRange{From: Template(c.text("from", "")), Until: Template(c.text("until", ""))}
	if d.dayTemplate(c, "from", r.From) && d.dayTemplate(c, "until", r.Until) && dayProbe(r.Until) < dayProbe(r.From) {
		c.fail("until", "both days are included; `from` is the earlier one", "%s ends before it begins", c.path)
	}
	s.Dates = &r
}

// probeDate is a business date for checks at load: far from both ends of the
// calendar.
const probeDate = "2024-06-15"

// dayProbe fills a template for comparisons among days; fixed dates and
// placeholders compare only with their kind.
func dayProbe(t Template) string {
	text, _ := t.fill(probeDate, "")
	return text
}

// dayTemplate checks that a template gives a day.
func (d *decoder) dayTemplate(o *object, name string, t Template) bool {
	if t == "" || !d.template(t, o.at(name), false) {
		return false
	}
	text, err := t.fill(probeDate, "")
	if err != nil || !isDay(text) {
		o.fail(name, "a day: 2026-08-20, {date} or {date-3}", "%s: %q is not a day", o.at(name), string(t))
		return false
	}
	return t.uses("date") // days of different kinds cannot be compared yet
}

// formats by the ending of a file name.
var formatEndings = map[string]Format{
	".csv": FormatCSV, ".tsv": FormatCSV, ".ndjson": FormatNDJSON, ".jsonl": FormatNDJSON, ".json": FormatJSON, ".parquet": FormatParquet,
	".xlsx": FormatXLSX, ".xml": FormatXML,
}

func (d *decoder) format(o *object, s *Source) {
	name := string(s.Path)
	if s.Remote != nil && s.Remote.HTTPS != nil {
		name = name[:strings.IndexAny(name+"?", "?#")]
	}
	if s.IsListing() {
		name = ListingFile("")
	}
	base := strings.ToLower(path.Base(name))
	archive := strings.HasSuffix(base, ".zip")
	for _, z := range []string{".gz", ".zst", ".zip"} {
		base = strings.TrimSuffix(base, z)
	}
	ending := path.Ext(base)
	s.Compression = choice(o, "compression", CompressionAuto, "auto", CompressionNone, CompressionGzip, CompressionZstd, CompressionZip)
	if s.Compression == "auto" {
		s.Compression = CompressionAuto
	}
	if archive && s.Compression == CompressionAuto {
		s.Compression = CompressionZip
	}
	if s.Compression == CompressionZip && formatEndings[ending] == "" {
		ending = memberEnding(o)
	}
	tabs := ending == ".tsv"
	switch f := choice(o, "format", "", formatNames...); f {
	case "":
		s.Format = formatEndings[ending]
		if s.Format == "" && s.Path != "" && !o.has("format") {
			o.fail("path", "add `format: csv` (or tsv, ndjson, json, parquet, typed, fixed, xlsx, xml)", "the name of the file does not tell its format")
		}
	case "tsv":
		s.Format, tabs = FormatCSV, true
	default:
		s.Format, tabs = f, false
	}
	if o.has("csv") && s.Format != FormatCSV && s.Format != FormatTyped && s.Format != "" {
		o.fail("csv", "remove it, or declare `format: csv`", "the source is %s, `csv` says nothing about it", s.Format)
	}
	if o.has("json") && s.Format != FormatJSON && s.Format != "" {
		o.fail("json", "remove it, or declare `format: json`", "the source is %s, `json` says nothing about it", s.Format)
	}
	if c := o.sub("json", jsonShape); c != nil {
		s.JSON = JSON{Path: c.text("path", ""), Trailer: c.texts("trailer")}
		d.jsonTrailer(c, &s.JSON)
	}
	if s.Format == FormatCSV || s.Format == FormatTyped {
		d.csv(o.sub("csv", csvShape), s, tabs)
	}
	d.containers(o, s)
}

func (d *decoder) csv(o *object, s *Source, tabs bool) {
	v := CSV{Delimiter: ',', Quote: '"', Encoding: "utf-8", HeaderNames: "exact", Decimal: '.', EmptyText: "is_null"}
	if tabs {
		v.Delimiter = '\t'
	}
	if o == nil {
		s.CSV = v
		return
	}
	v.Delimiter = d.character(o, "delimiter", v.Delimiter, map[string]rune{"tab": '\t'})
	v.Quote = d.character(o, "quote", v.Quote, map[string]rune{"none": 0})
	if v.Quote == v.Delimiter {
		o.fail("quote", "", "delimiter and quote are the same character")
	}
	v.Encoding = d.encodingOf(o, csvEncodings)
	v.HeaderNames = choice(o, "header_names", "exact", "exact", "trim", "ignore_case")
	v.EmptyText = choice(o, "empty_text", "is_null", "is_null", "quoted_is_text")
	v.NullWords = o.texts("null_words")
	v.OpenEnd = o.boolean("open_end", false)
	v.Decimal, v.Group = d.marks(o, '.', 0, true)
	if n := o.node("header"); n != nil {
		if n.Kind == yaml.MappingNode {
			if c := o.sub("header", firstFieldShape); c != nil {
				v.Header.FirstField = c.text("first_field", "")
			}
		} else {
			v.Header.None = choice(o, "header", "first_line", "first_line", "none") == "none"
		}
	}
	v.Columns = o.texts("columns")
	if len(v.Columns) > 0 && !v.Header.None {
		o.fail("columns", "add `header: none`, or remove the names", "names of columns are taken from the header, unless `header: none` is declared")
		v.Columns = nil
	}
	if c := o.sub("rows", rowsShape); c != nil {
		v.Rows = &RowKinds{
			Field: int(c.integer("field", 1, 1, 10_000)), Header: c.text("header", ""),
			Record: c.text("record", ""), Trailer: c.text("trailer", ""),
		}
		d.rowKinds(c, v.Rows)
	}
	if c := o.sub("ends_before", firstFieldShape); c != nil {
		v.EndsBefore = c.text("first_field", "")
	}
	if c := o.sub("skip_lines", startsWithShape); c != nil {
		v.SkipLines = c.text("starts_with", "")
	}
	s.CSV = v
}

func (d *decoder) rowKinds(o *object, r *RowKinds) {
	if r.Header == "" && r.Record == "" && r.Trailer == "" {
		d.fail(o.path, "add `trailer: T`, `header: H` or `record: D`", "%s names no kind of line", o.path)
	}
	if r.Header != "" && (r.Header == r.Trailer || r.Header == r.Record) || r.Trailer != "" && r.Trailer == r.Record {
		d.fail(o.path, "give each kind a text of its own", "%s names two kinds of line by the same text", o.path)
	}
}

// character reads one character, or a name for it.
func (d *decoder) character(o *object, name string, def rune, named map[string]rune) rune {
	n := o.node(name)
	if n == nil {
		return def
	}
	s, ok := d.scalar(n, o.at(name))
	if !ok {
		return def
	}
	if r, ok := named[s]; ok {
		return r
	}
	r, size := utf8.DecodeRuneInString(s)
	if size != len(s) || r == '\n' || r == '\r' {
		o.fail(name, `one character, as ";" or "\t"`, "%s: %q is not one character", o.at(name), s)
		return def
	}
	return r
}

// marks reads decimal and grouping mark of numbers; none tells whether `group:
// none` may be said.
func (d *decoder) marks(o *object, decimal, group byte, none bool) (byte, byte) {
	if n := o.node("decimal"); n != nil {
		switch s, _ := d.scalar(n, o.at("decimal")); s {
		case ".", ",":
			decimal = s[0]
		case "":
		default:
			o.fail("decimal", `"." or ","`, "%s: %q is no decimal mark", o.at("decimal"), s)
		}
	}
	if n := o.node("group"); n != nil {
		switch s, _ := d.scalar(n, o.at("group")); s {
		case ".", ",", " ", "'", "_":
			group = s[0]
		case "":
		default:
			if s == "none" && none {
				group = 0
				break
			}
			o.fail("group", `one of . , _ ' and the blank, in quotes`, "%s: %q is no grouping mark", o.at("group"), s)
		}
	}
	if group != 0 && group == decimal {
		o.fail("group", "the decimal mark is a point unless declared", "decimal and grouping mark are both %q", string(rune(group)))
	}
	return decimal, group
}

// encodingNames are other spellings of the encodings.
var encodingNames = map[string]string{
	"utf8": "utf-8", "utf16": "utf-16", "utf-16-le": "utf-16le", "utf-16-be": "utf-16be", "utf16le": "utf-16le", "utf16be": "utf-16be",
	"latin1": "latin-1", "iso-8859-1": "latin-1", "iso8859-1": "latin-1", "cp1252": "windows-1252", "win-1252": "windows-1252",
}

// coverage reads what a source can prove.
func (d *decoder) coverage(o *object, s *Source, side Side, operations []Field) {
	c := Coverage{Proves: FullLifecycle}
	n := o.node("coverage")
	if n == nil {
		s.Coverage = c
		return
	}
	c.Declared = true
	if n.Kind != yaml.MappingNode {
		if s.IsLookup() {
			o.fail("coverage", "name its account alone: `coverage: {account: …}`", "%s: a lookup covers the operations that it is asked about, up to the time of the request", o.at("coverage"))
			return
		}
		if text, ok := d.scalar(n, o.at("coverage")); ok && text != "complete" {
			o.fail("coverage", "write `complete`, or `{from: …, until: …}`", "%s: %q is no coverage", o.at("coverage"), text)
		}
		c.Complete = true
		s.Coverage = c
		return
	}
	v := d.object(n, coverageShape, o.at("coverage"))
	if v == nil {
		s.Coverage = c
		return
	}
	c.Complete = v.boolean("complete", false)
	c.Proves = choice(v, "proves", FullLifecycle, FullLifecycle, SettledOnly, FailuresOnly, PresenceOnly)
	c.Types = v.texts("types")
	c.Account = v.text("account", "")
	c.Lag = v.duration("lag", 0)
	if v.has("knows") {
		if side == Operations {
			v.fail("knows", "remove it", "`knows` says which operations an account of the results should know; a source of the operations has none")
		} else {
			c.Knows = d.expression(v, "knows", operations)
		}
	}
	if side == Operations && v.has("lag") {
		v.fail("lag", "remove it", "`lag` says how late a result may appear; a source of the operations has none")
	}
	if v.has("from") {
		c.From = d.instantTemplate(v, "from", "", s.Dates != nil)
	}
	if v.has("until") {
		c.Until = d.instantTemplate(v, "until", "", s.Dates != nil)
	}
	times := v.has("from") || v.has("until")
	switch {
	case s.IsLookup():
		d.lookupCoverage(v, &c)
	case c.Complete && times:
		v.fail("complete", "keep one of the two", "%s is complete and has times as well", v.path)
	case !c.Complete && (!v.has("from") || !v.has("until")) && (times || c.Proves != PresenceOnly):
		d.fail(v.path, "add both, or `complete: true`", "%s needs `from` and `until`", v.path)
	case s.Dates != nil && times && !c.From.uses("file_date"):
		v.fail("from", "use {file_date}: each day's file covers its own time", "every file of the source would cover the same time")
	}
	c.Through = d.through(v, s)
	if k := v.sub("controls", controlsShape); k != nil {
		s.Controls = d.controls(k, s.Dates != nil)
	}
	s.Coverage = c
}
