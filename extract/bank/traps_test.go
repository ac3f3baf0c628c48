package bank

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// camtFile is a camt.053 around statements.
func camtFile(statements ...string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId></GrpHdr>` +
		strings.Join(statements, "") + `</BkToCstmrStmt></Document>`
}

// statement is a statement with its balances around entries; head stands before them.
func statement(id, opening, closing, head string, entries ...string) string {
	balance := func(kind, amount string) string {
		mark := "CRDT"
		if strings.HasPrefix(amount, "-") {
			mark, amount = "DBIT", amount[1:]
		}
		return `<Bal><Tp><CdOrPrtry><Cd>` + kind + `</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">` + amount + `</Amt><CdtDbtInd>` + mark + `</CdtDbtInd><Dt><Dt>2026-11-27</Dt></Dt></Bal>`
	}
	return `<Stmt><Id>` + id + `</Id>` + head + `<Acct><Id><IBAN>DE02</IBAN></Id></Acct>` + balance("OPBD", opening) + balance("CLBD", closing) + strings.Join(entries, "") + `</Stmt>`
}

// entry is a booked entry; more stands behind its dates.
func entry(amount, mark, more string) string {
	return `<Ntry><Amt Ccy="EUR">` + amount + `</Amt><CdtDbtInd>` + mark + `</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-27</Dt></BookgDt>` + more + `</Ntry>`
}

func tx(id, amount string) string {
	if amount != "" {
		amount = `<Amt Ccy="EUR">` + amount + `</Amt>`
	}
	return `<TxDtls><Refs><EndToEndId>` + id + `</EndToEndId></Refs>` + amount + `</TxDtls>`
}

func details(txs ...string) string { return `<NtryDtls>` + strings.Join(txs, "") + `</NtryDtls>` }

// mt940 is one statement of MT940 around lines.
func mt940(no, opening, closing string, lines ...string) string {
	return ":20:REF\n:25:ACC\n:28C:" + no + "\n:60F:" + opening + "\n" + strings.Join(lines, "\n") + "\n:62F:" + closing + "\n-\n"
}

func TestT5CutFiles(t *testing.T) {
	camt := camtFile(statement("S", "0", "1", "", entry("1", "CRDT", "")))
	wantRefused(t, Camt, camt[:len(camt)-1], Options{}, "the document ends inside of", "the file is cut")
	wantRefused(t, Camt, "", Options{}, "the file is cut")
	wantRefused(t, MT940, ":20:REF\n:25:ACC\n:28C:1\n:60F:C261127EUR1,\n", Options{}, "no closing balance", "the file is cut")
	wantRefused(t, MT940, "", Options{}, "the file is cut")
	wantRefused(t, BAI2, "01,A,B,261127,1200,1,,,2/\n", Options{}, "there is no file trailer (99)", "the file is cut")
	wantRefused(t, NACHA, "", Options{}, "the file is cut")
	wantRefused(t, Pain002, `<Document><CstmrPmtStsRpt>`, Options{}, "the file is cut")
}

func TestT7Encodings(t *testing.T) {
	text := `<Document xmlns="urn:camt.053.001.02"><BkToCstmrStmt><Stmt><Id>é</Id><Ntry><Amt Ccy="EUR">1</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><AddtlNtryInf>Zoë – “x”</AddtlNtryInf></Ntry></Stmt></BkToCstmrStmt></Document>`
	latin, _ := charmap.Windows1252.NewEncoder().String(text)
	utf16, _ := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(`<?xml version="1.0" encoding="UTF-16"?>` + text)
	for name, data := range map[string]string{
		"plain":        text,
		"mark":         "\xEF\xBB\xBF" + text,
		"windows-1252": `<?xml version="1.0" encoding="windows-1252"?>` + latin,
		"utf-16":       utf16,
	} {
		rows, _ := mustRead(t, Camt, data, Options{})
		if got := rows[0].Values[Info] + rows[0].Values[StatementID]; got != "Zoë – “x”é" {
			t.Errorf("%s: %q", name, got)
		}
	}
	// what is not valid as declared is an error with its place, never another character
	wantRefused(t, Camt, latin, Options{}, "line 1", "not valid UTF-8 (byte E9)")
	wantRefused(t, Camt, `<?xml version="1.0" encoding="windows-1252"?>`+strings.Replace(latin, "Zo", "Zo\x81", 1), Options{}, "no character of its encoding windows-1252")
	wantRefused(t, Camt, `<?xml version="1.0" encoding="x-none"?>`+text, Options{}, "the encoding x-none is not known")
	wantRefused(t, Camt, strings.Replace(utf16, "e\x00", "\x00\xDC", 3), Options{})

	mt := mt940("1", "C261127EUR0,", "C261127EUR1,", ":61:261127C1,NTRFref\n:86:Gr\xFC\xDFe")
	wantRefused(t, MT940, mt, Options{}, "line 6", "byte 7 of the line is not valid in the declared encoding")
	rows, _ := mustRead(t, MT940, mt, Options{Encoding: "latin-1"})
	if rows[0].Values[Info] != "Grüße" {
		t.Errorf("latin-1: %q", rows[0].Values[Info])
	}
	rows, _ = mustRead(t, MT940, strings.Replace(mt, "\xFC\xDF", "\x81\xE1", 1), Options{Encoding: "cp850"})
	if rows[0].Values[Info] != "Grüße" {
		t.Errorf("cp850: %q", rows[0].Values[Info])
	}
}

