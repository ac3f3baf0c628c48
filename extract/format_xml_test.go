package extract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

const xmlKeys = `
format: xml
xml:
  path: Document/Stmt/Ntry
  carry: {account: Document/Stmt/Acct/Id, currency: Document/Stmt/Acct/@Ccy}
  trailer: [Document/Hdr/Count, Document/Hdr/@Sum]
`

func xmlSource(t testing.TB) *rules.Source {
	return sourceOf(t, xmlKeys)
}

const xmlFile = `<?xml version="1.0" encoding="UTF-8"?>
<!-- a statement -->
<b:Document xmlns:b="urn:x" xmlns="urn:y">
  <Hdr Sum="12.50"><Count> 3 </Count></Hdr>
  <Stmt><Acct Ccy="EUR"><Id>A1</Id></Acct>
    <Ntry id="n1"><Amt Ccy="EUR">10.00</Amt><Ref>R &amp; 1</Ref><Ref2>x</Ref2><Ref2>y</Ref2></Ntry>
    <Ntry id="n2"><Amt Ccy="EUR">2.50</Amt><Ref/></Ntry>
  </Stmt>
  <Stmt><Acct><Id>A2</Id></Acct>
    <Ntry><Amt><![CDATA[1<2]]></Amt><Ref>é&#233;</Ref></Ntry>
  </Stmt>
  <Stmt></Stmt>
</b:Document>
`

func TestXML(t *testing.T) {
	got, r := readAll(xmlSource(t), textFields("Amt", "Amt/@Ccy", "Ref", "account"), []byte(xmlFile), "x.xml")
	check(t, got, []string{
		"1@6 10.00|EUR|R & 1|A1|EUR|@id=n1|Ref2=x|Ref2#2=y",
		"2@7 2.50|EUR|~|A1|EUR|@id=n2",
		"3@10 1<2|~|éé|A2|~",
		"trailer 3|12.50",
	})
	if h := strings.Join(r.Header(), ","); h != "Amt,Amt/@Ccy,Ref,account,currency" {
		t.Errorf("header %s", h)
	}
}

func TestXMLRefusals(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"other root", "<Doc><Stmt/></Doc>", `error x.xml: there is no element "Document"`},
		{"other path", "<Document><Hdr Sum=''><Count>1</Count></Hdr><Statement/></Document>", `error x.xml: there is no element "Document/Stmt"`},
		{"no total", "<Document><Stmt/></Document>", `error x.xml: there is no "Document/Hdr/Count", which trailer.1 of the controls reads`},
		{"cut", xmlFile[:strings.Index(xmlFile, "R &amp;")], "error x.xml: the XML document ends too early, inside Ref: the file is cut"},
		{"cut in a tag", xmlFile[:strings.Index(xmlFile, "</b:Doc")+4], "error x.xml: the XML document ends too early, inside Document: the file is cut"},
		{"empty", "", "error x.xml: the XML document ends before its root element does: the file is cut"},
		{"crossed", "<Document><Stmt></Document></Stmt>", "error x.xml: broken XML on line 1: the end of Document fits no start"},
		{"two roots", "<Document/><Document/>", "error x.xml: broken XML on line 1: a second root element"},
		{"text behind", "<Document/>x", "error x.xml: broken XML on line 1: text outside the root element"},
		{"document type", "<!DOCTYPE Document [<!ENTITY a 'b'>]><Document/>", "error x.xml: line 1 has a document type definition, which is not read"},
		{"unknown entity", "<Document>&a;</Document>", "error x.xml: broken XML on line 1: the reference &a; is not known: only &lt; &gt; &amp; &apos; &quot; and characters by number are read"},
		{"two totals", "<Document><Hdr Sum='1'/><Hdr Sum='2'/></Document>", `error x.xml: line 1: "Document/Hdr/@Sum" stands there twice, with two values, and should be the total of the document`},
		{"not UTF-8", "<Document>\xff</Document>", "error x.xml: broken XML on line 1: not valid UTF-8 (byte FF)"},
		{"unknown encoding", `<?xml version="1.0" encoding="x-mine"?><Document/>`, `error x.xml: the encoding x-mine is not known`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := readAll(xmlSource(t), textFields("Amt"), []byte(c.data), "x.xml")
			check(t, got[len(got)-1:], []string{c.want})
		})
	}
}

