package extract

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// A disk or network that fails in the middle is an error of the file, in every
// format: what was read so far must not pass for the whole.
func TestReadErrorIsNoEnd(t *testing.T) {
	for name, file := range damaged(t) {
		wantReadError(t, file.src, file.data, name)
	}
}

// wantReadError lets reading fail at the start, in the middle and at the end of the
// bytes; the fault must come back as an error of the file.
func wantReadError(t *testing.T, src *rules.Source, data []byte, name string) {
	t.Helper()
	broken := errors.New("input/output error")
	for _, n := range []int{0, len(data) / 2, len(data)} {
		f := io.MultiReader(iotest.HalfReader(bytes.NewReader(data[:n])), iotest.ErrReader(broken))
		r, err := openReader(src, textFields("a"), f, name)
		for err == nil {
			if _, err = r.Next(); err != nil {
				if _, ok := err.(*RecordError); ok {
					err = nil
				}
			}
		}
		if !errors.Is(err, broken) {
			t.Errorf("%s, after %d bytes: %v", name, n, err)
		}
		wantInputError(t, err, name)
	}
}

// However the bytes come, the records are the same.
func TestReadersInPieces(t *testing.T) {
	for name, file := range damaged(t) {
		want, _ := readAll(file.src, textFields("a"), file.data, name)
		r, err := openReader(file.src, textFields("a"), iotest.OneByteReader(bytes.NewReader(file.data)), name)
		if err != nil {
			t.Fatal(err)
		}
		n, whole := drain(t, r)
		if !whole || n == 0 || n > len(want) {
			t.Errorf("%s: %d records, whole %v, want at most %d", name, n, whole, len(want))
		}
	}
}

func TestMissingColumnSuggests(t *testing.T) {
	for _, test := range []struct{ header, want, hint string }{
		{"op_id,amount\n", "amuont", "did you mean amount? the columns are: op_id, amount"},
		{"op_id,Amount\n", "amount", "did you mean Amount? the columns are: op_id, Amount"},
		{"op_id, amount\n", "amount", `did you mean " amount"? the columns are: op_id, " amount"`},
		{"a,b\n", "c", "the columns are: a, b"},
		{"x,y\n", "settled_at", "the columns are: x, y"},
	} {
		_, err := openReader(csvSource(), textFields(test.want), bytes.NewReader([]byte(test.header)), "x.csv")
		wantInputError(t, err, "x.csv", "column "+test.want)
		if e, _ := errors.AsType[*fail.Error](err); e.Hint != test.hint {
			t.Errorf("hint %q, want %q", e.Hint, test.hint)
		}
	}
}

// The page of a snapshot must be there: without it an overlap would not be seen.
func TestPageColumnIsNeeded(t *testing.T) {
	src := csvSource()
	src.Pages = &rules.Pages{Column: "page"}
	_, err := openReader(src, textFields("a"), bytes.NewReader([]byte("a,b\n1,2\n")), "x.csv")
	wantInputError(t, err, "no column page")
}

func TestUnknownFormat(t *testing.T) {
	_, err := openReader(&rules.Source{Name: "s", Format: "xml"}, nil, bytes.NewReader(nil), "x")
	if fail.ClassOf(err) != fail.Usage {
		t.Errorf("%v", err)
	}
}

// After Close nothing is read any more, and nothing breaks.
func TestClose(t *testing.T) {
	for name, file := range damaged(t) {
		r, err := openReader(file.src, textFields("a"), bytes.NewReader(file.data), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