func TestT8Amounts(t *testing.T) {
	for text, want := range map[string]string{
		"0,": "0", "11,8": "11.8", "1234,56": "1234.56", "000,10": "0.10", "7": "7", ",5": "0.5", "99999999999999,99": "99999999999999.99",
		"1.234,56": "", "1,2,3": "", "": "", ",": "", "1E2": "", "-5,": "", "+5,": "", "1234567890123456789": "", "1 000,": "", "٣,": "",
	} {
		d, ok := parseDecimal(text, ',')
		if got := d.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s, %v; want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"-1.00", "1,00", "1.0.0", "", "1e3", "NaN", "0x10", "1_000"} {
		wantRefused(t, Camt, camtFile(statement("S", "0", "1", "", entry(text, "CRDT", ""))), Options{}, "is no amount")
	}
}

func TestT10MinorUnits(t *testing.T) {
	bai := func(currency, account string) string {
		return "01,A,B,261127,1200,1,,,2/\n02,A,B,1,261127,,,2/\n03,1," + currency + ",010,1000,,,015,1500,,/\n16,142,500,,X,,/\n49,3000,3/\n98,3000,1,5/\n99,3000,1,7/\n"
	}
	for currency, want := range map[string]string{"USD": "5.00", "JPY": "500", "KWD": "0.500", "": "5.00"} {
		rows, _ := mustRead(t, BAI2, bai(currency, ""), Options{})
		if got := rows[0].Values[Amount]; got != want {
			t.Errorf("%s: %s, want %s", currency, got, want)
		}
	}
	wantRefused(t, BAI2, bai("XXX", ""), Options{}, `"XXX" is no currency with a minor unit`)
}

func TestT11Signs(t *testing.T) {
	wantRefused(t, Camt, camtFile(statement("S", "0", "1", "", entry("1", "credit", ""))), Options{}, "neither CRDT nor DBIT")
	rows, _ := mustRead(t, Camt, camtFile(statement("S", "5", "-1", "", entry("6", "DBIT", ""))), Options{})
	wantCells(t, rows, "-6 | 6 | DBIT\n", Amount, UnsignedAmount, Side)

	// the sign of BAI2 is that of the type code, and the balances prove it
	bai := func(code string) string {
		return "01,A,B,261127,1200,1,,,2/\n02,A,B,1,261127,,,2/\n03,1,,010,1000,,,015,500,,/\n16," + code + ",500,,X,,/\n49,2000,3/\n98,2000,1,5/\n99,2000,1,7/\n"
	}
	for code, opt := range map[string]Options{"475": {}, "699": {}, "960": {}, "721": {DebitCodes: []string{"721"}}, "142": {DebitCodes: []string{"142"}}} {
		rows, _ := mustRead(t, BAI2, bai(code), opt)
		if rows[0].Values[Amount] != "-5.00" {
			t.Errorf("%s: %s", code, rows[0].Values[Amount])
		}
	}
	wantRefused(t, BAI2, bai("142"), Options{}, "opening 10.00 + entries 5.00 = 15.00 USD, but the closing balance is 5.00")
	for _, code := range []string{"721", "900", "000", "1a5", "47", ""} {
		wantRefused(t, BAI2, bai(code), Options{}, "has no sign in the specification")
	}
}

// The sign of a reversal follows the standard, and the balances decide.
func TestT12Reversals(t *testing.T) {
	file := func(mark, closing string) string {
		return mt940("1", "C261127EUR100,", closing, ":61:261127"+mark+"7,NTRFref")
	}
	for mark, closing := range map[string]string{"RC": "C261127EUR93,", "RD": "C261127EUR107,", "D": "C261127EUR93,", "C": "C261127EUR107,"} {
		rows, _ := mustRead(t, MT940, file(mark, closing), Options{})
		if got := rows[0].Values[Reversal]; got != fmt.Sprint(mark[0] == 'R') {
			t.Errorf("%s: reversal %s", mark, got)
		}
	}
	wantRefused(t, MT940, file("RC", "C261127EUR107,"), Options{}, "opening 100 + entries -7 = 93 EUR, but the closing balance is 107")
	rows, _ := mustRead(t, Camt, camtFile(statement("S", "10", "7", "", entry("3", "DBIT", "<RvslInd>true</RvslInd>"))), Options{})
	wantCells(t, rows, "-3 | RVSL | BOOK | true\n", Amount, Status, RawStatus, Reversal)
	wantRefused(t, Camt, camtFile(statement("S", "10", "13", "", entry("3", "DBIT", "<RvslInd>1</RvslInd>"))), Options{}, "opening 10 + entries -3 = 7 EUR")
}

