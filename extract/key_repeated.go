package extract

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// listRepeated writes, for each identity key of the side, the fingerprint halves
// that more than one row carries (Relation.Repeated). The lists are a property of
// the set of staged files and are kept under its digest.
func (l *loader) listRepeated(ctx context.Context) error {
	var paths, keys []string
	for i, s := range l.staged {
		if s != nil && l.rel.Files[i].Status == FileStaged {
			paths = append(paths, s.path)
			keys = append(keys, s.key)
		}
	}
	slices.Sort(keys)
	h := sha256.New()
	for _, k := range keys {
		h.Write([]byte(k))
	}
	set := hex.EncodeToString(h.Sum(nil))
	l.rel.Repeated = map[string]string{}
	for _, column := range l.layout.hashColumns() {
		if same := l.layout.Derived(column); same != "" { // hx is listed after h<i>
			l.rel.Repeated[column] = l.rel.Repeated[same]
			continue
		}
		path := filepath.Join(l.dir, set+"."+column+".parquet")
		l.rel.Repeated[column] = path
		if touch(path) {
			continue
		}
		if err := l.writeRepeated(ctx, column, paths, path); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) writeRepeated(ctx context.Context, column string, paths []string, path string) error {
	repeated, few, err := findRepeated(paths, column)
	if err != nil {
		return err
	}
	values := fmt.Sprintf("SELECT %s AS h FROM %s WHERE h IS NOT NULL GROUP BY h HAVING count(*) > 1", duck.Ident(column), parquetRows(paths))
	if few {
		list := make([]string, len(repeated))
		for i, h := range repeated {
			list[i] = strconv.FormatUint(h, 10)
		}
		values = "SELECT unnest(CAST([" + strings.Join(list, ", ") + "] AS UBIGINT[])) AS h"
	}
	tmp, err := l.tempName()
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	q := repeatedSQL.Render(duck.Slots{"values": values, "file": duck.Literal(tmp)})
	if err := l.db.Exec(ctx, q); err != nil {
		return err
	}
	if err := syncFile(tmp); err != nil {
		return stageError(err)
	}
	if err := os.Chmod(tmp, 0o600); err != nil { // the engine makes the file anew
		return stageError(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return stageError(err)
	}
	return nil
}

// hashColumns lists the columns h<i> of the identity passes, and hx.
func (l *Layout) hashColumns() []string {
	var out []string
	for i, p := range l.job.Match {
		if p.Identity {
			out = append(out, fmt.Sprintf("h%d", i))
		}
	}
	if l.RecordID() != "" {
		out = append(out, "hx")
	}
	return out
}
