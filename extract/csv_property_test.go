package extract

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/rules"
)

// Any table that encoding/csv writes comes back cell by cell, in every encoding
// that has its characters, with either line end and any delimiter.
func TestCSVComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(2, 6).Draw(t, "width")
		cell := rapid.StringOf(rapid.SampledFrom([]rune("ab,;\t\"\n é€😀\x00#'")))
		rows := rapid.SliceOf(rapid.SliceOfN(cell, width, width)).Draw(t, "rows")
		delimiter := rapid.SampledFrom([]rune{',', ';', '\t', '|', '¦'}).Draw(t, "delimiter")
		crlf := rapid.Bool().Draw(t, "crlf")
		last := rapid.Bool().Draw(t, "line end at the end")

		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Comma, w.UseCRLF = delimiter, crlf
		header := []string{"a"}
		for i := 1; i < width; i++ {
			header = append(header, "c"+itoa(i))
		}
		if err := w.Write(header); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		if !last {
			data = bytes.TrimSuffix(bytes.TrimSuffix(data, []byte("\n")), []byte("\r"))
		}
		src := csvSource(func(c *rules.CSV) { c.Delimiter = delimiter })
		r, err := openReader(src, textFields("a"), bytes.NewReader(data), "x.csv")
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			rec, err := r.Next()
			if err != nil {
				t.Fatalf("record %d: %v", i+1, err)
			}
			if rec.No != int64(i+1) || len(rec.Cells) != width {
				t.Fatalf("record %d has number %d and %d cells", i+1, rec.No, len(rec.Cells))
			}
			for k, want := range row {
				if crlf { // encoding/csv writes every line feed inside a cell as CRLF then
					want = strings.ReplaceAll(want, "\n", "\r\n")
				}
				if got := string(rec.Cells[k].Text); got != want {
					t.Fatalf("record %d, cell %d: %q, want %q", i+1, k+1, got, want)
				}
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatalf("after the last record: %v", err)
		}
	})
}

// countRecords counts records of a file without quoting in the plainest way:
// physical lines that are not empty, the header apart. A CR belongs to the line end
// only where its LF follows: alone at the end of the file it is a record to reject.
// Where the first line ends with CR CR LF, the others may as well.
func countRecords(data []byte) int {
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	n := -1
	first, _, _ := bytes.Cut(data, []byte("\n"))
	twice := bytes.HasSuffix(first, []byte("\r\r"))
	for line := range bytes.Lines(data) {
		if body, whole := bytes.CutSuffix(line, []byte("\n")); whole {
			line = bytes.TrimSuffix(body, []byte("\r"))
			if twice {
				line = bytes.TrimSuffix(line, []byte("\r"))
			}
		}
		if len(line) > 0 {
			n++
		}
	}
	return n
}

// FuzzCSV: never a panic; records are numbered without a gap; each cell is valid
// UTF-8; without quoting, records and rejects are as many as the lines.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", ",\n\r", "a,b\r\n1,\"2\r\n\"\r\n", "a,b\r1,2\r", "\xEF\xBB\xBFa,b\n\xFF,\n\n1\n1,2,3", "a,b\n1,\"x\" y\n\"", "a,b\n1,2\r3\n\r\r\n",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, quoting bool) { anyCSV(t, data, quoting) })
}

func anyCSV(t failer, data []byte, quoting bool) {
	src := csvSource(func(c *rules.CSV) {
		if !quoting {
			c.Quote = 0
		}
	})
	r, err := openReader(src, []rules.Field{{Name: "f", Position: 1}}, bytes.NewReader(data), "x.csv")
	if err != nil {
		return
	}
	n, whole := drain(t, r)
	lf := r.(*streamReader).Reader.(*csvReader).s.eol == '\n'
	if width := len(r.Header()); whole && !quoting && lf && width > 1 && n != countRecords(data) {
		t.Fatalf("%d records and rejects, %d lines in %q", n, countRecords(data), data)
	}
}

