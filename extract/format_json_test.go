package extract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

func jsonSource(path string) *rules.Source {
	return &rules.Source{Name: "api", Format: rules.FormatJSON, JSON: rules.JSON{Path: path}}
}

var ndjsonSource = &rules.Source{Name: "api", Format: rules.FormatNDJSON}

func TestNDJSON(t *testing.T) {
	for _, test := range []struct {
		name   string
		fields []rules.Field // default: a and b
		in     string
		want   []string
	}{
		{"kinds", nil, `{"a":"x","b":12.50}` + "\n" + `{"a":null,"b":true}` + "\n" + `{"b":""}` + "\n",
			[]string{"1@1 x|#12.50", "2@2 ~|?true", "3@3 ~|"}},
		{"numbers as written", nil, `{"a":20000000000000000.01,"b":-1E+2}` + "\n" + `{"a":9007199254740993,"b":0}`,
			[]string{"1@1 #20000000000000000.01|#-1E+2", "2@2 #9007199254740993|#0"}},
		{"no record", nil, "", nil},
		{"blank lines", nil, "\n{\"a\":1}\r\n \t\r\n{\"a\":2}\n\n", []string{"1@2 #1|~", "2@4 #2|~", "control 3"}},
		{"byte order mark", nil, "\xEF\xBB\xBF{\"a\":1}\n", []string{"1@1 #1|~"}},
		{"escapes", nil, `{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\u0000","\u0062":"x\ty"}`,
			[]string{"1@1 \"\\/\b\f\n\r\té😀\x00|x\ty"}},
		{"further members, by name", nil, `{"z":1,"a":2,"c":{"y":"t","x":{}},"d":[1, {"e":2}],"b":3}`,
			[]string{`1@1 #2|#3|c.x={}|c.y=t|d=[1, {"e":2}]|z=#1`}},
		{"paths", textFields("source.metadata.op_id", "source", "amount.value"),
			`{"source":{"id":1,"metadata":{"op_id":"k1"}},"amount":{"value":"10.00","currency":"EUR"}}` + "\n" +
				`{"source":null,"amount":5}` + "\n" + `{"source":{"metadata":[1]}}` + "\n",
			[]string{
				`1@1 k1|{"id":1,"metadata":{"op_id":"k1"}}|10.00|amount.currency=EUR`,
				`2@2 ~|~|~|amount=#5`,
				`3@3 ~|{"metadata":[1]}|~`,
			}},
		{"a name with a point", textFields("a.b"), `{"a.b":1}` + "\n" + `{"a":{"b":2}}` + "\n" + `{"a.b":1,"a":{"b":2}}` + "\n",
			[]string{"1@1 #1", "2@2 #2", "reject 3@3 a.b: the member a.b occurs twice"}},

		{"a member twice", nil, `{"a":1,"a":2}` + "\n" + `{"a":3}` + "\n",
			[]string{"reject 1@1 a: the member a occurs twice", "2@2 #3|~"}},
		{"a member twice, written differently", nil, `{"a":1,"\u0061":1}` + "\n", []string{"reject 1@1 a: the member a occurs twice"}},
		{"a member twice, deep", nil, `{"a":1,"c":[{"d":{"e":1,"e":1}}]}` + "\n", []string{"reject 1@1 e: the member e occurs twice"}},
		{"a member twice, in an object", nil, `{"a":1,"c":{"e":1,"e":1}}` + "\n", []string{"reject 1@1 c.e: the member c.e occurs twice"}},
		{"a member twice among many", nil, `{"a":1,` + manyMembers(100) + `,"m7":1}` + "\n", []string{"reject 1@1 m7: the member m7 occurs twice"}},
		{"the same name in two objects", nil, `{"a":1,"c":{"a":2},"d":{"a":3}}`, []string{"1@1 #1|~|c.a=#2|d.a=#3"}},

		{"no object", nil, "[1]\n3\n{\"a\":1}\n", []string{"reject 1@1: the record is not a JSON object", "reject 2@2: the record is not a JSON object", "3@3 #1|~"}},
		{"trailing comma", nil, "{\"a\":1,}\n{\"a\":[1,]}\n{\"a\":1}\n", []string{"reject 1@1: broken JSON: a member name is expected at byte 8", "reject 2@2 a: broken JSON: a value is expected at byte 9", "3@3 #1|~"}},
		{"two objects on a line", nil, "{\"a\":1}{\"a\":2}\n", []string{"reject 1@1: text after the JSON object"}},
		{"no numbers", nil, "{\"a\":01}\n{\"a\":1.}\n{\"a\":.5}\n{\"a\":+1}\n{\"a\":NaN}\n{\"a\":1e}\n{\"a\":-}\n{\"a\":0x1}\n", []string{
			"reject 1@1 a: broken JSON: a number with leading zeros", "reject 2@2 a: broken JSON: a digit is expected at byte 8",
			"reject 3@3 a: broken JSON: a value is expected at byte 6", "reject 4@4 a: broken JSON: a value is expected at byte 6",
			"reject 5@5 a: broken JSON: a value is expected at byte 6", "reject 6@6 a: broken JSON: a digit is expected at byte 8",
			"reject 7@7 a: broken JSON: a digit is expected at byte 7", "reject 8@8: broken JSON: a comma or a closing brace is expected at byte 7",
		}},
		{"no words", nil, "{\"a\":True}\n{\"a\":nul}\n", []string{"reject 1@1 a: broken JSON: a value is expected at byte 6", "reject 2@2 a: broken JSON: a value is expected at byte 6"}},
		{"control character", nil, "{\"a\":\"x\ty\"}\n", []string{"reject 1@1 a: broken JSON: a control character inside a text, at byte 8"}},
		{"unknown escape", nil, `{"a":"\x"}` + "\n", []string{"reject 1@1 a: broken JSON: an unknown escape at byte 7"}},
		{"lone surrogates", nil, `{"a":"\ud83d"}` + "\n" + `{"a":"\ude00x"}` + "\n" + `{"a":"\ud83d\u0041"}` + "\n" + `{"a":"\ud83dA2"}` + "\n", []string{
			`reject 1@1 a: an unpaired surrogate (\ud83d)`, `reject 2@2 a: an unpaired surrogate (\ude00)`,
			`reject 3@3 a: an unpaired surrogate (\ud83d)`, `reject 4@4 a: an unpaired surrogate (\ud83d)`,
		}},
		{"invalid UTF-8", nil, "{\"a\":\"caf\xE9\"}\n{\"\xFF\":1}\n{\"a\":1}\n", []string{"reject 1@1 a: not valid UTF-8 (byte E9)", "reject 2@2: not valid UTF-8 (byte FF)", "3@3 #1|~"}},
		{"too deep", nil, `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}\n", []string{"reject 1@1 a: more than 100 nested values, which is the limit"}},

		{"cut in the middle", nil, "{\"a\":1\n{\"a\":2}\n", []string{"reject 1@1: broken JSON: the text ends too early", "2@2 #2|~"}},
		{"cut at the end", nil, "{\"a\":1}\n{\"a\":2", []string{"1@1 #1|~", "error x: the last record (2, on line 2) ends inside its object: the file is cut"}},
		{"cut, then a line end", nil, "{\"a\":1}\n{\"a\":2\n \n", []string{"1@1 #1|~", "error x: the last record (2, on line 2) ends inside its object: the file is cut"}},
		{"cut inside a character", nil, "{\"a\":1}\n{\"a\":\"\xC3", []string{"1@1 #1|~", "error x: the last record (2, on line 2) ends inside its object: the file is cut"}},
		{"no line end at the end", nil, "{\"a\":1}\n{\"a\":2}", []string{"1@1 #1|~", "2@2 #2|~"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.fields == nil {
				test.fields = textFields("a", "b")
			}
			lines, _ := readAll(ndjsonSource, test.fields, []byte(test.in), "x")
			check(t, lines, test.want)
		})
	}
}

func manyMembers(n int) string {
	var members []string
	for i := range n {
		members = append(members, `"m`+itoa(i)+`":1`)
	}
	return strings.Join(members, ",")
}

func TestNDJSONCase(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "formats", "C70.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	lines, _ := readAll(ndjsonSource, textFields("operation_id", "amount"), data, "C70.ndjson")
	check(t, lines, []string{"reject 1@1 amount: the member amount occurs twice", "2@2 u2|6.00"})
}

func TestJSON(t *testing.T) {
	for _, test := range []struct {
		name, path string
		in         string
		want       []string
	}{
		{"top", "", ` [{"a":1}, {"b":"x"} ] `, []string{"1@0 #1|~", "2@0 ~|x"}},
		{"empty", "", `[]`, nil},
		{"path", "data.items", `{"object":"list","x":{"y":[1,{"z":"]}"}],"q":[],"r":{}},"data":{"items":[{"a":1},{"a":2}],"more":false},"n":-1.5e3}`, []string{"1@0 #1|~", "2@0 #2|~"}},
		{"brackets in texts", "", `[{"a":"]}\"]"},{"a":2}]`, []string{`1@0 ]}"]|~`, "2@0 #2|~"}},
		{"bad records", "", `[{"a":1,"a":2},3,"x",null,[],{"a":01},{"a":"` + "\xE9" + `"},{"a":4}]`, []string{
			"reject 1@0 a: the member a occurs twice", "reject 2@0: the record is not a JSON object", "reject 3@0: the record is not a JSON object",
			"reject 4@0: the record is not a JSON object", "reject 5@0: the record is not a JSON object",
			"reject 6@0 a: broken JSON: a number with leading zeros", "reject 7@0 a: not valid UTF-8 (byte E9)", "8@0 #4|~",
		}},
		{"no array", "", `{"data":[]}`, []string{"error x: there is no array at the top"}},
		{"no array at the path", "data", `{"data":{}}`, []string{"error x: there is no array at data"}},
		{"no such member", "data", `{"dats":[{"a":1}]}`, []string{"error x: there is no array at data: the member data is missing"}},
		{"no object on the way", "data.items", `{"data":[]}`, []string{"error x: there is no object with the member items on the way to data.items"}},
		{"empty object", "data", `{}`, []string{"error x: there is no array at data: the member data is missing"}},
		{"two arrays", "data", `{"data":[{"a":1}],"data":[{"a":2}]}`, []string{"1@0 #1|~", "error x: the member data occurs twice"}},
		{"trailing comma", "", `[{"a":1},]`, []string{"1@0 #1|~", "error x: broken JSON: a record is expected behind record 1"}},
		{"no comma", "", `[{"a":1}{"a":2}]`, []string{"1@0 #1|~", "error x: broken JSON: a comma or a closing bracket is expected behind record 1"}},
		{"two commas", "", `[{"a":1},,{"a":2}]`, []string{"1@0 #1|~", "error x: broken JSON: a record is expected behind record 1"}},
		{"text behind", "", `[{"a":1}] x`, []string{"1@0 #1|~", "error x: broken JSON: text follows the document"}},
		{"broken before", "data", `{"x":tru,"data":[]}`, []string{"error x: broken JSON: a value is expected outside the records"}},
		{"broken behind", "data", `{"data":[],"x":[1,}`, []string{"error x: broken JSON: a value is expected outside the records"}},
		{"empty file", "", ``, []string{"error x: the JSON document ends too early, behind record 0: the file is cut"}},
		{"brackets that do not fit", "", `[{"a":[1}},{"a":2}]`, []string{"reject 1@0 a: broken JSON: a comma or a closing bracket is expected at byte 8", "2@0 #2|~"}},
		{"a bracket missing", "", `[{"a":[1},{"a":2}]`, []string{"reject 1@0 a: broken JSON: a comma or a closing bracket is expected at byte 8", "error x: the JSON document ends too early, behind record 1: the file is cut"}},
		{"a bracket too many", "", `[{"a":1]},{"a":2}]`, []string{"reject 1@0: broken JSON: a comma or a closing brace is expected at byte 7", "error x: broken JSON: a comma or a closing bracket is expected behind record 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines, _ := readAll(jsonSource(test.path), textFields("a", "b"), []byte(test.in), "x")
			check(t, lines, test.want)
		})
	}
}

// Records that span several windows, and a value outside the records that is
// larger than a record may be.
func TestJSONLong(t *testing.T) {
	long := strings.Repeat("0123456789", 60_000)
	lim := DefaultLimits
	lim.RecordBytes = 1 << 20
	in := `{"skipped":[` + strings.Repeat(`"`+long+`",`, 5) + `0],"data":[{"a":"` + long + `"},{"a":"` + long + `","b":2}]}`
	lines, _ := readAllLimits(jsonSource("data"), textFields("a", "b"), []byte(in), "x", lim)
	check(t, lines, []string{"1@0 " + long + "|~", "2@0 " + long + "|#2"})

	for _, src := range []*rules.Source{jsonSource(""), ndjsonSource} {
		in := `[{"a":"` + strings.Repeat(long, 10) + `"}]`
		lines, _ := readAllLimits(src, textFields("a"), []byte(in), "x", lim)
		check(t, lines, []string{"error x: more than 1048576 bytes in one record, which is the limit"})
	}
}
