package extract

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/recon-batch/recon-batch/rules"
)

var parquetSource = &rules.Source{Name: "db", Format: rules.FormatParquet}

// writeParquet makes a Parquet file of rows given as JSON, one object a row.
func writeParquet(t testing.TB, schema *arrow.Schema, json string) []byte {
	t.Helper()
	return writeParquetGroups(t, schema, json, 3)
}

func writeParquetGroups(t testing.TB, schema *arrow.Schema, json string, group int64) []byte {
	t.Helper()
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, bytes.NewReader([]byte(json)))
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	var b bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithMaxRowGroupLength(group))
	w, err := pqarrow.NewFileWriter(schema, &b, props, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteBuffered(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func schemaOf(types ...any) *arrow.Schema {
	var fields []arrow.Field
	for i := 0; i < len(types); i += 2 {
		fields = append(fields, arrow.Field{Name: types[i].(string), Type: types[i+1].(arrow.DataType), Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

func TestParquetValues(t *testing.T) {
	utc := func(u arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: u, TimeZone: "UTC"} }
	local := func(u arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: u} }
	for _, test := range []struct {
		name string
		typ  arrow.DataType
		json string
		want []string
	}{
		{"text", arrow.BinaryTypes.String, `[{"v":"é"},{"v":""},{"v":null},{"v":"x\u0000y"}]`, []string{"é", "", "~", "x\x00y"}},
		{"large text", arrow.BinaryTypes.LargeString, `[{"v":"é"}]`, []string{"é"}},
		{"dictionary", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, `[{"v":"a"},{"v":null},{"v":"a"},{"v":"b"}]`, []string{"a", "~", "a", "b"}},
		{"int64", arrow.PrimitiveTypes.Int64, `[{"v":9223372036854775807},{"v":-9223372036854775808},{"v":0}]`, []string{"#9223372036854775807", "#-9223372036854775808", "#0"}},
		{"int32", arrow.PrimitiveTypes.Int32, `[{"v":-7}]`, []string{"#-7"}},
		{"int16", arrow.PrimitiveTypes.Int16, `[{"v":-7}]`, []string{"#-7"}},
		{"int8", arrow.PrimitiveTypes.Int8, `[{"v":-7}]`, []string{"#-7"}},
		{"uint64", arrow.PrimitiveTypes.Uint64, `[{"v":18446744073709551615}]`, []string{"#18446744073709551615"}},
		{"uint32", arrow.PrimitiveTypes.Uint32, `[{"v":4294967295}]`, []string{"#4294967295"}},
		{"uint16", arrow.PrimitiveTypes.Uint16, `[{"v":65535}]`, []string{"#65535"}},
		{"uint8", arrow.PrimitiveTypes.Uint8, `[{"v":255}]`, []string{"#255"}},
		{"boolean", arrow.FixedWidthTypes.Boolean, `[{"v":true},{"v":false}]`, []string{"?true", "?false"}},
		{"decimal", &arrow.Decimal128Type{Precision: 18, Scale: 2}, `[{"v":"12.50"},{"v":"-0.05"},{"v":"0.00"},{"v":"-7.00"},{"v":"1000000000000000.01"}]`,
			[]string{"#12.50", "#-0.05", "#0.00", "#-7.00", "#1000000000000000.01"}},
		{"decimal of one digit", &arrow.Decimal128Type{Precision: 5, Scale: 0}, `[{"v":"-12"},{"v":"0"}]`, []string{"#-12", "#0"}},
		{"decimal of 38 digits", &arrow.Decimal128Type{Precision: 38, Scale: 4}, `[{"v":"9999999999999999999999999999999999.9999"},{"v":"-9999999999999999999999999999999999.9999"},{"v":"922337203685477.5808"},{"v":"-922337203685477.5809"}]`,
			[]string{"#9999999999999999999999999999999999.9999", "#-9999999999999999999999999999999999.9999", "#922337203685477.5808", "#-922337203685477.5809"}},
		{"date", arrow.FixedWidthTypes.Date32, `[{"v":"2024-02-29"},{"v":"1969-12-31"}]`, []string{"2024-02-29", "1969-12-31"}},
		{"timestamp us utc", utc(arrow.Microsecond), `[{"v":"2026-08-20T10:00:00.123400Z"},{"v":"1969-12-31T23:59:59.5Z"}]`, []string{"2026-08-20T10:00:00.1234Z", "1969-12-31T23:59:59.5Z"}},
		{"timestamp ns utc", utc(arrow.Nanosecond), `[{"v":"2026-08-20T10:00:00.123456789Z"}]`, []string{"2026-08-20T10:00:00.123456789Z"}},
		{"timestamp ms utc", utc(arrow.Millisecond), `[{"v":"2026-08-20T10:00:00Z"}]`, []string{"2026-08-20T10:00:00Z"}},
		{"timestamp us local", local(arrow.Microsecond), `[{"v":"2026-08-20T10:00:00.5"}]`, []string{"2026-08-20T10:00:00.5"}},
		{"time", arrow.FixedWidthTypes.Time64us, `[{"v":"10:00:00.25"}]`, []string{"10:00:00.25"}},
		{"bytes that are text", arrow.BinaryTypes.Binary, `[{"v":"YWJj"}]`, []string{"abc"}},
		{"list", arrow.ListOf(arrow.PrimitiveTypes.Int32), `[{"v":[1,2]},{"v":null},{"v":[]}]`, []string{"[1,2]", "~", "[]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := writeParquet(t, schemaOf("v", test.typ), test.json)
			lines, _ := readAll(parquetSource, textFields("v"), data, "x.parquet")
			var want []string
			for i, w := range test.want {
				want = append(want, itoa(i+1)+"@0 "+w)
			}
			check(t, lines, want)
		})
	}
}

func TestParquetColumns(t *testing.T) {
	source := arrow.StructOf(
		arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "meta", Type: arrow.StructOf(arrow.Field{Name: "op_id", Type: arrow.BinaryTypes.String, Nullable: true}), Nullable: true},
	)
	schema := schemaOf("a", arrow.BinaryTypes.String, "source", source, "score", arrow.PrimitiveTypes.Float64, "raw", arrow.BinaryTypes.Binary)
	data := writeParquet(t, schema, `[{"a":"x","source":{"id":1,"meta":{"op_id":"k1"}},"score":0.5,"raw":"/w=="},{"a":"y","source":{"id":2,"meta":null}},{"a":"z","source":null}]`)

	lines, r := readAll(parquetSource, textFields("source.meta.op_id", "a"), data, "x.parquet")
	check(t, lines, []string{"1@0 x|#1|k1|#0.5|ff", "2@0 y|#2|~|~|~", "3@0 z|~|~|~|~"})
	if got := quoteList(r.Header()); got != "a, source.id, source.meta.op_id, score, raw" {
		t.Errorf("header %s", got)
	}

	_, err := openReader(parquetSource, textFields("b"), bytes.NewReader(data), "x.parquet")
	wantInputError(t, err, "x.parquet", "no column b", "source.id")
	_, err = openReader(parquetSource, []rules.Field{{Name: "amount", Column: "score", Type: rules.Decimal}}, bytes.NewReader(data), "x.parquet")
	wantInputError(t, err, "the column score holds floats", "amount", "CAST(score AS DECIMAL")
	_, err = openReader(parquetSource, textFields("score"), bytes.NewReader(data), "x.parquet")
	wantInputError(t, err, "the column score holds floats")
	lines, _ = readAll(parquetSource, textFields("raw"), data, "x.parquet")
	check(t, lines, []string{"reject 1@0 raw: not valid UTF-8 (byte FF)", "2@0 y|#2|~|~|~", "3@0 z|~|~|~|~"})
}

// From a file, from a stream, and from a compressed file: the same records and
// digests, and no temporary file left.
func TestParquetSpool(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	data := writeParquet(t, schemaOf("a", arrow.BinaryTypes.String), `[{"a":"1"},{"a":"2"},{"a":"3"},{"a":"4"},{"a":"5"}]`)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(data)
	z.Close()
	for name, content := range map[string][]byte{"x.parquet": data, "x.parquet.gz": zipped.Bytes()} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if n := readThrough(t, parquetSource, textFields("a"), f, name); n != 5 {
			t.Errorf("%s: %d records", name, n)
		}
		lines, r := readAll(parquetSource, textFields("a"), content, name)
		if len(lines) != 5 || lines[4] != "5@0 5" {
			t.Errorf("%s: %q", name, lines)
		}
		checkDigests(t, r, content, data)
		r.Close()
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "recon-batch-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAppendUnscaled(t *testing.T) {
	for _, test := range []struct {
		v     int64
		scale int32
		want  string
	}{
		{0, 0, "0"}, {0, 3, "0.000"}, {5, 1, "0.5"}, {-5, 3, "-0.005"}, {12345, 2, "123.45"}, {-100, 2, "-1.00"}, {7, -2, "700"}, {math.MinInt64, 18, "-9.223372036854775808"},
	} {
		if got := string(appendUnscaled([]byte("x"), test.v, nil, test.scale)); got != "x"+test.want {
			t.Errorf("%d scale %d: %s, want %s", test.v, test.scale, got[1:], test.want)
		}
	}
}
