package report

import (
	"context"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/rules"
)

// parquetOptions: zstd is read by every engine; its first level makes files that are
// no larger here. A dictionary is tried for columns of few values only: to find that
// thousands of ids repeat nowhere costs more than it saves.
const parquetOptions = "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, DICTIONARY_SIZE_LIMIT 4096)"

// writeParquet writes the rows: both narrow files, exceptions, links, rejects, the
// open items and the queues. Every statement has a total order, so that the bytes do not depend
// on threads or memory, nor on what is written beside it. Two files at a time: of the
// wide ones, which take memory, only one.
func writeParquet(ctx context.Context, d *Delivery) error {
	if err := d.queuesDir(); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	file := func(query, name string) func() error {
		return func() error { return d.copy(ctx, query, name, parquetOptions) }
	}
	rows := func(side rules.Side) func() error {
		return func() error { return writeNarrow(ctx, d, side) }
	}
	wide := []func() error{rows(rules.Operations), file("SELECT * FROM report_exceptions_wide", "exceptions.parquet")}
	narrow := []func() error{rows(rules.Results), file(sqlLinks.Render(nil), "links.parquet"), func() error { return d.writeRejects(ctx) },
		file(sqlOpenFile.Render(nil), OpenFile)}
	empty := "" // the first wide queue without items: the others have its bytes
	for _, q := range d.Summary.Queues {
		name := "queues/" + q.Queue + ".parquet"
		switch write := file(queueRows(q), name); {
		case !q.Written:
		case q.Queue == "confirm":
			narrow = append(narrow, write)
		case q.Items == 0 && empty != "":
			wide = append(wide, func() error { return d.copyFile(empty, name) })
		default:
			if q.Items == 0 {
				empty = name
			}
			wide = append(wide, write)
		}
	}
	for _, list := range [][]func() error{wide, narrow} {
		g.Go(func() error {
			for _, write := range list {
				if err := write(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// queueRows selects the items of a queue; the views have them in the order of their
// ids. For a queue without items no row is looked at.
func queueRows(q Queue) string {
	// With several threads the order inside the view does not outlast what is selected of
	// it, once there is more than a chunk of rows; that of the whole statement does.
	view, where, order := "report_items", "queue = "+duck.Literal(q.Queue), " ORDER BY item_id"
	if q.Queue == "confirm" {
		view, where, order = "report_items_confirm", "TRUE", ""
	}
	if q.Items == 0 {
		where = "FALSE"
	}
	return "SELECT * FROM " + view + " WHERE " + where + order
}

// copy writes the rows of a statement to a file.
func (d *Delivery) copy(ctx context.Context, query, name, options string) error {
	return d.DB.Exec(ctx, fmt.Sprintf("COPY (\n%s\n) TO %s %s", query, duck.Literal(d.path(name)), options))
}

// copyFile gives a small file a second name, with the same bytes.
func (d *Delivery) copyFile(from, to string) error {
	data, err := os.ReadFile(d.path(from))
	if err != nil {
		return fail.Wrap(fail.Resources, err, "%s cannot be read again", from).WithHint("leave the folder of outputs alone while a run writes it")
	}
	return d.write(to, data)
}

// writeRejects writes the records that could not be read. Their bytes are as found but
// for card numbers, IBANs and secrets, and left out as a whole where the job hides personal
// fields: nobody can say which bytes of a broken record those are.
func (d *Delivery) writeRejects(ctx context.Context) error {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "side", Type: arrow.BinaryTypes.String}, {Name: "source", Type: arrow.BinaryTypes.String},
		{Name: "file", Type: arrow.BinaryTypes.String}, {Name: "record", Type: arrow.PrimitiveTypes.Int64},
		{Name: "line", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "column_name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "reason", Type: arrow.BinaryTypes.String}, {Name: "raw", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "no", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	hide, masks := len(d.In.Bound.Redact.Fields) > 0, !d.In.Bound.Redact.FreeTextOff
	var no int64
	for _, side := range rules.Sides {
		rel := d.In.relation(side)
		files := map[int]extract.File{}
		for _, f := range rel.Files {
			files[f.No] = f
		}
		for _, r := range rel.Rejects {
			f := files[r.File]
			b.Field(0).(*array.StringBuilder).Append(string(side))
			b.Field(1).(*array.StringBuilder).Append(f.Source)
			b.Field(2).(*array.StringBuilder).Append(f.Name)
			b.Field(3).(*array.Int64Builder).Append(r.Record)
			appendOr(b.Field(4).(*array.Int64Builder), r.Line)
			if r.Column == "" {
				b.Field(5).AppendNull()
			} else {
				b.Field(5).(*array.StringBuilder).Append(r.Column)
			}
			reason, raw := r.Reason, r.Raw
			if masks {
				reason = scan.Text(reason)
				if text := scan.Text(string(raw)); text != string(raw) {
					raw = []byte(text)
				}
			}
			b.Field(6).(*array.StringBuilder).Append(reason)
			if hide || raw == nil {
				b.Field(7).AppendNull()
			} else {
				b.Field(7).(*array.BinaryBuilder).Append(raw)
			}
			b.Field(8).(*array.Int64Builder).Append(no)
			no++
		}
	}
	return d.DB.CopyBatch(ctx, b, fmt.Sprintf("COPY (SELECT * EXCLUDE (no) FROM arrow_in ORDER BY no) TO %s %s", duck.Literal(d.path("rejects.parquet")), parquetOptions))
}

// appendOr appends a number, or null for 0, which stands for unknown.
func appendOr(b *array.Int64Builder, n int64) {
	if n == 0 {
		b.AppendNull()
		return
	}
	b.Append(n)
}
