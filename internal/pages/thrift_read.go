package pages

import (
	"encoding/binary"
	"errors"
)

var errThrift = errors.New("the metadata cannot be read")

// thriftIn reads the compact protocol. After an error everything it gives is 0.
type thriftIn struct {
	b   []byte
	at  int
	err error
}

func (t *thriftIn) uvarint() uint64 {
	v, n := binary.Uvarint(t.b[t.at:])
	if n <= 0 {
		t.fail()
		return 0
	}
	t.at += n
	return v
}

// varint reads a number in zigzag form.
func (t *thriftIn) varint() int64 {
	v := t.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (t *thriftIn) fail() {
	t.err, t.at = errThrift, len(t.b)
}

func (t *thriftIn) byte() byte {
	if t.at >= len(t.b) {
		t.fail()
		return 0
	}
	t.at++
	return t.b[t.at-1]
}

func (t *thriftIn) text() string {
	n := t.uvarint()
	if n > uint64(len(t.b)-t.at) {
		t.fail()
		return ""
	}
	t.at += int(n)
	return string(t.b[t.at-int(n) : t.at])
}

// fields calls f for each field of a struct with its id and type; f reads the value.
func (t *thriftIn) fields(f func(id, typ int)) {
	last := 0
	for t.err == nil {
		h := t.byte()
		if h == 0 {
			return
		}
		if last += int(h >> 4); h>>4 == 0 {
			last = int(t.varint())
		}
		f(last, int(h&15))
	}
}

// list reads the head of a list: how many elements, of which type.
func (t *thriftIn) list() (n, typ int) {
	h := t.byte()
	if n = int(h >> 4); n == 15 {
		n = int(t.uvarint())
	}
	if n > len(t.b)-t.at { // an element has a byte at least
		t.fail()
		return 0, 0
	}
	return n, int(h & 15)
}

// skip reads over a value.
func (t *thriftIn) skip(typ int) {
	switch typ {
	case 1, 2: // true, false: in the type itself
	case 3:
		t.byte()
	case 4, thriftI32, thriftI64:
		t.uvarint()
	case 7:
		t.at += 8
		if t.at > len(t.b) {
			t.fail()
		}
	case thriftBinary:
		t.text()
	case thriftList, 10:
		n, of := t.list()
		for range n {
			t.skip(of)
		}
	case thriftStruct:
		t.fields(func(_, typ int) { t.skip(typ) })
	default:
		t.fail()
	}
}
