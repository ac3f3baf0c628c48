package report

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/bojanz/currency"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// boardChunk is how many rows of the board the engine holds at once for reading.
const boardChunk = 16_384

// boardText is a column of texts: what is different once, and for each row which one it
// is, or one of noText and sameText.
type boardText struct {
	name  string
	list  []string            // spelled out for people
	mask  func(string) string // what people may see of a value; nil: all of it
	at    map[string]int32
	index []int32
}

const (
	noText   = -1
	sameText = -2 // as the operation has it
)

// boardNumber is a column of whole numbers.
type boardNumber struct {
	name   string
	values []int64
	null   []bool
}

// boardRowset is the rows of the board, column by column.
type boardRowset struct {
	in      *Input
	red     *redactor
	rows    int
	cut     bool // there are more rows, but these are as many bytes as may be
	size    int  // bytes of all texts
	texts   []*boardText
	numbers []*boardNumber
	pairs   []fieldPair
	dropped []string                 // columns that the page does not have
	field   map[string][2]*boardText // by field: operations, results; nil where a side has none
	zone    *time.Location
}

// readBoard reads the rows of report_board, of which there are so many.
func readBoard(ctx context.Context, db *duck.DB, in *Input, red *redactor, rows int) (*boardRowset, error) {
	t := &boardRowset{in: in, red: red, pairs: fieldPairs(in.Bound.Job, red), field: map[string][2]*boardText{}, zone: time.UTC}
	if in.Bound.Zone != nil {
		t.zone = in.Bound.Zone
	}
	var cols []string
	var fill []func(arrow.Array, int) error // by column, a row of a batch
	for _, c := range boardColumns(in, red) {
		cols = append(cols, c.sql)
		fill = append(fill, t.column(c.name))
	}
	for _, p := range t.pairs {
		var both [2]*boardText
		for i, c := range []string{p.o, p.r} {
			if c == "" {
				continue
			}
			x := &boardText{name: []string{"o:", "r:"}[i] + p.name, at: map[string]int32{}}
			both[i] = x
			t.texts = append(t.texts, x)
			cols = append(cols, cutExpr("w."+duck.Ident(c)))
			other := both[0]
			if i == 0 {
				other = nil
			}
			fill = append(fill, func(a arrow.Array, row int) error { return t.addText(x, other, a, row) })
		}
		t.field[p.name] = both
	}
	for i, c := range cols {
		cols[i] = c + " AS c" + strconv.Itoa(i)
	}
	for _, q := range []string{sqlBoardItems.Render(nil), sqlBoardRows.Render(duck.Slots{"columns": strings.Join(cols, ",\n       ")})} {
		if err := db.Exec(ctx, q); err != nil {
			return nil, err
		}
	}
	for from := 1; from <= rows && !t.cut; from += boardChunk {
		q := fmt.Sprintf("SELECT * EXCLUDE (no) FROM report_board_rows WHERE no BETWEEN %d AND %d ORDER BY no", from, from+boardChunk-1)
		err := db.ReadArrow(ctx, q, func(b arrow.RecordBatch) error {
			for row := range int(b.NumRows()) {
				if t.cut {
					return nil
				}
				for i, f := range fill {
					if err := f(b.Column(i), row); err != nil {
						return err
					}
				}
				t.rows++
				t.cut = t.size > boardLimits.raw && t.rows < rows
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if !t.cut && t.rows != rows {
		return nil, fail.New(fail.Internal, "the board has %d rows, and %d were read", rows, t.rows)
	}
	return t, nil
}

// column makes a column that is no product field, and returns what adds a row to it.
func (t *boardRowset) column(name string) func(arrow.Array, int) error {
	switch {
	case name == "due":
		x := &boardText{name: name, at: map[string]int32{}}
		t.texts = append(t.texts, x)
		return func(a arrow.Array, row int) error {
			us, err := wholeAt(a, row)
			if err != nil || us == nil {
				t.add(x, "", false)
				return err
			}
			t.add(x, time.UnixMicro(*us).In(t.zone).Format("2006-01-02 15:04"), true)
			return nil
		}
	case boardNumbers[name]:
		x := &boardNumber{name: name}
		t.numbers = append(t.numbers, x)
		return func(a arrow.Array, row int) error {
			n, err := wholeAt(a, row)
			if n == nil {
				n = new(int64)
				x.null = append(x.null, true)
			} else {
				x.null = append(x.null, false)
			}
			x.values = append(x.values, *n)
			t.size += 8
			return err
		}
	case strings.HasSuffix(name, "_amount") || name == "difference":
		x, code := &boardText{name: name, at: map[string]int32{}}, t.text("currency")
		t.texts = append(t.texts, x)
		return func(a arrow.Array, row int) error {
			s, ok, err := textAt(a, row)
			if ok {
				c := ""
				if i := code.index[len(x.index)]; i >= 0 {
					c = code.list[i]
				}
				s = boardAmount(s, c)
			}
			t.add(x, s, ok)
			return err
		}
	}
	x := &boardText{name: name, at: map[string]int32{}}
	if boardOfItem[name] {
		x.mask = func(s string) string { return t.red.people(name, s) }
	}
	t.texts = append(t.texts, x)
	return func(a arrow.Array, row int) error { return t.addText(x, nil, a, row) }
}

// drop takes a column of texts away.
func (t *boardRowset) drop(name string) {
	t.texts = slices.DeleteFunc(t.texts, func(x *boardText) bool { return x.name == name })
	t.dropped = append(t.dropped, name)
}

// text is a column of texts by its name.
func (t *boardRowset) text(name string) *boardText {
	for _, x := range t.texts {
		if x.name == name {
			return x
		}
	}
	return nil
}

func (t *boardRowset) addText(x, other *boardText, a arrow.Array, row int) error {
	s, ok, err := textAt(a, row)
	if ok && other != nil {
		if i, found := other.at[s]; found && other.index[len(x.index)] == i {
			x.index = append(x.index, sameText)
			t.size += 2
			return nil
		}
	}
	t.add(x, s, ok)
	return err
}

// add adds a row; s is only valid until the engine reads on.
func (t *boardRowset) add(x *boardText, s string, ok bool) {
	i := int32(noText)
	if ok {
		var found bool
		if i, found = x.at[s]; !found {
			i, s = int32(len(x.list)), strings.Clone(s)
			x.at[s] = i
			text := s
			if x.mask != nil {
				text = x.mask(s)
			}
			x.list = append(x.list, visible(text))
			t.size += len(s)
		}
	}
	x.index = append(x.index, i)
	t.size += 6
}

func textAt(a arrow.Array, row int) (string, bool, error) {
	if a.IsNull(row) {
		return "", false, nil
	}
	x, ok := a.(*array.String)
	if !ok {
		return "", false, fail.New(fail.Internal, "not a column of texts: %s", a.DataType())
	}
	return x.Value(row), true, nil
}

func wholeAt(a arrow.Array, row int) (*int64, error) {
	if a.IsNull(row) {
		return nil, nil
	}
	n := int64(0)
	switch x := a.(type) {
	case *array.Int64:
		n = x.Value(row)
	case *array.Int32:
		n = int64(x.Value(row))
	default:
		return nil, fail.New(fail.Internal, "not a column of whole numbers: %s", a.DataType())
	}
	return &n, nil
}

// boardAmount is amountText of an exact decimal as the engine prints it: the zeros at its
// end that say nothing are gone, but those that the currency has.
func boardAmount(s, code string) string {
	digits := 0
	if d, ok := currency.GetDigits(code); ok {
		digits = int(d)
	}
	head, tail, _ := strings.Cut(s, ".")
	tail = strings.TrimRight(tail, "0")
	if n := digits - len(tail); n > 0 {
		tail += strings.Repeat("0", n)
	}
	if tail == "" {
		return head
	}
	return head + "." + tail
}
