package sql

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testpg"
)

// TestStandby: what a standby has not replayed is not taken for known, and a snapshot is
// not looked for at another server than the one that has it.
func TestStandby(t *testing.T) {
	d := postgres(t)
	d.exec("CREATE TABLE a (id int)", "INSERT INTO a VALUES (1)")
	dsn := testpg.Standby(t, "host="+pgSocket+" user=postgres")
	folder, _, _ := strings.Cut(strings.TrimPrefix(dsn, "host="), " ")
	c, err := pgx.Connect(t.Context(), "host="+folder+" user=postgres dbname="+d.name)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	scalar := func(query string) (out string) {
		t.Helper()
		if err := c.QueryRow(t.Context(), query).Scan(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	d.exec("INSERT INTO a VALUES (2)")
	at := d.scalar("SELECT pg_current_wal_lsn()::text")
	for scalar("SELECT (coalesce(pg_last_wal_replay_lsn(), '0/0') >= '"+at+"')::text") != "true" {
		time.Sleep(20 * time.Millisecond)
	}
	if _, err := c.Exec(t.Context(), "SELECT pg_wal_replay_pause()"); err != nil {
		t.Fatal(err)
	}
	for scalar("SELECT pg_get_wal_replay_pause_state()") != "paused" {
		time.Sleep(20 * time.Millisecond)
	}
	written := d.scalar("SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
	d.exec("INSERT INTO a VALUES (3)")

	for _, keyset := range []string{"", "keyset: {columns: [id], rows: 1}"} {
		r := requests(t, d.source("psp", "SELECT id FROM a ORDER BY id", keyset))[0]
		r.Source().Remote.SQL.Host, r.Source().Remote.SQL.Port = folder, 0
		got, s := pulled(t, r)
		if got != "{\"id\":1}\n{\"id\":2}\n" {
			t.Errorf("got %s", got)
		}
		through, err := time.Parse(time.RFC3339Nano, s.Through)
		limit, _ := time.Parse(time.RFC3339Nano, written)
		if err != nil || !through.Before(limit) {
			t.Errorf("the standby is said to know of %s, and it does not know of what was written at %s: %v", s.Through, written, err)
		}
	}

	// An address behind which there are two servers.
	n := 0
	address := relay(t, func() string {
		n++
		return []string{pgSocket, folder}[n%2] + "/.s.PGSQL.5432"
	}, nil, nil)
	r := requests(t, d.source("psp", "SELECT id FROM a ORDER BY id", "keyset: {columns: [id]}"))[0]
	r.Source().Remote.SQL.Host, r.Source().Remote.SQL.Port = "127.0.0.1", int64(address.Port)
	_, err = fetch.Pull(t.Context(), Puller{}, r)
	if fail.ClassOf(err) != fail.Temporary || !strings.Contains(err.Error(), "the snapshot is not known any more") {
		t.Errorf("two servers: %v", err)
	}
	nothing(t, r)
}

// relay passes connections on, and what the client and the server say through filters,
// which keep the length.
func relay(t *testing.T, to func() string, asked, answered func([]byte) []byte) *net.TCPAddr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", to())
			if err != nil {
				client.Close()
				continue
			}
			go pass(client, server, answered)
			go pass(server, client, asked)
		}
	}()
	return l.Addr().(*net.TCPAddr)
}

func pass(to, from net.Conn, filter func([]byte) []byte) {
	defer to.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		text := b[:n]
		if filter != nil {
			text = filter(text)
		}
		if text == nil {
			return // the filter ends the connection
		}
		if _, bad := to.Write(text); err != nil || bad != nil {
			return
		}
	}
}

// TestRowsCounted: a result with another number of rows than the server states is not
// whole, and is asked for again.
func TestRowsCounted(t *testing.T) {
	d := postgres(t)
	wrong := 1
	address := relay(t, func() string { return pgSocket + "/.s.PGSQL.5432" }, nil, func(b []byte) []byte {
		if wrong > 0 && bytes.Contains(b, []byte("FETCH 3\x00")) {
			wrong--
			return bytes.ReplaceAll(b, []byte("FETCH 3\x00"), []byte("FETCH 4\x00"))
		}
		return b
	})
	d.port = address.String()[strings.LastIndex(address.String(), ":")+1:]
	query := "SELECT n AS id FROM generate_series(1, 3) AS n"
	if got, s := pulled(t, requests(t, d.source("psp", query, ""))[0]); strings.Count(got, "\n") != 3 || s.Retries != 1 {
		t.Errorf("%d retries: %s", s.Retries, got)
	}
	wrong = 100
	refused(t, requests(t, d.source("psp", query, ""))[0], fail.Temporary, `3 rows came, and the server says "FETCH 4"`)
}

// TestReadOnlySeen: the session asks whether it is read-only, and does not believe that
// what it said arrived.
func TestReadOnlySeen(t *testing.T) {
	d := postgres(t)
	address := relay(t, func() string { return pgSocket + "/.s.PGSQL.5432" }, func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte("READ READ ONLY"), []byte("READ          "))
	}, nil)
	d.port = address.String()[strings.LastIndex(address.String(), ":")+1:]
	r := requests(t, d.source("psp", "SELECT 1 AS id", ""))[0]
	refused(t, r, fail.Usage, `the session is "off repeatable read"`)
	if got := (Puller{}).Check(t.Context(), r); len(got) != 1 || !strings.Contains(got[0], "not read-only") {
		t.Errorf("check: %q", got)
	}
}
