package extract

import (
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// typedSource is a record-typed CSV source with the kinds as a job file has them.
func typedSource(t testing.TB, yaml string, changes ...func(*rules.Source)) *rules.Source {
	t.Helper()
	return sourceOf(t, "format: typed\ntyped:\n"+indent(yaml), changes...)
}

// sourceOf reads the keys of a source as a job file has them.
func sourceOf(t testing.TB, yaml string, changes ...func(*rules.Source)) *rules.Source {
	t.Helper()
	src := sourceWith(t, yaml, "operation_id: id")
	for _, change := range changes {
		change(src)
	}
	return src
}

// sourceWith is the same with the fields of the source.
func sourceWith(t testing.TB, yaml, fields string) *rules.Source {
	t.Helper()
	job := "job: x\noperations: {path: ours.csv, fields: {operation_id: id}}\nresults:\n  path: theirs.txt\n" + indent(yaml) +
		"\n  fields: {" + fields + "}\nmatch: [{pass: operation_id, on: [operation_id]}]\n"
	parsed, err := rules.Parse([]byte(job), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return &parsed.Results.Sources[0]
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

// settlementKinds are those of a settlement report with sections, whose lines CH
// name the columns of the lines SB.
const settlementKinds = `
first: RH
last: FF
kinds:
  - {kind: RH, as: header}
  - {kind: FH, as: header, carry: {file_no: 2}}
  - {kind: SH, as: header, carry: {account: 4}}
  - {kind: CH, as: names, of: [SB]}
  - {kind: SB}
  - kind: SF
    as: footer
    since: SH
    by: {field: 2, column: currency}
    count: 7
    sums:
      - {field: 3, column: gross, where: {dc: CR}}
      - {field: 4, column: gross, where: {dc: DR}}
      - {field: 5, column: fee, where: {fee dc: CR}}
      - {field: 6, column: fee, where: {fee dc: DR}}
  - {kind: SC, as: footer, since: SH, count: 2}
  - {kind: RF, as: footer, since: RH, by: {field: 2, column: currency}, sums: [{field: 3, column: gross, minus: {dc: DR}}]}
  - {kind: RC, as: footer, since: RH, count: 2}
  - {kind: FF, as: footer, count: {field: 2, lines: true}}
`

const settlementFile = `"RH",2031/05/06 00:00:00 -0800,A,PARTNER,9
"FH",1
"SH",2031/05/06 00:00:00 -0800,2031/05/06 23:59:59 -0800,ACCOUNT1
"CH","id","invoice","dc","gross","currency","fee dc","fee"
"SB",T1,"i-1",CR,5200,"EUR",DR,225
"SB",T2,"i-2",DR,134,"EUR",CR,47
"SB",T3,"i ""3""",CR,1500,"JPY",DR,30
"SF","EUR",5200,134,47,225,2
"SF","JPY",1500,0,0,30,1
"SC",3
"SH",2031/05/06 00:00:00 -0800,2031/05/06 23:59:59 -0800,ACCOUNT2
"CH","id","invoice","dc","gross","currency","fee dc","fee"
"SB",T4,,CR,1,"EUR",,
"SF","EUR",1,0,0,0,1
"SC",1
"RF","EUR",5067
"RF","JPY",1500
"RC",4
"FF",19
`

func TestTypedSettlement(t *testing.T) {
	src := typedSource(t, settlementKinds)
	got, r := readAll(src, textFields("id", "account", "file_no"), []byte(settlementFile), "stl.csv")
	check(t, got, []string{
		`1@5 SB|T1|i-1|CR|5200|EUR|DR|225|1|ACCOUNT1`,
		`2@6 SB|T2|i-2|DR|134|EUR|CR|47|1|ACCOUNT1`,
		`3@7 SB|T3|i "3"|CR|1500|JPY|DR|30|1|ACCOUNT1`,
		`4@13 SB|T4|~|CR|1|EUR|~|~|1|ACCOUNT2`,
		`trailer FF|19`,
		`control 15`,
	})
	if h := strings.Join(r.Header(), ","); h != "record_kind,id,invoice,dc,gross,currency,fee dc,fee,file_no,account" {
		t.Errorf("header %s", h)
	}
}

// What a file states must be what is in it, and all that it should state must be
// there.
func TestTypedRefusals(t *testing.T) {
	replace := func(old, new string) string { return strings.Replace(settlementFile, old, new, 1) }
	without := func(line string) string {
		i := strings.Index(settlementFile, line)
		return settlementFile[:i] + settlementFile[i+strings.IndexByte(settlementFile[i:], '\n')+1:]
	}
	for _, c := range []struct{ name, data, want string }{
		{"amount", replace("CR,5200", "CR,5201"), `error stl.csv: control sum of gross 5200 with currency EUR against 5201 over the records read since line 3 (line 8, field 3 of the kind SF)`},
		{"direction", replace("CR,5200", "DR,5200"), `error stl.csv: control sum of gross 5200 with currency EUR against 0 over the records read since line 3 (line 8, field 3 of the kind SF)`},
		{"currency", replace(`134,"EUR"`, `134,"USD"`), `error stl.csv: control count 2 with currency EUR against 1 record read since line 3 (line 8, field 7 of the kind SF)`},
		{"fee", replace("DR,225", "DR,226"), `error stl.csv: control sum of fee 225 with currency EUR against 226 over the records read since line 3 (line 8, field 6 of the kind SF)`},
		{"lost record", without(`"SB",T3`), `error stl.csv: control count 1 with currency JPY against 0 records read since line 3 (line 8, field 7 of the kind SF)`},
		{"doubled record", replace(`"SF","EUR",5200`, "\"SB\",T1,\"i-1\",CR,5200,\"EUR\",DR,225\n\"SF\",\"EUR\",5200"), `error stl.csv: control count 2 with currency EUR against 3 records read since line 3 (line 9, field 7 of the kind SF)`},
		{"section footer gone", without(`"SF","JPY"`), `error stl.csv: the part that begins on line 3 has no line of the kind SF for the records with currency JPY: the file is cut`},
		{"section count gone", without(`"SC",3`), `error stl.csv: the part that begins on line 3 has no line of the kind SC, which states its totals: the file is cut`},
		{"section header gone", without(`"SH",2031/05/06 00:00:00 -0800,2031/05/06 23:59:59 -0800,ACCOUNT2`), `error stl.csv: line 12 is a record, and the line of the kind SF that states the total of its part stands above it`},
		{"report total", replace(`"RF","EUR",5067`, `"RF","EUR",5068`), `error stl.csv: control sum of gross 5068 with currency EUR against 5067 over the records read since line 1 (line 16, field 3 of the kind RF)`},
		{"report header gone", without(`"RH"`), "error stl.csv: line 1 is not of the kind RH, which the first line must be"},
		{"file footer gone", without(`"FF"`), "error stl.csv: the last line is not of the kind FF: the file is cut"},
		{"lines", replace(`"FF",19`, `"FF",18`), "error stl.csv: control count 18 against 19 lines read (line 19, field 2 of the kind FF)"},
		{"more behind", settlementFile + "\"SC\",3\n", "error stl.csv: line 20 follows the line of the kind FF, which must be the last one"},
		{"names gone", without(`"CH"`), "error stl.csv: line 4 is a record of the kind SB, and no line above it names its columns"},
		{"total is no number", replace(`"SC",3`, `"SC",x`), "error stl.csv: line 10: field 2 of the kind SC should hold a total and is no number"},
		{"total is not there", replace(`"SC",3`, `"SC"`), "error stl.csv: line 10, of the kind SC, has no field 2"},
		{"amount is no number", replace("CR,5200", "CR,52x0"), "error stl.csv: line 5: the column gross, which the kind SF adds up, is no number"},
		{"second footer", replace(`"SC",3`, "\"SC\",3\n\"SC\",3"), "error stl.csv: line 11 is a second line of the kind SC for the same records"},
		{"empty", "", "error stl.csv: the last line is not of the kind FF: the file is cut"},
		{"needed column", strings.ReplaceAll(settlementFile, `"invoice"`, `"invoices"`), "error stl.csv: there is no column invoice, which the field invoice reads"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := readAll(typedSource(t, settlementKinds), textFields("id", "invoice"), []byte(c.data), "stl.csv")
			check(t, got[len(got)-1:], []string{c.want})
		})
	}
}

// A record that cannot be cut is a reject; the counts take it in, and the sums are
// not judged.
func TestTypedRejects(t *testing.T) {
	data := strings.Replace(settlementFile, `"SB",T3,"i ""3""",CR,1500,"JPY",DR,30`, `"SB",T3,CR,1500,"JPY",DR,30`, 1)
	got, _ := readAll(typedSource(t, settlementKinds), textFields("id"), []byte(data), "stl.csv")
	check(t, got[2:4], []string{"reject 3@7: 7 fields, the kind SB has 8 columns", "4@13 SB|T4|~|CR|1|EUR|~|~|1|ACCOUNT2"})
	data = strings.Replace(settlementFile, `"SC",3`, `"XX",3`, 1)
	got, _ = readAll(typedSource(t, settlementKinds), textFields("id"), []byte(data), "stl.csv")
	check(t, got[3:4], []string{"reject 4@10: the row kind XX is none of the declared ones"})
	data = strings.Replace(settlementFile, `"i-2"`, `"i-2`, 1)
	got, _ = readAll(typedSource(t, settlementKinds), textFields("id"), []byte(data), "stl.csv")
	check(t, got[1:2], []string{"reject 2@6: text after a closing quote"})
}

// A later section may have its columns in another order, and more of them.
func TestTypedColumnsOfSections(t *testing.T) {
	data := strings.Replace(settlementFile, "ACCOUNT2\n\"CH\",\"id\",\"invoice\",\"dc\",\"gross\",\"currency\",\"fee dc\",\"fee\"\n\"SB\",T4,,CR,1,\"EUR\",,",
		"ACCOUNT2\n\"CH\",\"invoice\",\"id\",\"dc\",\"gross\",\"currency\",\"fee dc\",\"fee\",\"new\"\n\"SB\",,T4,CR,1,\"EUR\",,,x", 1)
	got, _ := readAll(typedSource(t, settlementKinds), textFields("id"), []byte(data), "stl.csv")
	check(t, got[3:4], []string{"4@13 SB|T4|~|CR|1|EUR|~|~|1|ACCOUNT2|new=x"})
}

// The totals stand in a header, whose columns a names line gives as well as those of
// the rows; the sum is rounded.
func TestTypedTotalsAbove(t *testing.T) {
	src := typedSource(t, `
column: ROW_TYPE
kinds:
  - {kind: ROW_TYPE, as: names}
  - {kind: HEADER, as: header, carry: {settled: DATE}, count: ROWS, sums: [{field: TOTAL, column: AMOUNT, tolerance: "0.01"}]}
  - {kind: TRANSACTION}
  - {kind: ADJUSTMENT}
`)
	const data = "ROW_TYPE,DATE,ROWS,TOTAL\nHEADER,2031-05-06,3,8.89\nROW_TYPE,id,AMOUNT\nTRANSACTION,a,1.123456\nADJUSTMENT,b,-0.000001\nTRANSACTION,c,7.771111\n"
	got, r := readAll(src, textFields("id", "settled"), []byte(data), "x.csv")
	check(t, got, []string{"1@4 TRANSACTION|a|1.123456|2031-05-06", "2@5 ADJUSTMENT|b|-0.000001|2031-05-06", "3@6 TRANSACTION|c|7.771111|2031-05-06", "control 3"})
	if h := strings.Join(r.Header(), ","); h != "ROW_TYPE,id,AMOUNT,settled" {
		t.Errorf("header %s", h)
	}
	for _, c := range []struct{ old, new, want string }{
		{"7.771111", "7.791111", "error x.csv: control sum of AMOUNT 8.89 against 8.914566 over the records read since line 2 (line 2, field 4 of the kind HEADER)"},
		{"TRANSACTION,c,7.771111\n", "", "error x.csv: control count 3 against 2 records read since line 2 (line 2, field 3 of the kind HEADER)"},
	} {
		got, _ := readAll(src, textFields("id"), []byte(strings.Replace(data, c.old, c.new, 1)), "x.csv")
		check(t, got[len(got)-1:], []string{c.want})
	}
}

// Several kinds of records, each with columns of its own.
func TestTypedKindsOfRecords(t *testing.T) {
	src := typedSource(t, `
kinds:
  - {kind: P, columns: [record_kind, id, amount]}
  - {kind: R, columns: [record_kind, id, of, amount]}
  - {kind: X, as: ignored}
  - {kind: T, as: footer, count: {field: 2, of: [P]}, sums: [{field: 3, column: amount, of: [R]}]}
`)
	const data = "P,a,10\nX,anything,at,all\nR,b,a,4\n\nP,c,5\nT,2,4\n"
	got, _ := readAll(src, textFields("id", "of"), []byte(data), "x.csv")
	check(t, got, []string{"1@1 P|a|10|~", "2@3 R|b|4|a", "3@5 P|c|5|~", "trailer T|2|4", "control 3"})
}
