package sql

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// accounts makes two tables between which money is moved; together they always hold the
// same sum.
func (d *db) accounts(rows int) {
	d.t.Helper()
	generate := fmt.Sprintf("generate_series(1, %d) AS n", rows)
	if d.engine == rules.MySQL {
		generate = fmt.Sprintf("(SELECT seq AS n FROM seq_1_to_%d) AS s", rows)
	}
	for _, table := range []string{"a", "b"} {
		d.exec("CREATE TABLE "+table+" (id bigint NOT NULL PRIMARY KEY, amount decimal(20,2) NOT NULL)",
			"INSERT INTO "+table+" SELECT n, 10 FROM "+generate)
	}
}

// move moves money from one table to the other, adds a row and takes one away.
func (d *db) move(n int) {
	begin := "BEGIN"
	d.exec(begin, "UPDATE b SET amount = amount - 1", "UPDATE a SET amount = amount + 1",
		fmt.Sprintf("INSERT INTO a VALUES (%d, 5)", 1_000_000+n), fmt.Sprintf("INSERT INTO b VALUES (%d, -5)", 1_000_000+n), "COMMIT")
}

func sum(t *testing.T, text string) float64 {
	t.Helper()
	total := 0.0
	for line := range strings.Lines(text) {
		var row struct{ Amount float64 }
		decode(t, line, &row)
		total += row.Amount
	}
	return total
}

// TestOneSnapshot: two queries of a side agree while rows are written between and during
// them. Pulled one by one they do not, which shows that the test can tell.
func TestOneSnapshot(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		const rows = 30_000
		d.accounts(rows)
		moves := 0
		pull := func(together bool, keyset string) float64 {
			rs := requests(t, d.source("a", "SELECT id, amount FROM a", keyset), d.source("b", "SELECT id, amount FROM b", keyset))
			for _, r := range rs {
				var once sync.Once
				r.Progress = func(_ string, _, _ int64) { once.Do(func() { moves++; d.move(moves) }) }
			}
			groups, err := fetch.Groups(func(string) fetch.Puller { return Puller{} }, rs)
			if err != nil || len(groups) != 1 {
				t.Fatalf("the groups are %v, %v", groups, err)
			}
			if !together {
				groups = [][]*fetch.Request{rs[:1], rs[1:]}
			}
			total := 0.0
			for _, g := range groups {
				out, err := fetch.PullGroup(t.Context(), Puller{}, g)
				if err != nil {
					t.Fatal(err)
				}
				for i, s := range out {
					total += sum(t, text(t, g[i], s))
				}
			}
			return total
		}
		for _, keyset := range []string{"", "keyset: {columns: [id], rows: 4000}"} {
			if total := pull(true, keyset); total != 2*rows*10 {
				t.Errorf("%q: in one snapshot the sum is %v", keyset, total)
			}
		}
		if total := pull(false, ""); total == 2*rows*10 {
			t.Error("two snapshots agree: nothing was written between them")
		}
		if moves != 6 {
			t.Errorf("%d moves", moves)
		}
	})
}

// TestSnapshotOutlivesConnection: a connection that drops is replaced by one that sees
// the same rows, whatever was written meanwhile.
func TestSnapshotOutlivesConnection(t *testing.T) {
	d := postgres(t)
	const rows = 60_000
	d.accounts(rows)
	for _, keyset := range []string{"", "keyset: {columns: [id], rows: 10000}"} {
		rs := requests(t, d.source("a", "SELECT id, amount FROM a WHERE id <= 60000", keyset), d.source("b", "SELECT id, amount FROM b WHERE id <= 60000", keyset))
		want := d.scalar("SELECT (a.s + b.s)::text FROM (SELECT sum(amount) AS s FROM a WHERE id <= 60000) a, (SELECT sum(amount) AS s FROM b WHERE id <= 60000) b")
		moves := 0
		rs[0].Progress = func(string, int64, int64) {
			if moves++; moves <= 2 {
				d.move(len(keyset)*1000 + moves)
			}
		}
		// The first connection holds the snapshot.
		d.proxy.Limit(func(n int) int64 { return map[int]int64{2: 900_000, 4: 500_000}[n] })
		out, err := fetch.PullGroup(t.Context(), Puller{}, rs)
		if err != nil {
			t.Fatal(err)
		}
		total, retries := 0.0, int64(0)
		for i, s := range out {
			total += sum(t, text(t, rs[i], s))
			retries += s.Retries
			if !strings.Contains(s.Proof, "one repeatable-read snapshot") {
				t.Errorf("proof: %s", s.Proof)
			}
		}
		if got := fmt.Sprintf("%.2f", total); got != want || moves < 2 || retries == 0 {
			t.Errorf("%q: the sum is %s, want %s; %d moves, %d retries", keyset, got, want, moves, retries)
		}
	}
}

