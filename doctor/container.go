package doctor

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// magic are first bytes of files that are no text.
var magic = []struct {
	bytes, what string
	remedy      string // of one that the product does not read
}{
	{"\x1f\x8b", "gzip", ""},
	{"\x28\xb5\x2f\xfd", "zstd", ""},
	{"PK\x03\x04", "zip", ""},
	{"PK\x05\x06", "zip", ""},
	{"PAR1", "parquet", ""},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a workbook of the old form .xls, or an encrypted one", "save it as .xlsx without a password, or as CSV"},
	{"BZh", "a bzip2 file", "unpack it: bunzip2 -k FILE"},
	{"\xfd7zXZ\x00", "an xz file", "unpack it: unxz -k FILE"},
	{"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it, and look at what is inside"},
	{"Rar!\x1a\x07", "a RAR archive", "unpack it, and look at what is inside"},
	{"%PDF-", "a PDF document", "ask its sender for the data behind it, as CSV"},
	{"SQLite format 3\x00", "an SQLite database", "export the table as CSV"},
	{"PGDMP", "a dump of PostgreSQL", "export the table: \\copy TABLE to 'FILE.csv' csv header"},
}

// container tells by the first bytes what holds the records. False: something that
// cannot be looked into, which the report says.
func (l *look) container() (bool, error) {
	head := make([]byte, 16)
	n, err := l.f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return false, fail.Wrap(fail.Input, err, "%s cannot be read", l.name)
	}
	head = head[:n]
	ending := l.d.endingCompression()
	for _, m := range magic {
		if !bytes.HasPrefix(head, []byte(m.bytes)) {
			continue
		}
		if m.remedy != "" {
			l.r.remark("container", Fact, "its first bytes", "%s, which is not read", m.what)
			l.r.Problem, l.r.Hint = l.name+": this is "+m.what, m.remedy
			return false, nil
		}
		switch m.what {
		case "gzip", "zstd":
			l.d.compression = rules.Compression(m.what)
			l.r.remark("container", Fact, "its first bytes", "%s", m.what)
			if ending != l.d.compression {
				l.r.find("misnamed", "", "the content is %s, which the name of the file does not say: the job declares it", m.what)
			}
		case "parquet":
			return l.parquet()
		case "zip":
			return l.archive()
		}
		return true, nil
	}
	if ending != "" {
		l.r.find("misnamed", "", "the name says %s, and the content is not: the file may have been unpacked on its way", ending)
	}
	l.d.compression = rules.CompressionNone
	l.r.remark("container", Fact, "", "a plain file")
	return true, nil
}

// parquet tells the schema from the footer.
func (l *look) parquet() (bool, error) {
	l.d.format, l.d.compression = "parquet", rules.CompressionNone
	schema, rows, err := parquetSchema(l.f, l.r.Size)
	if err != nil {
		return false, fail.Wrap(fail.Input, err, "%s: the footer of the Parquet file cannot be read: the file is cut or corrupt", l.name).
			WithHint("fetch the file again, and compare its size with the sender's")
	}
	l.r.remark("container", Fact, "its footer", "Parquet, %s, %s", plural(rows, "row"), plural(int64(len(schema)), "column"))
	l.r.remark("schema", Fact, "", "%s", strings.Join(schema, ", "))
	for _, s := range schema {
		if name, typ, _ := strings.Cut(s, " "); strings.HasPrefix(typ, "FLOAT") || strings.HasPrefix(typ, "DOUBLE") {
			l.r.find("float_column", name, "the column is %s: money in floats is not exact, so that no field may read it", typ)
		}
	}
	return true, nil
}

// parquetSchema lists the leaves with their types. The library panics over some
// broken footers.
func parquetSchema(f io.ReaderAt, size int64) (schema []string, rows int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	pq, err := file.NewParquetReader(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, 0, err
	}
	s := pq.MetaData().Schema
	for i := range s.NumColumns() {
		c := s.Column(i)
		typ := c.PhysicalType().String()
		if t := c.LogicalType(); t != nil && t.String() != "None" {
			typ = t.String()
		}
		schema = append(schema, c.Path()+" "+typ)
	}
	return schema, pq.NumRows(), nil
}

// endings of members that look like data, and the formats of those that are read
// from their first byte to their last.
var dataEndings = []string{".csv", ".tsv", ".txt", ".dat", ".json", ".ndjson", ".jsonl", ".xml", ".sta", ".ach", ".bai", ".bai2", ".940", ".942", ".mt940"}

