package sql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// attempts is how often something is tried where the run has no end, and by a check; where it has one, a
// server is waited for until then. pause is the longest wait before the second attempt,
// which doubles.
const attempts = 5

var (
	pause        = 500 * time.Millisecond
	longestPause = 15 * time.Second
)

const (
	cancelGrace = 2 * time.Second // for a server to answer that it stopped
	patience    = 30 * time.Second
)

// errTime is the cause of a context whose query took too long.
var errTime = errors.New("the time of the query is over")

// dropped is an error of the connection, after which another may be tried: what came
// over it is not whole.
type dropped struct{ err *fail.Error }

func (d *dropped) Error() string { return d.err.Error() }
func (d *dropped) Unwrap() error { return d.err }

// gone is an error with which the state of the database is gone.
type gone struct{ err *fail.Error }

func (g *gone) Error() string        { return g.err.Error() }
func (g *gone) Unwrap() error        { return g.err }
func (g *gone) Is(target error) bool { return target == fetch.ErrLost }

// lost says that the state of the database is gone with the connection.
func lost(err *fail.Error) error {
	if err.Hint == "" {
		err.Hint = "look after the network and the server; the next run reads it from the beginning"
	}
	return &gone{err}
}

// untilEnd is a context that ends when the time of the run is over.
func untilEnd(ctx context.Context, r *fetch.Request) (context.Context, context.CancelFunc) {
	if r.Until.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, r.Until.Sub(r.Now()), errTime)
}

// timed is a context that ends when the time of one query is over.
func (t *target) timed(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, t.of.Timeout, errTime)
}

// dial connects, again where the server or the network is in the way: as often as the
// time of the run allows, or attempts times where it has no end.
func dial[C any](ctx context.Context, t *target, out *fetch.Snapshot, connect func(context.Context) (C, error)) (c C, err error) {
	var before error
	for attempt := 1; ; attempt++ {
		out.Requests++
		limited, cancel := context.WithTimeout(ctx, patience)
		c, err = connect(limited)
		cancel()
		if err == nil {
			return c, nil
		}
		if ctx.Err() != nil && before != nil && errors.Is(context.Cause(ctx), errTime) {
			return c, before // says more than that the time is over
		}
		err = t.classed(ctx, err, "it cannot be reached")
		d, again := errors.AsType[*dropped](err)
		if !again {
			return c, err
		}
		before = d.err
		if attempt >= attempts && !t.patient || !wait(ctx, attempt) {
			return c, before
		}
		out.Retries++
	}
}

