package extract

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// fingerprinter gives the two halves of the 128-bit fingerprint of a text: the first
// 16 bytes of SHA-256 (FIPS 180-4), big-endian. A row has four of them, of short
// texts, for which sha256.Sum256 spends as long on copying its state and the padding
// as on hashing. So the padding is written here (§5.1.1), and the state after the
// last block, which is the sum, is read off. One belongs to one goroutine.
type fingerprinter struct {
	hash  hash.Hash
	state encoding.BinaryAppender // of hash; nil where it is not as expected
	buf   []byte
	out   []byte
}

// Of the state as crypto/sha256 gives it: a mark, then eight words, big-endian.
const (
	stateMark = "sha\x03"
	stateSum  = len(stateMark)
)

func newFingerprinter() *fingerprinter {
	f := &fingerprinter{hash: sha256.New()}
	state, ok := f.hash.(encoding.BinaryAppender)
	if !ok {
		return f
	}
	f.state = state
	probe := []byte("probe")
	want := sha256.Sum256(probe)
	if !f.fill(appendPadding(probe)) || string(f.out[:stateSum]) != stateMark || string(f.out[stateSum:stateSum+16]) != string(want[:16]) {
		f.state = nil // another library: Sum256 it is
	}
	return f
}

func (f *fingerprinter) of(text []byte) (first, second uint64) {
	first, second, f.buf = f.ofOwn(append(f.buf[:0], text...))
	return first, second
}

// ofOwn is the same for a buffer of the caller, which it appends to and returns.
func (f *fingerprinter) ofOwn(text []byte) (first, second uint64, buf []byte) {
	padded := appendPadding(text)
	if f.state == nil || !f.fill(padded) {
		s := sha256.Sum256(text)
		return binary.BigEndian.Uint64(s[:8]), binary.BigEndian.Uint64(s[8:16]), padded
	}
	return binary.BigEndian.Uint64(f.out[stateSum:]), binary.BigEndian.Uint64(f.out[stateSum+8:]), padded
}

// appendPadding makes whole blocks of a text.
func appendPadding(text []byte) []byte {
	var zeros [sha256.BlockSize]byte
	b := append(text, 0x80)
	b = append(b, zeros[:(2*sha256.BlockSize-8-len(b)%sha256.BlockSize)%sha256.BlockSize]...)
	return binary.BigEndian.AppendUint64(b, uint64(len(text))*8)
}

// fill leaves the state after whole blocks in out.
func (f *fingerprinter) fill(blocks []byte) bool {
	f.hash.Reset()
	f.hash.Write(blocks)
	var err error
	f.out, err = f.state.AppendBinary(f.out[:0])
	return err == nil && len(f.out) >= stateSum+16
}

// Encodings that fingerprints are taken of. Each token says its own length, so
// that no two lists of tokens give the same bytes.
const (
	tokenNull  = 'n'
	tokenValue = 'v' // followed by the length and the text
	tokenNever = 'x' // followed by the side: equals nothing that the other side has
)

func appendValueToken(b, text []byte) []byte {
	return appendSized(append(b, tokenValue), text)
}

func appendNeverToken(b []byte, side rules.Side) []byte {
	return append(b, tokenNever, side[0])
}

// compared makes the comparable value of one Job.Compare entry on one side: the
// column c<i> where it has one of its own, and its token in p1, p2.
type compared struct {
	rule    rules.Compare
	side    rules.Side
	field   *fieldReader   // nil for a status of the operations
	members []*fieldReader // AsFingerprint
	steps   *normaliser    // of the field, then of the comparison
	own     bool
	status  bool // results with a mapped status
	// the source holds an empty text for null
	emptyIsNull bool
}

// value returns the comparable text of the record. null and never tell that there
// is none; a never value equals nothing. bad tells a value that is not of the type
// that the comparison asks for, although its field is readable. buf is scratch.
func (c *compared) value(buf []byte, vals []value, st string) (text []byte, null, never, bad bool) {
	switch c.rule.As {
	case rules.AsStatus:
		if c.side == rules.Operations {
			return append(buf, c.rule.Expect...), false, false, false
		}
		return append(buf, st...), false, false, false
	case rules.AsFingerprint:
		text, never = c.digest(buf, vals)
		return text, false, never, false
	}
	v := &vals[c.field.index]
	switch {
	case v.null:
		return nil, true, false, false
	case !v.plain():
		return nil, false, true, false
	}
	switch {
	case c.rule.As == rules.AsDecimal && c.rule.Round != nil:
		return v.d.round(c.rule.Round).appendText(buf), false, false, false
	case c.rule.As == rules.AsVersion && c.rule.Scheme == rules.VersionSemantic:
		text, ok := semanticOrder(buf, v.text)
		return text, false, !ok, !ok
	case c.field.kind != kindText:
		text = c.field.canonical(v)
	default:
		text = v.text
	}
	if !c.own {
		return text, false, false, false
	}
	full := len(text) > 0
	if c.rule.As == rules.AsMapped && c.side == rules.Operations {
		text = c.mapped(text)
	} else {
		text = c.steps.apply(text)
	}
	// What normalisation leaves empty is empty by the source's own rule.
	return text, full && len(text) == 0 && c.emptyIsNull, false, false
}

