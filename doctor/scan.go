package doctor

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// scan reads the whole file with what was found so far, and watches its columns.
func (l *look) scan() error {
	src, err := l.d.compile(l.side())
	if err != nil {
		return err
	}
	l.src = src
	l.columns, l.trailer, l.last = nil, nil, nil
	l.r.Records, l.r.Rejected = 0, 0
	r, err := l.reader(src, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	s := &scanner{look: l, index: map[string]int{}, budget: maxMarks, reasons: map[string]*rejects{}}
	for _, name := range r.Header() {
		s.column(name)
	}
	err = s.all(r)
	l.r.ControlLines = r.ControlLines()
	if err != nil {
		return err
	}
	l.trailer = r.Trailer()
	s.remarkRejects()
	return nil
}

type scanner struct {
	*look
	index   map[string]int
	budget  int
	reasons map[string]*rejects
	order   []string
}

// rejects are records that cannot be cut into their fields for one reason.
type rejects struct {
	n    int64
	line int64
	raw  string
}

// column adds a column. Two of one name are two columns.
func (s *scanner) column(name string) *column {
	c := newColumn(name)
	if _, ok := s.index[name]; !ok {
		s.index[name] = len(s.columns)
	}
	s.columns = append(s.columns, c)
	return c
}

func (s *scanner) all(r extract.Reader) error {
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if bad, ok := errors.AsType[*extract.RecordError](err); ok {
			s.r.Records++
			s.r.Rejected++
			s.reject(bad)
			continue
		}
		if err != nil {
			return err
		}
		if s.r.Records++; s.r.Records%4096 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		for i := range rec.Cells {
			s.cell(s.columns[i], &rec.Cells[i])
		}
		for i := range rec.Extra {
			e := &rec.Extra[i]
			at, ok := s.index[e.Name]
			if !ok {
				if len(s.columns) >= s.opt.Limits.Columns {
					continue
				}
				at = len(s.columns)
				s.column(strings.Clone(e.Name))
			}
			s.cell(s.columns[at], &e.Cell)
		}
		if s.d.format == "xlsx" {
			s.remember(rec)
		}
	}
}

func (s *scanner) cell(c *column, cell *extract.Cell) {
	if cell.Kind != extract.CellNull && len(cell.Text) > 0 {
		c.take(cell.Text, cell.Kind == extract.CellNumber, &s.budget)
	}
}

// remember keeps the last record of a workbook, which may be a total.
func (s *scanner) remember(rec *extract.Record) {
	row := make([]string, len(rec.Cells))
	for i, c := range rec.Cells {
		row[i] = string(c.Text)
	}
	s.last = [][]string{row}
}

func (s *scanner) reject(e *extract.RecordError) {
	r := s.reasons[e.Reason]
	if r == nil {
		if len(s.order) == 20 {
			return
		}
		raw := string(e.Raw)
		if len(raw) > 80 {
			raw = raw[:80]
		}
		r = &rejects{line: e.Line, raw: strings.ToValidUTF8(raw, "\uFFFD")}
		s.reasons[e.Reason] = r
		s.order = append(s.order, e.Reason)
	}
	r.n++
}

func (s *scanner) remarkRejects() {
	for _, reason := range s.order {
		r := s.reasons[reason]
		code := "bad_records"
		if strings.Contains(reason, "the header has") || strings.Contains(reason, "declared") {
			code = "ragged_rows"
		}
		at := ""
		if r.line > 0 {
			at = fmt.Sprintf(", first on line %d: %s", r.line, quoted(r.raw))
		}
		what := plural(r.n, "line") + " cannot be read as records"
		if r.n == 1 {
			what = "1 line cannot be read as a record"
		}
		s.r.find(code, "", "%s: %s%s", what, reason, at)
	}
}

// compile writes the draft as a job, and reads it back by the rules of job files.
func (d *draft) compile(side rules.Side) (*rules.Source, error) {
	job, err := rules.Parse([]byte(d.alone(side, "")), "the declaration of "+quoted(d.path))
	if err != nil {
		return nil, fail.Wrap(fail.Internal, err, "the declaration that doctor wrote is not valid")
	}
	return &job.Spec(side).Sources[0], nil
}

// names of columns that speak of one side.
var (
	oursNames  = []string{"state", "attempts", "attempt", "tries", "try_count", "retry_count", "retries", "attempt_count", "versuche", "next_attempt", "next_attempt_at", "next_retry", "next_retry_at", "last_attempt", "last_attempt_at", "last_error", "last_error_class", "error_class", "locked_until", "lease_until", "run_at", "payload", "queue", "op_id", "operation_id"}
	theirNames = []string{"fee", "fees", "net", "gross", "charge_id", "psp_reference", "payout_id", "settlement_id", "available_on", "metadata_op_id", "merchant_reference", "balance", "iban", "bic", "value_date", "settled_at", "booked_at"}
)

// side of the fragment.
func (l *look) side() rules.Side {
	if l.opt.Side != "" {
		return l.opt.Side
	}
	if rules.Format(l.d.format).Bank() || l.d.controlLine != "" {
		return rules.Results
	}
	ours, theirs := 0, 0
	for _, c := range l.columns {
		name := plainName(c.name)
		if slices.Contains(oursNames, name) {
			ours++
		}
		if slices.Contains(theirNames, name) || strings.HasPrefix(name, "metadata_") {
			theirs++
		}
	}
	if ours > theirs {
		return rules.Operations
	}
	return rules.Results
}
