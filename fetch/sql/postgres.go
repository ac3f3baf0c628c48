package sql

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// pgSnapshot is a snapshot of PostgreSQL. Where several connections are to see it, holder
// is the transaction that exported it; else there is only one connection.
type pgSnapshot struct {
	holder   *pgconn.PgConn
	exported string // name of the snapshot, as the server gave it
	server   string // when it was started: another server has no such snapshot
	at       time.Time
	random   string
}

// beginPostgres exports a snapshot where a group has several inputs, or one that may be
// gone on from.
func beginPostgres(ctx context.Context, rs []*fetch.Request, t *target) (snapshot, error) {
	s := &pgSnapshot{random: randomID()}
	if len(rs) == 1 && t.of.Keyset == nil {
		return s, nil
	}
	ctx, cancel := untilEnd(ctx, rs[0])
	defer cancel()
	c, err := dialPostgres(ctx, t, &fetch.Snapshot{})
	if err != nil {
		return nil, err
	}
	limited, cancel := t.timed(ctx)
	defer cancel()
	p := &pgConn{c: c, t: t}
	if err = p.begin(limited, ""); err == nil {
		s.exported, err = p.text(limited, "SELECT pg_export_snapshot()")
	}
	if err != nil {
		p.abort()
		if d, ok := errors.AsType[*dropped](err); ok {
			return nil, lost(d.err)
		}
		return nil, err
	}
	s.holder, s.server, s.at = c, p.server, p.at
	return s, nil
}

func randomID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func (s *pgSnapshot) id() string { return s.random }

func (s *pgSnapshot) shared() bool { return s.holder != nil }

func (s *pgSnapshot) close() {
	if s.holder != nil {
		closePostgres(s.holder)
	}
}

// closePostgres ends a connection, and with it its transaction.
func closePostgres(c *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), cancelGrace)
	defer cancel()
	_ = c.Close(ctx) // read-only: nothing can be lost
}

func (s *pgSnapshot) open(ctx context.Context, t *target, out *fetch.Snapshot) (conn, error) {
	c, err := dialPostgres(ctx, t, out)
	if err != nil {
		return nil, err
	}
	p := &pgConn{c: c, t: t}
	if err := p.begin(ctx, s.exported); err != nil {
		p.abort()
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && s.exported != "" && (e.Code == "22023" || e.Code == "42704") {
			return nil, lost(fail.New(fail.Temporary, "the source %s (%s): the snapshot is not known any more", t.name, t.address))
		}
		return nil, err
	}
	if s.exported != "" {
		if p.server != s.server {
			p.abort()
			return nil, lost(fail.New(fail.Temporary, "the source %s (%s): two connections reached two servers", t.name, t.address).
				WithHint("name one server: a snapshot cannot be shared among several"))
		}
		p.at = s.at
	}
	return p, nil
}

func dialPostgres(ctx context.Context, t *target, out *fetch.Snapshot) (*pgconn.PgConn, error) {
	return dial(ctx, t, out, func(ctx context.Context) (*pgconn.PgConn, error) { return pgconn.ConnectConfig(ctx, t.pg) })
}

// pgConn is a connection in a transaction that sees a snapshot.
type pgConn struct {
	c      *pgconn.PgConn
	t      *target
	server string
	at     time.Time
}

// settings of the transaction, beside the times. Values are written in one form whatever
// the server prefers, and a policy that would hide rows is an error.
const settings = `SELECT set_config(name, CASE name
 WHEN 'TimeZone' THEN 'UTC' WHEN 'DateStyle' THEN 'ISO, YMD' WHEN 'IntervalStyle' THEN 'iso_8601' WHEN 'extra_float_digits' THEN '1'
 WHEN 'bytea_output' THEN 'hex' WHEN 'standard_conforming_strings' THEN 'on' WHEN 'row_security' THEN 'off'
 WHEN 'synchronize_seqscans' THEN 'off' WHEN 'cursor_tuple_fraction' THEN '1'
 WHEN 'idle_in_transaction_session_timeout' THEN '0' WHEN 'transaction_timeout' THEN '0'
 WHEN 'statement_timeout' THEN $1 WHEN 'lock_timeout' THEN $2 END, true)
FROM pg_settings WHERE name IN ('TimeZone', 'DateStyle', 'IntervalStyle', 'extra_float_digits', 'bytea_output', 'standard_conforming_strings',
 'row_security', 'synchronize_seqscans', 'cursor_tuple_fraction', 'idle_in_transaction_session_timeout', 'transaction_timeout',
 'statement_timeout', 'lock_timeout')`

