package sql

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/jackc/pgx/v5/pgtype"
)

type writer = func(dst, v []byte) []byte

// texts are the types that the server is asked to write as text, and how that becomes
// JSON. All others are texts as they are: names, uuids, intervals, ranges, enums.
var texts = map[uint32]writer{
	pgtype.NumericOID: appendNumber,
	pgtype.Float4OID:  appendNumber,
	pgtype.Float8OID:  appendNumber,
	pgtype.JSONOID:    appendJSON,
	pgtype.JSONBOID:   appendJSON,

	// inside of arrays, and as keys
	pgtype.Int2OID: appendNumber,
	pgtype.Int4OID: appendNumber,
	pgtype.Int8OID: appendNumber,
	pgtype.OIDOID:  appendNumber,
	pgtype.BoolOID: func(dst, v []byte) []byte { return strconv.AppendBool(dst, len(v) == 1 && v[0] == 't') },
	pgtype.TimestampOID: func(dst, v []byte) []byte {
		return appendMoment(dst, v, false)
	},
	pgtype.TimestamptzOID: func(dst, v []byte) []byte {
		return appendMoment(dst, v, true)
	},
}

// binaries are the types that cost less, for both sides, in their binary form
// (https://www.postgresql.org/docs/current/protocol-overview.html#PROTOCOL-FORMAT-CODES).
var binaries = map[uint32]writer{
	pgtype.Int2OID: func(dst, v []byte) []byte {
		return strconv.AppendInt(dst, int64(int16(binary.BigEndian.Uint16(v))), 10)
	},
	pgtype.Int4OID: func(dst, v []byte) []byte {
		return strconv.AppendInt(dst, int64(int32(binary.BigEndian.Uint32(v))), 10)
	},
	pgtype.Int8OID: func(dst, v []byte) []byte {
		return strconv.AppendInt(dst, int64(binary.BigEndian.Uint64(v)), 10)
	},
	pgtype.OIDOID: func(dst, v []byte) []byte {
		return strconv.AppendUint(dst, uint64(binary.BigEndian.Uint32(v)), 10)
	},
	pgtype.BoolOID:  func(dst, v []byte) []byte { return strconv.AppendBool(dst, v[0] != 0) },
	pgtype.ByteaOID: appendBytes,
	pgtype.DateOID:  appendPgDate,
	pgtype.TimestampOID: func(dst, v []byte) []byte {
		return appendPgMoment(dst, v, "")
	},
	pgtype.TimestamptzOID: func(dst, v []byte) []byte {
		return appendPgMoment(dst, v, "Z")
	},
}

// arrays are the types of arrays whose elements are not plain texts.
var arrays = map[uint32]uint32{
	pgtype.NumericArrayOID: pgtype.NumericOID, pgtype.Float4ArrayOID: pgtype.Float4OID, pgtype.Float8ArrayOID: pgtype.Float8OID,
	pgtype.Int2ArrayOID: pgtype.Int2OID, pgtype.Int4ArrayOID: pgtype.Int4OID, pgtype.Int8ArrayOID: pgtype.Int8OID,
	pgtype.BoolArrayOID: pgtype.BoolOID, pgtype.DateArrayOID: pgtype.DateOID, pgtype.TimestampArrayOID: pgtype.TimestampOID,
	pgtype.TimestamptzArrayOID: pgtype.TimestamptzOID, pgtype.JSONArrayOID: pgtype.JSONOID, pgtype.JSONBArrayOID: pgtype.JSONBOID,
	pgtype.TextArrayOID: pgtype.TextOID, pgtype.VarcharArrayOID: pgtype.VarcharOID, pgtype.BPCharArrayOID: pgtype.BPCharOID,
	pgtype.UUIDArrayOID: pgtype.UUIDOID, pgtype.ByteaArrayOID: pgtype.ByteaOID, pgtype.NameArrayOID: pgtype.NameOID,
}

// keyTypes are those by which slices may be cut: equal values have equal texts.
var keyTypes = map[uint32]bool{
	pgtype.Int2OID: true, pgtype.Int4OID: true, pgtype.Int8OID: true, pgtype.OIDOID: true, pgtype.DateOID: true, pgtype.TimestampOID: true,
	pgtype.TimestamptzOID: true, pgtype.UUIDOID: true, pgtype.TextOID: true, pgtype.VarcharOID: true,
}

// typeNames are for people.
var typeNames = pgtype.NewMap()

