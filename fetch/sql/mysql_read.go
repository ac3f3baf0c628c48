package sql

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// describe implements conn. The driver tells the columns of rows alone, so that it asks
// for none of them.
func (m *myConn) describe(ctx context.Context, q query) ([]column, error) {
	const doing = "its query cannot be prepared"
	if err := m.transactional(ctx, q); err != nil {
		return nil, m.t.classed(ctx, err, doing)
	}
	stmt, rows, err := m.query(ctx, q.around("SELECT * FROM ", " LIMIT 0"))
	if err != nil {
		return nil, m.t.classed(ctx, err, doing)
	}
	defer stmt.Close()
	defer rows.Close()
	cols := mysqlColumns(rows)
	if err := drain(rows); err != nil {
		return nil, m.t.classed(ctx, err, doing)
	}
	return cols, nil
}

// transactional refuses tables that no snapshot holds still. It knows those that the
// query names, not those behind a view.
func (m *myConn) transactional(ctx context.Context, q query) error {
	stmt, rows, err := m.query(ctx, query{text: `SELECT table_name, engine FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND engine NOT IN ('InnoDB', 'ROCKSDB', 'TokuDB', 'ndbcluster')`})
	if err != nil {
		return err
	}
	defer stmt.Close()
	defer rows.Close()
	vals := make([]driver.Value, 2)
	for {
		if err := rows.Next(vals); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		name, engine := string(appendValue(nil, vals[0])), string(appendValue(nil, vals[1]))
		if mentions(q.text, name) {
			return fail.New(fail.Usage, "the source %s (%s): the table %s is of the engine %s, which has no snapshots", m.t.name, m.t.address, name, engine).
				WithHint("ALTER TABLE … ENGINE = InnoDB, or read it as a file")
		}
	}
}

// query runs a statement by the binary protocol, in which numbers keep all their digits.
// The rows come as they are read.
func (m *myConn) query(ctx context.Context, q query) (driver.Stmt, driver.Rows, error) {
	stmt, err := m.c.(driver.ConnPrepareContext).PrepareContext(ctx, q.text)
	if err != nil {
		return nil, nil, err
	}
	args := make([]driver.NamedValue, len(q.args))
	for i, a := range q.args {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: a.my}
		if a.my == nil {
			args[i].Value = a.text
		}
	}
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		stmt.Close()
		return nil, nil, err
	}
	return stmt, rows, nil
}

func drain(rows driver.Rows) error {
	vals := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(vals); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// each implements conn.
func (m *myConn) each(ctx context.Context, q query, cols []column, _ bool, row func([][]byte) error) error {
	stmt, rows, err := m.query(ctx, q)
	if err != nil {
		return m.t.classed(ctx, err, "its query cannot be run")
	}
	defer stmt.Close()
	defer rows.Close()
	if err := m.sameColumns(rows, cols); err != nil {
		return err
	}
	vals := make([]driver.Value, len(rows.Columns()))
	texts := make([][]byte, len(vals))
	var scratch []byte
	for {
		if err := rows.Next(vals); err == io.EOF {
			return nil
		} else if err != nil {
			return m.t.classed(ctx, err, "its rows cannot be read")
		}
		scratch = scratch[:0]
		for i, v := range vals {
			switch v := v.(type) {
			case nil:
				texts[i] = nil
			case []byte:
				texts[i] = v
				if v == nil {
					texts[i] = []byte{}
				}
			default:
				from := len(scratch)
				scratch = appendValue(scratch, v)
				texts[i] = scratch[from:]
			}
		}
		if err := row(texts); err != nil {
			m.abort() // closing the rows would read all that are left
			return err
		}
	}
}

// sameColumns compares the columns of a result with those that were described.
func (m *myConn) sameColumns(rows driver.Rows, cols []column) error {
	if cols == nil {
		return nil
	}
	got := mysqlColumns(rows)
	same := len(got) == len(cols)
	for i := 0; same && i < len(got); i++ {
		same = got[i].name == cols[i].name && mysqlKind(got[i].as) == mysqlKind(cols[i].as)
	}
	if !same {
		return fail.New(fail.Input, "the source %s (%s): the query has other columns than a moment ago", m.t.name, m.t.address).
			WithHint("a table was altered; run again")
	}
	return nil
}

// appendValue appends a value of the driver as text.
func appendValue(dst []byte, v driver.Value) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case float32:
		return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
	case float64:
		return strconv.AppendFloat(dst, v, 'g', -1, 64)
	case []byte:
		return append(dst, v...)
	case string:
		return append(dst, v...)
	case bool:
		return strconv.AppendBool(dst, v)
	case time.Time:
		return v.UTC().AppendFormat(dst, "2006-01-02 15:04:05.999999")
	default:
		panic(fmt.Sprintf("the driver gives a %T", v)) // driver.Value has no other types
	}
}

