package report

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// sheetExceptions bounds the exceptions in the workbook; all of them are in
// exceptions.parquet.
const sheetExceptions = 10_000

// writeXLSX writes the workbook: a view for people, never the evidence. Text that
// a spreadsheet could take for a formula is neutralised, long cells are cut
// visibly, numbers are typed where 15 digits hold them.
func writeXLSX(ctx context.Context, d *Delivery) error {
	f := excelize.NewFile()
	defer f.Close()
	x := &workbook{f: f, styles: map[string]int{}}
	s := d.Summary
	for i, sheet := range []struct {
		name string
		fill func(*sheet) error
	}{
		{"Summary", func(w *sheet) error { return w.summary(s) }},
		{"Statement", func(w *sheet) error { return w.statement(s) }},
		{"Exceptions", func(w *sheet) error { return w.exceptions(ctx, d) }},
		{"Queues", func(w *sheet) error { return w.queues(s) }},
		{"Sources", func(w *sheet) error { return w.sources(s) }},
	} {
		if err := x.sheet(i, sheet.name, sheet.fill); err != nil {
			return err
		}
	}
	// The library stamps the time of day otherwise.
	const made = "2000-01-01T00:00:00Z"
	if err := f.SetDocProps(&excelize.DocProperties{Created: made, Modified: made, Creator: "recon-batch", LastModifiedBy: "recon-batch",
		Title: sheetText(s.Job + " " + s.BusinessDate), Description: "run " + s.RunID}); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		return fail.Wrap(fail.Resources, err, "report.xlsx cannot be written")
	}
	data, err := sortedZip(b.Bytes())
	if err != nil {
		return err
	}
	return d.write("report.xlsx", data)
}

// sortedZip puts the entries of an archive in the order of their names, the list
// of content types first: the library writes streamed sheets in the order of a
// map. The compressed bytes are copied as they are.
func sortedZip(data []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	sort.Slice(z.File, func(i, j int) bool { return z.File[i].Name < z.File[j].Name })
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range z.File {
		if err := w.Copy(f); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

type workbook struct {
	f      *excelize.File
	styles map[string]int
}

// style returns the style of a number format, made once.
func (x *workbook) style(key string, s *excelize.Style) (int, error) {
	if id, ok := x.styles[key]; ok {
		return id, nil
	}
	id, err := x.f.NewStyle(s)
	if err == nil {
		x.styles[key] = id
	}
	return id, err
}

type sheet struct {
	x   *workbook
	sw  *excelize.StreamWriter
	row int
	err error
}

func (x *workbook) sheet(i int, name string, fill func(*sheet) error) error {
	if i == 0 {
		if err := x.f.SetSheetName("Sheet1", name); err != nil {
			return err
		}
	} else if _, err := x.f.NewSheet(name); err != nil {
		return err
	}
	sw, err := x.f.NewStreamWriter(name)
	if err != nil {
		return err
	}
	w := &sheet{x: x, sw: sw}
	if err := fill(w); err != nil {
		return err
	}
	if w.err != nil {
		return w.err
	}
	return sw.Flush()
}

// columns sets the widths, and freezes the first row. Before any row.
func (w *sheet) columns(widths ...float64) {
	for i, n := range widths {
		w.keep(w.sw.SetColWidth(i+1, i+1, n))
	}
	w.keep(w.sw.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}))
}

func (w *sheet) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

// head writes the row of names.
func (w *sheet) head(names ...string) {
	id, err := w.x.style("head", &excelize.Style{Font: &excelize.Font{Bold: true}, Border: []excelize.Border{{Type: "bottom", Style: 1, Color: "808080"}}})
	w.keep(err)
	cells := make([]any, len(names))
	for i, n := range names {
		cells[i] = excelize.Cell{StyleID: id, Value: n}
	}
	w.add(cells...)
}

// add writes a row: texts are neutralised, money is typed, nil stays empty.
func (w *sheet) add(cells ...any) {
	w.row++
	for i, c := range cells {
		switch v := c.(type) {
		case string:
			cells[i] = sheetText(v)
		case amount:
			cells[i] = w.money(v)
		}
	}
	cell, err := excelize.CoordinatesToCellName(1, w.row)
	w.keep(err)
	w.keep(w.sw.SetRow(cell, cells))
}

