// Package sql pulls the rows of a query of PostgreSQL, MySQL or MariaDB.
//
// # One state
//
// The queries of a side that ask one database as one user are read in one snapshot of it,
// in repeatable read, whatever is written meanwhile ([fetch.Grouper]). PostgreSQL exports
// the snapshot: a connection holds it and others import it, so that one that drops is
// replaced and sees the same rows again. MySQL has no such thing, and one connection reads
// everything; where it drops, everything is read anew.
//
// # Whole or not at all
//
// Rows are read to the end that the server states, by a cursor (PostgreSQL) or as a stream,
// and counted. An error before that end leaves nothing but, with a keyset, whole slices,
// which are gone on from only in the same snapshot, or where the rows are declared
// immutable.
//
// # Files
//
// One file of NDJSON, compressed by zstd. Numbers keep their digits; instants are RFC
// 3339 in UTC with microseconds, times without zone have no offset; docs/sources-sql.md
// has the table of types.
package sql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/rules"
)

// Puller pulls queries. It is a [fetch.Grouper].
type Puller struct{}

// snapshot is one state of a database, as long as it is held.
type snapshot interface {
	// open gives a connection that sees the state, set up for an input. Requests and
	// retries are counted in s.
	open(ctx context.Context, t *target, s *fetch.Snapshot) (conn, error)
	// id tells the state from others.
	id() string
	// shared tells whether another connection may see it, where one is gone.
	shared() bool
	close()
}

// conn is a connection that sees a snapshot.
type conn interface {
	// describe asks for the columns of a query without running it.
	describe(ctx context.Context, q query) ([]column, error)
	// each reads a query to the end that the server states. few: it has a LIMIT.
	each(ctx context.Context, q query, cols []column, few bool, row func([][]byte) error) error
	// through is the time of the snapshot by the clock of the server, or what a standby
	// has come to; zero where it does not tell.
	through() time.Time
	// done ends the use of the connection.
	done(ctx context.Context) error
	abort()
}

// Group implements fetch.Grouper: by the database and who reads it.
func (Puller) Group(r *fetch.Request) (string, error) {
	t, err := resolve(r)
	if err != nil {
		return "", err
	}
	who := ""
	if t.pg != nil {
		who = t.pg.User
		for _, f := range t.pg.Fallbacks {
			who += fmt.Sprintf(" %s:%d", f.Host, f.Port)
		}
	} else {
		who = t.my.User
	}
	return t.address + " " + who, nil
}

