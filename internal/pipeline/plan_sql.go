package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// planSQL lists the statements of match and classify by running them on empty
// relations of the job's layout, in a temporary folder whose name is replaced by
// <stage> in the list.
func planSQL(ctx context.Context, b *rules.Bound, threads int, budget Budget) (list []string, err error) {
	dir, err := os.MkdirTemp("", "recon-batch-plan-")
	if err != nil {
		return nil, diskError(err, "the temporary folder cannot be made")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := duck.Open(ctx, duck.Options{MemoryBytes: budget.DuckDB, Threads: threads, Allowed: []string{dir}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var rels [2]*extract.Relation
	for i, side := range rules.Sides {
		if rels[i], err = emptyRelation(ctx, db, b, side, dir); err != nil {
			return nil, err
		}
	}
	db.Record()
	outcome, err := match.Run(ctx, db, b, rels[0], rels[1], match.Options{})
	if err != nil {
		return nil, err
	}
	if _, err := classify.Run(ctx, db, b, rels[0], rels[1], outcome); err != nil {
		return nil, err
	}
	for _, q := range db.Log() {
		list = append(list, strings.ReplaceAll(q, dir, "<stage>"))
	}
	return list, nil
}

// emptyRelation stages a side without rows.
func emptyRelation(ctx context.Context, db *duck.DB, b *rules.Bound, side rules.Side, dir string) (*extract.Relation, error) {
	layout := extract.NewLayout(b.Job, side)
	rel := &extract.Relation{Side: side, Layout: layout, Repeated: map[string]string{}}
	var columns []string
	for _, c := range layout.Columns {
		columns = append(columns, fmt.Sprintf("CAST(NULL AS %s) AS %s", c.Type, duck.Ident(c.Name)))
		if strings.HasPrefix(c.Name, "h") && c.Type == extract.ColHash {
			path := filepath.Join(dir, fmt.Sprintf("%s-repeated-%s.parquet", side, c.Name))
			if err := db.Exec(ctx, "COPY (SELECT CAST(NULL AS UBIGINT) AS h WHERE false) TO "+duck.Literal(path)+" (FORMAT parquet)"); err != nil {
				return nil, err
			}
			rel.Repeated[c.Name] = path
		}
	}
	path := filepath.Join(dir, string(side)+".parquet")
	q := "COPY (SELECT " + strings.Join(columns, ", ") + " WHERE false) TO " + duck.Literal(path) + " (FORMAT parquet)"
	if err := db.Exec(ctx, q); err != nil {
		return nil, err
	}
	rel.Files = []extract.File{{Source: b.Spec(side).Sources[0].Name, Name: filepath.Base(path), Staged: path, Status: extract.FileStaged}}
	return rel, nil
}
