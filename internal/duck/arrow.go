//go:build duckdb_arrow

package duck

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/duckdb/duckdb-go/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// CopyArrow runs one statement that reads the record batches of rr under the name
// arrow_in, such as
//
//	COPY (SELECT * FROM arrow_in) TO 'x.parquet' (FORMAT parquet)
//
// The reader is consumed once and may be called from another thread. An error of
// the reader ends the statement and is returned.
func (db *DB) CopyArrow(ctx context.Context, rr array.RecordReader, q string) error {
	// Views of one database share their names: each call has its own.
	name := fmt.Sprintf("arrow_in_%d", db.views.Add(1))
	q = strings.ReplaceAll(q, "arrow_in", name)
	return db.arrow(ctx, q, func(c *duckdb.Conn, ar *duckdb.Arrow) error {
		release, err := ar.RegisterView(rr, name)
		if err != nil {
			return err
		}
		defer release()
		_, err = c.ExecContext(ctx, q, nil)
		if rerr := rr.Err(); rerr != nil {
			return rerr // the cause; the engine's own text says less
		}
		if err != nil {
			return wrap(ctx, q, err)
		}
		_, err = c.ExecContext(ctx, "DROP VIEW "+name, nil)
		return err
	})
}

// CopyBatch is CopyArrow for what a builder holds, which is empty afterwards.
func (db *DB) CopyBatch(ctx context.Context, b *array.RecordBuilder, q string) error {
	batch := b.NewRecordBatch()
	defer batch.Release()
	rr, err := array.NewRecordReader(b.Schema(), []arrow.RecordBatch{batch})
	if err != nil {
		return err
	}
	defer rr.Release()
	return db.CopyArrow(ctx, rr, q)
}

// ReadArrow runs a query and calls each with its record batches, which are valid until
// it returns. The engine holds the whole result first: ask for what memory can hold.
func (db *DB) ReadArrow(ctx context.Context, q string, each func(arrow.RecordBatch) error) error {
	return db.arrow(ctx, q, func(_ *duckdb.Conn, ar *duckdb.Arrow) error {
		rr, err := ar.QueryContext(ctx, q)
		if err != nil {
			return wrap(ctx, q, err)
		}
		defer rr.Release()
		for rr.Next() {
			if err := each(rr.RecordBatch()); err != nil {
				return err
			}
		}
		if err := rr.Err(); err != nil {
			return wrap(ctx, q, err)
		}
		return ctx.Err()
	})
}

// arrow gives f a connection that speaks Arrow, for the statement q.
func (db *DB) arrow(ctx context.Context, q string, f func(*duckdb.Conn, *duckdb.Arrow) error) error {
	defer db.record(q)()
	conn, err := db.sql.Conn(ctx)
	if err != nil {
		return wrap(ctx, q, err)
	}
	defer conn.Close()
	return conn.Raw(func(dc any) error {
		c, ok := dc.(*duckdb.Conn)
		if !ok {
			return fail.New(fail.Internal, "not a connection of the engine: %T", dc)
		}
		ar, err := duckdb.NewArrowFromConn(c)
		if err != nil {
			return err
		}
		return f(c, ar)
	})
}

// Int64s runs a query of one BIGINT column without nulls.
func (db *DB) Int64s(ctx context.Context, q string) ([]int64, error) {
	var out []int64
	err := db.ReadArrow(ctx, q, func(b arrow.RecordBatch) error {
		col, ok := b.Column(0).(*array.Int64)
		if !ok || col.NullN() > 0 {
			return fail.New(fail.Internal, "not a column of whole numbers (%s)", firstLine(q))
		}
		out = append(out, col.Int64Values()...)
		return nil
	})
	return out, err
}