// Balances, totals and headers are structure; fees are rows.
func TestT13Structure(t *testing.T) {
	for _, f := range fixtures(t) {
		rows, facts := mustRead(t, f.format, string(f.data), Options{})
		if facts.Control == 0 || len(rows) == 0 {
			t.Errorf("%s: %d rows, %d structure records", f.name, len(rows), facts.Control)
		}
	}
	summary := func(count, sum string) string {
		return camtFile(statement("S", "0", "1", "", `<TxsSummry><TtlNtries><NbOfNtries>`+count+`</NbOfNtries><Sum>`+sum+`</Sum></TtlNtries></TxsSummry>`, entry("3", "CRDT", ""), entry("2", "DBIT", "")))
	}
	mustRead(t, Camt, summary("2", "5.0"), Options{})
	wantRefused(t, Camt, summary("3", "5"), Options{}, "its summary states 3 entries, there are 2")
	wantRefused(t, Camt, summary("2", "6"), Options{}, "its summary states a sum of 6 over the entries, they come to 5")
	mt := func(count, sum string) string {
		return ":20:R\n:25:A\n:28C:1\n:34F:EUR0,\n:61:261127C5,NTRFx\n:61:261127C2,NTRFy\n:90C:" + count + "EUR" + sum + "\n:90D:0EUR0,\n-\n"
	}
	mustRead(t, MT942, mt("2", "7,"), Options{})
	wantRefused(t, MT942, mt("3", "7,"), Options{}, "it states 3 credit entries, there are 2")
	wantRefused(t, MT942, mt("2", "8,"), Options{}, "it states a sum of 8 over the credit entries, they come to 7")
	// entries below the floor are counted, and not listed
	mustRead(t, MT942, strings.Replace(mt("3", "8,"), "EUR0,", "EUR1,5", 1), Options{})
}

// Real rows that are equal stay several.
func TestT14EqualRows(t *testing.T) {
	fee := entry("1", "DBIT", "<AddtlNtryInf>fee</AddtlNtryInf>")
	rows, _ := mustRead(t, Camt, camtFile(statement("S", "3", "0", "", fee, fee, fee)), Options{})
	wantCells(t, rows, "1 | -1\n2 | -1\n3 | -1\n", EntryNo, Amount)
}

// An entry of the intraday report and of the statement has one id; the later one is
// final.
func TestT15IntradayThenStatement(t *testing.T) {
	e := entry("3", "CRDT", "<AcctSvcrRef>B-1</AcctSvcrRef>"+details(tx("po-1", "")))
	report := strings.NewReplacer("camt.053", "camt.052", "BkToCstmrStmt", "BkToCstmrAcctRpt", "Stmt>", "Rpt>").Replace(camtFile(statement("S", "0", "9", "", e)))
	early, facts := mustRead(t, Camt, report, Options{})
	final, _ := mustRead(t, Camt, camtFile(statement("S", "0", "3", "", e)), Options{})
	wantCells(t, early, "DE02/B-1/C | PROV | 0\n", RemoteID, Status, Finality)
	wantCells(t, final, "DE02/B-1/C | BOOK | 2\n", RemoteID, Status, Finality)
	if facts.Provisional == "" {
		t.Error("a camt.052 is not provisional")
	}
	interim := "01,A,B,261127,1200,1,,,2/\n02,A,B,1,261127,,,3/\n03,1,,,,,/\n16,142,500,,X,,/\n49,500,3/\n98,500,1,5/\n99,500,1,7/\n"
	rows, facts := mustRead(t, BAI2, interim, Options{})
	wantCells(t, rows, "PROV | 3\n", Status, RawStatus)
	if facts.Provisional == "" {
		t.Error("an interim group of BAI2 is not provisional")
	}
}

// The silence of a group that tests or deletes proves nothing, and its rows are not
// booked.
func TestGroupsOfBAI2ThatAreNotBooked(t *testing.T) {
	for status, want := range map[string]string{"1": "BOOK", "2": "DLTD", "3": "BOOK", "4": "TEST"} {
		file := "01,A,B,261127,1200,1,,,2/\n02,A,B," + status + ",261127,,,2/\n03,1,,,,,/\n16,142,500,,X,,/\n49,500,3/\n98,500,1,5/\n99,500,1,7/\n"
		rows, facts := mustRead(t, BAI2, file, Options{})
		wantCells(t, rows, want+"\n", Status)
		if booked := want == "BOOK"; (facts.Provisional == "") != booked {
			t.Errorf("group status %s: %q", status, facts.Provisional)
		}
	}
}

