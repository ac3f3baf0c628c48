package extract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

func TestCSVDialect(t *testing.T) {
	type changes = []func(*rules.CSV)
	set := func(f ...func(*rules.CSV)) changes { return f }
	delimiter := func(r rune) func(*rules.CSV) { return func(c *rules.CSV) { c.Delimiter = r } }
	noHeader := func(columns ...string) func(*rules.CSV) {
		return func(c *rules.CSV) { c.Header.None, c.Columns = true, columns }
	}
	kinds := func(r rules.RowKinds) func(*rules.CSV) { return func(c *rules.CSV) { c.Rows = &r } }
	endsBefore := func(x string) func(*rules.CSV) { return func(c *rules.CSV) { c.EndsBefore = x } }
	names := func(x string) func(*rules.CSV) { return func(c *rules.CSV) { c.HeaderNames = x } }
	emptyText := func(x string) func(*rules.CSV) { return func(c *rules.CSV) { c.EmptyText = x } }
	header := func(x string) func(*rules.CSV) { return func(c *rules.CSV) { c.Header.FirstField = x } }
	skip := func(x string) func(*rules.CSV) { return func(c *rules.CSV) { c.SkipLines = x } }
	encoding := func(x string) func(*rules.CSV) { return func(c *rules.CSV) { c.Encoding = x } }

	for _, test := range []struct {
		name    string
		changes changes
		fields  []rules.Field // default: a and b by name
		in      string
		want    []string
	}{
		{"plain", nil, nil, "a,b\n1,2\n3,4\n", []string{"1@2 1|2", "2@3 3|4", "control 1"}},
		{"crlf", nil, nil, "a,b\r\n1,2\r\n3,4\r\n", []string{"1@2 1|2", "2@3 3|4", "control 1"}},
		{"lf and crlf mixed", nil, nil, "a,b\r\n1,2\n3,4\r\n5,6\n", []string{"1@2 1|2", "2@3 3|4", "3@4 5|6", "control 1"}},
		{"cr", nil, nil, "a,b\r1,\"x\r\ny\"\r3,4\r", []string{"1@2 1|x\r\ny", "2@4 3|4", "control 1"}},
		{"cr cr lf", nil, nil, "a,b\r\r\n1,\"2\"\r\r\n\r\r\n3,\"x\r\r\ny\"\r\r\n5,6\r\n7,8\n", []string{"1@2 1|2", "2@4 3|x\r\r\ny", "3@6 5|6", "4@7 7|8", "control 2"}},
		{"cr cr lf, cut", nil, nil, "a,b\r\r\n1,2\r\r", []string{"error x.csv: line 2 ends with half a line end: the file is cut"}},
		{"cr cr lf after the first line", nil, nil, "a,b\r\n1,2\r\r\n3,4\r\n", []string{"reject 1@2: a lone carriage return outside quotes", "2@3 3|4", "control 1"}},
		{"lf in a cr file", nil, nil, "a,b\r1,2\n\r3,4\r", []string{"reject 1@2: a line feed outside quotes, in a file whose lines end with a carriage return", "2@3 3|4", "control 1"}},
		{"lone cr", nil, nil, "a,b\n1,2\r3\n4,5\n", []string{"reject 1@2: a lone carriage return outside quotes", "2@3 4|5", "control 1"}},
		{"lone cr beside a quoted field", nil, nil, "a,b\n\"1\",2\r3\n4,5\n", []string{"reject 1@2: a lone carriage return outside quotes", "2@3 4|5", "control 1"}},
		{"lone cr at the end", nil, nil, "a,b\n1,2\r", []string{"reject 1@2: a lone carriage return outside quotes", "control 1"}},
		{"half a line end at the end", nil, nil, "a,b\r\n1,2\r", []string{"error x.csv: line 2 ends with half a line end: the file is cut"}},
		{"half a line end behind a quote", nil, nil, "a,b\r\n1,\"2\"\r", []string{"error x.csv: line 2 ends with half a line end: the file is cut"}},
		{"no line end at the end", nil, nil, "a,b\n1,2\n3,4", []string{"1@2 1|2", "2@3 3|4", "control 1"}},
		{"no line end behind a quote", nil, nil, "a,b\n1,\"2\"", []string{"1@2 1|2", "control 1"}},
		{"no records", nil, nil, "a,b\n", []string{"control 1"}},
		{"header without line end", nil, nil, "a,b", []string{"control 1"}},
		{"empty file", nil, nil, "", []string{"error x.csv: the file is empty: it has no header line"}},
		{"byte order mark before a quoted header", nil, nil, "\xEF\xBB\xBF\"a\",b\n1,2\n", []string{"1@2 1|2", "control 1"}},
		{"quotes", nil, nil, "a,b\n\"1,1\",\"say \"\"hi\"\"\"\n\"\"\"\",\"x\n\ny\"\n5,6\n", []string{"1@2 1,1|say \"hi\"", "2@3 \"|x\n\ny", "3@6 5|6", "control 1"}},
		{"two doubled quotes in one record", nil, nil, "a,b\n\"x\"\"y\",\"z\"\"w\"\n", []string{"1@2 x\"y|z\"w", "control 1"}},
		{"crlf in quotes stays", nil, nil, "a,b\r\n1,\"x\r\ny\"\r\n", []string{"1@2 1|x\r\ny", "control 1"}},
		{"quote inside an unquoted field", nil, nil, "a,b\n1,5\" disk\n3,\"4\"\n", []string{"reject 1@2: a quote inside an unquoted field", "2@3 3|4", "control 1"}},
		{"blank before a quote", nil, nil, "a,b\n1, \"x\"\n3,4\n", []string{"reject 1@2: a quote inside an unquoted field", "2@3 3|4", "control 1"}},
		{"text after a closing quote", nil, nil, "a,b\n1,\"x\" y\n3,4\n", []string{"reject 1@2: text after a closing quote", "2@3 3|4", "control 1"}},
		{"quotes not doubled", nil, nil, "a,b\n\"say \"hi, there\", x\"\n3,4\n", []string{"reject 1@2: text after a closing quote", "2@3 3|4", "control 1"}},
		{"unclosed quote", nil, nil, "a,b\n1,2\n3,\"4\n5,6\n", []string{"1@2 1|2", "error x.csv: a quote that is opened in the record on line 3 is never closed: the file is cut"}},
		{"no quoting", set(func(c *rules.CSV) { c.Quote = 0 }), nil, "a,b\n\"1\",5\" disk\n", []string{"1@2 \"1\"|5\" disk", "control 1"}},
		{"other quote", set(func(c *rules.CSV) { c.Quote = '\'' }), nil, "a,b\n'1,','it''s'\n", []string{"1@2 1,|it's", "control 1"}},
		{"nul is data", nil, nil, "a,b\n\x00,x\x00y\n", []string{"1@2 \x00|x\x00y", "control 1"}},
		{"ragged", nil, nil, "a,b\n1,2,3\n4\n5,6\n", []string{"reject 1@2: 3 fields, the header has 2", "reject 2@3: 1 field, the header has 2", "3@4 5|6", "control 1"}},
		{"ragged with quotes", nil, nil, "a,b\n\"1\",2,\"3\n4\"\n5,6\n", []string{"reject 1@2: 3 fields, the header has 2", "2@4 5|6", "control 1"}},
		{"blank lines", nil, nil, "\na,b\n\n1,2\n\r\n\n3,4\n\n", []string{"1@4 1|2", "2@7 3|4", "control 6"}},
		{"a line of blanks is no blank line", nil, nil, "a,b\n  \n", []string{"reject 1@2: 1 field, the header has 2", "control 1"}},
		{"empty lines of one column are records", nil, textFields("a"), "a\n\n1\n\"\"\n", []string{"1@2 ~", "2@3 1", "3@4 ~", "control 1"}},
		{"tab", set(delimiter('\t')), nil, "a\tb\n1,1\t\"2\t2\"\n", []string{"1@2 1,1|2\t2", "control 1"}},
		{"delimiter of several bytes", set(delimiter('¦')), nil, "a¦b\n1¦2\n\"3¦3\"¦4\n", []string{"1@2 1|2", "2@3 3¦3|4", "control 1"}},
		{"delimiter of several bytes in latin-1", set(delimiter('¦'), encoding("latin-1")), nil, "a\xA6b\n\xE9\xA6\x80\n", []string{"1@2 é|\u0080", "control 1"}},
		{"empty is null", nil, nil, "a,b\n,\"\"\n \t,x\n", []string{"1@2 ~|~", "2@3  \t|x", "control 1"}},
		{"quoted empty is text", set(emptyText("quoted_is_text")), nil, "a,b\n,\"\"\n", []string{"1@2 ~|", "control 1"}},
		{"null words", set(func(c *rules.CSV) { c.NullWords = []string{"NULL", "-"} }), nil, "a,b\nNULL,-\n\"NULL\",null\n", []string{"1@2 ~|~", "2@3 ~|null", "control 1"}},
		{"a quoted null word is text", set(emptyText("quoted_is_text"), func(c *rules.CSV) { c.NullWords = []string{"NULL"} }), nil, "a,b\nNULL,\"NULL\"\n", []string{"1@2 ~|NULL", "control 1"}},

		{"missing column", nil, textFields("a", "amonut"), "a,amount\n1,2\n", []string{"error x.csv: there is no column amonut, which the field amonut reads"}},
		{"doubled column", nil, textFields("a"), "a,b,a\n1,2,3\n", []string{"error x.csv: 2 columns (a, a) answer to the name a, which the field a reads"}},
		{"doubled column that nobody needs", nil, textFields("a"), "a,b,b\n1,2,3\n", []string{"1@2 1|2|3", "control 1"}},
		{"by position", nil, []rules.Field{{Name: "f", Position: 2}}, "a,a\n1,2\n", []string{"1@2 1|2", "control 1"}},
		{"position beyond the header", nil, []rules.Field{{Name: "f", Position: 3}}, "a,a\n1,2\n", []string{"error x.csv: the field f reads column 3, but the file has 2 columns"}},
		{"column of the sign", nil, []rules.Field{{Name: "f", Column: "a", SignFrom: &rules.SignFrom{Column: "dc"}}}, "a,b\n1,2\n", []string{"error x.csv: there is no column dc, which the field f reads"}},
		{"header names trimmed", set(names("trim")), nil, " a ,b\t\n1,2\n", []string{"1@2 1|2", "control 1"}},
		{"header names without case", set(names("ignore_case")), nil, "A,B\n1,2\n", []string{"1@2 1|2", "control 1"}},
		{"two names but for case", set(names("ignore_case")), nil, "A,b,a\n1,2,3\n", []string{"error x.csv: 2 columns (A, a) answer to the name a, which the field a reads"}},
		{"case counts", nil, nil, "A,b\n1,2\n", []string{"error x.csv: there is no column a, which the field a reads"}},
		{"bad header", nil, nil, "a,b\"\n1,2\n", []string{"error x.csv: the header on line 1: a quote inside an unquoted field"}},
		{"header in another encoding", nil, nil, "a,b,\xE9\n1,2,3\n", []string{"error x.csv: the header on line 1 is not valid UTF-8 (byte E9)"}},

		{"no header", set(noHeader("a", "b")), nil, "1,2\n3\n", []string{"1@1 1|2", "reject 2@2: 1 field, 2 columns are declared"}},
		{"no header, no file", set(noHeader("a", "b")), nil, "", nil},
		{"no header, no names", set(noHeader()), []rules.Field{{Name: "f", Position: 2}}, "\n1,2\n3\n", []string{"1@2 1|2", "reject 2@3: 1 field, 2 columns are declared", "control 1"}},
		{"preamble", set(header("a")), nil, "Report \"x\n\"a\n\"\nwhat,ever,\n\na,b\n1,2\n", []string{"1@7 1|2", "control 6"}},
		{"preamble, quoted header", set(header("a")), nil, "x\n\"a\",\"b\n\"\n1,2\n", []string{"error x.csv: there is no column b, which the field b reads"}},
		{"preamble without end", set(header("a")), nil, "x\ny\n", []string{"error x.csv: no line has the first field a, which the header should have"}},

		{"row kinds", set(noHeader("k", "a", "b"), kinds(rules.RowKinds{Field: 1, Header: "H", Record: "D", Trailer: "T"})), nil,
			"H,x\nD,1,2\nD,3\nX,5,6\nT,2,4,5,6\n\n",
			[]string{"1@2 D|1|2", "reject 2@3: 2 fields, 3 columns are declared", "reject 3@4: the row kind X is none of the declared ones", "trailer T|2|4|5|6", "control 3"}},
		{"row kinds, any record", set(noHeader("k", "a", "b"), kinds(rules.RowKinds{Field: 1, Trailer: "T"})), nil, "A,1,2\nB,3,4\nT\n", []string{"1@1 A|1|2", "2@2 B|3|4", "trailer T", "control 1"}},
		{"row kind in the second field", set(kinds(rules.RowKinds{Field: 2, Trailer: "T"})), nil, "a,b\n1,2\n3\n9,T,2\n", []string{"1@2 1|2", "reject 2@3: 1 field, the header has 2", "trailer 9|T|2", "control 2"}},
		{"no trailer", set(kinds(rules.RowKinds{Field: 1, Trailer: "T"})), nil, "a,b\n1,2\n", []string{"1@2 1|2", "error x.csv: there is no trailer (row kind T) after the last record: the file is cut"}},
		{"no trailer in an empty file", set(noHeader("a", "b"), kinds(rules.RowKinds{Field: 1, Trailer: "T"})), nil, "", []string{"error x.csv: there is no trailer (row kind T) after the last record: the file is cut"}},
		{"record after the trailer", set(kinds(rules.RowKinds{Field: 1, Trailer: "T"})), nil, "a,b\nT,1\n1,2\n", []string{"error x.csv: line 3 follows the trailer, which must be the last line"}},
		{"two trailers", set(kinds(rules.RowKinds{Field: 1, Trailer: "T"})), nil, "a,b\nT,1\nT,1\n", []string{"error x.csv: line 3 follows the trailer, which must be the last line"}},
		{"bytes after the trailer", set(kinds(rules.RowKinds{Field: 1, Trailer: "T"})), nil, "a,b\nT,1\n\x00", []string{"error x.csv: line 3 follows the trailer, which must be the last line"}},
		{"total line", set(endsBefore("Total")), nil, "a,b\n1,2\n\"Total\",\"\",57.00,x\n\n\"End of \"file\n\"", []string{"1@2 1|2", "trailer Total||57.00|x", "control 5"}},
		{"no total line", set(endsBefore("Total")), nil, "a,b\n1,2\n", []string{"1@2 1|2", "error x.csv: the line that begins with the field Total and ends the records never comes: the file is cut"}},
		{"trailer and total line", set(endsBefore("Total"), kinds(rules.RowKinds{Field: 1, Trailer: "T"})), nil, "a,b\n", []string{"error x.csv: rows.trailer and ends_before are declared together"}},
		{"skipped lines", set(skip("# ")), nil, "# one, \"\na,b\n#1,2\n# two\n\"# 3\",\"\n# 4\"\n# five", []string{"1@3 #1|2", "2@5 # 3|\n# 4", "control 4"}},

		{"invalid byte", nil, nil, "a,b\n1,caf\xE9\n3,4\n", []string{"reject 1@2 b: not valid UTF-8 (byte E9)", "2@3 3|4", "control 1"}},
		{"invalid byte behind a quote", nil, nil, "a,b\n\"1\xFF\",\"x\"\"y\"\n3,4\n", []string{"reject 1@2 a: not valid UTF-8 (byte FF)", "2@3 3|4", "control 1"}},
		{"a real U+FFFD", nil, nil, "a,b\n1,\uFFFD\n", []string{"1@2 1|\uFFFD", "control 1"}},
		{"surrogate in UTF-8", nil, nil, "a,b\n1,\xED\xA0\xBD\n", []string{"reject 1@2 b: not valid UTF-8 (byte ED)", "control 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.fields == nil {
				test.fields = textFields("a", "b")
			}
			lines, _ := readAll(csvSource(test.changes...), test.fields, []byte(test.in), "x.csv")
			check(t, lines, test.want)
		})
	}
}

