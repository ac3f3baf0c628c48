package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/rules"
)

var (
	sqlMaskedFind = parseSQL("masked_find")
	sqlMasked     = parseSQL("masked")
)

// freeText are the texts of the rows in which card numbers, IBANs and secrets are looked
// for before people see them; see docs/redaction.md. What was found stands in report_masked.
type freeText struct {
	rules.Redact
	list   []freeColumn
	masked maskedTexts // of the rows
}

// freeColumn is a field of one side that is looked through.
type freeColumn struct {
	side   rules.Side
	name   string
	column string // of the staged rows: the value, or the text as found of one that is unreadable
	files  bool   // masked in exceptions.parquet too: rows are joined by it nowhere
	people bool   // something was found
	file   bool   // something was found that is masked in the file
}

// maskedTexts counts what was masked.
type maskedTexts struct {
	counts scan.Counts
	places []maskedPlace // in the order of their names
}

// maskedPlace is where values were masked: a field with its side, or a part of the report.
type maskedPlace struct {
	place  string
	values int64
}

// add counts finds of a text that stands there so many times.
func (m *maskedTexts) add(place string, n scan.Counts, times int64) {
	if n.Sum() == 0 {
		return
	}
	for kind := range n {
		m.counts[kind] += n[kind] * times
	}
	i, ok := slices.BinarySearchFunc(m.places, place, func(p maskedPlace, name string) int { return strings.Compare(p.place, name) })
	if !ok {
		m.places = slices.Insert(m.places, i, maskedPlace{place: place})
	}
	m.places[i].values += n.Sum() * times
}

func newFreeText(job *rules.Job) freeText {
	return freeText{Redact: job.Redact}
}

// looks tells whether the values of a product field are looked through.
func (r *redactor) looks(field string) bool {
	return r.free.LooksThrough(field)
}

// people is a value of a product field as people may see it.
func (r *redactor) people(field, text string) string {
	if !r.looks(field) {
		return text
	}
	return scan.Text(text)
}

// itemFields are the columns of an item that hold values of rows, and the product fields
// that they are values of; "" names of files.
var itemFields = map[string]string{
	"operation_id": "operation_id", "idempotency_key": "idempotency_key", "recheck_key": "idempotency_key", "remote_id": "remote_id",
	"keep_remote_id": "remote_id", "type": "type", "entity": "entity", "version": "version", "destination": "destination", "expected_state": "state",
	"o_file": "", "r_file": "",
}

// peopleItems gives for each column of items what makes a value fit for people to see;
// nil where it is as it is.
func peopleItems(job *rules.Job, columns []string) []func(string) string {
	r := redactor{fields: job.Redact.Fields, free: newFreeText(job)}
	out := make([]func(string) string, len(columns))
	for i, name := range columns {
		if field, ok := itemFields[name]; ok && r.looks(field) {
			out[i] = scan.Text
		}
	}
	return out
}

// joinedFields names the fields by which rows are joined, here or by whoever reads the files:
// the ids, what the passes of the job link by, what it hands on (local_ref, parameters).
// Nothing is masked there in files for machines. An order number of 16 digits passes for
// a card with one chance in ten.
func joinedFields(job *rules.Job) map[string]bool {
	out := map[string]bool{}
	for _, name := range []string{"operation_id", "idempotency_key", "remote_id", "entity", "type", "state", "version", "currency", "destination",
		"replaces", "payload_ref", "content_fingerprint"} {
		out[name] = true
	}
	for _, p := range job.Match {
		for _, k := range p.On {
			out[k.Operations], out[k.Results] = true, true
		}
	}
	for _, name := range job.Operations.LocalRef {
		out[name] = true
	}
	for _, spec := range []*rules.SideSpec{&job.Operations, &job.Results} {
		if spec.Survivor != nil {
			out[spec.Survivor.By] = true
		}
	}
	for _, p := range job.Types {
		for _, value := range p.CompensateParameters {
			out[value] = true
		}
		if p.Unexpected != nil {
			for _, value := range p.Unexpected.CompensateParameters {
				out[value] = true
			}
		}
	}
	return out
}