// archive looks at the members of a zip archive, or at the sheets of a workbook.
func (l *look) archive() (bool, error) {
	members, err := extract.Members(l.f, l.name, l.opt.Limits)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(members, func(m extract.Member) bool { return strings.EqualFold(m.Name, "xl/workbook.xml") }) {
		return l.workbook()
	}
	l.d.compression = rules.CompressionZip
	var data, other, names []string
	sizes := map[string]int64{}
	for _, m := range members {
		names = append(names, fmt.Sprintf("%s (%s)", quoted(m.Name), sizeText(m.Size)))
		sizes[m.Name] = m.Size
		if m.Fault != nil {
			l.r.find("bad_member", "", "a run refuses the archive: %v", m.Fault)
			return false, m.Fault
		}
		if base := path.Base(m.Name); slices.Contains(dataEndings, strings.ToLower(path.Ext(base))) &&
			!strings.HasPrefix(base, ".") && !strings.HasPrefix(m.Name, "__MACOSX/") && !strings.HasPrefix(strings.ToLower(base), "readme") {
			data = append(data, m.Name)
		} else {
			other = append(other, m.Name)
		}
	}
	l.r.remark("container", Fact, "its directory", "zip with %s: %s", plural(int64(len(members)), "member"), list(names, 8))
	if len(data) == 0 && len(other) == 1 {
		data, other = other, nil
	}
	if len(data) == 0 {
		l.r.Problem, l.r.Hint = l.name+": no member looks like data that can be read", "unpack the archive, and look at the member that has the records"
		return false, nil
	}
	l.member = slices.MaxFunc(data, func(a, b string) int { return int(min(max(sizes[a]-sizes[b], -1), 1)) })
	sure, why := Likely, "the only member that looks like data"
	for _, name := range data {
		if name != l.member {
			other = append(other, name)
			sure, why = Unsure, "the largest of several members that look like data"
		}
	}
	slices.Sort(other)
	l.r.remark("member", sure, why, "%s has the records", quoted(l.member))
	zip := pairs{{"member", l.member}}
	if len(other) > 0 {
		zip.set("ignore", other)
	}
	l.d.parts.set("zip", zip)
	return true, nil
}

// workbook chooses a sheet. Hidden ones are named, and never chosen.
func (l *look) workbook() (bool, error) {
	l.d.format, l.d.compression = "xlsx", rules.CompressionNone
	sheets, err := extract.Sheets(l.f, l.name, l.opt.Limits)
	if err != nil {
		return false, err
	}
	var names, visible []string
	for _, s := range sheets {
		if s.Hidden {
			names = append(names, quoted(s.Name)+" (hidden)")
			l.r.find("hidden_sheet", "", "the sheet %s is hidden: it is read only where the job names it", quoted(s.Name))
		} else {
			names = append(names, quoted(s.Name))
			visible = append(visible, s.Name)
		}
	}
	l.r.remark("container", Fact, "its directory", "workbook (XLSX) with %s: %s", plural(int64(len(sheets)), "sheet"), list(names, 12))
	if len(visible) == 0 {
		l.r.Problem, l.r.Hint = l.name+": every sheet is hidden", "name the sheet by xlsx: {sheet: …}, if it is the right one"
		return false, nil
	}
	sheet, sure, why := visible[0], Fact, "the only one that is not hidden"
	if len(visible) > 1 {
		sure, why = Unsure, "the first of several"
	}
	l.r.remark("sheet", sure, why, "%s", quoted(sheet))
	return true, l.sheetHeader(sheet)
}

// sheetHeader finds the row with the names: the first of the first rows in which
// most cells are filled, by names that differ.
func (l *look) sheetHeader(sheet string) error {
	best, bestNames := 1, -1
	for row := 1; row <= 12; row++ {
		src := &rules.Source{Name: "doctor", Format: rules.FormatXLSX, XLSX: &rules.XLSX{Sheet: sheet, HeaderRow: row, SkipEmptyRows: true, HeaderNames: "exact"}}
		r, err := l.reader(src, nil)
		if err != nil {
			continue // an empty row, or none any more
		}
		names := map[string]bool{}
		for _, h := range r.Header() {
			if h = strings.TrimSpace(h); h != "" && !numberLike(h) && !dateLike(h) {
				names[h] = true
			}
		}
		r.Close()
		if len(names) > bestNames {
			best, bestNames = row, len(names)
		}
	}
	sure, why := Likely, fmt.Sprintf("it has %s", plural(int64(bestNames), "name"))
	if bestNames < 2 {
		sure = Unsure
	}
	l.r.remark("header", sure, why, "row %d", best)
	x := pairs{{"sheet", sheet}}
	if best > 1 {
		x.set("header_row", best)
	}
	l.d.parts.set("xlsx", x)
	return nil
}

// workbookEnd looks whether the last row is a total; then it is declared, and the
// sheet has to be read once more.
func (l *look) workbookEnd() (again bool, err error) {
	if l.d.format != "xlsx" || len(l.last) == 0 {
		return false, nil
	}
	row := l.last[len(l.last)-1]
	if len(row) == 0 || !totalWord(row[0]) {
		return false, nil
	}
	x, _ := l.d.parts.get("xlsx")
	l.r.remark("footer", Likely, "the first cell of the last row", "%s ends the records", quoted(row[0]))
	l.d.parts.set("xlsx", append(slices.Clone(x.(pairs)), pair{"ends_before", pairs{{"first_field", row[0]}}}))
	l.d.controlLine = "total_line"
	return true, nil
}
