package classify

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// siblings marks the operations of which another one for the same thing has an effect
// or is undecided, and returns the pairs of which not both may be sent: selects of the
// row ids of the relation a.
func (c *classifier) siblings() ([]string, error) {
	if err := c.exec("siblings_none", nil); err != nil {
		return nil, err
	}
	var pairs []string
	same, err := c.oncePer()
	if err != nil {
		return nil, err
	}
	for _, cond := range same {
		if err := c.exec("siblings", duck.Slots{"same": cond}); err != nil {
			return nil, err
		}
		pairs = append(pairs, "SELECT o.rid FROM a o JOIN a s ON "+cond+" AND s.rid <> o.rid")
	}
	if c.o.Has("replaces") {
		if err := c.replays(); err != nil {
			return nil, err
		}
		pairs = append(pairs, "SELECT rid FROM (SELECT p.rid, min(p.id) OVER w AS lo, max(p.id) OVER w AS hi FROM a o JOIN replaced p ON p.rid = o.rid WINDOW w AS (PARTITION BY p.part)) WHERE lo <> hi")
	}
	return pairs, nil
}

// oncePer are the conditions under which s is for the same thing as o, of which any one
// holds. What is unknown may be equal to anything. Rows in which all is known are compared
// by equality alone, which a join can look up; those with something unknown are few, and
// are compared with every row that agrees in the fields that are always filled.
func (c *classifier) oncePer() ([]string, error) {
	var lists []string // of fields, as their names joined, in the order of the types
	fields, types := map[string][]string{}, map[string][]string{}
	var named []string
	for _, name := range sortedTypes(c.job.Job) {
		if name != "*" {
			named = append(named, name)
		}
	}
	kind := c.o.Raw("type", "VARCHAR")
	for _, name := range sortedTypes(c.job.Job) {
		once := c.job.Types[name].OncePer
		if len(once) == 0 {
			continue
		}
		list := strings.Join(once, "\x00")
		if fields[list] == nil {
			lists, fields[list] = append(lists, list), once
		}
		of := kind + " = " + duck.Literal(name)
		if name == "*" {
			if of = "true"; len(named) > 0 {
				of = "coalesce(" + kind + " NOT IN (" + literals(named) + "), true)"
			}
		}
		types[list] = append(types[list], of)
	}
	var out []string
	for _, list := range lists {
		of := "(" + strings.Join(types[list], " OR ") + ")"
		compared := fields[list]
		if c.o.Has("type") {
			compared = append(compared[:len(compared):len(compared)], "type")
		}
		exact, maybe := []string{of}, []string{of}
		var partly []string // of the fields that some operations have, and some have not
		for _, f := range compared {
			col, empty := duck.Ident("f_"+f), "%s.%s IS NULL"
			if spec := c.job.Operations.Field(f); spec != nil && spec.Type == rules.Text {
				empty = "coalesce(%s.%s = '', true)"
			}
			var known, unknown bool
			unset := fmt.Sprintf(empty, "s", col)
			if err := c.db.Scan(c.ctx, "SELECT coalesce(bool_or(NOT ("+unset+")), false), coalesce(bool_or("+unset+"), false) FROM operations s", &known, &unknown); err != nil {
				return nil, err
			}
			if !known {
				continue // it tells nothing apart
			}
			equal := "o." + col + " = s." + col
			exact = append(exact, equal)
			if unknown {
				equal = "(" + equal + " OR " + fmt.Sprintf(empty, "o", col) + " OR " + unset + ")"
				partly = append(partly, empty, col)
			}
			maybe = append(maybe, equal)
		}
		out = append(out, strings.Join(exact, " AND "))
		for _, side := range []string{"o", "s"} {
			var or []string
			for i := 0; i < len(partly); i += 2 {
				or = append(or, fmt.Sprintf(partly[i], side, partly[i+1]))
			}
			if len(or) > 0 {
				out = append(out, strings.Join(maybe, " AND ")+" AND ("+strings.Join(or, " OR ")+")")
			}
		}
	}
	return out, nil
}

// replays finds the operations that replace one another, however many lie between them.
// It leaves the table replaced: rid (NULL where the export does not hold it), id, old
// (the id that it replaces), part (the same for all that are linked).
func (c *classifier) replays() error {
	s := match.Columns(c.job.Job, c.ops.Layout, "s")
	if err := c.exec("replay_ids", duck.Slots{"id": s.Raw("operation_id", "VARCHAR")}); err != nil {
		return err
	}
	rows, err := c.db.Query(c.ctx, "SELECT DISTINCT id, old FROM replay_ids WHERE old <> id")
	if err != nil {
		return err
	}
	defer rows.Close()
	parts := map[string]string{}
	root := func(id string) string {
		for parts[id] != "" && parts[id] != id {
			if up := parts[parts[id]]; up != "" {
				parts[id] = up
			}
			id = parts[id]
		}
		return id
	}
	for rows.Next() {
		var id, old string
		if err := rows.Scan(&id, &old); err != nil {
			return err
		}
		a, b := root(id), root(old)
		parts[a], parts[b] = max(a, b), max(a, b)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, partSchema)
	defer b.Release()
	for id := range parts {
		b.Field(0).(*array.StringBuilder).Append(id)
		b.Field(1).(*array.StringBuilder).Append(root(id))
	}
	if err := c.db.CopyBatch(c.ctx, b, "CREATE OR REPLACE TABLE replay_parts AS SELECT * FROM arrow_in"); err != nil {
		return err
	}
	if err := c.exec("replaced", nil); err != nil {
		return err
	}
	return c.exec("siblings_replaced", nil)
}

var partSchema = arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.BinaryTypes.String}, {Name: "part", Type: arrow.BinaryTypes.String}}, nil)
