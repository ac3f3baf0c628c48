package sql

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Check implements fetch.Puller: the database can be reached and lets nothing be
// written, the query can be prepared and run, its columns are those that the fields of
// the source are read from, and its keyset is one. All that can be said at once is.
func (Puller) Check(ctx context.Context, r *fetch.Request) []string {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errTime)
	defer cancel()
	once := *r
	once.Until = time.Time{} // not waited for
	t, cols, err := look(ctx, &once)
	if err != nil {
		return []string{said(err)}
	}
	out := fits(r, t, cols)
	if _, err := t.columnsOf(cols); err != nil {
		out = append(out, said(err))
	}
	return out
}

func said(err error) string {
	if e, ok := errors.AsType[*fail.Error](err); ok && e.Hint != "" {
		return e.Error() + "; " + e.Hint
	}
	return err.Error()
}

// look asks for the columns of the query and runs it for no row, which is when the server
// looks at the rights on what is read.
func look(ctx context.Context, r *fetch.Request) (*target, []column, error) {
	t, err := resolve(r)
	if err != nil {
		return nil, nil, err
	}
	q, err := bind(r)
	if err != nil {
		return nil, nil, err
	}
	var snap snapshot
	if t.my != nil {
		snap, err = beginMySQL(ctx, r, t)
	} else {
		snap, err = beginPostgres(ctx, []*fetch.Request{r}, t)
	}
	if err != nil {
		return nil, nil, err
	}
	defer snap.close()
	c, err := snap.open(ctx, t, &fetch.Snapshot{})
	if err != nil {
		return nil, nil, err
	}
	defer c.abort()
	cols, err := c.describe(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if err := t.distinct(cols); err != nil {
		return nil, nil, err
	}
	return t, cols, c.each(ctx, q.around("SELECT * FROM ", " LIMIT 0"), cols, true, func([][]byte) error { return nil })
}

// fits compares the columns of the result with what the fields of the source need.
func fits(r *fetch.Request, t *target, cols []column) []string {
	of := map[string]column{}
	for _, c := range cols {
		of[c.name] = c
	}
	var out []string
	for _, f := range r.Source().Fields {
		if f.Column == "" {
			continue
		}
		c, ok := of[f.Column]
		if !ok && !f.Optional && !inDocument(f.Column, of) {
			out = append(out, said(fail.New(fail.Usage, "the source %s: its query gives no column %q, which the field %s is read from", t.name, f.Column, f.Name).
				WithHint("its columns are: %s", columnNames(cols))))
		}
		if !ok {
			continue
		}
		switch as := strings.ToLower(c.as); {
		case f.Type == rules.Timestamp && (as == "timestamp" && t.pg != nil || as == "datetime") && f.Zone == nil && f.ZoneFrom == nil && f.JSONPath == nil:
			out = append(out, said(fail.New(fail.Usage, "the source %s: the column %s has times without a zone (%s), and the field %s declares none", t.name, c.name, as, f.Name).
				WithHint("add `zone: Europe/Paris` to the field, or make it an instant in the query: created_at AT TIME ZONE 'Europe/Paris' AS created_at")))
		case (f.Type == rules.Decimal || f.Type == rules.Integer) && (as == "money" || as == "bool" || as == "bytea" || as == "blob" || as == "date"):
			out = append(out, said(fail.New(fail.Usage, "the source %s: the column %s is %s, and the field %s %s", t.name, c.name, as, f.Name, f.Type).
				WithHint("cast it in the query: amount::numeric")))
		}
	}
	return out
}

// inDocument tells whether a name may be a member of a column that holds JSON.
func inDocument(name string, of map[string]column) bool {
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		if c, ok := of[name[:i]]; ok && strings.HasPrefix(strings.ToLower(c.as), "json") {
			return true
		}
	}
	return false
}
