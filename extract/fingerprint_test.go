package extract

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// Fingerprints are the first half of SHA-256, whatever the length of the text and
// whatever came before, also where the state of the library's hash cannot be used.
func TestFingerprinter(t *testing.T) {
	short, full := newFingerprinter(), newFingerprinter()
	if short.state == nil {
		t.Error("crypto/sha256 gives its state in another form than expected: fingerprints are right, but slow")
	}
	full.state = nil
	random := rand.New(rand.NewPCG(7, 8))
	check := func(text []byte) {
		sum := sha256.Sum256(text)
		want := [2]uint64{binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])}
		before := bytes.Clone(text)
		for _, f := range []*fingerprinter{short, full} {
			if a, b := f.of(text); [2]uint64{a, b} != want {
				t.Fatalf("%d bytes: %x %x, want %x", len(text), a, b, want)
			}
		}
		if !bytes.Equal(before, text) {
			t.Fatalf("%d bytes: the text was changed", len(text))
		}
	}
	for n := range 400 {
		text := make([]byte, n, n+256)
		for i := range text {
			text[i] = byte(random.Uint32())
		}
		check(text)
	}
	check(bytes.Repeat([]byte("x"), 1<<20))
	check(nil)
}

// Records come out of a batch as they went in, in whichever way the reader gave
// them: as one line, as texts of their own, with fewer cells than the header has.
func TestBatchRecords(t *testing.T) {
	line := func(delimiter string, texts ...string) *Record {
		r := &Record{gap: len(delimiter)}
		var at []int
		for i, text := range texts {
			if i > 0 {
				r.whole = append(r.whole, delimiter...)
			}
			at = append(at, len(r.whole))
			r.whole = append(r.whole, text...)
		}
		for i, text := range texts {
			r.Cells = append(r.Cells, Cell{Text: r.whole[at[i] : at[i]+len(text)], Kind: CellText})
		}
		return r
	}
	own := func(texts ...string) *Record {
		r := &Record{}
		for _, text := range texts {
			r.Cells = append(r.Cells, Cell{Text: []byte(text), Kind: CellText})
		}
		return r
	}
	records := []*Record{
		line(",", "a", "", "ccc"), own("a", "", "ccc"), line("||", "", "b|", ""), own("", "", ""), own("x"), line(";", "", "", ""), line(",", "x"),
		line("é", "1", "22", "333"), own(string(bytes.Repeat([]byte("y"), 1000)), "z", ""),
	}
	b := &rawBatch{}
	for range 2 { // the second time in memory that was used
		b.reset(3)
		for i, r := range records {
			r.No = int64(i + 1)
			b.add(r)
		}
		var got rawRecord
		for i, r := range records {
			b.record(i, &got)
			for j, c := range got.cells {
				want := Cell{}
				if j < len(r.Cells) {
					want = r.Cells[j]
				}
				if string(c.Text) != string(want.Text) || c.Kind != want.Kind || got.no != r.No {
					t.Errorf("record %d, cell %d = %q %v, want %q %v", got.no, j, c.Text, c.Kind, want.Text, want.Kind)
				}
			}
		}
	}
}