// A second page that opens like a first one (60F in place of 60M) does not hide that
// the page before it is missing.
func TestSecondPageThatOpensLikeFirst(t *testing.T) {
	page := func(number, opening, closing string) *Statement {
		_, facts := mustRead(t, MT940, ":20:X\n:25:1\n:28C:"+number+"\n:60F:C261127EUR"+opening+",\n:62F:C261127EUR"+closing+",\n-\n", Options{})
		return &facts.Statements[0]
	}
	one, two, other := page("7/1", "5", "5"), page("7/2", "5", "5"), page("7", "5", "5")
	for _, c := range []struct {
		statements []*Statement
		numbers    bool
		gaps       int
	}{
		{[]*Statement{one, two}, true, 0},
		{[]*Statement{two}, true, 1},
		{[]*Statement{two}, false, 0},
		{[]*Statement{one}, true, 0},
		{[]*Statement{other}, true, 0},
	} {
		var places []Place
		for i, s := range c.statements {
			places = append(places, Place{File: i, Statement: s})
		}
		if gaps := Chain(places, c.numbers); len(gaps) != c.gaps {
			t.Errorf("%v: %v", c, gaps)
		}
	}
}

// A statement that is there twice counts once where it says that it is a copy, and
// refuses the file where it does not.
func TestT16Copies(t *testing.T) {
	st := statement("S", "0", "3", "", entry("3", "CRDT", ""))
	wantRefused(t, Camt, camtFile(st, st), Options{}, "is there twice, and does not say that it is a copy")
	for _, kind := range []string{"DUPL", "COPY", "CODU"} {
		again := statement("S", "0", "3", "<CpyDplctInd>"+kind+"</CpyDplctInd>", entry("3", "CRDT", ""))
		rows, facts := mustRead(t, Camt, camtFile(st, again), Options{})
		if len(rows) != 1 || facts.Skipped != 1 || len(facts.Notes) != 1 || len(Chain(placesOf(facts), true)) != 0 {
			t.Errorf("%s: %d rows, %d skipped, %v", kind, len(rows), facts.Skipped, facts.Notes)
		}
		rows, _ = mustRead(t, Camt, camtFile(again), Options{}) // alone it is the statement
		wantCells(t, rows, kind+" | 3\n", Copy, Amount)
	}
}

// camtStatement cuts the statement out of a file.
func camtStatement(t *testing.T, file string) string {
	from, to := strings.Index(file, "<Stmt>"), strings.Index(file, "</Stmt>")
	if from < 0 || to < 0 {
		t.Fatal("no statement")
	}
	return file[from : to+len("</Stmt>")]
}

// gapsOf are the gaps between the statements of files.
func gapsOf(t *testing.T, format Format, files ...string) string {
	t.Helper()
	var places []Place
	for i, f := range files {
		_, facts := mustRead(t, format, f, Options{})
		for _, p := range placesOf(facts) {
			p.File = i
			places = append(places, p)
		}
	}
	var out []string
	for _, g := range Chain(places, true) {
		out = append(out, fmt.Sprintf("%v %s", g.Files, g.Text))
	}
	return strings.Join(out, "\n")
}