// mysqlColumns are those of a result, and how their values are written.
func mysqlColumns(rows driver.Rows) []column {
	types, _ := rows.(driver.RowsColumnTypeDatabaseTypeName)
	var out []column
	for i, name := range rows.Columns() {
		c := column{name: name, as: types.ColumnTypeDatabaseTypeName(i)}
		switch mysqlKind(c.as) {
		case "integer":
			c.write = appendNumber
			c.key = integerKey
		case "decimal":
			c.write = appendNumber
			c.key = func(v []byte) arg { return arg{text: string(v)} }
		case "float":
			c.write = appendNumber
		case "instant":
			c.write = appendMyInstant
			c.key = func(v []byte) arg { return arg{text: string(v)} }
		case "local":
			c.write = func(dst, v []byte) []byte { return appendMoment(dst, v, false) }
			c.key = func(v []byte) arg { return arg{text: string(v)} }
		case "date":
			c.write = appendText
			c.key = func(v []byte) arg { return arg{text: string(v)} }
		case "json":
			c.write = appendJSON
		case "bytes":
			c.write = appendBytes
		case "bits":
			c.write = appendBits
		default:
			c.write = appendText
		}
		out = append(out, c)
	}
	return out
}

// mysqlKind sorts the types of columns into those that are written alike.
func mysqlKind(as string) string {
	switch as {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR",
		"UNSIGNED TINYINT", "UNSIGNED SMALLINT", "UNSIGNED MEDIUMINT", "UNSIGNED INT", "UNSIGNED BIGINT":
		return "integer"
	case "DECIMAL":
		return "decimal"
	case "FLOAT", "DOUBLE":
		return "float"
	case "TIMESTAMP":
		return "instant"
	case "DATETIME":
		return "local"
	case "DATE":
		return "date"
	case "JSON":
		return "json"
	case "BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "GEOMETRY", "VECTOR":
		return "bytes"
	case "BIT":
		return "bits"
	}
	return "text"
}

// integerKey is bound as a number: compared with a text, a large one would be rounded.
func integerKey(v []byte) arg {
	text := string(v)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return arg{text: text, my: n}
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return arg{text: text}
	}
	return arg{text: text, my: n}
}

// appendMyInstant appends a TIMESTAMP, which the session writes in UTC. The zero of MySQL
// is no instant and stays as it is.
func appendMyInstant(dst, v []byte) []byte {
	if len(v) == 0 || len(v) > 26 || string(v[:min(4, len(v))]) == "0000" {
		return appendText(dst, v)
	}
	var b [32]byte
	return appendMoment(dst, append(append(b[:0], v...), "+00"...), true)
}

// appendBits appends a BIT as the number that it is.
func appendBits(dst, v []byte) []byte {
	n := uint64(0)
	for _, c := range v {
		n = n<<8 | uint64(c)
	}
	return strconv.AppendUint(dst, n, 10)
}

// mentions tells whether a text has a name as a word, in whatever case.
func mentions(text, name string) bool {
	word := func(c byte) bool {
		return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
	}
	lower := func(s string) string {
		b := []byte(s)
		for i, c := range b {
			if c >= 'A' && c <= 'Z' {
				b[i] = c + 0x20
			}
		}
		return string(b)
	}
	text, name = lower(text), lower(name)
	for i := 0; i+len(name) <= len(text); i++ {
		if text[i:i+len(name)] == name && (i == 0 || !word(text[i-1])) && (i+len(name) == len(text) || !word(text[i+len(name)])) {
			return true
		}
	}
	return false
}
