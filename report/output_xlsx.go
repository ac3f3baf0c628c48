package report

import (
	"bufio"
	"context"
	"os"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// Bounds of the rows in the workbook; all of them are in exceptions.parquet and in
// queues/. Nobody waits for a confirmation, of which there may be millions. Tests make
// them small.
var (
	sheetExceptions       = 100_000
	sheetItems      int64 = 100_000
	sheetConfirms   int64 = 10_000
)

// writeXLSX writes the workbook: a view for people, never the evidence. Text that
// a spreadsheet could take for a formula is neutralised, long cells are cut
// visibly, numbers are typed where 15 digits hold them.
func writeXLSX(ctx context.Context, d *Delivery) (err error) {
	disk := func(err error) error {
		return fail.Wrap(fail.Resources, err, "report.xlsx cannot be written").WithHint("free disk, or name another folder with --out")
	}
	f, err := os.Create(d.path("report.xlsx"))
	if err != nil {
		return disk(err)
	}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
			err = disk(e)
		}
	}()
	out := bufio.NewWriterSize(f, 1<<18)
	zone, err := time.LoadLocation(d.Summary.Zone)
	if err != nil {
		zone = time.UTC
	}
	x := &workbook{book: newBook(out, d.Dir, zone), d: d, s: d.Summary}
	defer func() {
		if e := x.discard(); err == nil && e != nil {
			err = disk(e)
		}
	}()
	if err := x.write(ctx); err != nil {
		if x.err != nil {
			return disk(x.err)
		}
		return err
	}
	if err := x.close(); err != nil {
		return disk(err)
	}
	if err := out.Flush(); err != nil {
		return disk(err)
	}
	return nil
}

// workbook is the report as a book.
type workbook struct {
	*book
	d      *Delivery
	s      *Summary
	checks []crossCheck
}

// write writes the sheets in their order. An error is one of the rows; those of the disk
// are kept by the book.
func (x *workbook) write(ctx context.Context) error {
	x.properties(x.s.Job+" "+x.s.BusinessDate, "run "+x.s.RunID, x.s.AsOf)
	x.summary()
	x.statement()
	x.accounts()
	x.openItems()
	x.ageing()
	x.queues()
	for _, q := range x.s.Queues {
		if err := x.items(ctx, q); err != nil {
			return err
		}
	}
	if err := x.exceptions(ctx); err != nil {
		return err
	}
	x.holds()
	x.clusters()
	x.trend()
	x.sources()
	x.coverage()
	x.method()
	x.checksSheet(x.checks)
	return nil
}

// local says in the name of a column whose time it is.
func (x *workbook) local(name string) string { return name + " (" + x.zone.String() + ")" }