func TestT17Pages(t *testing.T) {
	page := func(no, open, opening, close, closing string) string {
		return ":20:R\n:25:ACC\n:28C:" + no + "\n:60" + open + ":" + opening + "\n:62" + close + ":" + closing + "\n-\n"
	}
	one := page("7/1", "F", "C261127EUR1,", "M", "C261127EUR1,")
	two := page("7/2", "M", "C261127EUR1,", "M", "C261127EUR1,")
	three := page("7/3", "M", "C261127EUR1,", "F", "C261127EUR1,")
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"whole, in one file", []string{one + two + three}, ""},
		{"whole, in files in any order", []string{three, one, two}, ""},
		{"the last is missing", []string{one + two}, "[0] the statement 7 page 2 of account ACC is not the last page of it, and the next page is missing"},
		{"the first is missing", []string{two + three}, "[0] the statement 7 page 2 of account ACC is not the first page of it, and the page before it is missing"},
		{"one between is missing", []string{one, three}, "[0 1] the statement 7 page 1 of account ACC is followed by page 3: the pages between are missing"},
		{"numbers go on", []string{page("7", "F", "C261127EUR1,", "F", "C261127EUR2,")[:0] + mt940("7", "C261127EUR1,", "C261127EUR1,"), mt940("8", "C261128EUR1,", "C261128EUR1,")}, ""},
		{"a number is missing", []string{mt940("7", "C261127EUR1,", "C261127EUR1,"), mt940("9", "C261129EUR1,", "C261129EUR1,")}, "[0 1] the statement 9 of account ACC follows the statement 7 of account ACC: the numbers between are missing"},
		{"the year turns", []string{mt940("250", "C261231EUR1,", "C261231EUR1,"), mt940("1", "C270104EUR1,", "C270104EUR1,")}, ""},
		{"no numbers", []string{mt940("0", "C261127EUR1,", "C261127EUR1,"), mt940("0", "C261201EUR1,", "C261201EUR1,")}, ""},
		{"a balance does not go on", []string{mt940("7", "C261127EUR1,", "C261127EUR1,"), mt940("8", "C261128EUR2,", "C261128EUR2,")}, "[0 1] the statement 8 of account ACC opens with 2, but the statement 7 of account ACC closes with 1: what lies between is missing"},
		{"several a day, no numbers", []string{
			mt940("0", "C261127EUR3,", "C261127EUR6,", ":61:261127C3,NTRFx"), mt940("0", "C261127EUR1,", "C261127EUR3,", ":61:261127C2,NTRFx"), mt940("0", "C261126EUR0,", "C261126EUR1,", ":61:261126C1,NTRFx")}, ""},
	} {
		if got := gapsOf(t, MT940, c.files...); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}

	paged := func(page, last string) string {
		return strings.Replace(camtFile(statement("S", "1", "1", "")), "<MsgId>M</MsgId>", "<MsgId>M</MsgId><MsgPgntn><PgNb>"+page+"</PgNb><LastPgInd>"+last+"</LastPgInd></MsgPgntn>", 1)
	}
	if got := gapsOf(t, Camt, paged("1", "false"), paged("2", "true")); got != "" {
		t.Error(got)
	}
	if got := gapsOf(t, Camt, paged("1", "false")); !strings.Contains(got, "the next page is missing") {
		t.Errorf("LastPgInd false: %q", got)
	}
	if got := gapsOf(t, Camt, paged("2", "true")); !strings.Contains(got, "the page before it is missing") {
		t.Errorf("page 2 alone: %q", got)
	}
	// only the first page has the opening balance, only the last one the closing
	part := func(page, last, balance, amount string, entries string) string {
		return strings.Replace(paged(page, last), camtStatement(t, paged(page, last)), `<Stmt><Id>S</Id><Acct><Id><IBAN>DE02</IBAN></Id></Acct><Bal><Tp><CdOrPrtry><Cd>`+balance+`</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">`+amount+`</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-27</Dt></Dt></Bal>`+entries+`</Stmt>`, 1)
	}
	for amount, want := range map[string]string{"6": "", "7": "the pages of the statement S page 1 of account DE02 up to page 2: opening 1 + entries = 6, but the closing balance is 7"} {
		_, one := mustRead(t, Camt, part("1", "false", "OPBD", "1", entry("2", "CRDT", "")), Options{})
		_, two := mustRead(t, Camt, part("2", "true", "CLBD", amount, entry("3", "CRDT", "")), Options{})
		if _, fault := Joined(append(placesOf(one), placesOf(two)...)); fault != want {
			t.Errorf("closing %s: %q", amount, fault)
		}
	}
	own := camtFile(statement("S", "1", "1", "<StmtPgntn><PgNb>1</PgNb><LastPgInd>false</LastPgInd></StmtPgntn>"))
	if got := gapsOf(t, Camt, own); !strings.Contains(got, "the next page is missing") {
		t.Errorf("StmtPgntn: %q", got)
	}
}

