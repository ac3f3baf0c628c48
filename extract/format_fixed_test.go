package extract

import (
	"strings"
	"testing"
)

// fixedKinds are those of a file with a header, records and a trailer that states
// their number and sum.
const fixedKinds = `
format: fixed
fixed:
  line_length: 24
  kind: 1-2
  first: "01"
  last: "09"
  padding: "9"
  kinds:
    - {kind: "01", as: header, columns: {made at: 3-10}, carry: {made_at: made at}}
    - {kind: "02", columns: {id: 3-12, amount: 13-20, currency: 21-23}}
    - {kind: "09", as: footer, columns: {count: 3-8, total: 9-20}, count: count, sums: [{field: total, column: amount}]}
`

func fixedFile(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l + strings.Repeat(" ", 24-len(l)) + "\r\n")
	}
	return b.String()
}

func fixedWhole() string {
	return fixedFile("0120310506", "02id-1      00001050EUR", "02id 2      00000100USD", "09000002000000001150") +
		strings.Repeat("9", 24) + "\r\n" + strings.Repeat("9", 24)
}

func TestFixed(t *testing.T) {
	src := sourceOf(t, fixedKinds)
	got, r := readAll(src, textFields("id", "amount", "made_at"), []byte(fixedWhole()), "x.txt")
	check(t, got, []string{
		"1@2 02|id-1|00001050|EUR|20310506",
		"2@3 02|id 2|00000100|USD|20310506",
		"trailer 000002|000000001150",
		"control 4",
	})
	if h := strings.Join(r.Header(), ","); h != "record_kind,id,amount,currency,made_at" {
		t.Errorf("header %s", h)
	}
}

func TestFixedRefusals(t *testing.T) {
	whole := fixedWhole()
	for _, c := range []struct{ name, data, want string }{
		{"shorter line", strings.Replace(whole, "EUR \r\n", "EUR\r\n", 1), "error x.txt: line 2 has 23 bytes, 24 are declared"},
		{"longer line", strings.Replace(whole, "EUR ", "EUR  ", 1), "error x.txt: line 2 has more than the declared 24 bytes"},
		{"far longer line", strings.Replace(whole, "EUR ", "EUR"+strings.Repeat("x", 50), 1), "error x.txt: line 2 has more than the declared 24 bytes"},
		{"cut line", whole[:40], "error x.txt: line 2 has 14 of 24 bytes: the file is cut"},
		{"no trailer", whole[:26*3], "error x.txt: the last line is not of the kind 09: the file is cut"},
		{"no header", whole[26:], "error x.txt: line 1 is not of the kind 01, which the first line must be"},
		{"another sum", strings.Replace(whole, "1150", "1151", 1), "error x.txt: control sum of amount 1151 against 1150 over the records read (line 4, field 2 of the kind 09)"},
		{"another count", strings.Replace(whole, "09000002", "09000003", 1), "error x.txt: control count 3 against 2 records read (line 4, field 1 of the kind 09)"},
		{"a lost record", strings.Replace(whole, whole[26:52], "", 1), "error x.txt: control count 2 against 1 record read (line 3, field 1 of the kind 09)"},
		{"joined", whole + "\r\n" + whole, "error x.txt: line 7 follows a line that only fills the last block"},
		{"joined without padding", whole[:26*4] + whole, "error x.txt: line 5 follows the line of the kind 09, which must be the last one"},
		{"no number", strings.Replace(whole, "00001050", "0000105x", 1), "error x.txt: line 2: the column amount, which the kind 09 adds up, is no number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := readAll(sourceOf(t, fixedKinds), textFields("id"), []byte(c.data), "x.txt")
			check(t, got[len(got)-1:], []string{c.want})
		})
	}
}

func TestFixedUnknownKindIsReject(t *testing.T) {
	data := strings.Replace(fixedWhole(), "02id 2", "05id 2", 1)
	got, _ := readAll(sourceOf(t, fixedKinds), textFields("id"), []byte(data), "x.txt")
	check(t, got[:2], []string{
		"1@2 02|id-1|00001050|EUR|20310506",
		"reject 2@3: the row kind 05 is none of the declared ones",
	})
}

// Places are bytes of the encoded line.
func TestFixedEncodings(t *testing.T) {
	const plain = "format: fixed\nfixed: {line_length: 8, encoding: ENC, TRIM columns: {id: 1-4, name: 5-8}}\n"
	for _, c := range []struct{ encoding, trim, data, want string }{
		{"utf-8", "", "\xEF\xBB\xBFab  é x", "1@1 ab|é x"},
		{"utf-8", "", "ab ééx", "reject 1@1 id: bytes 1-4 are not valid UTF-8 (byte C3)"},
		{"latin-1", "", "ab  \xE9  x", "1@1 ab|é  x"},
		{"windows-1252", "", "ab  \x80  x", "1@1 ab|€  x"},
		{"windows-1252", "", "ab  \x81  x", "reject 1@1 name: bytes 5-8 are not valid windows-1252 (byte 81)"},
		{"latin-1", "", "\xEF\xBB\xBFb  xxxx", "error x.txt: the file begins with a byte order mark of utf-8, the declared encoding is latin-1"},
		{"utf-8", "trim: right,", " ab  xxx", "1@1  ab| xxx"},
		{"utf-8", "trim: left,", " ab  xxx", "1@1 ab |xxx"},
		{"utf-8", "trim: none,", " ab     ", "1@1  ab |~"},
	} {
		src := sourceOf(t, strings.NewReplacer("ENC", c.encoding, "TRIM", c.trim).Replace(plain))
		got, _ := readAll(src, textFields("id"), []byte(c.data), "x.txt")
		check(t, got[:1], []string{c.want})
	}
}

func TestFixedWithoutLineEnds(t *testing.T) {
	src := sourceOf(t, "format: fixed\nfixed: {line_length: 4, line_end: none, columns: {id: 1-4}}\n")
	got, _ := readAll(src, textFields("id"), []byte("a1  b2\r\nc3  "), "x.txt")
	check(t, got, []string{"1@1 a1", "2@2 b2\r\n", "3@3 c3"})
	got, _ = readAll(src, textFields("id"), []byte("a1  b2"), "x.txt")
	check(t, got, []string{"1@1 a1", "error x.txt: line 2 has 2 of 4 bytes: the file is cut"})
}