// amount is a decimal text with its currency.
type amount struct{ text, currency string }

// money types a decimal where a spreadsheet holds it exactly: 15 significant
// digits survive the way through a binary double and back. A longer one stays
// text.
func (w *sheet) money(a amount) any {
	if a.text == "" {
		return nil
	}
	digits := strings.TrimLeft(strings.NewReplacer("-", "", ".", "").Replace(a.text), "0")
	if !decimalText.MatchString(a.text) || len(digits) > 15 {
		return sheetText(a.text)
	}
	v, err := strconv.ParseFloat(a.text, 64)
	if err != nil {
		return sheetText(a.text)
	}
	places := 0
	if _, frac, ok := strings.Cut(a.text, "."); ok {
		places = len(frac)
	}
	format := "#,##0"
	if places > 0 {
		format += "." + strings.Repeat("0", places)
	}
	id, err := w.x.style(format, &excelize.Style{CustomNumFmt: &format})
	w.keep(err)
	return excelize.Cell{StyleID: id, Value: v}
}

func (w *sheet) summary(s *Summary) error {
	w.columns(28, 100)
	w.head("what", "value")
	w.add("headline", s.Headline)
	for _, r := range s.Outcome.Reasons {
		w.add("attention", r)
	}
	for _, text := range []string{withheldText(s), modeText(s)} {
		if text != "" {
			w.add("attention", text)
		}
	}
	w.add("job", s.Job)
	w.add("business date", s.BusinessDate)
	w.add("run", s.RunID)
	w.add("mode", s.Mode)
	w.add("reference time", s.AsOf)
	if s.Period != nil {
		w.add("period", s.Period.From+" to "+s.Period.Until+" by "+s.Period.By)
	}
	w.add("exit code", s.Outcome.ExitCode)
	w.add("job digest", s.JobDigest)
	w.add("content digest", s.ContentDigest)
	for _, side := range s.Sides {
		w.add(side.Side, equation(side))
		for _, c := range classesOf(side) {
			w.add("  "+side.Side+" "+c.Class, c.Rows)
		}
	}
	w.add("once not proven", s.OnceNotProven)
	for _, g := range s.Gates {
		state := "pass"
		if g.Failed {
			state = "FAIL"
		}
		w.add("gate "+g.Name, state+": "+g.Value+"; fails when "+g.FailWhen)
	}
	for _, f := range s.Findings {
		w.add("finding", findingText(f))
	}
	for _, r := range s.Redacted {
		w.add("redacted", r.Field+": "+r.How)
	}
	for _, v := range s.Versions {
		w.add("version", v.Name+" "+v.Version)
	}
	return nil
}

func (w *sheet) statement(s *Summary) error {
	w.columns(10, 34, 14, 20, 14, 20, 20)
	w.head("currency", "line", "operations", "operations amount", "results", "results amount", "difference")
	for _, t := range s.Statement {
		m := func(text string) amount { return amount{text, t.Currency} }
		w.add(t.Currency, "operations as read", nil, m(t.OperationsRead), nil, nil, nil)
		w.add(t.Currency, "operations outside the period", nil, m(t.OperationsOutside), nil, nil, nil)
		w.add(t.Currency, "operations in the period", t.OperationRows, m(t.Operations), nil, nil, nil)
		for _, l := range t.Lines {
			w.add(t.Currency, l.Class+"/"+l.Reason, l.OperationRows, m(l.OperationAmount), l.ResultRows, m(l.ResultAmount), m(l.Difference))
		}
		w.add(t.Currency, "results in the period", nil, nil, t.ResultRows, m(t.Results), m(t.Difference))
		w.add(t.Currency, "results outside the period", nil, nil, nil, m(t.ResultsOutside), nil)
		w.add(t.Currency, "results as read", nil, nil, nil, m(t.ResultsRead), nil)
	}
	return nil
}