// postgresColumn decides how the values of a column come and are written.
func postgresColumn(name string, oid uint32, isKey bool) column {
	c := column{name: name, oid: oid, as: "of the type " + strconv.FormatUint(uint64(oid), 10)}
	if t, ok := typeNames.TypeForOID(oid); ok {
		c.as = t.Name
	}
	if keyTypes[oid] {
		c.key = func(v []byte) arg { return arg{text: string(v), oid: oid} }
	}
	write, ok := binaries[oid]
	element, isArray := arrays[oid]
	switch {
	case ok && !isKey: // a key is remembered as text
		c.binary, c.write = true, write
	case isArray:
		of := textWriter(element)
		c.write = func(dst, v []byte) []byte { return appendArray(dst, v, of) }
	default:
		c.write = textWriter(oid)
	}
	return c
}

func textWriter(oid uint32) writer {
	if w, ok := texts[oid]; ok {
		return w
	}
	return appendText
}

// appendPgDate appends a date, counted in days from 2000-01-01.
func appendPgDate(dst, v []byte) []byte {
	days := int32(binary.BigEndian.Uint32(v))
	switch days {
	case math.MaxInt32:
		return append(dst, `"infinity"`...)
	case math.MinInt32:
		return append(dst, `"-infinity"`...)
	}
	dst, bc := appendDay(append(dst, '"'), int64(days)+epoch2000)
	if bc {
		dst = append(dst, " BC"...)
	}
	return append(dst, '"')
}

// appendPgMoment appends a time, counted in microseconds from 2000-01-01; zone is what
// stands behind it.
func appendPgMoment(dst, v []byte, zone string) []byte {
	us := int64(binary.BigEndian.Uint64(v))
	switch us {
	case math.MaxInt64:
		return append(dst, `"infinity"`...)
	case math.MinInt64:
		return append(dst, `"-infinity"`...)
	}
	days, clock := us/usPerDay, us%usPerDay
	if clock < 0 {
		days, clock = days-1, clock+usPerDay
	}
	dst = append(dst, '"')
	start := len(dst)
	dst, bc := appendDay(dst, days+epoch2000)
	if !bc {
		dst = appendClock(append(dst, 'T'), clock)
		dst = append(dst, zone...)
		return append(dst, '"')
	}
	// As the server writes it, so that nobody takes it for a year after 1.
	dst = appendClock(append(dst, ' '), clock)
	for dst[len(dst)-1] == '0' && len(dst) > start {
		dst = dst[:len(dst)-1]
	}
	if dst[len(dst)-1] == '.' {
		dst = dst[:len(dst)-1]
	}
	if zone != "" {
		dst = append(dst, "+00"...)
	}
	return append(dst, ` BC"`...)
}

// appendArray appends an array from its text, {1,NULL,"a b",{2}}, as JSON. A text that it
// does not understand is a text.
func appendArray(dst, v []byte, element writer) []byte {
	start := len(dst)
	i := 0
	if len(v) > 0 && v[0] == '[' { // bounds that are not those that everybody has: [0:1]={…}
		for i < len(v) && v[i] != '=' {
			i++
		}
		i++
	}
	dst, i, ok := appendElements(dst, v, i, element)
	if !ok || i != len(v) {
		return appendText(dst[:start], v)
	}
	return dst
}

func appendElements(dst, v []byte, i int, element writer) ([]byte, int, bool) {
	if i >= len(v) || v[i] != '{' {
		return dst, i, false
	}
	i++
	dst = append(dst, '[')
	if i < len(v) && v[i] == '}' {
		return append(dst, ']'), i + 1, true
	}
	for i < len(v) {
		ok := true
		switch {
		case v[i] == '{':
			dst, i, ok = appendElements(dst, v, i, element)
		case v[i] == '"':
			var text []byte
			for i++; i < len(v) && v[i] != '"'; i++ {
				if v[i] == '\\' && i+1 < len(v) {
					i++
				}
				text = append(text, v[i])
			}
			i++
			dst = element(dst, text)
		default:
			from := i
			for i < len(v) && v[i] != ',' && v[i] != '}' {
				i++
			}
			if text := v[from:i]; string(text) == "NULL" {
				dst = append(dst, "null"...)
			} else {
				dst = element(dst, text)
			}
		}
		if !ok || i >= len(v) {
			return dst, i, false
		}
		switch v[i] {
		case ',':
			dst = append(dst, ',')
			i++
		case '}':
			return append(dst, ']'), i + 1, true
		default:
			return dst, i, false
		}
	}
	return dst, i, false
}