// The files of the case corpus, as their descriptions declare them.
func TestCSVCases(t *testing.T) {
	for _, test := range []struct {
		file    string
		columns []string
		change  func(*rules.CSV)
		want    []string
	}{
		{"C04", []string{"operation_id", "amount", "memo"}, func(c *rules.CSV) {},
			[]string{"1@2 E1|1.00|~", "2@3 E2|1.00|~", "3@4 E3|1.00|~", "4@5 E4|1.00|~", "5@6 E5|1.00|~", "control 1"}},
		{"C04", []string{"operation_id", "amount", "memo"}, func(c *rules.CSV) { c.EmptyText = "quoted_is_text" },
			[]string{"1@2 E1|1.00|~", "2@3 E2|1.00|", "3@4 E3|1.00|~", "4@5 E4|1.00|", "5@6 E5|1.00|~", "control 1"}},
		{"C13", []string{"operation_id", "amount"}, func(c *rules.CSV) {},
			[]string{"1@2 OP-1      |1.00", "2@3  OP-2|2.00", "3@4 OP-3\t|3.50", "4@5 OP  4|4.00", "control 1"}},
		{"C46", []string{"operation_id", "business_ref", "amount"}, func(c *rules.CSV) { c.Delimiter, c.Encoding = '\t', "utf-16" },
			[]string{"1@2 A1|Zürich 1|1.00", "2@3 A2|Łódź 2|2.00", "3@4 A3|東京 3|3.10", "control 1"}},
		{"C46", []string{"operation_id", "business_ref", "amount"}, func(c *rules.CSV) { c.Delimiter, c.Encoding = '\t', "utf-16le" },
			[]string{"1@2 A1|Zürich 1|1.00", "2@3 A2|Łódź 2|2.00", "3@4 A3|東京 3|3.10", "control 1"}},
		{"C46", []string{"operation_id"}, func(c *rules.CSV) { c.Delimiter = '\t' },
			[]string{"error C46.csv: the file begins with a byte order mark of utf-16le, the declared encoding is utf-8"}},
		{"C48", []string{"operation_id", "amount"}, func(c *rules.CSV) {},
			[]string{"1@2 A1|fine|1.00", "reject 2@3 memo: not valid UTF-8 (byte E9)", "3@4 A3|fine|3.00", "control 1"}},
		{"C49", []string{"operation_id", "memo", "amount"}, func(c *rules.CSV) {},
			[]string{"1@2 A1|two\nlines|1.00", "2@4 A2|say \"hi\", twice|2.00", "3@5 A3|two\r\nlines|3.00", "4@7 A4|comma, only|4.00", "control 1"}},
		{"C51", []string{"operation_id", "booked_at", "amount"}, func(c *rules.CSV) { c.Header.FirstField, c.EndsBefore = "operation_id", "Total" },
			[]string{"1@5 k1|2031-01-03|20.00", "2@6 k2|2031-01-04|30.00", "3@7 k3|2031-01-09|7.00", "trailer Total||57.00", "control 7"}},
		{"C52a", []string{"operation_id", "amount"}, c52,
			[]string{"1@2 D|k1|10.00", "2@3 D|k2|10.00", "3@4 D|k3|10.00", "trailer T|4|40.00", "control 2"}},
		{"C52b", []string{"operation_id", "amount"}, c52,
			[]string{"1@2 D|k1|10.00", "2@3 D|k2|10.00", "3@4 D|k3|10.00", "trailer T|3|30.00", "control 2"}},
		{"C53", []string{"operation_id", "amount"}, func(c *rules.CSV) { c.SkipLines = "# " },
			[]string{"1@3 #A-100|5.00", "2@4 B-200|6.00", "3@6 #A-101|7.50", "control 3"}},
		{"C53", []string{"operation_id", "amount"}, func(c *rules.CSV) {},
			[]string{"error C53.csv: there is no column operation_id, which the field operation_id reads"}},
		{"C56", []string{"operation_id", "memo", "amount"}, func(c *rules.CSV) {},
			[]string{"1@2 A1|plain|1.00", "reject 2@3: 4 fields, the header has 3", "reject 3@4: 2 fields, the header has 3",
				"reject 4@5: 4 fields, the header has 3", "5@6 A5|plain|5.00", "control 1"}},
		{"C58", []string{"operation_id", "amount"}, func(c *rules.CSV) { c.Delimiter = ';' },
			[]string{"1@2 E1|1.234,56", "2@3 E2|-8,00", "3@4 E3|1.000", "4@5 E4|13", "5@6 E5|0,5", "6@7 E6|1.000.050,25", "7@8 E7|1.23,4", "control 1"}},
		{"C62", []string{"operation_id", "amount"}, func(c *rules.CSV) { c.HeaderNames = "ignore_case" },
			[]string{"error C62.csv: 2 columns (amount, Amount) answer to the name amount, which the field amount reads"}},
		{"C62", []string{"operation_id", "amount"}, func(c *rules.CSV) {},
			[]string{"1@2 A1|1.00|9.00", "2@3 A2|9.00|2.00", "control 1"}},
	} {
		t.Run(test.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "formats", test.file+".csv"))
			if err != nil {
				t.Fatal(err)
			}
			lines, _ := readAll(csvSource(test.change), textFields(test.columns...), data, test.file+".csv")
			check(t, lines, test.want)
		})
	}
}