func TestT18Batches(t *testing.T) {
	batch := func(more ...string) string {
		return camtFile(statement("S", "0", "-10", "", entry("10", "DBIT", "<AcctSvcrRef>B</AcctSvcrRef>"+strings.Join(more, ""))))
	}
	stated := func(n string) string { return "<Btch><NbOfTxs>" + n + "</NbOfTxs></Btch>" }

	rows, _ := mustRead(t, Camt, batch(details(stated("2"), tx("a", "4"), tx("b", "6.00"))), Options{})
	wantCells(t, rows, "tx | 1 | a | -4 | DE02/B/1/D\ntx | 2 | b | -6.00 | DE02/B/2/D\n", Kind, TxNo, EndToEndID, Amount, RemoteID)
	rows, _ = mustRead(t, Camt, batch(details(stated("2"), tx("a", "4"), tx("b", "6"))), Options{Batch: Keep})
	wantCells(t, rows, "batch | 2 |  | -10 | DE02/B/D\n", Kind, Count, EndToEndID, Amount, RemoteID)
	rows, _ = mustRead(t, Camt, batch(details(stated("2"))), Options{})
	wantCells(t, rows, "batch | 2 | -10\n", Kind, Count, Amount)
	rows, _ = mustRead(t, Camt, batch(details(tx("a", ""))), Options{})
	wantCells(t, rows, "entry | a | -10\n", Kind, EndToEndID, Amount)
	// blocks of one entry add up
	rows, _ = mustRead(t, Camt, batch(details(stated("1"), tx("a", "4")), details(stated("1"), tx("b", "6"))), Options{})
	wantCells(t, rows, "a | -4\nb | -6\n", EndToEndID, Amount)
	// one of them goes the other way
	other := strings.Replace(tx("c", "2"), "</Amt>", "</Amt><CdtDbtInd>CRDT</CdtDbtInd>", 1)
	rows, _ = mustRead(t, Camt, batch(details(tx("a", "12"), other)), Options{})
	wantCells(t, rows, "-12\n2\n", Amount)

	wantRefused(t, Camt, batch(details(tx("a", "4"), tx("b", "5"))), Options{}, "entry 1 of the statement S of account DE02 is -10, but its 2 transactions come to -9")
	wantRefused(t, Camt, batch(details(tx("a", "4"), tx("b", ""))), Options{}, "states no amount in EUR")
	wantRefused(t, Camt, batch(details(stated("3"), tx("a", "4"), tx("b", "6"))), Options{}, "states 3 transactions and holds 2")
	wantRefused(t, Camt, batch(details(stated("3"), tx("a", "10"))), Options{}, "states 3 transactions and holds 1")
	_, facts := mustRead(t, Camt, batch(details(stated("3"), tx("a", "4"), tx("b", "5"))), Options{Batch: Keep})
	if len(facts.Notes) != 2 || !facts.Notes[0].Withdraw {
		t.Errorf("a kept batch whose parts do not tie: %v", facts.Notes)
	}
}

// operations is a list of operations in memory.
type operations struct {
	list []Operation
	at   int
}

func (o *operations) Close() error { return nil }
func (o *operations) Next() (*Operation, error) {
	if o.at == len(o.list) {
		return nil, io.EOF
	}
	o.at++
	return &o.list[o.at-1], nil
}

func reach(list ...Operation) Options {
	return Options{Reach: func() (Operations, error) { return &operations{list: list}, nil }}
}

// A status of a message or payment block reaches every operation of it; that of a
// transaction wins.
func TestT19GroupStatus(t *testing.T) {
	report := func(body string) string {
		return `<Document xmlns="http://www.six-interbank-clearing.com/de/pain.002.001.03.ch.02.xsd"><CstmrPmtStsRpt><GrpHdr><MsgId>R</MsgId></GrpHdr>` + body + `</CstmrPmtStsRpt></Document>`
	}
	group := func(status string) string {
		return `<OrgnlGrpInfAndSts><OrgnlMsgId>M</OrgnlMsgId><GrpSts>` + status + `</GrpSts><StsRsnInf><Rsn><Cd>AM10</Cd></Rsn></StsRsnInf></OrgnlGrpInfAndSts>`
	}
	payment := func(id, status, more string) string {
		return `<OrgnlPmtInfAndSts><OrgnlPmtInfId>` + id + `</OrgnlPmtInfId><PmtInfSts>` + status + `</PmtInfSts>` + more + `</OrgnlPmtInfAndSts>`
	}
	one := func(id, status string) string {
		return `<TxInfAndSts><OrgnlEndToEndId>` + id + `</OrgnlEndToEndId><TxSts>` + status + `</TxSts></TxInfAndSts>`
	}
	sent := []Operation{{"M", "P1", "a", ""}, {"M", "P1", "b", ""}, {"M", "P2", "c", ""}, {"X", "P1", "d", ""}, {"M", "P1", "NOTPROVIDED", "i-5"}}
	for _, c := range []struct {
		name, body, plain, reached string
	}{
		{"message", group("RJCT"), "group | M |  |  | RJCT | AM10\n",
			"reach | M | P1 | a | RJCT | AM10\nreach | M | P1 | b | RJCT | AM10\nreach | M | P2 | c | RJCT | AM10\nreach | M | P1 |  | RJCT | AM10\n"},
		{"payment", group("PART") + payment("P1", "RJCT", ""), "payment | M | P1 |  | RJCT | \n",
			"reach | M | P1 | a | RJCT | \nreach | M | P1 | b | RJCT | \nreach | M | P1 |  | RJCT | \n"},
		{"a transaction wins", group("RJCT") + payment("P1", "ACCP", "<OrgnlNbOfTxs>3</OrgnlNbOfTxs>"+one("a", "ACSC")),
			"transaction | M | P1 | a | ACSC | \npayment | M | P1 |  | ACCP | \n",
			"transaction | M | P1 | a | ACSC | \nreach | M | P1 | b | ACCP | \nreach | M | P1 |  | ACCP | \n"},
		{"accepted in part says nothing of the rest", group("PART") + payment("P1", "PART", one("a", "RJCT")), "transaction | M | P1 | a | RJCT | \n", "transaction | M | P1 | a | RJCT | \n"},
		{"all are listed", group("RJCT") + payment("P1", "RJCT", "<OrgnlNbOfTxs>1</OrgnlNbOfTxs>"+one("a", "RJCT")), "transaction | M | P1 | a | RJCT | \n", "transaction | M | P1 | a | RJCT | \n"},
		{"a transaction without a status inherits", payment("P1", "RJCT", "<OrgnlNbOfTxs>1</OrgnlNbOfTxs>"+one("a", "")), "transaction |  | P1 | a | RJCT | \n", "transaction |  | P1 | a | RJCT | \n"},
	} {
		rows, _ := mustRead(t, Pain002, report(c.body), Options{})
		t.Run(c.name, func(t *testing.T) { wantCells(t, rows, c.plain, Level, MsgID, PmtInfID, EndToEndID, Status, Reason) })
		rows, _ = mustRead(t, Pain002, report(c.body), reach(sent...))
		t.Run(c.name+", reached", func(t *testing.T) {
			wantCells(t, rows, c.reached, Level, MsgID, PmtInfID, EndToEndID, Status, Reason)
		})
	}
	// a status that meets no operation is not lost
	rows, facts := mustRead(t, Pain002, report(group("RJCT")), reach(Operation{MsgID: "other"}))
	wantCells(t, rows, "group | M | RJCT\n", Level, MsgID, Status)
	if len(facts.Notes) != 1 || !strings.Contains(facts.Notes[0].Text, "meets no operation") {
		t.Errorf("notes: %v", facts.Notes)
	}
	wantRefused(t, Pain002, report(""), Options{}, "the report states no status")
	wantRefused(t, Pain002, `<Document><CstmrCdtTrfInitn/></Document>`, Options{}, "no pain.002")
}

