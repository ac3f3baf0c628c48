package compare

import (
	"fmt"
	"math/big"

	"github.com/cockroachdb/apd/v3"
)

// The Go half of the comparators takes the same values that the SQL half reads
// from the staged columns (extract.Layout): the comparable value of one side,
// already normalised, mapped, rounded or made sortable. A value is nil (null),
// string, int64, uint64, bool or *apd.Decimal, or one of the three marks below
// for what the masks `bad` and `amb` say about the cell.

// Bad stands for a value that is not of its declared type (V20).
type Bad struct{}

// Twice stands for a local time that exists twice; both readings are
// microseconds since 1970-01-01T00:00:00Z.
type Twice struct{ Early, Late int64 }

// Never stands for a local time that the zone skips.
type Never struct{}

// number gives the exact value of a decimal, an integer or a canonical decimal
// text. Every value that a staged numeric column can hold converts; anything
// else is a programming error.
func number(v any) *big.Rat {
	switch x := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(x)
	case uint64:
		return new(big.Rat).SetInt(new(big.Int).SetUint64(x))
	case *apd.Decimal:
		if r, ok := new(big.Rat).SetString(x.Text('f')); ok {
			return r
		}
	case string:
		if r, ok := new(big.Rat).SetString(x); ok {
			return r
		}
	}
	panic(fmt.Sprintf("compare: %T %v is no number", v, v))
}

// text gives the text by which two exact values are equal.
func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case *apd.Decimal:
		return x.Text('f')
	default:
		return fmt.Sprint(x)
	}
}
