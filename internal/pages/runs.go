package pages

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// Pages of rows that are written in order and one row group at a time: long runs of few
// values, numbers that ascend, words. Each type collects a row group and gives its page;
// then it is empty again.

// Runs collects a column of few texts.
type Runs struct {
	places map[string]int
	texts  []string
	runs   []run
	rows   int
}

type run struct{ place, n int } // place -1: null

// Add appends the same text n times.
func (r *Runs) Add(text string, n int) {
	at, known := r.places[text]
	if !known {
		if r.places == nil {
			r.places = map[string]int{}
		}
		text = strings.Clone(text) // its memory may be lent
		at = len(r.texts)
		r.places[text], r.texts = at, append(r.texts, text)
	}
	r.add(at, n)
}

// AddNull appends n rows without a value.
func (r *Runs) AddNull(n int) { r.add(-1, n) }

func (r *Runs) add(place, n int) {
	r.rows += n
	if last := len(r.runs) - 1; last >= 0 && r.runs[last].place == place {
		r.runs[last].n += n
		return
	}
	r.runs = append(r.runs, run{place, n})
}

// Page is what was collected, with its dictionary.
func (r *Runs) Page() Page {
	b := beginPage(nil)
	b = levelsBegin(b)
	for i := 0; i < len(r.runs); { // neighbours that both hold a value, or none, are one run
		n, holds := 0, r.runs[i].place >= 0
		for ; i < len(r.runs) && (r.runs[i].place >= 0) == holds; i++ {
			n += r.runs[i].n
		}
		b = append(binary.AppendUvarint(b, uint64(n)<<1), flag(holds))
	}
	b = levelsEnd(b)
	p := Page{}
	encoding := int64(pqPlain)
	if len(r.texts) > 0 {
		width := max(1, bits.Len(uint(len(r.texts)-1)))
		b = append(b, byte(width))
		for _, x := range r.runs {
			if x.place < 0 {
				continue
			}
			b = binary.AppendUvarint(b, uint64(x.n)<<1)
			for k := 0; k < (width+7)/8; k++ {
				b = append(b, byte(x.place>>(8*k)))
			}
		}
		encoding = pqPlaces
		d := dictionary{places: map[string]uint32{}}
		text := Column{typ: pqByteArray}
		for i, t := range r.texts {
			d.places[t] = uint32(i)
			d.plain = text.appendPlain(d.plain, []byte(t))
		}
		p.dict = d.page()
	}
	p.bytes = endPage(b, int64(r.rows), encoding)
	*r = Runs{runs: r.runs[:0]}
	return p
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// levelsBegin leaves room for the length of the levels, behind the header of the page.
func levelsBegin(b []byte) []byte { return append(b, 0, 0, 0, 0) }

func levelsEnd(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[pageHead:], uint32(len(b)-pageHead-4))
	return b
}

// Words collects a column of unsigned 64-bit integers, kept as they are.
type Words struct {
	words []uint64
	valid Flags
	rows  int
}

// Add appends a value.
func (w *Words) Add(x uint64) {
	w.words = append(w.words, x)
	w.valid.Add(true, 1)
	w.rows++
}

// AddAll appends values.
func (w *Words) AddAll(x []uint64) {
	w.words = append(w.words, x...)
	w.valid.Add(true, len(x))
	w.rows += len(x)
}

// AddNull appends n rows without a value.
func (w *Words) AddNull(n int) {
	w.valid.Add(false, n)
	w.rows += n
}

