package bank

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// exponents of the currencies of the tests (ISO 4217).
func exponents(code string) (int, bool) {
	n, ok := map[string]int{"USD": 2, "EUR": 2, "CAD": 2, "JPY": 0, "KWD": 3}[code]
	return n, ok
}

// read reads a file whole. The rows are copies.
func read(format Format, data []byte, opt Options) ([]Row, *Facts, error) {
	opt.Exponent = exponents
	r, err := Open(format, bytes.NewReader(data), "test", opt)
	if err != nil {
		return nil, nil, err
	}
	var rows []Row
	for {
		row, err := r.Next()
		if err == io.EOF {
			if _, again := r.Next(); again != io.EOF {
				return nil, nil, errors.New("no EOF after EOF")
			}
			return rows, r.Facts(), nil
		}
		if err != nil {
			if _, again := r.Next(); again == nil {
				return nil, nil, errors.New("a row after an error")
			}
			return nil, nil, err
		}
		rows = append(rows, *row)
	}
}

func mustRead(t *testing.T, format Format, data string, opt Options) ([]Row, *Facts) {
	t.Helper()
	rows, facts, err := read(format, []byte(data), opt)
	if err != nil {
		t.Fatal(err)
	}
	return rows, facts
}

// wantRefused checks that a file is refused as a fault of the input, with words of
// the message in it.
func wantRefused(t *testing.T, format Format, data string, opt Options, words ...string) {
	t.Helper()
	_, _, err := read(format, []byte(data), opt)
	if err == nil {
		t.Fatal("the file is accepted")
	}
	if fail.ClassOf(err) != fail.Input {
		t.Errorf("class %d: %v", fail.ClassOf(err), err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not in %q", w, err)
		}
	}
}

// cells writes columns of rows for comparisons, one row a line.
func cells(rows []Row, columns ...Column) string {
	var b strings.Builder
	for i := range rows {
		for j, c := range columns {
			if j > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(rows[i].Values[c])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func wantCells(t *testing.T, rows []Row, want string, columns ...Column) {
	t.Helper()
	if got := cells(rows, columns...); got != strings.TrimLeft(want, "\n") {
		t.Errorf("rows:\n%swant:\n%s", got, strings.TrimLeft(want, "\n"))
	}
}

// sample reads a real file where the folder of samples is there.
func sample(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../shared/samples", name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("the real sample %s is not here: nothing is shown about it", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
