package report

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/csv"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// peopleDir is the folder of the queues as people read them. It is not that of the
// machine's files, so that nobody who takes all of queues/ takes these.
const peopleDir = "people"

// peopleColumns are the fields of an item that people see, in the order of the columns:
// what it is about, what is to be done, where it stands, and the ids to look it up by.
// The first one is a word of ours, so that no line begins with a value. The confirm queue
// has those of them that it knows.
var peopleColumns = []string{
	"class", "reason", "operation_id", "type", "entity", "amount", "currency", "fields",
	"because", "risk", "advice", "refused", "owner", "due_at", "expires_at", "next_attempt_at", "attempts", "approvals",
	"expected_state", "next_state", "business_operation", "remote_id", "keep_remote_id", "effects_seen", "candidates", "version", "destination",
	"observe_only", "deferred", "hidden", "closes_when",
	"o_source", "o_file", "o_record", "r_source", "r_file", "r_record", "set_id", "case_id", "item_id",
}

// byteOrderMark tells spreadsheets that the file is UTF-8; without it some of them read
// it in the code page of the machine.
const byteOrderMark = "\uFEFF"

// writeCSV writes each queue that is written as CSV for people (RFC 4180, UTF-8 with a
// byte order mark). Texts that a spreadsheet could take for a formula are neutralised; the files in
// queues/ have every value as it is. confirm may be large, and is written on request.
func writeCSV(ctx context.Context, d *Delivery) error {
	if err := os.MkdirAll(d.path(peopleDir), 0o755); err != nil {
		return fail.Wrap(fail.Resources, err, "the folder %s cannot be made", peopleDir).WithHint("free disk, or name another folder with --out")
	}
	for _, q := range d.Summary.Queues {
		if !q.Written || (q.Queue == "confirm" && !d.In.Bound.Outputs.ConfirmNDJSON) {
			continue
		}
		if err := d.peopleQueue(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

func (d *Delivery) peopleQueue(ctx context.Context, q Queue) (err error) {
	name := peopleDir + "/" + q.Queue + ".csv"
	disk := func(err error) error {
		return fail.Wrap(fail.Resources, err, "%s cannot be written", name).WithHint("free disk, or name another folder with --out")
	}
	f, err := os.Create(d.path(name))
	if err != nil {
		return disk(err)
	}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
			err = disk(e)
		}
	}()
	b := bufio.NewWriterSize(f, 1<<16)
	if _, err := b.WriteString(byteOrderMark); err != nil {
		return disk(err)
	}
	columns := columnsForPeople(q.Queue)
	w := peopleCSV(b)
	if err := w.Write(columns); err != nil {
		return disk(err)
	}
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = "CAST(" + c + " AS VARCHAR)"
	}
	masks := peopleItems(d.In.Bound.Job, columns)
	values, to, cells := make([]sql.NullString, len(columns)), make([]any, len(columns)), make([]string, len(columns))
	for i := range values {
		to[i] = &values[i]
	}
	err = each(ctx, d.DB, "SELECT "+strings.Join(texts, ", ")+" FROM (\n"+queueRows(q)+"\n) ORDER BY item_id", func(rows *sql.Rows) error {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		for i, v := range values {
			text := v.String
			if masks[i] != nil {
				text = masks[i](text)
			}
			cells[i] = peopleCell(text)
		}
		if err := w.Write(cells); err != nil {
			return disk(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if w.Flush(); w.Error() != nil {
		return disk(w.Error())
	}
	if err := b.Flush(); err != nil {
		return disk(err)
	}
	return nil
}

// columnsForPeople are the columns of a queue.
func columnsForPeople(queue string) []string {
	if queue != "confirm" {
		return peopleColumns
	}
	return slices.DeleteFunc(slices.Clone(peopleColumns), func(name string) bool {
		return !slices.ContainsFunc(QueueFields, func(f QueueField) bool { return f.Name == name && f.Confirm })
	})
}

func peopleCSV(to io.Writer) *csv.Writer {
	w := csv.NewWriter(to)
	w.UseCRLF = true
	return w
}

// plainNumber is what a spreadsheet may calculate with: a decimal number as the program
// writes them. A leading plus is none: it begins telephone numbers and formulas.
var plainNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// formulaChars begin a formula in a spreadsheet, in their full-width and small forms too.
const formulaChars = "=+-@\uFF1D\uFF0B\uFF0D\uFF20\uFE66\uFE62\uFE63\uFE6B"

// afterSemicolon finds what would begin a cell of its own where the semicolon separates
// cells: spreadsheets take the separator of the country they are set to.
var afterSemicolon = regexp.MustCompile(`;([ "]*[` + strings.Replace(formulaChars, "-", `\-`, 1) + `])`)

// peopleCell makes a value the text of a cell: cut visibly, with hidden characters
// spelled out, and with an apostrophe before what a spreadsheet could take for the
// start of a formula (OWASP, CSV Injection), unless all of it is a plain number.
func peopleCell(s string) string {
	if s == "" || len(s) <= maxCell && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && plainNumber.MatchString(s) {
		return s
	}
	danger := startsFormula(s)
	if s = shown(s); strings.Contains(s, ";") {
		s = afterSemicolon.ReplaceAllString(s, ";'$1")
	}
	if danger {
		return "'" + s
	}
	return s
}

// startsFormula tells whether a text, once blanks and quotes before it are taken off,
// begins as a formula does, or with what a spreadsheet skips before one.
func startsFormula(s string) bool {
	s = strings.TrimLeft(s, ` "`)
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && strings.ContainsRune(formulaChars+"\t\r\n", r)
}
