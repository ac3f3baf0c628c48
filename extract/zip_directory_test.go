package extract

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
)

// storedZip is an archive whose members are neither compressed nor described behind
// their content: lengths and sums stand in front of it.
func storedZip(t testing.TB, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(members); i += 2 {
		text := members[i+1]
		w, err := z.CreateRaw(&zip.FileHeader{
			Name: members[i], Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(text)),
			CompressedSize64: uint64(len(text)), UncompressedSize64: uint64(len(text)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// shortened has the first n bytes of the content of a stored archive of one member as
// that member: the others belong to none.
func shortened(archive []byte, content string, n int) []byte {
	b := bytes.Clone(archive)
	local, entry := bytes.Index(b, []byte("PK\x03\x04")), bytes.Index(b, []byte("PK\x01\x02"))
	for _, at := range []int{local + 14, entry + 16} {
		binary.LittleEndian.PutUint32(b[at:], crc32.ChecksumIEEE([]byte(content[:n])))
		binary.LittleEndian.PutUint32(b[at+4:], uint32(n))
		binary.LittleEndian.PutUint32(b[at+8:], uint32(n))
	}
	return b
}

// Records that stand in the file and in no member of its directory are not lost in
// silence: an operation whose result is there would be absent, and sent again.
func TestZipBytesOfNoMember(t *testing.T) {
	const csv = "a,b\n1,2\n3,4\n"
	one, other := storedZip(t, "a.csv", csv), storedZip(t, "a.csv", "a,b\n5,6\n")
	described := zipped(t, "a.csv", csv)
	inserted := func(archive []byte, at int) []byte { // and the directory moved on
		b := append(bytes.Clone(archive[:at]), append([]byte("stray"), archive[at:]...)...)
		end := bytes.LastIndex(b, []byte("PK\x05\x06"))
		binary.LittleEndian.PutUint32(b[end+16:], binary.LittleEndian.Uint32(b[end+16:])+5)
		return b
	}
	commented := append(bytes.Clone(one), "note"...)
	binary.LittleEndian.PutUint16(commented[len(one)-2:], 4)
	for _, c := range []struct {
		name string
		data []byte
		want string // part of the error, "" for none
	}{
		{"whole", one, ""},
		{"described behind the content", described, ""},
		{"comment", commented, ""},
		{"two archives", append(bytes.Clone(other), one...), fmt.Sprintf("%d bytes at byte 0 belong to no member", len(other))},
		{"two archives, the last one cut", append(bytes.Clone(one), other[:20]...), fmt.Sprintf("20 bytes at byte %d belong to no member", len(one))},
		{"in front", append([]byte("x"), one...), "1 bytes at byte 0 belong to no member"},
		{"behind", append(bytes.Clone(one), 'x'), fmt.Sprintf("1 bytes at byte %d belong to no member", len(one))},
		{"behind the comment", append(bytes.Clone(commented), 'x'), fmt.Sprintf("1 bytes at byte %d belong to no member", len(commented))},
		{"before the directory", inserted(one, bytes.Index(one, []byte("PK\x01\x02"))), "bytes at byte 47 belong to no member"},
		{"before the directory, described", inserted(described, bytes.Index(described, []byte("PK\x01\x02"))), "belong to no member"},
		{"shortened", shortened(one, csv, 8), "bytes at byte 43 belong to no member"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := readAll(zipSource("a.csv"), textFields("a"), c.data, "x.zip")
			if c.want == "" {
				check(t, got, []string{"1@2 1|2", "2@3 3|4", "control 1"})
				return
			}
			if len(got) != 1 || !strings.HasPrefix(got[0], "error x.zip: ") || !strings.Contains(got[0], c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			got, _ = readAll(xlsxSource(t, ""), textFields("a"), c.data, "x.xlsx")
			if len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("as a workbook %q, want %q", got, c.want)
			}
		})
	}
}

// Members that share bytes, as in a bomb of overlapping members, are refused.
func TestZipMembersThatOverlap(t *testing.T) {
	b := storedZip(t, "a.csv", "a,b\n1,2\n", "b.csv", "a,b\n3,4\n")
	entry := bytes.LastIndex(b, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(b[entry+42:], 0)
	got, _ := readAll(zipSource("*.csv"), textFields("a"), b, "x.zip")
	check(t, got, []string{"error x.zip: two members of the archive share the bytes at 35"})
}

// Rows and cells in a place where ECMA-376 has none are not passed over.
func TestXLSXForeignElements(t *testing.T) {
	row := func(cells string) string { return `<row r="2">` + cells + `</row>` }
	const cell = `<c r="A2" t="s"><v>2</v></c>`
	for _, c := range []struct{ sheet, want string }{
		{row(cell), "control 1"},
		{row(cell + `<extLst><ext><c r="B2"><v>7</v></c></ext></extLst>`), "control 1"},
		{`<x>` + row(cell) + `</x>`, "error x.xlsx: an element x stands among the rows of the sheet"},
		{`<x/>` + row(cell), "error x.xlsx: an element x stands among the rows of the sheet"},
		{`<AlternateContent><Choice>` + row(cell) + `</Choice></AlternateContent>`, "error x.xlsx: an element AlternateContent stands among the rows of the sheet"},
		{row(`<x>` + cell + `</x>`), "error x.xlsx: an element x stands among the cells of row 2"},
		{row(cell + row(cell)), "error x.xlsx: an element row stands among the cells of row 2"},
		{row(cell) + `</sheetData><cols><row r="9"/></cols><sheetData>`, "control 1"},
	} {
		got, _ := readAll(xlsxSource(t, ""), textFields("id"), book(t, head+c.sheet), "x.xlsx")
		check(t, got[len(got)-1:], []string{c.want})
		if c.want == "control 1" {
			check(t, got[:1], []string{"1@2 a bA|~"})
		}
	}
}

// One text that many cells share counts in each of them.
func TestXLSXSharedTextsWithinLimits(t *testing.T) {
	sheet := func(rows int) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range rows {
			fmt.Fprintf(&b, `<row r="%d"><c r="A%d" t="s"><v>2</v></c><c r="B%d"><v>1</v></c></row>`, i+2, i+2, i+2)
		}
		return b.String()
	}
	texts := func(length int) string {
		return `<sst><si><t>id</t></si><si><t>amount</t></si><si><t>` + strings.Repeat("é", length) + `</t></si></sst>`
	}
	last := func(rows, length int) string {
		got, _ := readAll(xlsxSource(t, ""), textFields("id"), book(t, sheet(rows), "xl/sharedStrings.xml", texts(length)), "x.xlsx")
		return got[len(got)-1]
	}
	check(t, []string{last(3, longestText), last(3, longestText+1), last(20_000, longestText)}, []string{
		"control 1",
		"error x.xlsx/xl/sharedStrings.xml: more than 32767 characters in one shared text, which is the limit",
		"error x.xlsx: more than 500 bytes of content for each compressed byte, which is the limit",
	})
}
