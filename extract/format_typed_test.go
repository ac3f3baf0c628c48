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
	job := "job: x\noperations: {path: ours.csv, fields: {operation_id: id}}\nresults:\n  path: theirs.txt\n" + indent(yaml) +
		"\n  fields: {operation_id: {column: id}}\nmatch: [{pass: operation_id, on: [operation_id]}]\n"
	parsed, err := rules.Parse([]byte(job), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	src := parsed.Results.Sources[0]
	for _, change := range changes {
		change(&src)
	}
	return &src
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