// Begin implements fetch.Grouper.
func (Puller) Begin(ctx context.Context, rs []*fetch.Request) (fetch.Session, error) {
	t, err := resolve(rs[0])
	if err != nil {
		return nil, err
	}
	s := &session{}
	if t.my != nil {
		s.snap, err = beginMySQL(ctx, rs[0], t)
	} else {
		s.snap, err = beginPostgres(ctx, rs, t)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// session implements fetch.Session.
type session struct{ snap snapshot }

func (s *session) Close() error {
	s.snap.close()
	return nil
}

// Pull implements fetch.Puller.
func (p Puller) Pull(ctx context.Context, r *fetch.Request) (*fetch.Snapshot, error) {
	s, err := p.Begin(ctx, []*fetch.Request{r})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	return s.Pull(ctx, r)
}

// Pull implements fetch.Session. A connection that drops is replaced as long as the
// snapshot is held.
func (s *session) Pull(ctx context.Context, r *fetch.Request) (*fetch.Snapshot, error) {
	t, err := resolve(r)
	if err != nil {
		return nil, err
	}
	q, err := bind(r)
	if err != nil {
		return nil, err
	}
	limited, cancel := untilEnd(ctx, r)
	defer cancel()
	p := &pull{r: r, t: t, q: q, snap: s.snap, out: &fetch.Snapshot{Kind: rules.FromSQL, Address: t.address, Request: t.digest(q)}}
	stored := 0
	for attempt := 1; ; attempt++ {
		err := p.try(limited)
		if err == nil {
			return p.out, nil
		}
		d, ok := errors.AsType[*dropped](err)
		if !ok {
			return nil, err
		}
		if !s.snap.shared() {
			return nil, lost(d.err)
		}
		if p.stored > stored {
			stored, attempt = p.stored, 1 // it came further
		}
		if attempt == attempts || !wait(limited, attempt) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, d.err
		}
		p.out.Retries++
		r.Note("%s; it is read again in the same snapshot", d.err)
	}
}

// digest says what is asked for, without secrets.
func (t *target) digest(q query) string {
	values := make([]string, len(q.args))
	for i, a := range q.args {
		values[i] = a.text
	}
	text, err := json.Marshal([]any{t.of.Engine, t.address, q.text, values, t.of.Keyset})
	if err != nil {
		panic(err) // texts and numbers only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// pull is one input on its way.
type pull struct {
	r    *fetch.Request
	t    *target
	q    query
	snap snapshot
	out  *fetch.Snapshot

	stored int // slices
}

// try reads the query over one connection.
func (p *pull) try(ctx context.Context) error {
	c, err := p.snap.open(ctx, p.t, p.out)
	if err != nil {
		return err
	}
	ctx, cancel := p.t.timed(ctx)
	defer cancel()
	if err := p.read(ctx, c); err != nil {
		c.abort()
		return err
	}
	return c.done(ctx)
}

func (p *pull) read(ctx context.Context, c conn) error {
	p.out.Requests++
	cols, err := c.describe(ctx, p.q)
	if err != nil {
		return err
	}
	if err := p.t.distinct(cols); err != nil {
		return err
	}
	keys, err := p.t.columnsOf(cols)
	if err != nil {
		return err
	}
	p.window(c)
	if keys != nil {
		return p.slices(ctx, c, cols, keys)
	}
	w, err := fetch.Create(p.r.Dir, p.r.Input.Path)
	if err != nil {
		return err
	}
	defer w.Abort()
	p.out.Requests++
	rows, err := p.write(ctx, c, p.q, cols, w, nil, 0)
	if err != nil {
		return err
	}
	return p.commit(w, rows, fmt.Sprintf("%s, the cursor was read to its end in one repeatable-read snapshot", count(rows)))
}

// window says for which time was asked, and what the database knew of.
func (p *pull) window(c conn) {
	if q := p.t.of.Text; q.Uses(rules.ParamFrom) && q.Uses(rules.ParamUntil) {
		p.out.From = time.UnixMicro(*p.r.Input.From).UTC().Format(time.RFC3339Nano)
		p.out.Until = time.UnixMicro(*p.r.Input.Until).UTC().Format(time.RFC3339Nano)
	}
	if at := c.through(); !at.IsZero() {
		p.out.Through = at.UTC().Format(time.RFC3339Nano)
	} else {
		p.out.Notes = []string{"the server is read-only, perhaps a replica, and does not say how far it is behind: the declared coverage is not checked against it"}
	}
}

// write reads a query into a writer and returns the number of rows that were written.
func (p *pull) write(ctx context.Context, c conn, q query, cols []column, to io.Writer, k *keyed, before int64) (int64, error) {
	size, _ := to.(interface{ Size() int64 })
	s, err := newSink(to, cols, func(rows int64) {
		n := int64(0)
		if size != nil {
			n = size.Size()
		}
		p.r.Progress(p.r.Input.Path, n, before+rows)
	})
	if err != nil {
		return 0, err
	}
	row := s.row
	if k != nil {
		row = func(vals [][]byte) error {
			write, err := k.row(vals)
			if err != nil || !write {
				return err
			}
			return s.row(vals)
		}
	}
	if err := c.each(ctx, q, cols, k != nil, row); err != nil {
		s.abort()
		return 0, err
	}
	return s.rows, s.close()
}

// commit gives the file its name.
func (p *pull) commit(w *fetch.Writer, rows int64, proof string) error {
	f, err := w.Commit()
	if err != nil {
		return err
	}
	f.Address, f.Records = p.t.address, rows
	p.out.Files, p.out.Proof = []fetch.File{f}, proof
	return nil
}

func count(rows int64) string {
	if rows == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", rows)
}
