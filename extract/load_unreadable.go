package extract

import (
	"context"
	"fmt"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// findUnreadable reports per source and field the values that are not of the declared
// type (V20). Such a value counts as none: an amount is in no sum, a time in no window
// and in no period, and no verdict need come of it. The text is not quoted, since
// outputs may have to redact it; explain shows it.
func (l *loader) findUnreadable(ctx context.Context) error {
	fields := l.layout.spec.Fields
	type seen struct {
		rows, record int64
		file         *foundFile
	}
	for _, src := range l.sources() {
		var rows int64
		var err error
		bad := make([]seen, len(fields))
		l.of(src.Name, func(i int, s *staged) {
			rows += s.Rows
			if err == nil {
				err = l.eachUnreadable(ctx, s.path, func(mask uint64, n, first int64) {
					for k := range bad {
						if mask&(1<<k) == 0 {
							continue
						}
						b := &bad[k]
						b.rows += n
						if b.file == nil || b.file == l.found[i] && first < b.record {
							b.file, b.record = l.found[i], first
						}
					}
				})
			}
		})
		if err != nil {
			return err
		}
		for k, b := range bad {
			if b.rows == 0 {
				continue
			}
			l.rel.Findings = append(l.rel.Findings, Finding{
				Code: "value_unreadable", Source: src.Name, File: b.file.rel,
				Text: fmt.Sprintf("%d of %d records of source %s have an unreadable %s, which is declared as %s, first record %d of %s: it counts as no value",
					b.rows, rows, src.Name, fields[k].Name, fields[k].Type, b.record, b.file.rel),
			})
		}
	}
	return nil
}

// eachUnreadable calls f for each set of unreadable fields in a staged file.
func (l *loader) eachUnreadable(ctx context.Context, path string, f func(mask uint64, rows, first int64)) error {
	list, err := l.db.Query(ctx, unreadableSQL.Render(duck.Slots{"rows": parquetRows([]string{path})}))
	if err != nil {
		return err
	}
	defer list.Close()
	for list.Next() {
		var mask uint64
		var rows, first int64
		if err := list.Scan(&mask, &rows, &first); err != nil {
			return err
		}
		f(mask, rows, first)
	}
	return list.Err()
}