// TestSnapshotLost: where the connection that holds the snapshot is gone too, everything
// is read anew, the input that was whole included.
func TestSnapshotLost(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		d.accounts(30_000)
		rs := requests(t, d.source("a", "SELECT id, amount FROM a", ""), d.source("b", "SELECT id, amount FROM b", ""))
		var once sync.Once
		rs[1].Progress = func(string, int64, int64) {
			once.Do(func() {
				d.move(1)
				d.ended()
			})
		}
		out, err := fetch.PullGroup(t.Context(), Puller{}, rs)
		if err != nil {
			t.Fatal(err)
		}
		a, b := text(t, rs[0], out[0]), text(t, rs[1], out[1])
		if total := sum(t, a) + sum(t, b); total != 2*30_000*10 {
			t.Errorf("the sum is %v", total)
		}
		if !strings.Contains(a, `"amount":11.00`) {
			t.Error("the first input is still that of the snapshot that was lost")
		}
		if out[0].Retries != 1 {
			t.Errorf("%d retries", out[0].Retries)
		}
	})
}

// TestComesFurther: as long as each connection brings a slice, there is another one.
func TestComesFurther(t *testing.T) {
	d := postgres(t)
	d.charges()
	r := requests(t, d.source("psp", allCharges, "keyset: {columns: [id], rows: 3000}"))[0]
	d.proxy.Limit(func(int) int64 { return 500_000 })
	if _, s := pulled(t, r); s.Retries <= attempts || s.Files[0].Records != manyRows {
		t.Errorf("%d retries, %d rows", s.Retries, s.Files[0].Records)
	}
}

// interrupt pulls until the connection is lost for good, after some slices.
func interrupt(t *testing.T, d *db, r *fetch.Request) (slices int) {
	t.Helper()
	r.Progress = func(_ string, _, rows int64) {
		if rows > 15_000 {
			d.proxy.Limit(func(int) int64 { return 1 }) // for those that follow
			d.proxy.Reset()
		}
	}
	refused(t, r, fail.Temporary, "a")
	d.proxy.Limit(nil)
	files, err := os.ReadDir(filepath.Join(r.Dir, slicesDir, fetch.FilesDir))
	if err != nil || len(files) < 2 {
		t.Fatalf("slices: %v %v", files, err)
	}
	return len(files)
}

// TestResume: a pull by slices that goes on in another snapshot begins anew, so that no
// row of the one stands beside a row of the other; unless the rows are immutable, when
// nothing that is stored is asked for again.
func TestResume(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		d.accounts(30_000)
		query := "SELECT id, amount FROM a"
		r := requests(t, d.source("a", query, "keyset: {columns: [id], rows: 5000}"))[0]
		interrupt(t, d, r)
		d.exec("UPDATE a SET amount = 11")
		r = again(r)
		r.Progress = func(string, int64, int64) {}
		got, s := pulled(t, r)
		if strings.Contains(got, `"amount":10.00`) || strings.Count(got, `"amount":11.00`) != 30_000 {
			t.Error("rows of two snapshots stand side by side")
		}
		if want := "30000 rows in 7 slices by (id), read to the end in one repeatable-read snapshot"; s.Proof != want {
			t.Errorf("proof: %s", s.Proof)
		}

		r = requests(t, d.source("a", query, "keyset: {columns: [id], rows: 5000, immutable: true}"))[0]
		stored := interrupt(t, d, r)
		d.exec("UPDATE a SET amount = 12") // which immutable rows never do: only so it shows what is asked again
		d.exec("INSERT INTO a VALUES (2000001, 13)")
		r = again(r)
		r.Progress = func(string, int64, int64) {}
		got, s = pulled(t, r)
		if old := strings.Count(got, `"amount":11.00`); old != stored*5000 || strings.Count(got, "\n") != 30_001 {
			t.Errorf("%d rows of %d slices were not asked for again", old, stored)
		}
		if want := "30001 rows in 7 slices by (id), read to the end in 2 repeatable-read snapshots of rows that are declared immutable"; s.Proof != want {
			t.Errorf("proof: %s", s.Proof)
		}
		if left, _ := os.ReadDir(r.Dir); len(left) != 2 {
			t.Errorf("the folder holds %v", left)
		}
	})
}