// mapped gives the results' text for a text of the operations. A text that the
// map does not list stands for itself.
func (c *compared) mapped(text []byte) []byte {
	to, ok := c.rule.Map[string(text)]
	if !ok {
		to, ok = c.rule.Map[string(c.steps.apply(text))]
	}
	if !ok {
		return c.steps.apply(text)
	}
	return c.steps.apply([]byte(to))
}

// digest is the hexadecimal SHA-256 over the canonical values of the named fields,
// in their declared order. One that is unreadable or ambiguous gives a digest that
// the other side never has.
func (c *compared) digest(buf []byte, vals []value) (text []byte, never bool) {
	var enc []byte
	for _, m := range c.members {
		v := &vals[m.index]
		switch {
		case v.null:
			enc = append(enc, tokenNull)
		case !v.plain():
			enc = appendNeverToken(enc, c.side)
			never = true
		default:
			text := m.canonical(v)
			if m.kind == kindText {
				text = m.steps.apply(v.text)
			}
			enc = appendValueToken(enc, text)
		}
	}
	sum := sha256.Sum256(enc)
	return hex.AppendEncode(buf, sum[:]), never
}

// recordPrint makes w1, w2: the fingerprint of the record as found. It is taken of
// the digest of the names of the columns that hold a value, in sorted order, and of
// their values in that order, each behind its length. So neither the order of the
// columns nor a column without a value matters (V4: a missing column counts as
// null). Nearly all records of a file fill the same columns, whose digest is kept.
// One belongs to one goroutine.
type recordPrint struct {
	columns   []printColumn // sorted by name
	transport map[string]bool
	known     map[uint64][sha256.Size]byte // digest of names by the set of filled columns
	last      uint64                       // the set of the record before
	lastNames [sha256.Size]byte
	buf       []byte
	names     []byte
	hash      *fingerprinter
}

type printColumn struct {
	at   int
	name string
}

// maxPrintColumns is the number of columns up to which a set of them is a word.
const maxPrintColumns = 64

func newRecordPrint(header, transport []string) *recordPrint {
	p := &recordPrint{transport: map[string]bool{}, known: map[uint64][sha256.Size]byte{}, hash: newFingerprinter()}
	for _, t := range transport {
		p.transport[t] = true
	}
	for i, h := range header {
		if !p.transport[h] {
			p.columns = append(p.columns, printColumn{at: i, name: h})
		}
	}
	slices.SortStableFunc(p.columns, func(a, b printColumn) int { return strings.Compare(a.name, b.name) })
	p.lastNames = sha256.Sum256(nil)
	return p
}

// of returns the two halves of the record's fingerprint.
func (p *recordPrint) of(r *rawRecord) (uint64, uint64) {
	if len(r.extra) > 0 || len(p.columns) > maxPrintColumns {
		return p.anyColumns(r)
	}
	b := append(p.buf[:0], p.lastNames[:]...)
	var filled uint64
	for i := range p.columns {
		cell := &r.cells[p.columns[i].at]
		if cell.Kind != CellNull {
			filled |= 1 << i
			b = appendSized(b, cell.Text)
		}
	}
	if filled != p.last {
		p.last, p.lastNames = filled, p.digestOf(filled)
		copy(b, p.lastNames[:])
	}
	var first, second uint64
	first, second, p.buf = p.hash.ofOwn(b)
	return first, second
}

// digestOf is the digest of the names of a set of columns.
func (p *recordPrint) digestOf(filled uint64) [sha256.Size]byte {
	if d, ok := p.known[filled]; ok {
		return d
	}
	p.names = p.names[:0]
	for i := range p.columns {
		if filled>>i&1 == 1 {
			p.names = appendSized(p.names, p.columns[i].name)
		}
	}
	d := sha256.Sum256(p.names)
	p.known[filled] = d
	return d
}

// anyColumns is the same for records with members that the header does not name,
// and for very wide ones.
func (p *recordPrint) anyColumns(r *rawRecord) (uint64, uint64) {
	p.names, p.buf = p.names[:0], append(p.buf[:0], p.lastNames[:]...)
	extra := r.extra
	member := func() {
		if x := &extra[0]; x.Kind != CellNull && !p.transport[x.Name] {
			p.names, p.buf = appendSized(p.names, x.Name), appendSized(p.buf, x.Text)
		}
		extra = extra[1:]
	}
	for i := range p.columns {
		c := &p.columns[i]
		for len(extra) > 0 && extra[0].Name < c.name {
			member()
		}
		if cell := &r.cells[c.at]; cell.Kind != CellNull {
			p.names, p.buf = appendSized(p.names, c.name), appendSized(p.buf, cell.Text)
		}
	}
	for len(extra) > 0 {
		member()
	}
	names := sha256.Sum256(p.names)
	copy(p.buf, names[:])
	return p.hash.of(p.buf)
}

// appendSized appends a text behind its length.
func appendSized[T string | []byte](b []byte, text T) []byte {
	if len(text) < 0x80 {
		b = append(b, byte(len(text))) // a varint of one byte, as below
	} else {
		b = binary.AppendUvarint(b, uint64(len(text)))
	}
	return append(b, text...)
}