func (w *sheet) exceptions(ctx context.Context, d *Delivery) error {
	job := d.In.Bound.Job
	red := &redactor{fields: job.Redact.Fields}
	pairs := fieldPairs(job, red)
	w.columns(12, 22, 12, 22, 22, 10, 16, 16, 16, 22, 10, 22, 10, 20, 12)
	names := []string{"operation class", "operation reason", "result class", "result reason", "differs", "currency", "operation amount",
		"result amount", "difference", "operation file", "operation record", "result file", "result record", "pass", "set"}
	for _, p := range pairs {
		if p.o != "" {
			names = append(names, "operations "+p.name)
		}
		if p.r != "" {
			names = append(names, "results "+p.name)
		}
	}
	w.head(names...)
	err := eachException(ctx, d.DB, job, red, "report_sheet_wide", func(e Exception) error {
		cells := []any{nil, nil, nil, nil, e.Differs, e.Currency, amount{e.OperationAmount, e.Currency}, amount{e.ResultAmount, e.Currency},
			amount{e.Difference, e.Currency}, nil, nil, nil, nil, e.Pass, nil}
		if e.Operation != nil {
			cells[0], cells[1], cells[9], cells[10] = e.Operation.Class, e.Operation.Reason, e.Operation.File, e.Operation.Record
		}
		if e.Result != nil {
			cells[2], cells[3], cells[11], cells[12] = e.Result.Class, e.Result.Reason, e.Result.File, e.Result.Record
		}
		if e.Set != 0 {
			cells[14] = e.Set
		}
		values := map[string]Value{}
		for _, v := range e.Values {
			values[v.Field] = v
		}
		for _, p := range pairs {
			v := values[p.name]
			if p.o != "" {
				cells = append(cells, text(v.Operations))
			}
			if p.r != "" {
				cells = append(cells, text(v.Results))
			}
		}
		w.add(cells...)
		return w.err
	})
	if err != nil {
		return err
	}
	if d.Summary.Exceptions.Of > sheetExceptions {
		w.add(fmt.Sprintf("showing %d of %d; all of them are in exceptions.parquet", sheetExceptions, d.Summary.Exceptions.Of))
	}
	return nil
}

// text is a nullable text as a cell.
func text(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

func (w *sheet) queues(s *Summary) error {
	w.columns(14, 12, 12, 30, 12, 12, 18, 14, 12)
	w.head("queue", "written", "class", "reason", "items", "currency", "amount", "oldest", "deferred")
	for _, q := range s.Queues {
		written := "yes"
		if !q.Written {
			written = "withheld"
		}
		w.add(q.Queue, written, "all", "", q.Items, nil, nil, oldestText(q.OldestSecs), q.Deferred)
		for _, m := range q.Amounts {
			w.add(q.Queue, written, "all", "", m.Items, m.Currency, amount{m.Amount, m.Currency}, nil, nil)
		}
		for _, r := range q.Reasons {
			w.add(q.Queue, written, r.Class, r.Reason, r.Items, nil, nil, oldestText(r.OldestSecs), nil)
		}
		for _, c := range q.Refused {
			w.add(q.Queue, written, "refused check", c.Code, c.Items, nil, nil, nil, nil)
		}
	}
	return nil
}

func (w *sheet) sources(s *Summary) error {
	w.columns(12, 18, 34, 12, 14, 12, 12, 12, 12, 12, 68, 50)
	w.head("side", "source", "file", "status", "bytes", "records", "control", "excluded", "rejected", "classified", "sha256", "problem")
	for _, side := range s.Sides {
		for _, src := range side.Sources {
			for _, f := range src.Files {
				w.add(side.Side, src.Name, f.Name, f.Status, f.Size, f.Records, f.Control, f.Excluded, f.Rejected, f.Classified, f.SHA256, f.Problem)
			}
		}
	}
	w.add("")
	w.add("coverage", "sources", "account", "proves", "from", "until", "complete", "lag seconds", nil, nil, nil, "gap")
	for _, side := range s.Sides {
		for _, c := range side.Coverage {
			complete := "no"
			if c.Complete {
				complete = "yes"
			}
			w.add(side.Side, c.Source, c.Account, c.Proves, c.From, c.Until, complete, c.LagSecs)
			for _, g := range c.Gaps {
				w.add(side.Side, c.Source, c.Account, "gap", g.From, g.Until, nil, nil, nil, nil, nil, g.Reason)
			}
		}
	}
	return nil
}
