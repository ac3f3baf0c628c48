package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// grow makes so many exceptions and items of review of one of each, with ids of their own.
func (w *world) grow(s *Summary, n int64) {
	w.t.Helper()
	for _, side := range []string{"o", "r"} {
		w.exec(fmt.Sprintf(`INSERT INTO res_%s SELECT * EXCLUDE (i) REPLACE (1000 + i AS rid, 'op-' || i AS f_operation_id, 'key-' || md5(CAST(i AS VARCHAR)) AS f_idempotency_key, 'order-' || i %% 1000 AS f_entity)
FROM (SELECT * FROM res_%s WHERE rid = 5), range(%d) t(i)`, side, side, n))
	}
	w.exec(fmt.Sprintf(`INSERT INTO report_exceptions SELECT * EXCLUDE (i) REPLACE (1000 + i AS o_rid, 1000 + i AS r_rid, o_value + i AS o_value, r_value + i AS r_value)
FROM (SELECT * FROM report_exceptions WHERE o_rid = 5), range(%d) t(i)`, n))
	w.exec(fmt.Sprintf(`INSERT INTO items SELECT * EXCLUDE (i) REPLACE (md5(CAST(i AS VARCHAR)) AS item_id, md5('case' || i) AS case_id, 'op-' || i AS operation_id, CAST(12 + i AS VARCHAR) || '.00' AS amount, 12 + i AS value)
FROM (SELECT * FROM items WHERE item_id = 'i-3'), range(%d) t(i)`, n))
	s.Exceptions.Of += n
	q := s.queue("review")
	q.Items += n
	q.Amounts[0] = Money{Currency: "EUR", Amount: fmt.Sprintf("%d.00", 15+12*n+n*(n-1)/2), Items: q.Amounts[0].Items + n}
}

// reportCells reports a speed by the clock, and by the time that all threads computed: the
// latter says something on a busy machine too.
func reportCells(b *testing.B, cells int, before, after time.Duration) {
	b.ReportMetric(float64(cells)*float64(b.N)/b.Elapsed().Seconds(), "cells/s")
	b.ReportMetric(float64(cells)*float64(b.N)/(after-before).Seconds(), "cells/cpu-s")
}

// computed is the time that all threads of the process have computed.
func computed(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cellsOf counts the cells of a workbook.
func cellsOf(b *testing.B, data []byte) (cells int) {
	b.Helper()
	for _, p := range unzipped(b, data) {
		cells += bytes.Count(p, []byte("<c "))
	}
	return cells
}

// BenchmarkWorkbook writes a whole workbook with 50,000 exceptions and as many items, from
// the engine to the disk, and says how many cells a second that is.
func BenchmarkWorkbook(b *testing.B) {
	w := newWorld(b).load()
	s := w.build()
	w.grow(s, 50_000)
	d := &Delivery{DB: w.db, In: w.in, Summary: s, Dir: b.TempDir()}
	before := computed(b)
	for b.Loop() {
		if err := writeXLSX(b.Context(), d); err != nil {
			b.Fatal(err)
		}
	}
	after := computed(b)
	data, err := os.ReadFile(filepath.Join(d.Dir, "report.xlsx"))
	if err != nil {
		b.Fatal(err)
	}
	cells := cellsOf(b, data)
	reportCells(b, cells, before, after)
	b.ReportMetric(float64(cells), "cells")
	b.ReportMetric(float64(len(data)), "bytes")
}

// benchRows and benchColumns are the sheet that the writer is measured with: half texts, a
// third amounts, dates.
const benchRows, benchColumns = 20_000, 40

var benchTexts = func() (texts [1000]string) {
	for i := range texts {
		texts[i] = fmt.Sprintf("operation-%d", i*7919)
	}
	return texts
}()

// BenchmarkWorkbookWriter measures the writer alone, without the engine.
func BenchmarkWorkbookWriter(b *testing.B) {
	var columns []sheetColumn
	for i := range benchColumns {
		columns = append(columns, sheetColumn{fmt.Sprint("column ", i), 12})
	}
	before := computed(b)
	for b.Loop() {
		var out bytes.Buffer
		x := newBook(&out, b.TempDir(), time.UTC)
		s := x.sheet("Rows", "note", columns...)
		for i := range benchRows {
			s.begin()
			for j := range benchColumns {
				switch j % 6 {
				case 0, 2, 4:
					s.text(benchTexts[(i+j)%len(benchTexts)], styleText)
				case 1, 3:
					s.amount("1234.50", "EUR", styleAmount)
				default:
					s.instant("2026-08-20T05:00:00Z")
				}
			}
			s.end()
		}
		if err := errors.Join(x.close(), x.discard()); err != nil {
			b.Fatal(err)
		}
	}
	reportCells(b, benchRows*benchColumns, before, computed(b))
}