func TestT20Placeholders(t *testing.T) {
	for _, p := range []string{"NOTPROVIDED", "NotProvided", " NOTPROVIDED ", "NONREF", "-", "0", "Not Provided"} {
		rows, _ := mustRead(t, Camt, camtFile(statement("S", "0", "1", "", entry("1", "CRDT", "<AcctSvcrRef>"+p+"</AcctSvcrRef>"+details(tx(p, ""))))), Options{})
		wantCells(t, rows, " |  | \n", EndToEndID, ServicerRef, RemoteID)
	}
	rows, _ := mustRead(t, MT940, mt940("1", "C261127EUR0,", "C261127EUR1,", ":61:261127C1,NTRFNONREF//NONREF\n:86:EREF+NOTPROVIDED"), Options{})
	wantCells(t, rows, " |  | \n", CustomerRef, ServicerRef, EndToEndID)
	rows, _ = mustRead(t, MT940, mt940("1", "C261127EUR0,", "C261127EUR1,", ":61:261127C1,NTRFKREF+//7"), Options{})
	wantCells(t, rows, " | 7\n", CustomerRef, ServicerRef)
}

// Nacha cuts ids at 15 characters: a return is joined by the trace number of the
// forward entry, which repeats over time and is scoped by date and amount.
func TestT21CutIDs(t *testing.T) {
	for _, f := range fixtures(t) {
		if f.format != NACHA {
			continue
		}
		rows, _ := mustRead(t, NACHA, string(f.data), Options{})
		r := rows[3]
		if len(r.Values[CustomerRef]) != 15 || r.Values[OriginalTrace] == r.Values[Trace] {
			t.Errorf("%v", r.Values)
		}
		wantCells(t, rows[3:4], "091400600000901/261120/7700 | RTRN | R03\n", TraceKey, Status, Reason)
	}
}

