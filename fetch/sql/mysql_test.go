package sql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// opened gives a connection to MariaDB that sees a snapshot, as a pull has it.
func opened(t *testing.T, d *db) *myShared {
	t.Helper()
	r := requests(t, d.source("psp", "SELECT id FROM a", ""))[0]
	to, err := resolve(r)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := beginMySQL(t.Context(), r, to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(snap.close)
	c, err := snap.open(t.Context(), to, &fetch.Snapshot{})
	if err != nil {
		t.Fatal(err)
	}
	return c.(*myShared)
}

// TestMariaTransactionEnds: where the transaction is over before the rows are whole, what
// was read is of no snapshot.
func TestMariaTransactionEnds(t *testing.T) {
	d := maria(t)
	d.exec("CREATE TABLE a (id bigint)")
	if err := opened(t, d).done(t.Context()); err != nil {
		t.Errorf("a good transaction: %v", err)
	}
	c := opened(t, d)
	if err := c.run(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := c.done(t.Context()); err == nil || !strings.Contains(err.Error(), "the transaction is over") {
		t.Errorf("after a commit: %v", err)
	}
}

// TestMariaColumnsChange: a result whose columns are not those that were described is not
// written as if they were.
func TestMariaColumnsChange(t *testing.T) {
	d := maria(t)
	d.exec("CREATE TABLE a (id bigint)", "INSERT INTO a VALUES (1)")
	c := opened(t, d)
	defer c.abort()
	cols, err := c.describe(t.Context(), query{text: "SELECT id FROM a"})
	if err != nil {
		t.Fatal(err)
	}
	row := func([][]byte) error { return nil }
	if err := c.each(t.Context(), query{text: "SELECT id FROM a"}, cols, false, row); err != nil {
		t.Errorf("the same columns: %v", err)
	}
	for _, text := range []string{"SELECT id AS other FROM a", "SELECT NOW() AS id FROM a", "SELECT id, id AS b FROM a"} {
		if err := c.each(t.Context(), query{text: text}, cols, false, row); err == nil || !strings.Contains(err.Error(), "other columns than a moment ago") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDriverIsSilent: the driver does not write to the terminal behind our back.
func TestDriverIsSilent(t *testing.T) {
	said := &lines{}
	if err := mysql.SetLogger(said); err != nil {
		t.Fatal(err)
	}
	d := maria(t)
	d.proxy.Limit(func(int) int64 { return 100 })
	refused(t, requests(t, d.source("psp", "SELECT 1 AS id", ""))[0], fail.Temporary, "psp")
	if len(said.list) > 0 {
		t.Errorf("it said %q", said.list)
	}
}

type lines struct{ list []string }

func (l *lines) Print(v ...any) { l.list = append(l.list, fmt.Sprint(v...)) }

// TestMentions: a table is known by its whole name, in whatever case.
func TestMentions(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT 1 FROM old": true, "SELECT 1 FROM `Old`": true, "select 1 from db.OLD o": true, "SELECT older FROM a": false,
		"SELECT o FROM b_old": false, "old": true, "": false, "SELECT 'é' FROM éold": false,
	} {
		if got := mentions(text, "old"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
