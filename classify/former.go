package classify

import (
	"context"
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// FormerKeys is the relation by which whoever read the former runs and the open cases
// of a job tells their keys: pass INTEGER (index of Job.Match, or RecordIDKey), key
// VARCHAR (as staged). It is there before Run, or [Former] fills it; an empty one says
// that nobody knew anything. Without it nobody has asked, and no effect that nobody
// asked for is undone (V31).
const FormerKeys = "former_keys"

// RecordIDKey stands in FormerKeys for the record id of results, remote_id, which need
// not be the key of a pass.
const RecordIDKey = -1

// Former asks former runs. It is called where a run has effects that nobody asked for
// and whose type may undo such, once. The relation asked_keys has their keys: pass
// INTEGER, key VARCHAR, fingerprint UBIGINT (first half); the keys of them that former
// runs know go into the relation FormerKeys, which is there and empty.
type Former func(ctx context.Context, db *duck.DB) error

// askFormer lets former runs be asked, where anybody may ask them.
func (c *classifier) askFormer() error {
	if c.former == nil || !MayUndoUnexpected(c.job.Job) {
		return nil
	}
	if err := c.exec("former_keys", nil); err != nil {
		return err
	}
	keys := []string{}
	of := func(pass int, column string) {
		keys = append(keys, fmt.Sprintf("SELECT %d AS pass, r.%s AS key FROM res_r r JOIN verdicts_r v ON v.rid = r.rid WHERE v.class = 'unexpected'", pass, column))
	}
	for _, i := range c.identity() {
		of(i, fmt.Sprintf("k%d", i))
	}
	if c.res.Layout.RecordID() != "" {
		of(RecordIDKey, "kx")
	}
	if len(keys) == 0 {
		return nil
	}
	if err := c.exec("asked_keys", duck.Slots{"keys": strings.Join(keys, "\n  UNION ALL\n  ")}); err != nil {
		return err
	}
	return c.former(c.ctx, c.db)
}

// MayUndoUnexpected tells whether a type of the job lets effects be undone that nobody
// asked for. The runs of such a job publish the keys that they read, and ask former runs
// for theirs.
func MayUndoUnexpected(job *rules.Job) bool {
	for _, p := range job.Types {
		if p.Unexpected != nil {
			return true
		}
	}
	return false
}

// unknownBefore tells that no former run knows a key of a result r; false where none was asked.
func (c *classifier) unknownBefore() (string, error) {
	var former int64
	if err := c.db.Scan(c.ctx, "SELECT count(*) FROM duckdb_tables() WHERE table_name = "+duck.Literal(FormerKeys), &former); err != nil || former == 0 {
		return "false", err
	}
	carried := func(pass int, column string) string {
		return fmt.Sprintf("coalesce(r.%s IN (SELECT f.key FROM %s f WHERE f.pass = %d AND f.key IS NOT NULL), false)", column, FormerKeys, pass)
	}
	or := []string{}
	for _, i := range c.identity() {
		or = append(or, carried(i, fmt.Sprintf("k%d", i)))
	}
	if c.res.Layout.RecordID() != "" {
		or = append(or, carried(RecordIDKey, "kx"))
	}
	// A row without a key is found in no former run, whoever looks.
	return "NOT (" + strings.Join(append(or, "false"), " OR ") + ") AND NOT (" + c.noIdentity() + ")", nil
}