// lookThrough finds what is to be masked in the exceptions, and makes report_masked. raw
// are the fields with unreadable values, by side.
func (r *redactor) lookThrough(ctx context.Context, db *duck.DB, job *rules.Job, raw map[rules.Side][]string) error {
	if r.free.FreeTextOff {
		return nil
	}
	joins := joinedFields(job)
	for _, side := range rules.Sides {
		for _, f := range job.Spec(side).Fields {
			c := freeColumn{side: side, name: f.Name, column: "f_" + f.Name, files: !joins[f.Name]}
			switch {
			case !r.looks(f.Name):
				continue
			case f.Type == rules.Text:
			case slices.Contains(raw[side], f.Name):
				c.column, c.files = "raw_"+f.Name, true // no key can be unreadable
			default:
				continue
			}
			r.free.list = append(r.free.list, c)
		}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, maskedSchema)
	defer b.Release()
	for _, side := range rules.Sides {
		if err := r.findMasked(ctx, db, side, b); err != nil {
			return err
		}
	}
	return db.CopyBatch(ctx, b, sqlMasked.Render(nil))
}

var maskedSchema = arrow.NewSchema([]arrow.Field{
	{Name: "c", Type: arrow.PrimitiveTypes.Int32}, {Name: "raw", Type: arrow.BinaryTypes.String},
	{Name: "shown", Type: arrow.BinaryTypes.String}, {Name: "file", Type: arrow.FixedWidthTypes.Boolean},
}, nil)

// found is a different value of a column.
type foundText struct {
	column int
	text   string
	rows   int64 // exceptions with it
}

// findMasked asks the engine for the values of one side that may hold something, and looks
// at each of them.
func (r *redactor) findMasked(ctx context.Context, db *duck.DB, side rules.Side, b *array.RecordBuilder) error {
	var values []string
	for i, c := range r.free.list {
		if c.side != side {
			continue
		}
		value := "x." + duck.Ident(c.column)
		if !c.files {
			value = "CASE WHEN x.seen THEN " + value + " END"
		}
		values = append(values, fmt.Sprintf("{'c': %d, 'v': %s}", i, value))
	}
	if len(values) == 0 {
		return nil
	}
	var list []foundText
	q := sqlMaskedFind.Render(duck.Slots{"values": strings.Join(values, ", "), "rid": short(side) + "_rid", "rows": "res_" + short(side),
		"pattern": duck.Literal(scan.Prefilter), "limit": fmt.Sprint(sheetExceptions)})
	err := each(ctx, db, q, func(rows *sql.Rows) error {
		var f foundText
		err := rows.Scan(&f.column, &f.text, &f.rows)
		list = append(list, f)
		return err
	})
	if err != nil {
		return err
	}
	chance := byChance(list)
	for _, f := range list {
		shown, n := scan.Mask(f.text)
		if n.Sum() == 0 {
			continue
		}
		c := &r.free.list[f.column]
		inFile := c.files && !(chance[f.column] && allDigits(f.text))
		c.people, c.file = true, c.file || inFile
		r.free.masked.add(c.name+" of the "+string(side), n, f.rows)
		b.Field(0).(*array.Int32Builder).Append(int32(f.column))
		b.Field(1).(*array.StringBuilder).Append(f.text)
		b.Field(2).(*array.StringBuilder).Append(shown)
		b.Field(3).(*array.BooleanBuilder).Append(inFile)
	}
	return nil
}

// byChance tells the columns whose values are numbers of which some pass for cards: where
// fewer than half of the numbers do, they are no cards, and files keep them.
func byChance(list []foundText) map[int]bool {
	numbers, cards := map[int]int{}, map[int]int{}
	for _, f := range list {
		if !allDigits(f.text) {
			continue
		}
		numbers[f.column]++
		if len(scan.Find(f.text)) > 0 {
			cards[f.column]++
		}
	}
	out := map[int]bool{}
	for c, n := range numbers {
		out[c] = cards[c]*2 < n
	}
	return out
}

func allDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// seenIn renders a column of a staged row as it may leave the engine: for people, or in
// exceptions.parquet. Columns in which nothing was found are as they are.
func (r *redactor) seenIn(people bool, side rules.Side, column, expr string) string {
	i := slices.IndexFunc(r.free.list, func(c freeColumn) bool { return c.side == side && c.column == column })
	if i < 0 || people && !r.free.list[i].people || !people && !r.free.list[i].file {
		return expr
	}
	file := ""
	if !people {
		file = " AND m.file"
	}
	return fmt.Sprintf("coalesce((SELECT m.shown FROM report_masked m WHERE m.c = %d AND m.raw = %s%s), %[2]s)", i, expr, file)
}
