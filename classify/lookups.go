package classify

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// proved is what absences are judged by (V26): covered, or what lookups said.
func (c *classifier) proved() string {
	if len(c.res.Lookups) == 0 {
		return "covered"
	}
	return "CAST(" + match.Proved(c.job, c.o, c.res) + " AS BOOLEAN)"
}

// Question is what a lookup is to be asked about: for each operation the keys to ask by, one
// after the other.
type Question struct {
	Source     *rules.Source
	Operations [][]string
	LeftOut    int64 // undecided operations beyond lookup.limits.operations
}

// Questions judges every row as [Run] does, without proposals, and lists for each lookup of the
// job the operations that it is asked about: those in the period, due, with a verdict whose
// reason is among lookup.ask, that the source may know and that have a key to ask by. What was
// due first comes first, then by key, so that neither the order nor the names of files matter.
func Questions(ctx context.Context, db *duck.DB, job *rules.Bound, ops, res *extract.Relation, m *match.Outcome) ([]Question, error) {
	c := &classifier{ctx: ctx, db: db, job: job, ops: ops, res: res, m: m,
		o: match.Columns(job.Job, ops.Layout, "o"), r: match.Columns(job.Job, res.Layout, "r")}
	for _, step := range c.judging() {
		if err := step(); err != nil {
			return nil, err
		}
	}
	var out []Question
	for _, src := range job.Lookups() {
		q, err := c.question(src)
		if err != nil {
			return nil, err
		}
		out = append(out, *q)
	}
	return out, nil
}

func (c *classifier) question(src *rules.Source) (*Question, error) {
	l := src.Remote.Lookup
	reasons := make([]string, len(l.Ask))
	for i, r := range l.Ask {
		reasons[i] = duck.Literal(r)
	}
	var names, keys []string
	for i, key := range match.LookupKeys(c.job.Job, c.o, src) {
		names, keys = append(names, fmt.Sprintf("key%d", i)), append(keys, fmt.Sprintf("%s AS key%d", key, i))
	}
	statement := duck.MustParse(sqlFiles, "sql/questions.sql").Render(duck.Slots{
		"names": strings.Join(names, ", "), "keys": strings.Join(keys, ", "), "knows": match.MayKnow(c.o, src),
		"reasons": strings.Join(reasons, ", "), "as_of": c.asOf()})
	q := &Question{Source: src}
	rows, err := c.db.Query(c.ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		found, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range found {
			into[i] = &found[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		if int64(len(q.Operations)) == l.Limits.Operations {
			q.LeftOut++
			continue
		}
		var ask []string
		for _, k := range found {
			if k.Valid {
				ask = append(ask, k.String)
			}
		}
		q.Operations = append(q.Operations, ask)
	}
	return q, rows.Err()
}
