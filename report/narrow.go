package report

import (
	"context"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pages"
	"github.com/recon-batch/recon-batch/rules"
)

// The narrow rows: one for each row of a side, with its verdict. The staged files have
// them in their order, and almost all of them are plain pairs, which are correct by
// construction: so they are written straight from the staged files, with the verdicts
// of the others laid over them, and nothing is joined or sorted (see
// docs/decisions/0019-narrow-rows.md).

// narrowBy is who made the files of narrow rows.
const narrowBy = "recon-batch/narrow-1"

var narrowSchema = arrow.NewSchema([]arrow.Field{
	{Name: "source", Type: arrow.BinaryTypes.String}, {Name: "file", Type: arrow.BinaryTypes.String},
	{Name: "record", Type: arrow.PrimitiveTypes.Int64},
	{Name: "class", Type: arrow.BinaryTypes.String}, {Name: "reason", Type: arrow.BinaryTypes.String},
	{Name: "pass", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "link", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
	{Name: "once", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "in_period", Type: arrow.FixedWidthTypes.Boolean},
}, nil)

// narrowRows collects a row group.
type narrowRows struct {
	out                       *pages.File
	rows                      int
	source, file              pages.Runs
	record                    pages.Ascending
	class, reason, pass, once pages.Runs
	link                      pages.Words
	inPeriod                  pages.Flags
	plainPass                 string // of the plain pairs; "" where there are none
}

// writeNarrow writes the narrow rows of a side to a file.
func writeNarrow(ctx context.Context, d *Delivery, side rules.Side) error {
	path := d.path(string(side) + ".parquet")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fail.Wrap(fail.Resources, err, "%s cannot be written", path)
	}
	defer f.Close()
	n := &narrowRows{out: pages.NewFile(f, narrowBy, pages.Columns(narrowSchema, func(arrow.Field) bool { return false }))}
	var plain int
	if err := d.DB.Scan(ctx, "SELECT pass FROM plain_pass", &plain); err != nil {
		return err
	}
	if plain >= 0 {
		n.plainPass = d.In.Bound.Match[plain].Name
	}
	v := &laidVerdicts{ctx: ctx, db: d.DB, side: side}
	for _, x := range d.In.relation(side).Files {
		if x.Staged == "" {
			continue
		}
		if err := n.addFile(ctx, &x, v, plain); err != nil {
			return err
		}
	}
	if err := v.end(); err != nil {
		return err
	}
	n.flush()
	if err := n.out.Close(); err != nil {
		return fail.Wrap(fail.Resources, err, "%s cannot be written", path).WithHint("free disk and run again")
	}
	return nil
}

// addFile appends the rows of one staged file.
func (n *narrowRows) addFile(ctx context.Context, x *extract.File, v *laidVerdicts, plainPass int) error {
	r, f, err := extract.OpenStaged(x.Staged)
	if err != nil {
		return err
	}
	defer f.Close()
	var records, links []uint64
	var buf []byte
	rec, key := r.Find("rec"), -1
	if plainPass >= 0 {
		key = r.Find(fmt.Sprintf("h%d", plainPass))
	}
	for g := range r.Groups() {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if records, _, err = r.Words(g, rec, records, nil, &buf); err != nil {
			return fail.Wrap(fail.Resources, err, "the staged file %s cannot be read", x.Staged)
		}
		var null []bool
		if key >= 0 {
			if links, null, err = r.Words(g, key, links, null, &buf); err != nil {
				return fail.Wrap(fail.Resources, err, "the staged file %s cannot be read", x.Staged)
			}
		}
		for i := 0; i < len(records); {
			// Plain rows up to the next one that has a verdict of its own.
			next, found, err := v.next(int64(x.No)<<40 | int64(records[i]))
			if err != nil {
				return err
			}
			from := i
			for i < len(records) && int64(x.No)<<40|int64(records[i]) < next {
				i++
			}
			for from < i {
				some := min(i-from, pages.GroupRows-n.rows)
				if key < 0 || null != nil && anyOf(null[from:from+some]) {
					return breach("a row of %s has no verdict, and is no plain pair", x.Name)
				}
				n.addPlain(x, records[from:from+some], links[from:from+some])
				from += some
			}
			if found && i < len(records) {
				if int64(x.No)<<40|int64(records[i]) != next {
					return breach("the verdict of record %d of %s is of no row", next&(1<<40-1), x.Name)
				}
				n.addVerdict(x, int64(records[i]), v)
				i++
			}
		}
	}
	return nil
}

func anyOf(flags []bool) bool {
	for _, f := range flags {
		if f {
			return true
		}
	}
	return false
}

// addPlain appends plain pairs.
func (n *narrowRows) addPlain(x *extract.File, records, links []uint64) {
	for _, r := range records {
		n.record.Add(int64(r))
	}
	n.class.Add("correct", len(records))
	n.reason.Add("equal", len(records))
	n.pass.Add(n.plainPass, len(records))
	n.link.AddAll(links)
	n.once.Add("proven", len(records))
	n.inPeriod.Add(true, len(records))
	n.grow(x, len(records))
}