// A needed column that occurs twice has no one value.
func TestXMLRepeatedColumnIsReject(t *testing.T) {
	data := strings.Replace(xmlFile, "<Ref2>y</Ref2>", "<Ref>y</Ref>", 1)
	got, _ := readAll(xmlSource(t), textFields("Ref"), []byte(data), "x.xml")
	check(t, got[:2], []string{"reject 1@6 Ref: it occurs 2 times in the record", "2@7 ~|A1|EUR|@id=n2|Amt=2.50|Amt/@Ccy=EUR"})
}

func TestXMLEncodings(t *testing.T) {
	utf16 := func(s string, big bool) string {
		var b strings.Builder
		for _, r := range s {
			if big {
				b.WriteString(string([]byte{byte(r >> 8), byte(r)}))
			} else {
				b.WriteString(string([]byte{byte(r), byte(r >> 8)}))
			}
		}
		return b.String()
	}
	body := func(encoding, e string) string {
		if encoding != "" {
			encoding = ` encoding="` + encoding + `"`
		}
		return `<?xml version="1.0"` + encoding + `?><r><a>` + e + `</a></r>`
	}
	for _, c := range []struct{ wanted, data, want string }{
		{"", body("", "é"), "é"},
		{"", "\xEF\xBB\xBF" + body("utf-8", "é"), "é"},
		{"", body("ISO-8859-1", "\xE9"), "é"},
		{"", body("windows-1252", "\x80"), "€"},
		{"", body("ISO-8859-15", "\xA4"), "€"},
		{"iso-8859-1", body("ISO-8859-1", "\xE9"), "é"},
		{"iso-8859-1", body("", "\xE9"), "é"},
		{"iso-8859-1", "<r><a>\xE9</a></r>", "é"},
		{"", utf16("\uFEFF"+body("UTF-16", "é"), true), "é"},
		{"", utf16("\uFEFF"+body("utf-16", "é"), false), "é"},
		{"", utf16(body("UTF-16LE", "é"), false), "é"},
		{"utf-8", body("ISO-8859-1", "\xE9"), "error x.xml: the document declares the encoding iso-8859-1, where utf-8 is declared for it"},
		{"iso-8859-1", body("UTF-8", "é"), "error x.xml: the document declares the encoding utf-8, where iso-8859-1 is declared for it"},
		{"", body("windows-1252", "\x81"), "error x.xml: a byte of the document is no character of its encoding windows-1252"},
		{"", "\xEF\xBB\xBF" + body("ISO-8859-1", "x"), "error x.xml: the document declares the encoding iso-8859-1, and its first bytes are those of utf-8"},
	} {
		src := sourceOf(t, "format: xml\nxml: {path: r/a}\n")
		src.XML.Encoding = c.wanted
		got, _ := readAll(src, textFields("."), []byte(c.data), "x.xml")
		want := "1@1 " + c.want
		if strings.HasPrefix(c.want, "error") {
			want = c.want
		}
		check(t, got[len(got)-1:], []string{want})
	}
}

// What would fill memory is refused within the limits.
func TestXMLLimits(t *testing.T) {
	lim := DefaultLimits
	lim.RecordBytes = 10_000
	lim.Columns = 50
	src := sourceOf(t, "format: xml\nxml: {path: r/a}\n")
	var many, same strings.Builder
	for i := range 60 {
		fmt.Fprintf(&many, "<c%d>1</c%d>", i, i)
		same.WriteString("<c>1</c>")
	}
	for _, c := range []struct{ name, data, want string }{
		{"deep", "<r><a>" + strings.Repeat("<d>", 200), "error x.xml: more than 100 nested elements, which is the limit"},
		{"huge text", "<r><a>" + strings.Repeat("x", 20_000) + "</a></r>", "error x.xml: more than 10000 bytes in one record, which is the limit"},
		{"huge attribute", "<r><a b='" + strings.Repeat("x", 20_000) + "'/></r>", "error x.xml: more than 10000 bytes in one record, which is the limit"},
		{"huge name", "<" + strings.Repeat("x", 20_000), "error x.xml: more than 10000 bytes in one record, which is the limit"},
		{"huge comment", "<!--" + strings.Repeat("x", 20_000), "error x.xml: more than 10000 bytes in one record, which is the limit"},
		{"many names", "<r><a>" + many.String() + "</a></r>", "error x.xml: more than 50 columns, which is the limit"},
		{"many elements", "<r><a>" + same.String() + "</a></r>", "error x.xml: more than 50 elements of one name in a record, which is the limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := readAllLimits(src, textFields("."), []byte(c.data), "x.xml", lim)
			check(t, got[len(got)-1:], []string{c.want})
		})
	}
}

