package sql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// mySnapshot is a snapshot of MySQL or MariaDB: one connection, over which everything is
// read, one query after the other.
type mySnapshot struct {
	c      *myConn
	random string
	mu     sync.Mutex // of the connection
}

func beginMySQL(ctx context.Context, r *fetch.Request, t *target) (snapshot, error) {
	ctx, cancel := untilEnd(ctx, r)
	defer cancel()
	c, err := dialMySQL(ctx, t, &fetch.Snapshot{})
	if err != nil {
		return nil, err
	}
	limited, cancel := t.timed(ctx)
	defer cancel()
	m := &myConn{c: c, t: t}
	if err := m.begin(limited); err != nil {
		m.abort()
		if d, ok := errors.AsType[*dropped](err); ok {
			return nil, lost(d.err)
		}
		return nil, err
	}
	return &mySnapshot{c: m, random: randomID()}, nil
}

func dialMySQL(ctx context.Context, t *target, out *fetch.Snapshot) (driver.Conn, error) {
	connector, err := mysql.NewConnector(t.my)
	if err != nil {
		return nil, t.badDSN()
	}
	return dial(ctx, t, out, connector.Connect)
}

func (s *mySnapshot) id() string { return s.random }

// shared: what one connection sees no other does.
func (s *mySnapshot) shared() bool { return false }

func (s *mySnapshot) close() { _ = s.c.c.Close() }

func (s *mySnapshot) open(ctx context.Context, t *target, out *fetch.Snapshot) (conn, error) {
	s.mu.Lock()
	out.Requests++
	c := &myShared{myConn: &myConn{c: s.c.c, t: t, maria: s.c.maria, at: s.c.at}, of: s}
	if err := c.limits(ctx); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	return c, nil
}

// myShared is the one connection, lent to one input.
type myShared struct {
	*myConn
	of *mySnapshot
}

// done looks whether the connection is still the one that saw the snapshot.
func (c *myShared) done(ctx context.Context) error {
	row, err := c.one(ctx, "SELECT @@in_transaction")
	if err != nil && !c.maria {
		row, err = c.one(ctx, "SELECT 1") // MySQL has no such variable
	}
	if err == nil && (len(row) != 1 || string(row[0]) != "1") {
		err = errors.New("the transaction is over")
	}
	c.of.mu.Unlock()
	if err != nil {
		return c.t.classed(ctx, err, "the transaction cannot be ended")
	}
	return nil
}

// abort: a result that was not read to its end is in the way of every other.
func (c *myShared) abort() {
	c.myConn.abort()
	c.of.mu.Unlock()
}

// myConn is a connection in a transaction that sees a snapshot.
type myConn struct {
	c     driver.Conn
	t     *target
	maria bool
	at    time.Time
}

func (m *myConn) abort() { _ = m.c.Close() } // read-only: nothing can be lost

func (m *myConn) through() time.Time { return m.at }

// begin sets the session up and takes the snapshot. Values are written in one form
// whatever the server prefers.
func (m *myConn) begin(ctx context.Context) error {
	const doing = "the session cannot be set up"
	row, err := m.one(ctx, "SELECT @@version, @@global.read_only, DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ')")
	if err != nil {
		return m.t.classed(ctx, err, doing)
	}
	m.maria = strings.Contains(strings.ToLower(string(row[0])), "mariadb")
	if string(row[1]) == "0" {
		if m.at, err = time.Parse(time.RFC3339Nano, string(row[2])); err != nil {
			return m.t.failed(fail.Input, err, doing)
		}
	}
	for _, s := range []string{
		"SET SESSION time_zone = '+00:00', sql_mode = 'NO_ENGINE_SUBSTITUTION', net_write_timeout = 600, net_read_timeout = 600",
		"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
		"SET SESSION TRANSACTION READ ONLY",
		"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
	} {
		if err := m.run(ctx, s); err != nil {
			return m.t.classed(ctx, err, doing)
		}
	}
	return nil
}

// limits sets the times of one input.
func (m *myConn) limits(ctx context.Context) error {
	seconds := max(int64(m.t.of.LockTimeout/time.Second), 1)
	statement := fmt.Sprintf("SET SESSION lock_wait_timeout = %d, max_execution_time = %d", seconds, max(m.t.of.Timeout.Milliseconds(), 1))
	if m.maria {
		statement = fmt.Sprintf("SET SESSION lock_wait_timeout = %d, max_statement_time = %s", seconds, strconv.FormatFloat(max(m.t.of.Timeout.Seconds(), 0.001), 'f', 3, 64))
	}
	if err := m.run(ctx, statement); err != nil {
		return m.t.classed(ctx, err, "the session cannot be set up")
	}
	return nil
}

func (m *myConn) run(ctx context.Context, statement string) error {
	_, err := m.c.(driver.ExecerContext).ExecContext(ctx, statement, nil)
	return err
}

// one runs a statement and gives its last row as texts; nil where it gives none.
func (m *myConn) one(ctx context.Context, statement string) ([][]byte, error) {
	rows, err := m.c.(driver.QueryerContext).QueryContext(ctx, statement, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out [][]byte
	vals := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(vals); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out = nil
		for _, v := range vals {
			if v == nil {
				out = append(out, nil)
				continue
			}
			out = append(out, appendValue([]byte{}, v))
		}
	}
}
