package classify

import (
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/match/near"
	"github.com/recon-batch/recon-batch/rules"
)

// mostLeftOver are the rows of a side among which hints are looked for. Where more are left
// over, it is no single mistake that keeps them apart, and nobody reads so many hints.
var mostLeftOver int64 = 20_000

var hintSchema = arrow.NewSchema([]arrow.Field{
	{Name: "whose", Type: arrow.BinaryTypes.String}, {Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String},
}, nil)

// hints tells people which rows that are left over on one side are probably those that are
// left over on the other. Verdicts are there already, and no proposal looks at it.
func (c *classifier) hints() error {
	c.hint, c.hintJoin = "CAST(NULL AS VARCHAR)", ""
	b := array.NewRecordBuilder(memory.DefaultAllocator, hintSchema)
	defer b.Release()
	tooMany := ""
	if !c.job.HintsOff {
		var err error
		if tooMany, err = c.findHints(b); err != nil {
			return err
		}
	}
	if tooMany != "" || b.Field(0).Len() > 0 {
		c.hint = "h.text"
		c.hintJoin = "\nLEFT JOIN hints h ON h.whose = CASE WHEN i.set_id IS NOT NULL THEN 'set' WHEN i.o_rid IS NOT NULL THEN 'operations' ELSE 'results' END" +
			" AND h.id = coalesce(i.set_id, i.o_rid, i.r_rid)"
	}
	if tooMany != "" {
		return c.exec("hints_not_searched", duck.Slots{"text": duck.Literal(tooMany)})
	}
	return c.db.CopyBatch(c.ctx, b, duck.MustParse(sqlFiles, "sql/hints.sql").Render(nil))
}

// findHints writes the hints, or says why it has not looked for any.
func (c *classifier) findHints(b *array.RecordBuilder) (tooMany string, err error) {
	var counts [2]int64
	for i, s := range rules.Sides {
		err := c.exec("left_over", duck.Slots{"left_over": leftOver(s), "verdicts": "verdicts_" + letter(s), "link_rid": letter(s) + "_rid"})
		if err != nil {
			return "", err
		}
		if err := c.db.Scan(c.ctx, "SELECT count(*) FROM "+leftOver(s), &counts[i]); err != nil {
			return "", err
		}
	}
	if min(counts[0], counts[1]) == 0 {
		return "", nil
	}
	for i, s := range rules.Sides {
		if counts[i] > mostLeftOver {
			return fmt.Sprintf("Hints were not searched for: %d %s are left over, more than %d.", counts[i], s, mostLeftOver), nil
		}
	}
	f := newHintFields(c)
	h := hinting{hintFields: f}
	var rows [2][]near.Row
	for i, s := range rules.Sides {
		if rows[i], h.rows[i], err = f.leftOver(s); err != nil {
			return "", err
		}
	}
	h.found = near.Search(rows[0], rows[1], f.near)
	h.write(func(whose string, id int64, text string) {
		b.Field(0).(*array.StringBuilder).Append(whose)
		b.Field(1).(*array.Int64Builder).Append(id)
		b.Field(2).(*array.StringBuilder).Append(text)
	})
	return "", nil
}

func leftOver(s rules.Side) string { return "left_over_" + letter(s) }

func letter(s rules.Side) string { return string(s)[:1] }

// hintRow is where a row stands, and what is shown of it.
type hintRow struct {
	near.Row
	rid int64
	set sql.NullInt64
}

// hintFields are what the near misses of a job are looked for by.
type hintFields struct {
	c    *classifier
	near near.Fields
	refs []hintRef
	days []hintDay
}

// hintRef is a text that both sides have under a key of a pass.
type hintRef struct {
	operations, results string // the product fields
	pass                int
	alone               bool // the whole key of the pass, so that it stands there normalised
}

type hintDay struct{ operations, results string }

func newHintFields(c *classifier) *hintFields {
	f := &hintFields{c: c}
	f.near.HiddenAmount = c.hidden("amount")
	for i, p := range c.job.Match {
		for _, k := range p.On {
			f.addRef(hintRef{operations: k.Operations, results: k.Results, pass: i, alone: len(p.On) == 1 && !k.Nullable})
		}
		for _, w := range p.Within {
			f.addDay(hintDay{w.Field, w.Field}, w.Max)
		}
	}
	for _, cmp := range c.job.Compare {
		f.addDay(hintDay{cmp.Operations, cmp.Results}, 0)
	}
	return f
}

func (c *classifier) hidden(fields ...string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return c.job.Redact.Fields[f] != "" })
}

