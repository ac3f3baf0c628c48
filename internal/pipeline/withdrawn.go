package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
)

// Files of the items that a revision withdraws.
const (
	withdrawnParquet = "queues/withdrawn.parquet"
	withdrawnNDJSON  = "queues/withdrawn.ndjson"
)

// Withdrawn counts the items of the superseded run that no longer hold.
type Withdrawn struct {
	Items int64            `json:"items"`
	Why   []WithdrawnCount `json:"why"` // in the order of reasons
}

// WithdrawnCount counts one reason: gone, replaced, observed or withheld.
type WithdrawnCount struct {
	Why   string `json:"why"`
	Items int64  `json:"items"`
}

// superseding is the run that the one under way supersedes.
type superseding struct {
	dir string
	m   *Manifest
}

// supersedes finds the run of the date that is current, nil where there is none. The
// caller holds the lock of the date, so that it stays so until the end of the run.
func (r *run) supersedes() (*superseding, error) {
	if r.again != nil {
		if was := r.again.Supersedes; r.replaying != nil && was != nil {
			m, _, err := ReadManifest(r.dir.run(was.RunID))
			return &superseding{dir: r.dir.run(was.RunID), m: m}, err
		}
		return nil, nil
	}
	id, err := r.dir.currentID()
	if err != nil || id == "" {
		return nil, err
	}
	m, _, err := ReadManifest(r.dir.run(id))
	if err != nil {
		return nil, err
	}
	return &superseding{dir: r.dir.run(id), m: m}, nil
}

// queues lists the queue files of the superseded run. Their bytes must be those that
// were published: what is withdrawn rests on them.
func (s *superseding) queues() (queues, paths []string, err error) {
	for _, o := range s.m.Outputs {
		name, ok := strings.CutSuffix(strings.TrimPrefix(o.Path, "queues/"), ".parquet")
		if !ok || !strings.HasPrefix(o.Path, "queues/") || o.Path == withdrawnParquet {
			continue
		}
		path := filepath.Join(s.dir, filepath.FromSlash(o.Path))
		size, sum, err := hashFile(path)
		if err != nil || size != o.Size || sum != o.SHA256 {
			return nil, nil, fail.New(fail.Integrity, "%s of run %s is not what was published, so that nobody can say which items the new run withdraws", o.Path, s.m.RunID).
				WithHint("look at it with recon-batch verify %s, and restore it from a backup", shellQuote(displayPath(s.dir)))
		}
		queues, paths = append(queues, name), append(paths, path)
	}
	return queues, paths, nil
}

// formerItems is the SELECT of all items in queue files.
func formerItems(queues, paths []string) string {
	var parts []string
	for i := range queues {
		parts = append(parts, fmt.Sprintf("SELECT item_id, case_id, %s AS queue, operation_id, run_id, coalesce(observe_only, false) AS observe_only FROM read_parquet(%s)", duck.Literal(queues[i]), duck.Literal(paths[i])))
	}
	return strings.Join(parts, "\n  UNION ALL ")
}

// withdraw writes the items of the superseded run that no longer hold: not in the same
// queue of the new run, or there for observation only. Consumers that took one must let
// go of it.
func (r *run) withdraw(ctx context.Context, db *duck.DB, m *Manifest, s *report.Summary) error {
	if r.former == nil || r.former.m.RunID == m.RunID {
		return nil
	}
	queues, paths, err := r.former.queues()
	if err != nil || len(paths) == 0 {
		return err
	}
	withheld := []string{"''"}
	for _, q := range s.Queues {
		if !q.Written {
			withheld = append(withheld, duck.Literal(q.Queue))
		}
	}
	err = db.Exec(ctx, duck.MustParse(sqlFiles, "sql/withdrawn.sql").Render(duck.Slots{
		"former": formerItems(queues, paths), "now": "SELECT item_id, case_id, CAST(queue AS VARCHAR) AS queue, coalesce(observe_only, true) AS observe_only FROM items",
		"withheld": strings.Join(withheld, ", ")}))
	if err != nil {
		return err
	}
	formats := r.Job.Outputs.Formats
	files := []struct{ name, options string }{{withdrawnParquet, "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)"}}
	if len(formats) == 0 || slices.Contains(formats, "ndjson") {
		files = append(files, struct{ name, options string }{withdrawnNDJSON, "(FORMAT json)"})
	}
	for _, f := range files {
		path := duck.Literal(filepath.Join(r.tmp, filepath.FromSlash(f.name)))
		if err := db.Exec(ctx, "COPY (FROM withdrawn ORDER BY queue, item_id) TO "+path+" "+f.options); err != nil {
			return diskError(err, "the withdrawn items cannot be written")
		}
	}
	m.Withdrawn, err = countWithdrawn(ctx, db)
	return err
}

