package extract

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
)

// appendValue writes one value that is not null as text, and tells what kind it
// is, or what is wrong with it:
//
//	integers              their digits
//	decimals              exact, with the scale of the column: 12.50
//	booleans              true, false
//	dates                 2026-08-20
//	timestamps            RFC 3339 with as many fraction digits as needed, up to 9;
//	                      with Z where the column is adjusted to UTC, without an
//	                      offset where it is not
//	times of day          15:04:05 with a fraction as needed
//	texts                 as they are; not UTF-8 is a fault
//	UUIDs                 in the usual form
//	bytes                 where a field reads them: a text; else in hexadecimal
//	lists, maps           JSON
//	floats                the shortest digits that give the float again; no field reads them
func appendValue(dst []byte, a arrow.Array, i int, needed bool) ([]byte, CellKind, string) {
	switch a := a.(type) {
	case *array.String:
		return appendText(dst, a.Value(i))
	case *array.LargeString:
		return appendText(dst, a.Value(i))
	case *array.StringView:
		return appendText(dst, a.Value(i))
	case *array.Int64:
		return strconv.AppendInt(dst, a.Value(i), 10), CellNumber, ""
	case *array.Int32:
		return strconv.AppendInt(dst, int64(a.Value(i)), 10), CellNumber, ""
	case *array.Int16:
		return strconv.AppendInt(dst, int64(a.Value(i)), 10), CellNumber, ""
	case *array.Int8:
		return strconv.AppendInt(dst, int64(a.Value(i)), 10), CellNumber, ""
	case *array.Uint64:
		return strconv.AppendUint(dst, a.Value(i), 10), CellNumber, ""
	case *array.Uint32:
		return strconv.AppendUint(dst, uint64(a.Value(i)), 10), CellNumber, ""
	case *array.Uint16:
		return strconv.AppendUint(dst, uint64(a.Value(i)), 10), CellNumber, ""
	case *array.Uint8:
		return strconv.AppendUint(dst, uint64(a.Value(i)), 10), CellNumber, ""
	case *array.Decimal128:
		v, scale := a.Value(i), a.DataType().(*arrow.Decimal128Type).Scale
		if low := v.LowBits(); v.HighBits() == 0 && low <= math.MaxInt64 || v.HighBits() == -1 && low > math.MaxInt64 {
			return appendUnscaled(dst, int64(low), nil, scale), CellNumber, ""
		}
		return appendUnscaled(dst, 0, v.BigInt(), scale), CellNumber, ""
	case *array.Decimal256:
		return appendUnscaled(dst, 0, a.Value(i).BigInt(), a.DataType().(*arrow.Decimal256Type).Scale), CellNumber, ""
	case *array.Decimal64:
		return appendUnscaled(dst, int64(a.Value(i)), nil, a.DataType().(*arrow.Decimal64Type).Scale), CellNumber, ""
	case *array.Decimal32:
		return appendUnscaled(dst, int64(a.Value(i)), nil, a.DataType().(*arrow.Decimal32Type).Scale), CellNumber, ""
	case *array.Boolean:
		return strconv.AppendBool(dst, a.Value(i)), CellBool, ""
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		dst = timeOf(int64(a.Value(i)), t.Unit).AppendFormat(dst, "2006-01-02T15:04:05.999999999")
		if t.TimeZone != "" {
			dst = append(dst, 'Z')
		}
		return dst, CellText, ""
	case *array.Date32:
		return time.Unix(int64(a.Value(i))*86400, 0).UTC().AppendFormat(dst, time.DateOnly), CellText, ""
	case *array.Date64:
		return timeOf(int64(a.Value(i)), arrow.Millisecond).AppendFormat(dst, time.DateOnly), CellText, ""
	case *array.Time32:
		return timeOf(int64(a.Value(i)), a.DataType().(*arrow.Time32Type).Unit).AppendFormat(dst, "15:04:05.999999999"), CellText, ""
	case *array.Time64:
		return timeOf(int64(a.Value(i)), a.DataType().(*arrow.Time64Type).Unit).AppendFormat(dst, "15:04:05.999999999"), CellText, ""
	case *array.Binary:
		return appendBytes(dst, a.Value(i), needed)
	case *array.LargeBinary:
		return appendBytes(dst, a.Value(i), needed)
	case *array.BinaryView:
		return appendBytes(dst, a.Value(i), needed)
	case *array.FixedSizeBinary:
		return appendBytes(dst, a.Value(i), needed)
	case *array.Float64:
		return strconv.AppendFloat(dst, a.Value(i), 'g', -1, 64), CellNumber, ""
	case *array.Float32:
		return strconv.AppendFloat(dst, float64(a.Value(i)), 'g', -1, 32), CellNumber, ""
	case *array.Dictionary:
		return appendValue(dst, a.Dictionary(), a.GetValueIndex(i), needed)
	case *extensions.UUIDArray:
		return appendText(dst, a.ValueStr(i))
	case array.ExtensionArray:
		return appendValue(dst, a.Storage(), i, needed)
	case *array.List, *array.LargeList, *array.FixedSizeList, *array.Map, *array.Struct:
		if text, err := json.Marshal(a.GetOneForMarshal(i)); err == nil {
			return append(dst, text...), CellText, ""
		}
		return appendText(dst, a.ValueStr(i))
	default:
		return appendText(dst, a.ValueStr(i))
	}
}

func appendText(dst []byte, s string) ([]byte, CellKind, string) {
	from := len(dst)
	dst = append(dst, s...)
	return dst, CellText, validText(dst[from:])
}

func appendBytes(dst, b []byte, needed bool) ([]byte, CellKind, string) {
	if needed {
		return append(dst, b...), CellText, validText(b)
	}
	return hex.AppendEncode(dst, b), CellText, ""
}

// appendUnscaled writes an unscaled decimal, large or else small, with its point.
func appendUnscaled(dst []byte, small int64, large *big.Int, scale int32) []byte {
	from := len(dst)
	if large != nil {
		dst = large.Append(dst, 10)
	} else {
		dst = strconv.AppendInt(dst, small, 10)
	}
	if scale <= 0 {
		for ; scale < 0; scale++ {
			dst = append(dst, '0')
		}
		return dst
	}
	if dst[from] == '-' {
		from++
	}
	for len(dst)-from <= int(scale) { // at least one digit before the point
		dst = append(dst, 0)
		copy(dst[from+1:], dst[from:])
		dst[from] = '0'
	}
	point := len(dst) - int(scale)
	dst = append(dst, 0)
	copy(dst[point+1:], dst[point:])
	dst[point] = '.'
	return dst
}

// timeOf is the instant of a count of units since 1970, in UTC.
func timeOf(v int64, unit arrow.TimeUnit) time.Time {
	switch unit {
	case arrow.Second:
		return time.Unix(v, 0).UTC()
	case arrow.Millisecond:
		return time.UnixMilli(v).UTC()
	case arrow.Microsecond:
		return time.UnixMicro(v).UTC()
	default:
		return time.Unix(0, v).UTC()
	}
}
