package sql

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// query is text for the server, with marks for parameters, and what is bound to them in
// their order. No value is ever part of the text.
type query struct {
	text string
	args []arg
}

// arg is a value that is bound.
type arg struct {
	text string
	oid  uint32 // PostgreSQL: of its type; 0: what the place where it stands needs
	my   any    // MySQL: the value; nil: text
}

// mark is how the n-th parameter (from 1) is written.
func mark(engine string, n int) string {
	if engine == rules.MySQL {
		return "?"
	}
	return "$" + strconv.Itoa(n)
}

// bind makes the query of a request. Each place of a parameter gets a mark of its own,
// so that the server may take one for a date and the other for a text.
func bind(r *fetch.Request) (query, error) {
	of := r.Source().Remote.SQL
	var b strings.Builder
	var out query
	for _, p := range of.Text {
		if p.Name == "" {
			b.WriteString(p.Text)
			continue
		}
		a, err := value(r, of, p.Name)
		if err != nil {
			return query{}, err
		}
		out.args = append(out.args, a)
		b.WriteString(mark(of.Engine, len(out.args)))
	}
	out.text = b.String()
	return out, nil
}

// value of a parameter. Days are dates, the ends of the coverage instants; those of the
// job's own are texts, of which the query says what they are.
func value(r *fetch.Request, of *rules.SQL, name string) (arg, error) {
	switch name {
	case rules.ParamBusinessDate:
		return arg{text: r.Job.Date, oid: pgtype.DateOID}, nil
	case rules.ParamFileDate:
		return arg{text: r.Input.FileDate, oid: pgtype.DateOID}, nil
	case rules.ParamFrom, rules.ParamUntil:
		at := r.Input.From
		if name == rules.ParamUntil {
			at = r.Input.Until
		}
		if at == nil {
			return arg{}, fail.New(fail.Usage, "the source %s: its query uses :%s, but it covers no time", r.Source().Name, name).
				WithHint("declare `coverage: {from: …, until: …}`")
		}
		t := time.UnixMicro(*at).UTC()
		if of.Engine == rules.MySQL {
			return arg{text: t.Format("2006-01-02 15:04:05.000000")}, nil
		}
		return arg{text: t.Format("2006-01-02 15:04:05.000000") + "+00", oid: pgtype.TimestamptzOID}, nil
	}
	text, err := of.Parameters[name].Fill(r.Job.Date, r.Input.FileDate)
	if err != nil {
		return arg{}, fail.Wrap(fail.Usage, err, "the parameter %s of the source %s", name, r.Source().Name)
	}
	return arg{text: text}, nil
}

// column of a result.
type column struct {
	name   string
	as     string // type, as the server names it
	binary bool   // PostgreSQL: in which form it is asked for
	oid    uint32
	write  func(dst, v []byte) []byte // appends a value that is not null as JSON
	key    func(v []byte) arg         // as a bound value; nil: the type has no order that equal texts share
}

// columnsOf finds the columns of a keyset.
func (t *target) columnsOf(cols []column) ([]int, error) {
	if t.of.Keyset == nil {
		return nil, nil
	}
	var out []int
	for _, name := range t.of.Keyset.Columns {
		at := -1
		for i, c := range cols {
			if c.name == name {
				at = i
			}
		}
		switch {
		case at < 0:
			return nil, fail.New(fail.Usage, "the source %s: the result has no column %q, which sql.keyset names", t.name, name).
				WithHint("its columns are: %s", columnNames(cols))
		case cols[at].key == nil:
			return nil, fail.New(fail.Usage, "the source %s: the column %s of sql.keyset is %s, by which slices cannot be cut", t.name, name, cols[at].as).
				WithHint("take a whole number, a date, a time%s", map[bool]string{true: "", false: ", a uuid or a text"}[t.of.Engine == rules.MySQL])
		}
		out = append(out, at)
	}
	return out, nil
}

func columnNames(cols []column) string {
	var out []string
	for _, c := range cols {
		out = append(out, c.name)
	}
	return strings.Join(out, ", ")
}

// distinct refuses a result in which two columns have one name: a record has each once.
func (t *target) distinct(cols []column) error {
	if len(cols) == 0 {
		return fail.New(fail.Usage, "the source %s: the query gives no columns", t.name).WithHint("it must be one SELECT")
	}
	seen := map[string]bool{}
	for _, c := range cols {
		if c.name == "" || seen[c.name] {
			return fail.New(fail.Usage, "the source %s: the query gives the column %q twice, or without a name", t.name, c.name).
				WithHint("name it: SELECT a.id AS operation_id, b.id AS order_id")
		}
		seen[c.name] = true
	}
	return nil
}

// around puts a query into another as a table. Its text may end in a comment.
func (q query) around(before, after string) query {
	return query{text: before + "(\n" + q.text + "\n) AS recon_rows" + after, args: q.args}
}

// noKey asks whether a row has no value in a column of the keyset; such a row would be in
// no slice.
func (t *target) noKey(q query, cols []column, keys []int) query {
	var where []string
	for _, k := range keys {
		where = append(where, t.quote(cols[k].name)+" IS NULL")
	}
	return q.around("SELECT 1 FROM ", " WHERE "+strings.Join(where, " OR ")+" LIMIT 1")
}

// slice asks for n rows from the last row of the slice before on, that row included: it
// shows that the row is still there, and that no other has its key.
func (t *target) slice(q query, cols []column, keys []int, last [][]byte, n int64) query {
	var names []string
	for _, k := range keys {
		names = append(names, t.quote(cols[k].name))
	}
	out := query{args: append([]arg(nil), q.args...)}
	bound := func(i int) string {
		out.args = append(out.args, cols[keys[i]].key(last[i]))
		m := mark(t.of.Engine, len(out.args))
		if t.of.Engine == rules.MySQL && cols[keys[i]].as == "DECIMAL" {
			m = "CAST(" + m + " AS DECIMAL(65,30))"
		}
		return m
	}
	where := ""
	if last != nil && t.of.Engine == rules.MySQL {
		// Rows that are compared as a whole are not looked up by an index.
		where = " WHERE " + names[0] + " >= " + bound(0)
		for i := 1; i < len(names); i++ {
			where += " AND (" + names[i-1] + " > " + bound(i-1) + " OR " + names[i] + " >= " + bound(i)
		}
		where += strings.Repeat(")", len(names)-1)
		n++
	} else if last != nil {
		var marks []string
		for i := range names {
			marks = append(marks, bound(i))
		}
		where = " WHERE (" + strings.Join(names, ", ") + ") >= (" + strings.Join(marks, ", ") + ")"
		n++
	}
	out.text = q.around("SELECT * FROM ", where+" ORDER BY "+strings.Join(names, ", ")+fmt.Sprintf(" LIMIT %d", n)).text
	return out
}

// quote writes a name of a column.
func (t *target) quote(name string) string {
	if t.of.Engine == rules.MySQL {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