func TestT23Dates(t *testing.T) {
	for line, want := range map[string]string{
		"2612310102D1,NTRFx":   "2027-01-02 | 2026-12-31\n", // the year turns
		"2701021231D1,NTRFx":   "2026-12-31 | 2027-01-02\n",
		"1602300301D1,NTRFx":   "2016-03-01 | 2016-02-30\n", // kept as written
		"261127    D1,NTRFx":   "2026-11-27 | 2026-11-27\n", // blanks for the entry date
		"261127D1,NTRFx":       "2026-11-27 | 2026-11-27\n",
		"9912310101D1,NTRFx":   "2000-01-01 | 1999-12-31\n",
		"2611271127DR1,NTRFx":  "2026-11-27 | 2026-11-27\n", // third letter of EUR
		"2611271127D1,NTRFx\n": "2026-11-27 | 2026-11-27\n",
	} {
		rows, _ := mustRead(t, MT940, mt940("1", "C261127EUR1,", "C261127EUR0,", ":61:"+line), Options{})
		wantCells(t, rows, want, BookingDate, ValueDate)
	}
	for _, line := range []string{"26112D1,NTRFx", "261127X1,NTRFx", "261127D,NTRFx", "261127D1.00NTRFx", "261127D1,NT", ""} {
		wantRefused(t, MT940, mt940("1", "C261127EUR1,", "C261127EUR0,", ":61:"+line), Options{}, "field 61")
	}
	for in, want := range map[string]string{
		"2026-11-27T09:30:00.123456000+01:00": "2026-11-27T09:30:00.123456+01:00",
		"2026-11-27T09:30:00.000000000":       "2026-11-27T09:30:00.000000",
		"2026-11-27T09:30:00.1234567Z":        "2026-11-27T09:30:00.1234567Z", // measured, not padded
		"2026-11-27T09:30:00":                 "2026-11-27T09:30:00",
	} {
		if got := fraction(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// What is not known is passed on as it is, or refused where its sign would be
// guessed; it is never taken for something known.
func TestT25Unknown(t *testing.T) {
	rows, _ := mustRead(t, Camt, strings.Replace(camtFile(statement("S", "0", "0", "", entry("1", "CRDT", ""))), ">BOOK<", ">NEWS<", 1), Options{})
	wantCells(t, rows, "NEWS | NEWS | 1\n", Status, RawStatus, Finality)
	rows, _ = mustRead(t, Pain002, `<Document><CstmrPmtStsRpt><TxInfAndSts><OrgnlEndToEndId>a</OrgnlEndToEndId><TxSts>XXXX</TxSts></TxInfAndSts></CstmrPmtStsRpt></Document>`, Options{})
	wantCells(t, rows, "XXXX\n", Status)
	wantRefused(t, MT940, "hello\n", Options{}, `"hello" is neither a field nor a part of one`)
	wantRefused(t, MT940, "{1:F01X}{2:O9421230261127X}{4:\n:20:R\n", Options{}, "the message is an MT942, not an MT940")
	wantRefused(t, Camt, `<Document><BkToCstmrXXX/></Document>`, Options{}, "no camt.052, camt.053 or camt.054")
	wantRefused(t, BAI2, "01,A,B,261127,1200,1,,,3/\n", Options{}, `version "3"`)
}

// Versions differ in names around what is read, and not in what is read.
func TestCamtVersions(t *testing.T) {
	for v := 2; v <= 13; v++ {
		status, party := "<Cd>BOOK</Cd>", "<Pty><Nm>Ana</Nm></Pty>"
		if v < 8 {
			status, party = "BOOK", "<Nm>Ana</Nm>"
		}
		e := entry("3", "DBIT", details(`<TxDtls><Refs><EndToEndId>po-1</EndToEndId></Refs><RltdPties><Cdtr>`+party+`</Cdtr></RltdPties></TxDtls>`))
		e = strings.Replace(e, "<Sts><Cd>BOOK</Cd></Sts>", "<Sts>"+status+"</Sts>", 1)
		for kind, names := range map[string][2]string{"camt.053": {"BkToCstmrStmt", "Stmt"}, "camt.054": {"BkToCstmrDbtCdtNtfctn", "Ntfctn"}, "camt.052": {"BkToCstmrAcctRpt", "Rpt"}} {
			message := fmt.Sprintf("%s.001.%02d", kind, v)
			data := strings.NewReplacer("camt.053.001.08", message, "BkToCstmrStmt", names[0], "Stmt>", names[1]+">").Replace(camtFile(statement("S", "10", "7", "", e)))
			rows, _ := mustRead(t, Camt, data, Options{})
			wantCells(t, rows, message+" | po-1 | -3 | BOOK | Ana\n", Message, EndToEndID, Amount, RawStatus, Counterparty)
		}
	}
}

// Every error of a line says what to do; one with a remedy of its own keeps that.
func TestFaultsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		format     Format
		file, hint string
	}{
		{BAI2, "01,A,B,261127,1200,1,,,3/\n", askBank},
		{BAI2, "01,A,B,261127,1200,1,,,2/\nx\n", "a text that goes over several lines has record 88 in front of each"},
		{MT940, ":20:X\n:25:1\n:28C:1/1\n:60F:C261127EURx\n", askBank},
		{NACHA, "9\n", ""},
		{Camt, "<a/>", ""},
		{Camt, "<Document></Document>", ""},
		{Pain002, "<Document><CstmrPmtStsRpt></CstmrPmtStsRpt></Document>", ""},
		{Camt, "<Document", ""},
	} {
		r, err := Open(c.format, strings.NewReader(c.file), "f", Options{})
		for err == nil {
			_, err = r.Next()
		}
		e, ok := errors.AsType[*fail.Error](err)
		if !ok || e.Hint == "" || c.hint != "" && e.Hint != c.hint {
			t.Errorf("%s %q: %v, %+v", c.format, c.file, err, e)
		}
	}
}
