package sql

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPostgresValues: what the server holds stands in the file, to the last digit.
func TestPostgresValues(t *testing.T) {
	d := postgres(t)
	cases := []struct{ sql, want string }{
		{"12345678901234567890123456789.0123456789::numeric(39,10)", `12345678901234567890123456789.0123456789`},
		{"1::numeric(38,10)", `1.0000000000`},
		{"-0.00::numeric(10,2)", `0.00`},
		{"-0.05::numeric(10,2)", `-0.05`},
		{"1e-20::numeric", `0.00000000000000000001`},
		{"'NaN'::numeric", `"NaN"`},
		{"'Infinity'::numeric", `"Infinity"`},
		{"1e-20::float8", `1e-20`},
		{"0.1::float8", `0.1`},
		{"0.1::float4", `0.1`},
		{"'-Infinity'::float8", `"-Infinity"`},
		{"'-0'::float8", `-0`},
		{"(-32768)::int2", `-32768`},
		{"(-2147483648)::int4", `-2147483648`},
		{"9223372036854775807::int8", `9223372036854775807`},
		{"(-9223372036854775808)::int8", `-9223372036854775808`},
		{"4294967295::oid", `4294967295`},
		{"true", `true`},
		{"false", `false`},
		{"NULL::int", `null`},
		{"NULL", `null`},
		{"'2026-08-20 12:34:56.123456+02'::timestamptz", `"2026-08-20T10:34:56.123456Z"`},
		{"'2026-08-20 00:00+00'::timestamptz", `"2026-08-20T00:00:00.000000Z"`},
		{"'1969-12-31 23:59:59.999999+00'::timestamptz", `"1969-12-31T23:59:59.999999Z"`},
		{"'1999-12-31 23:59:59.000001+00'::timestamptz", `"1999-12-31T23:59:59.000001Z"`},
		{"'0001-01-01 00:00+00'::timestamptz", `"0001-01-01T00:00:00.000000Z"`},
		{"'infinity'::timestamptz", `"infinity"`},
		{"'-infinity'::timestamp", `"-infinity"`},
		{"'0044-03-15 12:00:00.5+00 BC'::timestamptz", `"0044-03-15 12:00:00.5+00 BC"`},
		{"'0044-03-15 12:00:00 BC'::timestamp", `"0044-03-15 12:00:00 BC"`},
		{"'12026-08-20 00:00'::timestamp", `"12026-08-20T00:00:00.000000"`},
		{"'2026-10-25 02:30:00.5'::timestamp", `"2026-10-25T02:30:00.500000"`},
		{"'2026-08-20'::date", `"2026-08-20"`},
		{"'2024-02-29'::date", `"2024-02-29"`},
		{"'0001-12-31 BC'::date", `"0001-12-31 BC"`},
		{"'infinity'::date", `"infinity"`},
		{"'12:30:00.25'::time", `"12:30:00.25"`},
		{"'1 year 2 days 3 hours'::interval", `"P1Y2DT3H"`},
		{`E'a"b\\c\nd\t\x01é€😀'::text`, `"a\"b\\c\nd\t\u0001é€😀"`},
		{"''::text", `""`},
		{"'x'::char(3)", `"x  "`},
		{`'{"b": 1, "a": [1.10, {"c": null}]}'::json`, `{"b":1,"a":[1.10,{"c":null}]}`},
		{`'{"n": 12345678901234567890.10}'::jsonb`, `{"n":12345678901234567890.10}`},
		{`'"text"'::jsonb`, `"text"`},
		{`'\x0001ff00'::bytea`, `"\\x0001ff00"`},
		{`''::bytea`, `"\\x"`},
		{"'6f0c0b0e-0000-4000-8000-000000000001'::uuid", `"6f0c0b0e-0000-4000-8000-000000000001"`},
		{"ARRAY[1, NULL, 3]::int8[]", `[1,null,3]`},
		{"ARRAY[1.50, 'NaN']::numeric[]", `[1.50,"NaN"]`},
		{"ARRAY[ARRAY['a','b,\"c'],ARRAY['NULL','\\x']]::text[]", `[["a","b,\"c"],["NULL","\\x"]]`},
		{"'[0:1]={1,2}'::int[]", `[1,2]`},
		{"'{}'::int[]", `[]`},
		{"ARRAY['2026-08-20 12:00+02'::timestamptz, 'infinity']", `["2026-08-20T10:00:00.000000Z","infinity"]`},
		{"ARRAY[true, false]", `[true,false]`},
		{"ARRAY['2026-08-20'::date]", `["2026-08-20"]`},
		{`ARRAY['{"a": 1}'::jsonb]`, `[{"a":1}]`},
		{`ARRAY['\x00'::bytea]`, `["\\x00"]`},
		{"'192.0.2.1'::inet", `"192.0.2.1"`},
		{"'[1,5)'::int4range", `"[1,5)"`},
	}
	var cols, want []string
	for i, c := range cases {
		cols = append(cols, fmt.Sprintf("%s AS c%d", c.sql, i))
		want = append(want, c.want)
	}
	// The server prefers other forms.
	d.exec(fmt.Sprintf("ALTER DATABASE %s SET TimeZone = 'America/New_York'", d.name), fmt.Sprintf("ALTER DATABASE %s SET DateStyle = 'German'", d.name),
		fmt.Sprintf("ALTER DATABASE %s SET IntervalStyle = 'postgres_verbose'", d.name), fmt.Sprintf("ALTER DATABASE %s SET bytea_output = 'escape'", d.name),
		fmt.Sprintf("ALTER DATABASE %s SET extra_float_digits = -10", d.name))
	got, s := pulled(t, requests(t, d.source("psp", "SELECT "+strings.Join(cols, ",\n"), ""))[0])
	line := "{"
	for i, w := range want {
		line += fmt.Sprintf(`"c%d":%s,`, i, w)
	}
	if line = strings.TrimSuffix(line, ",") + "}\n"; got != line {
		for i, c := range cases {
			if part := fmt.Sprintf(`"c%d":%s`, i, c.want); !strings.Contains(got, part) {
				t.Errorf("%s: want %s", c.sql, part)
			}
		}
		t.Errorf("got %s", got)
	}
	if s.Proof != "1 row, the cursor was read to its end in one repeatable-read snapshot" {
		t.Errorf("proof: %s", s.Proof)
	}
}

