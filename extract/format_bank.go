package extract

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/recon-batch/recon-batch/extract/bank"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// bankReader reads the file of a bank by the package bank. Its header are the
// columns of the format, whatever the file; an empty value is null.
type bankReader struct {
	r       bank.Reader
	name    string
	columns []bank.Column
	header  []string
	rec     Record
	text    []byte
	facts   []string // as JSON, once the file was read whole
	err     error
	hide    bool // messages quote no cell
}

func newBankReader(src *rules.Source, need []neededColumn, r io.Reader, name string) (*bankReader, error) {
	b := &bankReader{name: name, hide: src.HideCells, columns: bank.Columns(bank.Format(src.Format))}
	found := make([]string, len(b.columns))
	for i, c := range b.columns {
		found[i] = c.String()
	}
	var err error
	if b.header, err = bindHeader(found, "", need, name); err != nil {
		return nil, err
	}
	if b.r, err = bank.Open(bank.Format(src.Format), r, name, bankOptions(src)); err != nil {
		return nil, inputError(name, b.unquoted(err))
	}
	b.rec.Cells = make([]Cell, len(b.columns))
	return b, nil
}

// bankOptions are the declarations of a source for the package bank.
func bankOptions(src *rules.Source) bank.Options {
	opt := bank.Options{Exponent: minorExponent}
	d := src.Bank
	if d == nil {
		return opt
	}
	if d.Batch == "keep" {
		opt.Batch = bank.Keep
	}
	switch d.Proof {
	case "require":
		opt.Proof = bank.Require
	case "report":
		opt.Proof = bank.Report
	}
	opt.Encoding, opt.CreditCodes, opt.DebitCodes = d.Encoding, d.CreditCodes, d.DebitCodes
	opt.Exponent = func(code string) (int, bool) {
		if n, ok := d.Exponents[code]; ok {
			return n, true
		}
		return minorExponent(code)
	}
	if d.Reach != nil {
		opt.Reach = func() (bank.Operations, error) { return openReach(d.Reach) }
	}
	return opt
}

func (b *bankReader) Header() []string    { return b.header }
func (b *bankReader) ControlLines() int64 { return b.r.Facts().Control + b.r.Facts().Skipped }

// unquoted is an error without the texts of the file that it quotes, where they are
// hidden.
func (b *bankReader) unquoted(err error) error {
	e, ok := errors.AsType[*fail.Error](err)
	if !ok || !b.hide {
		return err
	}
	return &fail.Error{Class: e.Class, Msg: unquoted(e.Error()), Hint: unquoted(e.Hint)}
}

// Trailer is what the file states about itself besides its rows: bank.Facts as
// JSON. It is kept beside the staged file, and judged each time the file is used.
func (b *bankReader) Trailer() []string { return b.facts }

func (b *bankReader) Next() (*Record, error) {
	if b.err != nil {
		return nil, b.err
	}
	row, err := b.r.Next()
	if err == io.EOF {
		var facts []byte
		if facts, err = json.Marshal(b.r.Facts()); err == nil {
			b.facts, err = []string{string(facts)}, io.EOF
		}
	}
	if err != nil {
		if b.err = err; err != io.EOF {
			b.err = inputError(b.name, b.unquoted(err))
		}
		return nil, b.err
	}
	b.text = b.text[:0]
	for _, c := range b.columns {
		b.text = append(b.text, row.Values[c]...)
	}
	from := 0
	for i, c := range b.columns {
		end := from + len(row.Values[c])
		b.rec.Cells[i] = Cell{Text: b.text[from:end:end]}
		if end > from {
			b.rec.Cells[i].Kind = CellText
		}
		from = end
	}
	b.rec.No++
	b.rec.Line = row.Line
	return &b.rec, nil
}

// bankFacts reads back what Trailer gave; nil where the file is not one of a bank.
func bankFacts(src *rules.Source, s *sidecar) (*bank.Facts, error) {
	if !src.Format.Bank() || len(s.Trailer) != 1 {
		return nil, nil
	}
	var f bank.Facts
	if err := json.Unmarshal([]byte(s.Trailer[0]), &f); err != nil {
		return nil, fail.Wrap(fail.Integrity, err, "the facts of a staged file cannot be read").
			WithHint("remove the stage folder, and run again")
	}
	return &f, nil
}

// cappedLines refuses a file that goes on for reachLine bytes without a line end:
// the reader of CSV holds a line whole.
type cappedLines struct {
	r    io.Reader
	name string
	run  int
}

const reachLine = 1 << 20

func (c *cappedLines) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if at := bytes.LastIndexByte(p[:n], '\n'); at >= 0 {
		c.run = n - at - 1
	} else if c.run += n; c.run > reachLine {
		return 0, overLimit(c.name, "bytes in one line", reachLine)
	}
	return n, err
}

// reachFile reads the operations of bank.reach from a CSV file with a header.
type reachFile struct {
	path string
	f    *os.File
	r    *csv.Reader
	at   [4]int // places of the columns, -1 none
	op   bank.Operation
}

func openReach(d *rules.BankReach) (bank.Operations, error) {
	path := string(d.Path)
	f, err := os.Open(path)
	if err != nil {
		return nil, fail.Wrap(fail.Input, err, "the operations of bank.reach cannot be read")
	}
	x := &reachFile{path: filepath.Base(path), f: f, r: csv.NewReader(&cappedLines{r: f, name: filepath.Base(path)})}
	x.r.ReuseRecord = true
	header, err := x.r.Read()
	if err != nil {
		f.Close()
		return nil, fail.Wrap(fail.Input, err, "%s: the operations of bank.reach have no header", x.path)
	}
	header[0] = strings.TrimPrefix(header[0], "\uFEFF")
	for i, name := range []string{d.MsgID, d.PmtInfID, d.EndToEndID, d.InstructionID} {
		x.at[i] = -1
		for j, h := range header {
			if h == name && name != "" {
				x.at[i] = j
			}
		}
		if x.at[i] < 0 && name != "" {
			hint := "the columns are: " + quoteList(header)
			f.Close()
			return nil, badFile(x.path, "there is no column %s, which bank.reach reads", quoteName(name)).WithHint("%s", hint)
		}
	}
	return x, nil
}

func (x *reachFile) Next() (*bank.Operation, error) {
	rec, err := x.r.Read()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, fail.Wrap(fail.Input, err, "%s: the operations of bank.reach", x.path)
	}
	get := func(i int) string {
		if x.at[i] < 0 {
			return ""
		}
		return strings.TrimSpace(rec[x.at[i]])
	}
	x.op = bank.Operation{MsgID: get(0), PmtInfID: get(1), EndToEndID: get(2), InstructionID: get(3)}
	return &x.op, nil
}

func (x *reachFile) Close() error { return x.f.Close() }
