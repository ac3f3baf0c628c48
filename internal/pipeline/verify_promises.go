package pipeline

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// promise is a check that no published row may fail.
type promise struct {
	what, sql string
	slots     duck.Slots
}

func (v *checker) promises(name, did string, list []promise) error {
	var wrong []string
	for _, p := range list {
		var err error
		if wrong, err = v.none(wrong, p.what, p.sql, p.slots); err != nil {
			return err
		}
	}
	v.add(name, did, wrong)
	return nil
}

// links is rule 4 of design §3: a row is linked once.
func (v *checker) links() error {
	business := []string{"''"}
	if v.job != nil {
		for _, p := range v.job.Match {
			if !p.Identity && p.Group == nil {
				business = append(business, duck.Literal(p.Name))
			}
		}
	}
	var linked int64
	for _, c := range v.counts[rules.Operations] {
		if c.pass != "" {
			linked += c.rows
		}
	}
	return v.promises("links", plural(linked, "operation", "operations")+", each linked once", []promise{
		{"links that are not of one operation and its results, or are correct on one side only", "links", duck.Slots{"business": strings.Join(business, ", "), "groups": v.groupPasses()}},
		{"rows in links.parquet under two links, or under another one than they have", "linked_once", duck.Slots{"groups": v.groupPasses()}},
		{"rows whose verdict and link contradict each other", "unlinked", nil},
	})
}

// groupPasses are the names of the passes by groups, as literals: as the job says, or
// the report where the job is not known.
func (v *checker) groupPasses() string {
	names := []string{"''"}
	switch {
	case v.job != nil:
		for _, p := range v.job.Match {
			if p.Group != nil {
				names = append(names, duck.Literal(p.Name))
			}
		}
	case v.summary != nil:
		for _, p := range v.summary.Passes {
			if p.Kind == report.GroupPass {
				names = append(names, duck.Literal(p.Name))
			}
		}
	}
	return strings.Join(names, ", ")
}

// exceptions compares the wide rows with the narrow ones.
func (v *checker) exceptions() error {
	var list []promise
	for _, side := range rules.Sides {
		list = append(list, promise{"rows of " + string(side) + " that exceptions.parquet tells otherwise, or not", "exceptions", duck.Slots{"s": letter(side), "rows": string(side)}})
	}
	return v.promises("exceptions", "every row that is not plainly correct, and no other one", list)
}

// queues is rules 3 and 5 of design §3 on what people and programs act on.
func (v *checker) queues() error {
	var files, wrong []string
	for _, q := range classify.Queues {
		if path, ok := v.path("queues/" + string(q) + ".parquet"); ok {
			files = append(files, fmt.Sprintf("SELECT *, %s AS queue_file FROM read_parquet(%s)", duck.Literal(string(q)), duck.Literal(path)))
		}
	}
	if !v.has("queues/review.parquet") {
		return fmt.Errorf("queues/review.parquet was not published, and every run does")
	}
	if err := v.db.Exec(v.ctx, verifySQL("items").Render(duck.Slots{"files": strings.Join(files, "\nUNION ALL BY NAME\n")})); err != nil {
		return err
	}
	hidden := func(string) bool { return false }
	if v.summary != nil {
		hidden = func(field string) bool {
			for _, r := range v.summary.Redacted {
				if r.Field == field {
					return true
				}
			}
			return false
		}
	}
	list := []promise{
		{"proposals to act on rows of another class than the guard allows, or in spite of a refused check", "acting", nil},
		{"items of another verdict than the row that they show", "item_verdict", nil},
		{"proposals to act on a row that has another one", "acting_once", nil},
		{"next attempts that do not lie between the reference time and their expiry (V33)", "requeue_times", duck.Slots{"as_of": duck.Literal(v.Manifest.ReferenceTime)}},
		{"items that share their id, or say that they are of another run or queue", "item_ids", duck.Slots{"run": duck.Literal(v.Manifest.RunID)}},
		{"rows that need a person, and no item (V32)", "unserved", duck.Slots{"groups": v.groupPasses()}},
	}
	if !hidden("idempotency_key") {
		list = append(list, promise{"items that would send again under no idempotency key, or under that of another item", "requeue_keys", nil})
	}
	if v.job != nil && v.job.Limits.RetryRows > 0 && len(v.job.Limits.RetryBy) == 0 {
		list = append(list, promise{"items that would send more at a time than the retry budget allows (V34)", "requeue_rate", duck.Slots{
			"rows": fmt.Sprint(v.job.Limits.RetryRows), "per": fmt.Sprint(v.job.Limits.RetryPer.Microseconds())}})
	}
	more, err := v.itemIdentity()
	if err != nil {
		return err
	}
	for _, p := range append(list, more...) {
		if wrong, err = v.none(wrong, p.what, p.sql, p.slots); err != nil {
			return err
		}
	}
	both, err := v.bothFiles()
	if err != nil {
		return err
	}
	items, counted, err := v.queueCounts(hidden)
	if err != nil {
		return err
	}
	v.add("queues", plural(items, "item", "items")+", each on the verdict of its row", slices.Concat(wrong, both, counted))
	return nil
}

// itemIdentity compares the identities in the items with those in the wide rows, which
// are hidden alike.
func (v *checker) itemIdentity() ([]promise, error) {
	path, _ := v.path("exceptions.parquet")
	columns, err := v.columns(path)
	if err != nil {
		return nil, err
	}
	var list []promise
	for _, c := range []struct{ side, field string }{{"o", "operation_id"}, {"o", "idempotency_key"}, {"r", "remote_id"}} {
		column := c.side + "_" + c.field
		if slices.Contains(columns, column) {
			list = append(list, promise{"items with another " + c.field + " than the row that they show", "item_identity",
				duck.Slots{"side": c.side, "item": c.field, "column": column}})
		}
	}
	return list, nil
}

func (v *checker) columns(path string) ([]string, error) {
	var out []string
	err := v.each("columns", duck.Slots{"file": duck.Literal(path)}, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		out = append(out, name)
		return err
	})
	return out, err
}

// bothFiles compares the items of each queue in NDJSON with those in Parquet.
func (v *checker) bothFiles() (wrong []string, err error) {
	for _, q := range classify.Queues {
		ndjson, ok := v.path("queues/" + string(q) + ".ndjson")
		if !ok {
			continue
		}
		parquet, ok := v.path("queues/" + string(q) + ".parquet")
		if !ok {
			wrong = append(wrong, fmt.Sprintf("queues/%s.ndjson has no Parquet file beside it", q))
			continue
		}
		columns, err := v.columns(parquet)
		if err != nil {
			return nil, err
		}
		var types []string
		for _, c := range columns {
			types = append(types, duck.Ident(c)+": 'JSON'")
		}
		wrong, err = v.none(wrong, fmt.Sprintf("differences between the items of queues/%[1]s.ndjson and queues/%[1]s.parquet", q), "ndjson", duck.Slots{
			"parquet": duck.Literal(parquet), "ndjson": duck.Literal(ndjson), "columns": strings.Join(types, ", ")})
		if err != nil {
			return nil, err
		}
	}
	return wrong, nil
}