// TestPostgresFormsAgree: the binary form of a value and its text, as the server writes
// both, become the same JSON.
func TestPostgresFormsAgree(t *testing.T) {
	d := postgres(t)
	d.exec(`CREATE TABLE v AS SELECT
	 (random() * 4e9 - 2e9)::bigint::int AS i4, (random() * 1.8e19 - 9e18)::bigint AS i8, (random() * 6e4 - 3e4)::int2 AS i2, random() < 0.5 AS b,
	 timestamptz '4700-01-01 BC' + random() * 14700 * interval '365 days' AS tz,
	 timestamp '4700-01-01 BC' + random() * 14700 * interval '365 days' AS ts,
	 date '4700-01-01 BC' + (random() * 5e6)::int AS d, n AS o
	 FROM generate_series(1, 20000) AS n`)
	query := "SELECT i2, i4, i8, b, tz, ts, d FROM v ORDER BY o"
	byBinary, _ := pulled(t, requests(t, d.source("psp", query, ""))[0])
	for _, oid := range []uint32{21, 23, 20, 16, 1184, 1114, 1082} {
		w := binaries[oid]
		delete(binaries, oid)
		defer func() { binaries[oid] = w }()
	}
	byText, _ := pulled(t, requests(t, d.source("psp", query, ""))[0])
	if byBinary != byText {
		a, b := strings.Split(byBinary, "\n"), strings.Split(byText, "\n")
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("row %d\nbinary %s\ntext   %s", i+1, a[i], b[i])
			}
		}
	}
	if strings.Count(byBinary, " BC") < 1000 || strings.Count(byBinary, "Z") < 1000 {
		t.Error("the times are not those that this test is about")
	}
}