// place asks where the connection ended, and what the server has seen. It stands before
// the transaction: a standby may go on between this and the snapshot, but not back.
const place = `SELECT pg_postmaster_start_time()::text, current_setting('server_version_num'),
 to_char(CASE WHEN pg_is_in_recovery() THEN pg_last_xact_replay_timestamp() ELSE clock_timestamp() END AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

func (p *pgConn) begin(ctx context.Context, exported string) error {
	const doing = "the session cannot be set up"
	row, err := p.one(ctx, place)
	if err != nil {
		return p.t.classed(ctx, err, doing)
	}
	p.server = string(row[0])
	if row[2] == nil {
		return fail.New(fail.Temporary, "the source %s (%s): the standby does not know how far it has come", p.t.name, p.t.address).
			WithHint("run again once it has replayed a transaction, or read the primary")
	}
	if p.at, err = time.Parse(time.RFC3339Nano, string(row[2])); err != nil {
		return p.t.failed(fail.Input, err, doing)
	}
	if _, err := p.one(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		return p.t.classed(ctx, err, doing)
	}
	if exported != "" {
		// A name that the server gave; letters, digits and hyphens.
		if _, err := p.one(ctx, "SET TRANSACTION SNAPSHOT '"+exported+"'"); err != nil {
			if e, ok := errors.AsType[*pgconn.PgError](err); ok && (e.Code == "22023" || e.Code == "42704") {
				return e
			}
			return p.t.classed(ctx, err, doing)
		}
	}
	ms := func(d time.Duration) []byte { return []byte(strconv.FormatInt(max(d.Milliseconds(), 1), 10)) }
	err = p.c.ExecParams(ctx, settings, [][]byte{ms(p.t.of.Timeout), ms(p.t.of.LockTimeout)}, []uint32{25, 25}, nil, nil).Read().Err
	if err != nil {
		return p.t.classed(ctx, err, doing)
	}
	mode, err := p.text(ctx, "SELECT current_setting('transaction_read_only') || ' ' || current_setting('transaction_isolation')")
	if err != nil {
		return err
	}
	if mode != "on repeatable read" {
		return fail.New(fail.Usage, "the source %s (%s): the session is %q, not read-only in repeatable read", p.t.name, p.t.address, mode).
			WithHint("something between program and server does not pass on how the transaction is begun")
	}
	return nil
}

// one runs a statement and gives its last row; nil where it gives none.
func (p *pgConn) one(ctx context.Context, statement string) ([][]byte, error) {
	r := p.c.ExecParams(ctx, statement, nil, nil, nil, nil).Read()
	if r.Err != nil || len(r.Rows) == 0 {
		return nil, r.Err
	}
	return r.Rows[len(r.Rows)-1], nil
}

// text runs a statement that gives one text.
func (p *pgConn) text(ctx context.Context, statement string) (string, error) {
	row, err := p.one(ctx, statement)
	if err != nil {
		return "", p.t.classed(ctx, err, "the session cannot be set up")
	}
	if len(row) != 1 {
		return "", p.t.failed(fail.Input, fmt.Errorf("%s gave no answer", statement), "the session cannot be set up")
	}
	return string(row[0]), nil
}

func (p *pgConn) through() time.Time { return p.at }

func (p *pgConn) abort() { closePostgres(p.c) }

// done ends the transaction, which tells whether the connection lived to the end.
func (p *pgConn) done(ctx context.Context) error {
	defer p.abort()
	if _, err := p.one(ctx, "COMMIT"); err != nil {
		return p.t.classed(ctx, err, "the transaction cannot be ended")
	}
	return nil
}