// The same without a fuzzer: texts of the characters that mean something.
func TestCSVAnyText(t *testing.T) {
	pieces := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", ",", "\"", "\"\"", "\n", "\r", "\r\n", " ", "\xE9", "\x00", "é", "\n\n", ",\"", "\",", "\xEF\xBB\xBF"}))
	rapid.Check(t, func(t *rapid.T) {
		anyCSV(t, []byte(strings.Join(pieces.Draw(t, "text"), "")), rapid.Bool().Draw(t, "quoting"))
	})
}

// failer is what tests, fuzz tests and property tests have in common.
type failer interface {
	Fatalf(format string, args ...any)
}

// FuzzNDJSON: the same for NDJSON, where a line that is not blank is a record.
func FuzzNDJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, "{\"a\":1,\"a\":2}\n\n{\"a\":[1,{\"b\":\"\\ud83d\"}]}\n", `{"a":{"b":-1.5e+3,"c":{}},"d":tru`, "[]\nnull\n\xFF", "{\"a\":\"\\u00", " { } ",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { anyNDJSON(t, data) })
}

func anyNDJSON(t failer, data []byte) {
	r, err := openReader(ndjsonSource, textFields("a", "a.b"), bytes.NewReader(data), "x")
	if err != nil {
		return
	}
	n, whole := drain(t, r)
	lines := 0
	for _, line := range bytes.Split(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")), []byte("\n")) {
		if !blankJSON(line) {
			lines++
		}
	}
	if whole && n != lines {
		t.Fatalf("%d records and rejects, %d lines in %q", n, lines, data)
	}
}

var jsonPieces = rapid.SliceOf(rapid.SampledFrom([]string{
	"{", "}", "[", "]", ",", ":", `"a"`, `"a.b"`, `"b"`, `"a":`, `{"b":1}`, `"`, `\`, `\u00e9`, `\ud83d`, `\ude00`, "1", "-", ".5", "e+3", "true", "nul", "null", " ", "\n", "\r\n", "\xE9", "é",
}))

func TestNDJSONAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { anyNDJSON(t, []byte(strings.Join(jsonPieces.Draw(t, "text"), ""))) })
}

// What is accepted as one record is what encoding/json accepts as an object,
// equal members, bytes that are not UTF-8 and lone surrogates apart, which it
// lets pass.
func TestNDJSONIsStrict(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		inside := strings.ReplaceAll(strings.Join(jsonPieces.Draw(t, "text"), ""), "\n", " ")
		text := rapid.SampledFrom([]string{"{" + inside + "}", `{"a":` + inside + "}", `{"a":"` + inside + `"}`, `{"a":[` + inside + "]}"}).Draw(t, "form")
		_, fault := newJSONRecord(nil, DefaultLimits).parse([]byte(text), 1)
		valid := json.Valid([]byte(text))
		switch {
		case fault == nil && !valid:
			t.Fatalf("accepted: %q", text)
		case fault != nil && valid && strings.HasPrefix(fault.why, "broken JSON"):
			t.Fatalf("refused: %q: %s", text, fault.why)
		case fault == nil:
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("no text was accepted: the texts show nothing")
	}
}

// drain reads to the end, checks the numbers and texts, and tells how many records
// and rejects there were and whether the file was whole.
func drain(t failer, r fileReader) (int, bool) {
	defer r.Close()
	for n := 0; ; {
		rec, err := r.Next()
		reject, rejected := err.(*RecordError)
		switch {
		case rejected:
			if n++; reject.No != int64(n) || reject.Reason == "" || len(reject.Raw) > maxRaw {
				t.Fatalf("reject %d: %+v", n, reject)
			}
		case err != nil:
			if _, again := r.Next(); again != err {
				t.Fatalf("after %v: %v", err, again)
			}
			return n, err == io.EOF
		default:
			if n++; rec.No != int64(n) {
				t.Fatalf("record %d has number %d", n, rec.No)
			}
			for _, c := range rec.Cells {
				if !utf8.Valid(c.Text) {
					t.Fatalf("record %d: %q is not valid UTF-8", n, c.Text)
				}
			}
		}
	}
}