// TestMariaValues: as TestPostgresValues.
func TestMariaValues(t *testing.T) {
	d := maria(t)
	d.exec("SET sql_mode = ''", `CREATE TABLE v (
	 a DECIMAL(38,10), b DECIMAL(10,2), c BIGINT UNSIGNED, e BIGINT, f DOUBLE, g FLOAT, h TINYINT(1), i DATE, j DATE, k DATETIME(6), l DATETIME,
	 m TIMESTAMP(6) NULL, n VARCHAR(40), o VARBINARY(10), p BLOB, q BIT(9), r YEAR, s TIME(3), u JSON, w CHAR(3), x TEXT, y ENUM('a','b'), z INT UNSIGNED, z0 DATETIME(6)
	) CHARACTER SET utf8mb4`,
		`SET time_zone = '+02:00'`,
		`INSERT INTO v VALUES (1234567890123456789012345678.0123456789, -0.00, 18446744073709551615, -9223372036854775808, 1e-20, 0.1, 1,
	 '2026-08-20', '0000-00-00', '2026-10-25 02:30:00.123456', '2026-08-20 00:00:00', '2026-08-20 12:34:56.5', 'a"b\\c\né😀', X'00ff00', X'', b'100000001', 2026,
	 '-12:30:00.25', '{"a": 1}', 'x', '', 'b', 4294967295, '0000-00-00 00:00:00')`,
		`INSERT INTO v VALUES (`+strings.TrimSuffix(strings.Repeat("NULL, ", 24), ", ")+`)`)
	got, s := pulled(t, requests(t, d.source("psp", "SELECT * FROM v ORDER BY a IS NULL", ""))[0])
	want := `{"a":1234567890123456789012345678.0123456789,"b":0.00,"c":18446744073709551615,"e":-9223372036854775808,"f":1e-20,"g":0.1,"h":1,` +
		`"i":"2026-08-20","j":"0000-00-00","k":"2026-10-25T02:30:00.123456","l":"2026-08-20T00:00:00.000000","m":"2026-08-20T10:34:56.500000Z",` +
		`"n":"a\"b\\c\né😀","o":"\\x00ff00","p":"\\x","q":257,"r":2026,"s":"-12:30:00.250","u":"{\"a\": 1}","w":"x","x":"","y":"b","z":4294967295,"z0":"0000-00-00T00:00:00.000000"}` + "\n" +
		`{"a":null,"b":null,"c":null,"e":null,"f":null,"g":null,"h":null,"i":null,"j":null,"k":null,"l":null,"m":null,"n":null,"o":null,"p":null,"q":null,` +
		`"r":null,"s":null,"u":null,"w":null,"x":null,"y":null,"z":null,"z0":null}` + "\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s.Files[0].Records != 2 {
		t.Errorf("%d records", s.Files[0].Records)
	}
}

// TestJSONTexts: any text comes back from JSON as it was.
func TestJSONTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if back := unquoted(t, string(appendText(nil, []byte(text)))); back != text {
			t.Fatalf("%q became %q", text, back)
		}
	})
}

// TestArrays: an array of texts, written as PostgreSQL does, comes back from JSON.
func TestArrays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.StringOf(rapid.SampledFrom([]rune(`ab,"\{} NUL1é`)))).Draw(t, "list")
		var parts []string
		for _, s := range list {
			parts = append(parts, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)+`"`)
		}
		var back []string
		decode(t, string(appendArray(nil, []byte("{"+strings.Join(parts, ",")+"}"), appendText)), &back)
		if strings.Join(back, "\x00") != strings.Join(list, "\x00") || len(back) != len(list) {
			t.Fatalf("%q became %q", list, back)
		}
	})
	for _, s := range []string{"{", "{1", "{1,", `{"a`, "{{1}", "{1}x", "1", "[0:1]", ""} {
		if got := string(appendArray(nil, []byte(s), appendNumber)); !strings.HasPrefix(got, `"`) {
			t.Errorf("%q became %s", s, got)
		}
	}
}
