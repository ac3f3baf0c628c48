//go:build duckdb_arrow

package duck

import (
	"context"
	"fmt"
	"strings"

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
	defer db.record(q)()
	conn, err := db.sql.Conn(ctx)
	if err != nil {
		return wrap(ctx, q, err)
	}
	defer conn.Close()
	// Views of one database share their names: each call has its own.
	name := fmt.Sprintf("arrow_in_%d", db.views.Add(1))
	q = strings.ReplaceAll(q, "arrow_in", name)
	return conn.Raw(func(dc any) error {
		c, ok := dc.(*duckdb.Conn)
		if !ok {
			return fail.New(fail.Internal, "not a connection of the engine: %T", dc)
		}
		ar, err := duckdb.NewArrowFromConn(c)
		if err != nil {
			return err
		}
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
