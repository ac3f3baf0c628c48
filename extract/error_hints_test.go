package extract

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Whatever byte of an archive is damaged, the error says what to do.
func TestDamagedArchiveSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"x.zip", zipped(t, "a.csv", "id,amount\na,1.00\nb,2.00\n", "b.csv", "id,amount\nc,3.00\n")},
		{"x.xlsx", book(t, head+`<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c></row>`)},
	} {
		src := zipSource("*")
		if c.name == "x.xlsx" {
			src = xlsxSource(t, "")
		}
		faults := 0
		for at := range c.data {
			for _, flip := range []byte{0xFF, 0x01} {
				data := append([]byte(nil), c.data...)
				data[at] ^= flip
				err := readFaults(src, data, c.name)
				if err == nil {
					continue
				}
				faults++
				if e, ok := errors.AsType[*fail.Error](err); !ok || e.Hint == "" {
					t.Errorf("%s, byte %d: no remedy: %v", c.name, at, err)
				}
			}
		}
		if faults < len(c.data)/2 {
			t.Errorf("%s: %d faults of %d bytes", c.name, faults, len(c.data))
		}
	}
}

// readFaults gives the error that refuses a file; rejects of records are none.
func readFaults(src *rules.Source, data []byte, name string) error {
	r, err := openReaderLimits(src, textFields("id"), bytes.NewReader(data), name, DefaultLimits)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		_, err := r.Next()
		if _, reject := errors.AsType[*RecordError](err); err == io.EOF || err != nil && !reject {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}
