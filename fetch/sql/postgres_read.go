package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// fetchRows is how many rows the cursor is asked for at once. They are not kept here; the
// server keeps them until they are sent, so that many more cost more than they spare.
const fetchRows = 4_000

func (q query) bound() (values [][]byte, oids []uint32) {
	for _, a := range q.args {
		values = append(values, []byte(a.text))
		oids = append(oids, a.oid)
	}
	return values, oids
}

// describe implements conn.
func (p *pgConn) describe(ctx context.Context, q query) ([]column, error) {
	_, oids := q.bound()
	d, err := p.c.Prepare(ctx, "", q.text, oids)
	if err != nil {
		return nil, p.t.classed(ctx, err, "its query cannot be prepared")
	}
	keys := map[string]bool{}
	if k := p.t.of.Keyset; k != nil {
		for _, name := range k.Columns {
			keys[name] = true
		}
	}
	out := make([]column, len(d.Fields))
	for i, f := range d.Fields {
		out[i] = postgresColumn(f.Name, f.DataTypeOID, keys[f.Name])
	}
	return out, nil
}

// each implements conn. A query without limit is read through a cursor of the server.
func (p *pgConn) each(ctx context.Context, q query, cols []column, few bool, row func([][]byte) error) error {
	values, oids := q.bound()
	formats := make([]int16, len(cols))
	for i, c := range cols {
		if c.binary {
			formats[i] = pgtype.BinaryFormatCode
		}
	}
	const doing = "its rows cannot be read"
	if few {
		_, err := p.rows(p.c.ExecParams(ctx, q.text, values, oids, nil, formats), row)
		return p.read(ctx, err, doing)
	}
	declare := "DECLARE recon_rows NO SCROLL CURSOR WITHOUT HOLD FOR\n" + q.text
	if err := p.c.ExecParams(ctx, declare, values, oids, nil, nil).Read().Err; err != nil {
		return p.t.classed(ctx, err, "its query cannot be run")
	}
	next := fmt.Sprintf("FETCH FORWARD %d FROM recon_rows", fetchRows)
	for {
		n, err := p.rows(p.c.ExecParams(ctx, next, nil, nil, nil, formats), row)
		if err != nil || n < fetchRows {
			return p.read(ctx, err, doing)
		}
	}
}

func (p *pgConn) read(ctx context.Context, err error, doing string) error {
	if err == nil {
		return nil
	}
	return p.t.classed(ctx, err, doing)
}

// rows reads one result to the end that the server states, and compares the number that
// it tells there.
func (p *pgConn) rows(r *pgconn.ResultReader, row func([][]byte) error) (int64, error) {
	n := int64(0)
	for r.NextRow() {
		n++
		if err := row(r.Values()); err != nil {
			// What is left of the result is not read: the connection is given up.
			return n, err
		}
	}
	tag, err := r.Close()
	if err != nil {
		return n, err
	}
	if s := tag.String(); tag.RowsAffected() != n || !strings.HasPrefix(s, "FETCH ") && !strings.HasPrefix(s, "SELECT ") {
		return n, errors.Join(fmt.Errorf("%d rows came, and the server says %q", n, s), io.ErrUnexpectedEOF)
	}
	return n, nil
}