// Page is what was collected.
func (w *Words) Page() Page {
	b := levelsBegin(beginPage(nil))
	b = levelsEnd(w.valid.appendLevels(b))
	for _, x := range w.words {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	p := Page{bytes: endPage(b, int64(w.rows), pqPlain)}
	*w = Words{words: w.words[:0], valid: Flags{runs: w.valid.runs[:0]}}
	return p
}

// Flags collects a column of booleans without nulls.
type Flags struct {
	runs []run // place 1: true
	rows int
}

// Add appends the same value n times.
func (f *Flags) Add(x bool, n int) {
	if n == 0 {
		return
	}
	f.rows += n
	place := int(flag(x))
	if last := len(f.runs) - 1; last >= 0 && f.runs[last].place == place {
		f.runs[last].n += n
		return
	}
	f.runs = append(f.runs, run{place, n})
}

// appendLevels appends the flags as definition levels.
func (f *Flags) appendLevels(b []byte) []byte {
	for _, x := range f.runs {
		b = append(binary.AppendUvarint(b, uint64(x.n)<<1), byte(x.place))
	}
	return b
}

// Page is what was collected.
func (f *Flags) Page() Page {
	b := levelsBegin(beginPage(nil))
	b = append(binary.AppendUvarint(b, uint64(f.rows)<<1), 1)
	b = levelsEnd(b)
	packed := make([]byte, (f.rows+7)/8)
	at := 0
	for _, x := range f.runs {
		for end := at + x.n; at < end; at++ {
			packed[at>>3] |= byte(x.place) << (at & 7)
		}
	}
	p := Page{bytes: endPage(append(b, packed...), int64(f.rows), pqPlain)}
	*f = Flags{runs: f.runs[:0]}
	return p
}

// Ascending collects a column of signed 64-bit integers without nulls that mostly grow
// by the same step, and writes their differences (DELTA_BINARY_PACKED).
type Ascending struct{ values []int64 }

// Add appends a value.
func (a *Ascending) Add(x int64) { a.values = append(a.values, x) }

// Blocks of differences and miniblocks in each of them.
const (
	deltaBlock = 128
	deltaMini  = 32
)

// Page is what was collected.
func (a *Ascending) Page() Page {
	n := len(a.values)
	b := levelsBegin(beginPage(nil))
	b = levelsEnd(append(binary.AppendUvarint(b, uint64(n)<<1), 1))
	b = binary.AppendUvarint(b, deltaBlock)
	b = binary.AppendUvarint(b, deltaBlock/deltaMini)
	b = binary.AppendUvarint(b, uint64(n))
	first := int64(0)
	if n > 0 {
		first = a.values[0]
	}
	b = binary.AppendVarint(b, first)
	for i := 1; i < n; i += deltaBlock {
		b = appendDeltas(b, a.values[i-1:min(n, i+deltaBlock)])
	}
	p := Page{bytes: endPage(b, int64(n), pqDelta), encoding: pqDelta}
	a.values = a.values[:0]
	return p
}

// appendDeltas appends one block: the differences of neighbours among these values.
func appendDeltas(b []byte, v []int64) []byte {
	var deltas [deltaBlock]int64
	n := len(v) - 1
	least := v[1] - v[0]
	for i := range n {
		deltas[i] = v[i+1] - v[i]
		least = min(least, deltas[i])
	}
	b = binary.AppendVarint(b, least)
	var widths [deltaBlock / deltaMini]int
	for m := range widths {
		var all uint64
		for i := m * deltaMini; i < min(n, (m+1)*deltaMini); i++ {
			all |= uint64(deltas[i] - least)
		}
		widths[m] = bits.Len64(all)
		b = append(b, byte(widths[m]))
	}
	for m, width := range widths {
		if width == 0 {
			continue
		}
		var word uint64
		filled := 0
		for i := m * deltaMini; i < (m+1)*deltaMini; i++ {
			var x uint64
			if i < n {
				x = uint64(deltas[i] - least)
			}
			word |= x << filled
			if filled += width; filled >= 64 {
				b = binary.LittleEndian.AppendUint64(b, word)
				filled -= 64
				word = 0
				if filled > 0 {
					word = x >> (width - filled)
				}
			}
		}
		for ; filled > 0; filled -= 8 {
			b = append(b, byte(word))
			word >>= 8
		}
	}
	return b
}