// countWithdrawn counts the relation withdrawn.
func countWithdrawn(ctx context.Context, db *duck.DB) (*Withdrawn, error) {
	w := &Withdrawn{Why: []WithdrawnCount{}}
	rows, err := db.Query(ctx, "SELECT why, count(*) FROM withdrawn GROUP BY why ORDER BY why")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c WithdrawnCount
		if err := rows.Scan(&c.Why, &c.Items); err != nil {
			return nil, err
		}
		w.Items += c.Items
		w.Why = append(w.Why, c)
	}
	return w, rows.Err()
}

// withdrawn checks the list of withdrawn items: it is that of a run which supersedes
// another one, says the same in both files, and withdraws nothing that still stands.
// Where the superseded run lies beside it, the list is made again.
func (v *checker) withdrawn() error {
	m := v.Manifest
	if m.Withdrawn == nil {
		var wrong []string
		for _, path := range []string{withdrawnParquet, withdrawnNDJSON} {
			if v.has(path) {
				wrong = append(wrong, path+" was published, and the manifest withdraws nothing")
			}
		}
		v.add("withdrawn", "no item is withdrawn", wrong)
		return nil
	}
	var wrong []string
	if m.Supersedes == nil {
		wrong = append(wrong, "items are withdrawn, and the run supersedes none")
	}
	path, ok := v.path(withdrawnParquet)
	if !ok {
		v.add("withdrawn", "the list of items", append(wrong, withdrawnParquet+" was not published"))
		return nil
	}
	if err := v.db.Exec(v.ctx, "CREATE OR REPLACE VIEW withdrawn AS SELECT * FROM read_parquet("+duck.Literal(path)+")"); err != nil {
		return err
	}
	counted, err := countWithdrawn(v.ctx, v.db)
	if err != nil {
		return err
	}
	if counted.Items != m.Withdrawn.Items || !slices.Equal(counted.Why, m.Withdrawn.Why) {
		wrong = append(wrong, fmt.Sprintf("%d items are withdrawn (%v), the manifest says %d (%v)", counted.Items, counted.Why, m.Withdrawn.Items, m.Withdrawn.Why))
	}
	if wrong, err = v.none(wrong, "items are withdrawn and stand in the same queue of this run, to be acted on", "withdrawn", nil); err != nil {
		return err
	}
	if ndjson, ok := v.path(withdrawnNDJSON); ok {
		var types []string
		columns, err := v.columns(path)
		if err != nil {
			return err
		}
		for _, c := range columns {
			types = append(types, duck.Ident(c)+": 'JSON'")
		}
		wrong, err = v.none(wrong, "withdrawn items that both files tell differently", "ndjson", duck.Slots{
			"parquet": duck.Literal(path), "ndjson": duck.Literal(ndjson), "columns": strings.Join(types, ", ")})
		if err != nil {
			return err
		}
	}
	again, did, err := v.withdrawnAgain()
	if err != nil {
		return err
	}
	v.add("withdrawn", fmt.Sprintf("%s%s", plural(counted.Items, "item", "items"), did), append(wrong, again...))
	return nil
}

// withdrawnAgain makes the list again from the superseded run, where it is to be had.
func (v *checker) withdrawnAgain() (wrong []string, did string, err error) {
	s := v.supersededRun()
	if s == nil {
		return nil, "; the superseded run is not beside this one, so that the list was not made again", nil
	}
	queues, paths, err := s.queues()
	if err != nil {
		return []string{err.Error()}, "", nil
	}
	withheld := []string{"''"}
	for _, q := range v.summary.Queues {
		if !q.Written {
			withheld = append(withheld, duck.Literal(q.Queue))
		}
	}
	slots := duck.Slots{"former": formerItems(queues, paths), "withheld": strings.Join(withheld, ", "),
		"now": "SELECT item_id, case_id, queue_file AS queue, coalesce(observe_only, true) AS observe_only FROM items"}
	if len(withheld) > 1 { // what a withheld queue would hold is in no file
		slots["now"] += " UNION ALL SELECT item_id, case_id, queue, true FROM withdrawn WHERE why = 'withheld'"
	}
	text := strings.Replace(duck.MustParse(sqlFiles, "sql/withdrawn.sql").Render(slots), "TABLE withdrawn", "TABLE withdrawn_again", 1)
	if err := v.db.Exec(v.ctx, text); err != nil {
		return nil, "", err
	}
	wrong, err = v.none(nil, "withdrawn items are not those that the superseded run and this one give", "withdrawn_again", nil)
	return wrong, ", made again from the superseded run", err
}

// supersededRun is the superseded run where it lies beside this one, unaltered.
func (v *checker) supersededRun() *superseding {
	m := v.Manifest
	if m.Supersedes == nil || filepath.Base(v.dir) != m.RunID || !runIDForm.MatchString(m.Supersedes.RunID) {
		return nil
	}
	dir := filepath.Join(filepath.Dir(v.dir), m.Supersedes.RunID)
	former, sum, err := ReadManifest(dir)
	if err != nil || sum != m.Supersedes.ManifestSHA256 {
		return nil
	}
	return &superseding{dir: dir, m: former}
}
