package extract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// textFields declares text fields that read the columns of the same names.
func textFields(columns ...string) []rules.Field {
	var fields []rules.Field
	for _, c := range columns {
		fields = append(fields, rules.Field{Name: c, Column: c, Type: rules.Text, Scale: -1})
	}
	return fields
}

// csvSource is a CSV source with the default dialect, changed by the functions.
func csvSource(changes ...func(*rules.CSV)) *rules.Source {
	src := &rules.Source{Name: "psp", Format: rules.FormatCSV, CSV: rules.CSV{
		Delimiter: ',', Quote: '"', Encoding: "utf-8", HeaderNames: "exact", EmptyText: "is_null",
	}}
	for _, change := range changes {
		change(&src.CSV)
	}
	return src
}

// readAll writes everything that a reader gives as lines of text:
//
//	1@2 a|~|"b"          record 1 on line 2; ~ is null, texts as they are
//	reject 2@3 memo: why
//	trailer T|3
//	control 2            where not zero
//	error why
//
// Numbers have a # in front, booleans a ?; members of Extra follow as name=value.
func readAll(src *rules.Source, fields []rules.Field, data []byte, name string) (lines []string, r fileReader) {
	return readAllLimits(src, fields, data, name, DefaultLimits)
}

func readAllLimits(src *rules.Source, fields []rules.Field, data []byte, name string, lim Limits) (lines []string, r fileReader) {
	r, err := openReaderLimits(src, fields, bytes.NewReader(data), name, lim)
	if err != nil {
		return []string{"error " + err.Error()}, nil
	}
	for {
		rec, err := r.Next()
		var reject *RecordError
		switch {
		case err == io.EOF:
			if t := r.Trailer(); t != nil {
				lines = append(lines, "trailer "+strings.Join(t, "|"))
			}
			if n := r.ControlLines(); n != 0 {
				lines = append(lines, fmt.Sprint("control ", n))
			}
			return lines, r
		case errors.As(err, &reject):
			column := reject.Column
			if column != "" {
				column = " " + column
			}
			lines = append(lines, fmt.Sprintf("reject %d@%d%s: %s", reject.No, reject.Line, column, reject.Reason))
			continue
		case err != nil:
			return append(lines, "error "+err.Error()), r
		}
		var cells []string
		for _, c := range rec.Cells {
			cells = append(cells, cellText(c))
		}
		for _, c := range rec.Extra {
			cells = append(cells, c.Name+"="+cellText(c.Cell))
		}
		lines = append(lines, fmt.Sprintf("%d@%d %s", rec.No, rec.Line, strings.Join(cells, "|")))
	}
}

func cellText(c Cell) string {
	switch c.Kind {
	case CellNull:
		return "~"
	case CellNumber:
		return "#" + string(c.Text)
	case CellBool:
		return "?" + string(c.Text)
	default:
		return string(c.Text)
	}
}

// check compares what a reader gave with the lines wanted. A wanted line that ends
// with … is a prefix.
func check(t *testing.T, got, want []string) {
	t.Helper()
	same := len(got) == len(want)
	for i := 0; same && i < len(want); i++ {
		if prefix, ok := strings.CutSuffix(want[i], "…"); ok {
			same = strings.HasPrefix(got[i], prefix)
		} else {
			same = got[i] == want[i]
		}
	}
	if !same {
		t.Errorf("got\n%s\nwant\n%s", shorten(got), shorten(want))
	}
}

// shorten joins lines for a message, without the inside of very long ones.
func shorten(lines []string) string {
	short := make([]string, len(lines))
	for i, l := range lines {
		if len(l) > 300 {
			l = fmt.Sprintf("%s… (%d bytes)", l[:100], len(l))
		}
		short[i] = l
	}
	return strings.Join(short, "\n")
}

// wantInputError checks that reading ended with an error of class Input whose text
// and remedy hold the given words.
func wantInputError(t *testing.T, err error, words ...string) {
	t.Helper()
	e, ok := errors.AsType[*fail.Error](err)
	if !ok || e.Class != fail.Input {
		t.Fatalf("error %v (%T), want one of class input", err, err)
	}
	for _, w := range words {
		if !strings.Contains(e.Error()+"\n"+e.Hint, w) {
			t.Errorf("error %q with hint %q does not say %q", e.Error(), e.Hint, w)
		}
	}
}