// wait pauses before another attempt: a random part of a time that doubles. false: there
// is no time for it.
func wait(ctx context.Context, attempt int) bool {
	d := min(pause<<min(attempt-1, 10), longestPause)
	timer := time.NewTimer(time.Duration(rand.Int64N(int64(d) + 1)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// classed gives an error of a driver its class. doing says what was being done. Errors
// that another connection may not have are *dropped.
func (t *target) classed(ctx context.Context, err error, doing string) error {
	if _, ok := errors.AsType[*fail.Error](err); ok {
		return err // of ours: the disk, the rows
	}
	if cause := context.Cause(ctx); errors.Is(cause, errTime) {
		return t.failed(fail.Temporary, fmt.Errorf("it did not end in time (sql.timeout is %s)", rules.FormatDuration(t.of.Timeout)), doing).
			WithHint("raise sql.timeout, see what the query waits for, or read it in slices: sql.keyset")
	} else if cause != nil {
		return cause
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return t.postgresError(e, doing)
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return t.mysqlError(e, doing)
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return t.failed(fail.Usage, e, doing).
			WithHint("name the authorities of the server by sql.tls.ca; a server without TLS needs `tls: {mode: off}`")
	}
	if text := err.Error(); strings.Contains(text, "server refused TLS connection") || strings.Contains(text, "TLS requested but server does not support TLS") {
		return t.failed(fail.Usage, err, doing).WithHint("set up TLS at the server, or say that there is none: `tls: {mode: off}`")
	}
	return &dropped{t.failed(fail.Temporary, err, doing).WithHint("look after the network and the server")}
}

// postgresError classes an error by its SQLSTATE
// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func (t *target) postgresError(e *pgconn.PgError, doing string) error {
	text := e.Message + " (" + e.Code + ")" // its detail may quote a row
	f := func(c fail.Class) *fail.Error { return t.failed(c, errors.New(text), doing) }
	if e.Code[:min(2, len(e.Code))] == "22" {
		text = "a value cannot be computed (" + e.Code + ")" // the message quotes it
	}
	switch e.Code {
	case "57014":
		return f(fail.Temporary).WithHint("raise sql.timeout, see what the query waits for, or read it in slices: sql.keyset")
	case "55P03":
		return f(fail.Temporary).WithHint("another session holds a lock on the table; run again later, or raise sql.lock_timeout")
	case "40001", "40P01", "57P01", "57P02", "57P03", "57P05", "25P03", "53300":
		return &dropped{f(fail.Temporary).WithHint("look after the server")}
	case "28P01", "28000":
		return f(fail.Usage).WithHint("correct user and password, or let the server accept them (pg_hba.conf)")
	case "3D000":
		return f(fail.Usage).WithHint("correct the name of the database")
	case "42501":
		hint := "GRANT SELECT on what the query reads to the user"
		if strings.Contains(e.Message, "row-level security") || strings.Contains(e.Message, "row security") {
			hint = "a policy would hide rows: read as a role with BYPASSRLS, or through a view that shows all of them"
		}
		return f(fail.Usage).WithHint("%s", hint)
	case "25006":
		return f(fail.Usage).WithHint("the session is read-only: a query writes nothing")
	}
	switch e.Code[:min(2, len(e.Code))] {
	case "08":
		return &dropped{f(fail.Temporary).WithHint("look after the network and the server")}
	case "53":
		return f(fail.Temporary).WithHint("the server is out of memory, disk or connections")
	case "22":
		return f(fail.Input).WithHint("try the query by hand; a cast or a division fails on one of the rows")
	case "XX", "58":
		return f(fail.Input).WithHint("the server reports damage, or a fault of its own")
	case "P0", "23":
		return f(fail.Input).WithHint("a function of the query refuses the rows")
	}
	hint := "correct the query"
	if e.Position > 0 {
		hint = fmt.Sprintf("correct the query near its character %d, as it is sent", e.Position)
	}
	if e.Hint != "" {
		hint += "; " + t.clean(e.Hint)
	}
	return f(fail.Usage).WithHint("%s", hint)
}

// mysqlError classes an error by its number (https://dev.mysql.com/doc/mysql-errors,
// https://mariadb.com/kb/en/mariadb-error-code-reference).
func (t *target) mysqlError(e *mysql.MySQLError, doing string) error {
	f := func(c fail.Class) *fail.Error {
		return t.failed(c, fmt.Errorf("%s (%d)", e.Message, e.Number), doing)
	}
	switch e.Number {
	case 3024, 1969: // max_execution_time, max_statement_time
		return f(fail.Temporary).WithHint("raise sql.timeout, see what the query waits for, or read it in slices: sql.keyset")
	case 1205:
		return f(fail.Temporary).WithHint("another session holds a lock on the table; run again later, or raise sql.lock_timeout")
	case 1040, 1203, 1053, 1077, 1079, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1213, 1226, 1317, 1927, 4031:
		return &dropped{f(fail.Temporary).WithHint("look after the server")}
	case 1044, 1045, 1130, 1698, 1251, 1524:
		return f(fail.Usage).WithHint("correct user and password, or let the server accept them")
	case 1049:
		return f(fail.Usage).WithHint("correct the name of the database")
	case 1142, 1143, 1227, 1370:
		return f(fail.Usage).WithHint("GRANT SELECT on what the query reads to the user")
	case 1792, 1290, 1785:
		return f(fail.Usage).WithHint("the session is read-only: a query writes nothing")
	case 1021, 1037, 1038, 1041, 1114, 3168:
		return f(fail.Temporary).WithHint("the server is out of memory or disk")
	case 1264, 1292, 1365, 1366, 1411, 1441, 1690, 3141, 3140:
		// The message quotes the value.
		return t.failed(fail.Input, fmt.Errorf("a value cannot be computed (%d)", e.Number), doing).
			WithHint("try the query by hand; a cast or a division fails on one of the rows")
	case 1060:
		return f(fail.Usage).WithHint("name each column once: SELECT a.id AS operation_id, b.id AS order_id")
	case 1412:
		return f(fail.Input).WithHint("a table was altered while it was read; run again")
	case 1194, 1195, 1030, 1034, 1035, 1712:
		return f(fail.Input).WithHint("the server reports damage")
	}
	return f(fail.Usage).WithHint("correct the query")
}
