package pages

import "encoding/binary"

// thrift writes the compact protocol of Apache Thrift (doc/specs/
// thrift-compact-protocol.md), as much of it as Parquet's headers need. A struct
// begins with open or element, or is the outermost one, and ends with end or close.
type thrift struct {
	b     []byte
	last  int   // field id written last in the struct
	outer []int // of the structs around it
}

// Types of the compact protocol.
const (
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

func (t *thrift) field(id, typ int) {
	t.b = append(t.b, byte((id-t.last)<<4|typ)) // ids ascend by less than 16
	t.last = id
}

// varint appends a number in zigzag form.
func (t *thrift) varint(v int64) { t.b = binary.AppendVarint(t.b, v) }

func (t *thrift) i32(id int, v int64) { t.field(id, thriftI32); t.varint(v) }
func (t *thrift) i64(id int, v int64) { t.field(id, thriftI64); t.varint(v) }

func (t *thrift) bytes(s string) {
	t.b = binary.AppendUvarint(t.b, uint64(len(s)))
	t.b = append(t.b, s...)
}

func (t *thrift) text(id int, s string) { t.field(id, thriftBinary); t.bytes(s) }

// list begins a list of n elements, which follow without field ids.
func (t *thrift) list(id, element, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n<<4|element))
		return
	}
	t.b = append(t.b, byte(15<<4|element))
	t.b = binary.AppendUvarint(t.b, uint64(n))
}

// open begins a struct as a field, close ends it.
func (t *thrift) open(id int) {
	t.field(id, thriftStruct)
	t.element()
}

// element begins a struct inside a list, end ends it.
func (t *thrift) element() {
	t.outer = append(t.outer, t.last)
	t.last = 0
}

func (t *thrift) close() { t.end() }

func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = 0
	if n := len(t.outer); n > 0 {
		t.last, t.outer = t.outer[n-1], t.outer[:n-1]
	}
}