func c52(c *rules.CSV) {
	c.Delimiter, c.Header.None, c.Columns = '|', true, []string{"record_kind", "operation_id", "amount"}
	c.Rows = &rules.RowKinds{Field: 1, Header: "H", Record: "D", Trailer: "T"}
}

// Whatever the window's size, records are the same: each text is so long that it
// spans several windows.
func TestCSVLongRecords(t *testing.T) {
	long := strings.Repeat("0123456789", 60_000)
	quoted := strings.Repeat("line\n\"\"quoted\"\",", 40_000)
	in := "a,b\n1," + long + "\n2,\"" + quoted + "\"\n3,x\n"
	lines, _ := readAll(csvSource(), textFields("a", "b"), []byte(in), "x.csv")
	check(t, lines, []string{
		"1@2 1|" + long, "2@3 2|" + strings.ReplaceAll(quoted, `""`, `"`), "3@40004 3|x", "control 1",
	})
}

func TestCSVLimits(t *testing.T) {
	lim := DefaultLimits
	lim.RecordBytes, lim.Columns = 1<<20, 5
	for name, in := range map[string]string{
		"a record too long":       "a,b\n1," + strings.Repeat("x", 3<<20) + "\n",
		"a quoted field too long": "a,b\n1,\"" + strings.Repeat("x\n", 2<<20) + "\"\n",
		"a header too long":       strings.Repeat("x", 3<<20),
		"too many columns":        "a,b,c,d,e,f\n",
	} {
		lines, _ := readAllLimits(csvSource(), textFields("a", "b"), []byte(in), "x.csv", lim)
		if last := lines[len(lines)-1]; !strings.Contains(last, "which is the limit") {
			t.Errorf("%s: %s", name, last)
		}
	}
	// further fields than may be kept are counted all the same
	lines, _ := readAllLimits(csvSource(), textFields("a"), []byte("a,b\n1,2,3,4,5,6,7,8\n9,9\n"), "x.csv", lim)
	check(t, lines, []string{"reject 1@2: 8 fields, the header has 2", "2@3 9|9", "control 1"})
}