// TestResumeBelievesNothing: slices that are damaged, or of another question, are not
// gone on from; a last row that is gone shows that the rows are not immutable.
func TestResumeBelievesNothing(t *testing.T) {
	d := postgres(t)
	d.accounts(30_000)
	const keyset = "keyset: {columns: [id], rows: 5000, immutable: true}"
	begun := func(query string) (*fetch.Request, string) {
		d.exec("UPDATE a SET amount = 10")
		r := requests(t, d.source("a", query, keyset))[0]
		interrupt(t, d, r)
		r.Progress = func(string, int64, int64) {}
		d.exec("UPDATE a SET amount = 11")
		return again(r), filepath.Join(r.Dir, slicesDir)
	}
	anew := func(what string, r *fetch.Request) {
		t.Helper()
		if got, _ := pulled(t, r); strings.Contains(got, `"amount":10.00`) || strings.Count(got, "\n") < 29_000 {
			t.Errorf("%s was gone on from", what)
		}
	}
	r, dir := begun("SELECT id, amount FROM a")
	f, err := os.OpenFile(filepath.Join(dir, fetch.FilesDir, "000001"), os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt([]byte{0xff}, 100)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	anew("a damaged slice", r)

	r, dir = begun("SELECT id, amount FROM a")
	if err := os.WriteFile(filepath.Join(dir, slicesFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	anew("a damaged checkpoint", r)

	r, _ = begun("SELECT id, amount FROM a")
	other := requests(t, d.source("a", "SELECT id, amount FROM a WHERE id > 1", keyset))[0]
	other.Dir = r.Dir
	anew("another query", other)

	r, _ = begun("SELECT id, amount FROM a")
	d.exec("ALTER TABLE a ALTER amount TYPE float8")
	anew("a result with other columns", r)
	d.exec("ALTER TABLE a ALTER amount TYPE numeric(20,2)")

	r, _ = begun("SELECT id, amount FROM a")
	d.exec("DELETE FROM a WHERE id % 5000 = 0")
	refused(t, r, fail.Input, errKeyGone)

	r, dir = begun("SELECT id, amount FROM a")
	files, err := os.ReadDir(filepath.Join(dir, fetch.FilesDir))
	if err != nil {
		t.Fatal(err)
	}
	d.exec(fmt.Sprintf("DELETE FROM a WHERE id >= (SELECT id FROM a ORDER BY id LIMIT 1 OFFSET %d)", 5000*len(files)-1))
	refused(t, r, fail.Input, errKeyGone)
}

// TestKeyset: what a keyset is not.
func TestKeyset(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		d.exec("CREATE TABLE k (id bigint, day date, n decimal(10,2), f double precision, name varchar(20))")
		for i := range 30 {
			d.exec(fmt.Sprintf("INSERT INTO k VALUES (%d, '2026-08-%02d', %d, %d.5, 'n%d')", i/3, i%3+1, i, i, i))
		}
		by := func(columns string) *fetch.Request {
			return requests(t, d.source("a", "SELECT id, day, n, f, name FROM k ;-- all of it", "keyset: {columns: ["+columns+"], rows: 4}"))[0]
		}
		got, s := pulled(t, by("id, day"))
		if n := strings.Count(got, "\n"); n != 30 || !strings.Contains(s.Proof, "in 8 slices by (id, day)") {
			t.Errorf("%d rows: %s", n, s.Proof)
		}
		refused(t, by("id"), fail.Input, "two rows have the same values")
		refused(t, by("day, id, f"), fail.Usage, "by which slices cannot be cut")
		refused(t, by("no"), fail.Usage, `no column "no"`)
		if d.engine == rules.MySQL {
			refused(t, by("name"), fail.Usage, "VARCHAR")
			pulled(t, by("n"))
		} else {
			refused(t, by("n"), fail.Usage, "numeric")
			pulled(t, by("name"))
		}
		d.exec("INSERT INTO k VALUES (NULL, '2026-08-01', 1, 1, 'x')")
		refused(t, by("id, day"), fail.Input, "no value in a column of the keyset")
		d.exec("DELETE FROM k")
		if got, s := pulled(t, by("id, day")); got != "" || s.Files[0].Records != 0 {
			t.Errorf("of an empty table: %q", got)
		}
	})
}

// TestKeysetOfLargeNumbers: keys beyond what a floating-point number holds are told apart.
func TestKeysetOfLargeNumbers(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		typ := "numeric(20)"
		if d.engine == rules.MySQL {
			typ = "bigint unsigned"
		}
		d.exec("CREATE TABLE k (id " + typ + " NOT NULL, at timestamp(6) NOT NULL)")
		for i := range 20 {
			d.exec(fmt.Sprintf("INSERT INTO k VALUES (92233720368547758%02d, '2026-08-20 00:00:00.%06d')", i, i))
		}
		if d.engine == rules.Postgres {
			d.exec("ALTER TABLE k ALTER id TYPE bigint USING (id - 20)::bigint")
		}
		keys := []string{"id", "at"}
		if d.engine == rules.MySQL {
			d.exec("ALTER TABLE k ADD n decimal(38,10)", "UPDATE k SET n = CONCAT('1234567890123456789012345678.00000000', LPAD(id % 100, 2, '0'))")
			keys = append(keys, "n")
		}
		for _, by := range keys {
			got, _ := pulled(t, requests(t, d.source("a", "SELECT * FROM k", "keyset: {columns: ["+by+"], rows: 3}"))[0])
			seen := map[string]bool{}
			for line := range strings.Lines(got) {
				seen[line] = true
			}
			if len(seen) != 20 || strings.Count(got, "\n") != 20 {
				t.Errorf("%s: %d rows, %d different", by, strings.Count(got, "\n"), len(seen))
			}
		}
	})
}