func benchXML(rows int) []byte {
	var b strings.Builder
	b.WriteString("<Document><Stmt>\n")
	for i := range rows {
		fmt.Fprintf(&b, "<Ntry><NtryRef>n%d</NtryRef><Amt Ccy=\"EUR\">%d.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2031-05-06</Dt></BookgDt><NtryDtls><TxDtls><Refs><EndToEndId>op_%012d</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>\n", i, i, i)
	}
	b.WriteString("</Stmt></Document>")
	return []byte(b.String())
}

func BenchmarkXML(b *testing.B) {
	src := sourceOf(b, "format: xml\nxml: {path: Document/Stmt/Ntry}\n")
	benchmarkFormat(b, src, benchXML(20_000), textFields("Amt", "NtryDtls/TxDtls/Refs/EndToEndId"), "x.xml", 20_000)
}

// A value that stands behind the records it should be carried to is not left out of
// them in silence.
func TestXMLCarriedTooLate(t *testing.T) {
	src := sourceOf(t, "format: xml\nxml:\n  path: D/S/N\n  carry: {cur: D/S/C, of: D/S/H/@of}\n")
	const record, cur, of = "<N><id>1</id></N>", "<C>EUR</C>", `<H of="x"/>`
	last := func(body string) string {
		got, _ := readAll(src, textFields("id", "cur", "of"), []byte("<D>"+body+"</D>"), "x.xml")
		return got[len(got)-1]
	}
	for _, c := range []struct{ body, want string }{
		{"<S>" + cur + of + record + "</S>", "1@1 1|EUR|x"},
		{"<S>" + record + "</S>", "1@1 1|~|~"},
		{"<S>" + record + "</S><S>" + cur + of + record + "</S>", "2@1 1|EUR|x"},
		{"<S>" + cur + record + cur + record + "</S>", "2@1 1|EUR|~"},
		{"<S>" + of + record + cur + "</S>", `error x.xml: line 1: "D/S/C" stands behind records of its element, which need it as the column cur`},
		{"<S>" + cur + record + of + record + "</S>", `error x.xml: line 1: "D/S/H/@of" stands behind records of its element, which need it as the column of`},
		{"<S>" + record + "<C/></S>", "1@1 1|~|~"},
		// Given twice, the last one must not win.
		{"<S>" + cur + "<C>USD</C>" + of + record + "</S>", `error x.xml: line 1: "D/S/C" stands there twice before a record, with two values, and is carried as the column cur`},
		{"<S>" + cur + "<C/>" + of + record + "</S>", `error x.xml: line 1: "D/S/C" stands there twice before a record, with two values, and is carried as the column cur`},
		{"<S>" + of + `<H of="y"/>` + cur + record + "</S>", `error x.xml: line 1: "D/S/H/@of" stands there twice before a record, with two values, and is carried as the column of`},
		{"<S>" + cur + cur + of + record + "</S>", "1@1 1|EUR|x"},
		{"<S>" + cur + of + "</S><S><C>USD</C>" + of + record + "</S>", "1@1 1|USD|x"},
		{"<S>" + cur + of + record + "<C>USD</C>" + record + "</S>", "2@1 1|USD|x"},
	} {
		check(t, []string{last(c.body)}, []string{c.want})
	}
}