func (c *classifier) bothAre(operations, results string, types ...rules.FieldType) bool {
	o, r := c.job.Operations.Field(operations), c.job.Results.Field(results)
	return o != nil && r != nil && slices.Contains(types, o.Type) && slices.Contains(types, r.Type)
}

func (f *hintFields) addRef(ref hintRef) {
	known := slices.ContainsFunc(f.refs, func(x hintRef) bool { return x.operations == ref.operations && x.results == ref.results })
	if known || !f.c.bothAre(ref.operations, ref.results, rules.Text) || slices.Contains([]string{"entity", "currency", "type"}, ref.operations) {
		return
	}
	f.refs = append(f.refs, ref)
	f.near.Refs = append(f.near.Refs, near.RefField{Hidden: f.c.hidden(ref.operations, ref.results)})
}

func (f *hintFields) addDay(day hintDay, within time.Duration) {
	if !f.c.bothAre(day.operations, day.results, rules.Date, rules.Timestamp) {
		return
	}
	i := slices.Index(f.days, day)
	if i < 0 {
		i = len(f.days)
		f.days = append(f.days, day)
		f.near.Days = append(f.near.Days, near.DayField{Hidden: f.c.hidden(day.operations, day.results)})
	}
	// A time of the next day may be a minute later.
	f.near.Days[i].Within = max(f.near.Days[i].Within, int64(math.Ceil(within.Hours()/24)))
}

// columns are those of hint_rows, all of them texts but the days.
func (f *hintFields) columns(side rules.Side) string {
	x := match.Columns(f.c.job.Job, f.c.relation(side).Layout, "x")
	amount := "''"
	if f.c.bothAre("amount", "amount", rules.Decimal, rules.Integer) {
		amount = "coalesce(CAST(" + x.Raw("amount", "VARCHAR") + " AS VARCHAR), '')"
	}
	out := []string{amount}
	for _, name := range []string{"type", "entity", "currency"} {
		text := "''"
		if f.c.bothAre(name, name, rules.Text) {
			text = "coalesce(" + x.Raw(name, "VARCHAR") + ", '')"
		}
		out = append(out, text)
	}
	for _, r := range f.refs {
		name, key := r.operations, fmt.Sprintf("x.k%d", r.pass)
		if side == rules.Results {
			name = r.results
		}
		if !r.alone { // a key with an empty part links nothing
			key = "CASE WHEN " + key + " IS NOT NULL THEN " + x.Raw(name, "VARCHAR") + " END"
		}
		out = append(out, "coalesce("+key+", '')")
	}
	for _, d := range f.days {
		name := d.operations
		if side == rules.Results {
			name = d.results
		}
		day := x.Raw(name, "BIGINT")
		if f.c.job.Spec(side).Field(name).Type == rules.Date {
			day = "CAST(" + day + " - DATE '1970-01-01' AS BIGINT)"
		}
		out = append(out, day)
	}
	return strings.Join(out, ", ")
}

// day is the day of a value in the job's zone, in days since 1970-01-01.
func (f *hintFields) day(side rules.Side, i int, value int64) int64 {
	name := f.days[i].operations
	if side == rules.Results {
		name = f.days[i].results
	}
	if f.c.job.Spec(side).Field(name).Type == rules.Date {
		return value
	}
	y, m, d := time.UnixMicro(value).In(f.c.job.Zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / int64((24 * time.Hour).Seconds())
}

// leftOver reads the rows of a side.
func (f *hintFields) leftOver(side rules.Side) (list []near.Row, shown []hintRow, err error) {
	q := duck.MustParse(sqlFiles, "sql/hint_rows.sql").Render(duck.Slots{"columns": f.columns(side), "left_over": leftOver(side), "residual": residual(side)})
	rows, err := f.c.db.Query(f.c.ctx, q)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		x := hintRow{Row: near.Row{Refs: make([]string, len(f.refs)), Days: make([]*int64, len(f.days))}}
		dest := []any{&x.rid, &x.set, &x.Print, &x.Amount, &x.Type, &x.Entity, &x.Currency}
		for i := range x.Refs {
			dest = append(dest, &x.Refs[i])
		}
		for i := range x.Days {
			dest = append(dest, &x.Days[i])
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, nil, err
		}
		for i, at := range x.Days {
			if at != nil {
				*at = f.day(side, i, *at)
			}
		}
		list, shown = append(list, x.Row), append(shown, x)
	}
	return list, shown, rows.Err()
}