// addVerdict appends the row that v stands at, and moves v on.
func (n *narrowRows) addVerdict(x *extract.File, record int64, v *laidVerdicts) {
	n.record.Add(record)
	for _, c := range []struct {
		to   *pages.Runs
		from *textColumn
	}{{&n.class, &v.class}, {&n.reason, &v.reason}, {&n.pass, &v.pass}, {&n.once, &v.once}} {
		if text, ok := c.from.at(v.row); ok {
			c.to.Add(text, 1)
		} else {
			c.to.AddNull(1)
		}
	}
	if v.link.IsNull(v.row) {
		n.link.AddNull(1)
	} else {
		n.link.Add(v.link.Value(v.row))
	}
	n.inPeriod.Add(v.inPeriod.Value(v.row), 1)
	v.row++
	n.grow(x, 1)
}

func (n *narrowRows) grow(x *extract.File, rows int) {
	n.source.Add(x.Source, rows)
	n.file.Add(x.Name, rows)
	if n.rows += rows; n.rows == pages.GroupRows {
		n.flush()
	}
}

// flush writes the row group; an error is returned when the file is closed.
func (n *narrowRows) flush() {
	if n.rows == 0 {
		return
	}
	_ = n.out.Add([]pages.Page{
		n.source.Page(), n.file.Page(), n.record.Page(), n.class.Page(), n.reason.Page(), n.pass.Page(),
		n.link.Page(), n.once.Page(), n.inPeriod.Page(),
	}, int64(n.rows))
	n.rows = 0
}

// verdictsAtOnce is of how many row ids the verdicts are held in memory. A test makes
// it small.
var verdictsAtOnce int64 = 1 << 20

// laidVerdicts gives the rows of judged_<side> in the order of their ids.
type laidVerdicts struct {
	ctx   context.Context
	db    *duck.DB
	side  rules.Side
	until int64 // row ids below are read

	batches                   []arrow.RecordBatch
	row                       int // in the first batch
	rid                       *array.Int64
	class, reason, pass, once textColumn
	link                      *array.Uint64
	inPeriod                  *array.Boolean
}

// next is the id of the next row that has a verdict of its own, from the row id that is
// asked for on. Where none is found among the ids that are read, it is the first id that
// is not.
func (v *laidVerdicts) next(asked int64) (rid int64, found bool, err error) {
	for {
		if len(v.batches) > 0 && v.row < v.rid.Len() {
			return v.rid.Value(v.row), true, nil
		}
		if len(v.batches) > 0 {
			v.drop()
			continue
		}
		if asked < v.until {
			return v.until, false, nil
		}
		if err := v.read(asked); err != nil {
			return 0, false, err
		}
	}
}

// read reads the verdicts of the ids from one on.
func (v *laidVerdicts) read(from int64) error {
	if from > v.until {
		var n int64
		if err := v.db.Scan(v.ctx, fmt.Sprintf("SELECT count(*) FROM judged_%s WHERE rid >= %d AND rid < %d", v.side, v.until, from), &n); err != nil {
			return err
		}
		if n > 0 {
			return breach("%d verdicts of %s are of no row", n, v.side)
		}
	}
	v.until = from + verdictsAtOnce
	q := fmt.Sprintf("SELECT rid, class, reason, pass, once, CAST(link AS UBIGINT) AS link, in_period FROM judged_%s WHERE rid >= %d AND rid < %d ORDER BY rid", v.side, from, v.until)
	err := v.db.ReadArrow(v.ctx, q, func(b arrow.RecordBatch) error {
		if b.NumRows() > 0 {
			b.Retain()
			v.batches = append(v.batches, b)
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.open()
	return nil
}

// drop leaves the first batch.
func (v *laidVerdicts) drop() {
	v.batches[0].Release()
	v.batches = v.batches[1:]
	v.open()
}

// open reads the columns of the first batch.
func (v *laidVerdicts) open() {
	v.row = 0
	if len(v.batches) == 0 {
		return
	}
	b := v.batches[0]
	v.rid = b.Column(0).(*array.Int64)
	for i, c := range []*textColumn{&v.class, &v.reason, &v.pass, &v.once} {
		c.set(b.Column(1 + i))
	}
	v.link = b.Column(5).(*array.Uint64)
	v.inPeriod = b.Column(6).(*array.Boolean)
}

// end asserts that every verdict was of a row.
func (v *laidVerdicts) end() error {
	for len(v.batches) > 0 && v.row == v.rid.Len() {
		v.drop()
	}
	rest := int64(0)
	for i, b := range v.batches {
		rest += b.NumRows()
		if i == 0 {
			rest -= int64(v.row)
		}
		b.Release()
	}
	v.batches = nil
	var beyond int64
	if err := v.db.Scan(v.ctx, fmt.Sprintf("SELECT count(*) FROM judged_%s WHERE rid >= %d", v.side, v.until), &beyond); err != nil {
		return err
	}
	if rest += beyond; rest > 0 {
		return breach("%d verdicts of %s are of no row", rest, v.side)
	}
	return nil
}

// textColumn reads a column of texts or of ENUMs.
type textColumn struct {
	text  *array.String
	coded *array.Dictionary // nil: text holds the values themselves
}

func (c *textColumn) set(a arrow.Array) {
	c.coded = nil
	if d, ok := a.(*array.Dictionary); ok {
		c.coded, a = d, d.Dictionary()
	}
	c.text = a.(*array.String)
}

// at is the text of a row; false where it is null.
func (c *textColumn) at(row int) (string, bool) {
	if c.coded == nil {
		if c.text.IsNull(row) {
			return "", false
		}
		return c.text.Value(row), true
	}
	if c.coded.IsNull(row) {
		return "", false
	}
	return c.text.Value(c.coded.GetValueIndex(row)), true
}
