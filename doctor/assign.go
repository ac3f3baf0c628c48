package doctor

import (
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// assign says which column gives which product field.
func (l *look) assign() {
	side := l.side()
	l.r.Side = string(side)
	taken := map[string]bool{}
	if l.src.Format.Bank() {
		l.bankFields()
		return
	}
	if l.d.preset != nil {
		l.ownFields(side)
		return
	}
	for i := range roles {
		r := &roles[i]
		if side == rules.Operations && r.field == "status" || side == rules.Results && r.field == "state" {
			continue
		}
		col, sure := l.columnFor(r, side, taken)
		if col == nil {
			continue
		}
		if r.field != "type" || col.Name != "reporting_category" {
			taken[col.Name] = true
		}
		why := ""
		if !sure || col.Sure == Unsure {
			why = "GUESS, unsure"
		}
		l.addField(r.field, col, why)
	}
	l.debitCredit(taken)
	if !slices.ContainsFunc(l.d.fields, func(f field) bool { return f.name == "operation_id" }) {
		l.anyKey(taken)
	}
	if l.d.fields == nil {
		return
	}
	slices.SortStableFunc(l.d.fields, func(a, b field) int { return fieldPlace(a.name) - fieldPlace(b.name) })
	l.addControls()
	var other []string
	for _, c := range l.r.Columns {
		if c.Field == "" && c.Filled > 0 {
			other = append(other, quoted(c.Name))
		}
	}
	if len(other) > 0 {
		l.d.notes = append(l.d.notes, "other columns: "+list(other, 30))
	}
}

func fieldPlace(name string) int {
	if i := slices.IndexFunc(roles, func(r role) bool { return r.field == name }); i >= 0 {
		return i
	}
	return len(roles)
}

// columnFor finds the column of a role: the most telling name whose column looks
// right. The last names of an id are those of other ids as well.
func (l *look) columnFor(r *role, side rules.Side, taken map[string]bool) (col *Column, sure bool) {
	for rank, name := range r.names(side) {
		for i := range l.r.Columns {
			c := &l.r.Columns[i]
			if plainName(c.Name) == name && !taken[c.Name] && c.Filled > 0 && l.fits(c, r) {
				return c, rank < 6 || r.field == "amount" || r.field == "currency" || r.field == "created_at" || r.field == "operation_id" && rank < 12
			}
		}
	}
	// A part of the name: "Amount (EUR)", "gross_amount_settled".
	if r.field == "amount" || r.field == "created_at" || r.field == "currency" {
		for i := range l.r.Columns {
			c := &l.r.Columns[i]
			if parts := strings.Split(plainName(c.Name), "_"); !taken[c.Name] && c.Filled > 0 && l.fits(c, r) && (c.Looks != "integer" || parts[len(parts)-1] == "amount") &&
				slices.ContainsFunc(r.names(side)[:min(8, len(r.names(side)))], func(n string) bool { return slices.Contains(parts, n) }) {
				return c, false
			}
		}
		if r.field != "amount" { // the only one of its kind
			for i := range l.r.Columns {
				if c := &l.r.Columns[i]; !taken[c.Name] && l.fits(c, r) && c.Filled*2 > l.r.Records {
					return c, false
				}
			}
		}
	}
	return nil, false
}

func (l *look) fits(c *Column, r *role) bool {
	return !l.duplicate(c.Name) && (len(r.types) == 0 || slices.Contains(r.types, c.Looks))
}

func (l *look) duplicate(name string) bool {
	n := 0
	for _, c := range l.r.Columns {
		if c.Name == name {
			n++
		}
	}
	return n > 1
}

// anyKey takes the column that tells the records apart best, where no name helps:
// one that is called an id, else one whose texts differ most.
func (l *look) anyKey(taken map[string]bool) {
	var best *Column
	most := int64(-1)
	for i := range l.r.Columns {
		c := &l.r.Columns[i]
		if c.Filled == 0 || c.Looks != "text" && c.Looks != "integer" || l.duplicate(c.Name) || c.Name == "" || taken[c.Name] && c.Field != "remote_id" {
			continue
		}
		worth := c.Distinct * 4
		if idName(c.Name) {
			worth *= 4
		}
		if l.columns[i].words*2 > c.Filled || c.Detail == "numbers in scientific notation" {
			worth /= 8
		}
		if worth > most {
			best, most = c, worth
		}
	}
	if best == nil {
		for i := range l.r.Columns {
			if c := &l.r.Columns[i]; c.Field == "" && c.Name != "" && !l.duplicate(c.Name) {
				best = c
				break
			}
		}
	}
	if best == nil && len(l.r.Columns) > 0 && slices.Contains([]string{"csv", "xlsx", "parquet"}, l.d.format) { // no name tells a column: by its place
		l.d.fields = append(l.d.fields, field{"operation_id", pairs{{"column", 1}}, "GUESS, unsure: the first column; no name says which id it is"})
		return
	}
	if best == nil {
		return
	}
	if best.Field == "remote_id" {
		best.Field = ""
		l.d.fields = slices.DeleteFunc(l.d.fields, func(f field) bool { return f.name == "remote_id" })
	}
	l.addField("operation_id", best, "GUESS, unsure: no name says which id it is")
}

// addField writes the mapping of one column.
func (l *look) addField(name string, col *Column, comment string) {
	if col.Field == "" {
		col.Field = name
	}
	long := pairs{{"column", col.Name}}
	c := l.column(col)
	switch name {
	case "amount":
		long.set("type", "decimal")
		l.numberKeys(&long, c)
		if sign := l.signFrom(col, c); sign != nil {
			long.set("sign_from", sign)
			comment = said(comment, "GUESS, unsure: no amount has a sign, and "+quoted(sign[0].value.(string))+" has marks")
		}
		if col.Looks == "integer" {
			comment = said(comment, "whole numbers: add minor_units_of: currency if they are cents")
		}
	case "currency":
		long.set("type", "currency")
	case "attempts", "version", "sequence":
		long.set("type", "integer")
	case "created_at", "last_attempt_at", "first_failed_at", "lease_until":
		comment = l.timeKeys(&long, col, c, comment)
	case "status":
		if known, unknown := statusMap(col); len(known) > 0 {
			long.set("map", known)
			comment = "GUESS, likely: what each text means"
			if len(unknown) > 0 {
				comment += "; surfaced until you say what they mean: " + list(unknown, 8)
			}
		}
	}
	var value any = long
	if len(long) == 1 {
		value = col.Name
	}
	l.d.fields = append(l.d.fields, field{name, value, comment})
}

func (l *look) column(col *Column) *column {
	for i := range l.r.Columns {
		if &l.r.Columns[i] == col {
			return l.columns[i]
		}
	}
	return newColumn("")
}

// names of the two columns of an amount, and marks of its sign in a column of its own.
var (
	debitNames  = []string{"debit", "debits", "debit_amount", "withdrawal", "withdrawals", "paid_out", "money_out", "amount_out", "soll", "lastschrift", "debe", "dare", "af"}
	creditNames = []string{"credit", "credits", "credit_amount", "deposit", "deposits", "paid_in", "money_in", "amount_in", "haben", "gutschrift", "haber", "avere", "bij"}
	signMarks   = [][2]string{{"C", "D"}, {"CR", "DR"}, {"CRDT", "DBIT"}, {"credit", "debit"}, {"Credit", "Debit"}, {"CREDIT", "DEBIT"}, {"H", "S"}, {"Haben", "Soll"}, {"+", "-"}, {"Bij", "Af"}}
)

// debitCredit takes the two columns of an amount, of which a record fills one.
func (l *look) debitCredit(taken map[string]bool) {
	if slices.ContainsFunc(l.d.fields, func(f field) bool { return f.name == "amount" }) {
		return
	}
	find := func(names []string) *Column {
		for i := range l.r.Columns {
			c := &l.r.Columns[i]
			if slices.Contains(names, plainName(c.Name)) && numberColumn(c) && !l.duplicate(c.Name) {
				return c
			}
		}
		return nil
	}
	debit, credit := find(debitNames), find(creditNames)
	if debit == nil || credit == nil {
		return
	}
	debit.Field, credit.Field = "amount", "amount"
	taken[debit.Name], taken[credit.Name] = true, true
	long := pairs{{"debit_credit", pairs{{"debit", debit.Name}, {"credit", credit.Name}}}, {"type", "decimal"}}
	l.numberKeys(&long, l.column(debit))
	l.d.fields = append(l.d.fields, field{"amount", long, ""})
}

// signFrom finds the column with the marks of amounts that are written without a sign.
func (l *look) signFrom(col *Column, c *column) pairs {
	if c.minus+c.parens+c.trailing > 0 {
		return nil
	}
	for i := range l.r.Columns {
		o := &l.r.Columns[i]
		if o == col || len(o.Values) != 2 || o.Filled < col.Filled || l.duplicate(o.Name) {
			continue
		}
		for _, m := range signMarks {
			if slices.Contains(o.Values, m[0]) && slices.Contains(o.Values, m[1]) {
				return pairs{{"column", o.Name}, {"positive", []string{m[0]}}, {"negative", []string{m[1]}}}
			}
		}
	}
	return nil
}

func said(a, b string) string {
	if a == "" || strings.HasPrefix(b, a+":") {
		return b
	}
	if strings.HasPrefix(a, "GUESS, unsure: ") { // said once
		b = strings.TrimPrefix(b, "GUESS, unsure: ")
	}
	return a + "; " + b
}

// ownFields names what a preset leaves to the job.
func (l *look) ownFields(side rules.Side) {
	l.d.fields = l.own.fields()
	if !l.own.id {
		return
	}
	for i := range l.r.Columns {
		if c := &l.r.Columns[i]; c.Filled > 0 && strings.Contains(plainName(c.Name), "metadata_") {
			l.addField("operation_id", c, "GUESS, unsure: your own id")
			return
		}
	}
	if c, _ := l.columnFor(&roles[0], side, map[string]bool{}); c != nil {
		l.addField("operation_id", c, "GUESS, unsure: your own id")
		return
	}
	l.anyKey(map[string]bool{})
}

// bankFields declares what the columns of a bank's format are for: they are the same
// in every file.
func (l *look) bankFields() {
	have := func(name string) bool {
		return slices.ContainsFunc(l.columns, func(c *column) bool { return c.name == name })
	}
	add := func(name string, value any, comment string) {
		column, _ := value.(string)
		if p, ok := value.(pairs); ok {
			v, _ := p.get("column")
			column = v.(string)
		}
		if !have(column) {
			return
		}
		if c := l.r.Column(column); c != nil && c.Field == "" {
			c.Field = name
		}
		l.d.fields = append(l.d.fields, field{name, value, comment})
	}
	id, why := "end_to_end_id", "the id that you gave to the payment, where the bank repeats it"
	if c := l.r.Column(id); c == nil || c.Filled == 0 {
		why = "GUESS, unsure: empty in this file"
		for _, other := range []string{"customer_ref", "msg_id"} {
			if o := l.r.Column(other); o != nil && o.Filled > 0 {
				id, why = other, "GUESS, unsure: end_to_end_id is empty in this file"
				break
			}
		}
	}
	add("operation_id", id, why)
	add("remote_id", "remote_id", "")
	add("amount", pairs{{"column", "amount"}, {"type", "decimal"}}, "money in is positive; for payouts see sign_from")
	add("currency", pairs{{"column", "currency"}, {"type", "currency"}}, "")
	status := bankStatuses
	switch l.src.Format {
	case rules.FormatPain002:
		status = nil
		for _, code := range []string{"ACSC", "ACCC", "RCVD", "ACTC", "ACCP", "ACSP", "ACWC", "PDNG", "RJCT", "CANC"} {
			status = append(status, pair{code, string(statusOf(code))})
		}
	case rules.FormatNACHA:
		status = pairs{{"SENT", "succeeded"}, {"PRNT", "unknown"}, {"RTRN", "reversed"}, {"NOCH", "succeeded"}, {"DISH", "unknown"}, {"CNTS", "unknown"}}
	}
	add("status", pairs{{"column", "status"}, {"map", status}}, "what the words of the standard mean, for you to confirm")
	add("created_at", pairs{{"column", "booking_date"}, {"type", "date"}}, "")
}

// numberKeys adds what differs from the source's numbers.
func (l *look) numberKeys(long *pairs, c *column) {
	best, _ := c.bestNumber()
	if best == nil {
		return
	}
	f := numberForms[best.form]
	if l.d.format != "xlsx" && c.dots > 0 && !c.typed && (f.mark != l.d.decimal || f.group != l.d.group) {
		if f.mark != l.d.decimal {
			long.set("decimal", string(f.mark))
		}
		if f.group != 0 && f.group != l.d.group {
			long.set("group", string(f.group))
		}
	}
	var notation []string
	if c.parens > 0 {
		notation = append(notation, "parentheses")
	}
	if c.trailing > 0 {
		notation = append(notation, "trailing_minus")
	}
	if notation != nil {
		long.set("notation", notation)
	}
}

// timeKeys adds type, layout and zone.
func (l *look) timeKeys(long *pairs, col *Column, c *column, comment string) string {
	t, rival := c.bestTime()
	if t == nil {
		return comment
	}
	f := timeForms[t.form]
	long.set("type", string(f.typ))
	if f.layout != "" {
		long.set("layout", f.layout)
	}
	if rival != nil {
		comment = "GUESS, unsure: every day reads as " + letters(timeForms[rival.form].layout) + " as well"
	}
	unix := f.layout == rules.LayoutUnix || f.layout == rules.LayoutUnixMilli
	if f.typ == rules.Timestamp && !unix && !strings.Contains(f.layout, "-0700") && (f.layout != "" || t.local) {
		long.set("zone", "UTC")
		comment = said(comment, "GUESS, unsure: the texts do not say their zone")
	}
	return comment
}

// statusMap suggests what the texts of a status mean.
func statusMap(col *Column) (known pairs, unknown []string) {
	for _, v := range col.Values {
		if s := statusOf(v); s != "" {
			known = append(known, pair{v, string(s)})
		} else {
			unknown = append(unknown, quoted(v))
		}
	}
	return known, unknown
}

// addControls declares the totals that tie, with the fields that they need.
func (l *look) addControls() {
	sums := pairs{}
	for _, c := range l.r.Controls {
		if !c.Ties || c.Sure == Fact {
			continue
		}
		if c.Of == "count" {
			if _, ok := l.d.controls.get("count"); !ok {
				l.d.controls.set("count", c.Where)
			}
			continue
		}
		col := l.r.Column(c.Of)
		if col == nil || l.duplicate(col.Name) {
			continue
		}
		if col.Field == "" {
			name := plainName(col.Name)
			if name == "" || slices.ContainsFunc(l.d.fields, func(f field) bool { return f.name == name }) {
				continue
			}
			col.Field = name
			long := pairs{{"column", col.Name}, {"type", "decimal"}}
			l.numberKeys(&long, l.column(col))
			l.d.fields = append(l.d.fields, field{name, long, "the file states its sum"})
		}
		if _, ok := sums.get(col.Field); !ok {
			sums.set(col.Field, c.Where)
		}
	}
	if len(sums) > 0 {
		l.d.controls.set("sum", sums)
	}
}

// fragment writes the side, and makes sure that rules and extract accept it. What
// they do not accept is taken out again.
func (l *look) fragment() error {
	side := rules.Side(l.r.Side)
	if l.d.preset == nil && !slices.ContainsFunc(l.d.fields, func(f field) bool { return f.name == "operation_id" }) {
		return fail.New(fail.Input, "%s: it has no column that a field could read", l.name).WithHint("look at its first records: a name that is empty, or there twice, cannot be declared")
	}
	var err error
	for range 3 {
		text := l.d.side(side, true)
		var job *rules.Job
		if job, err = rules.Parse([]byte(l.d.alone(side, text)), "the fragment"); err == nil {
			if err = l.opens(job.Spec(side)); err == nil {
				l.r.Fragment = text
				return nil
			}
		}
		switch {
		case len(l.d.controls) > 0:
			l.d.controls = nil
		case l.d.preset != nil:
			l.r.find("preset_not_used", "", "the preset %s fits, and cannot be used as it is: %v", l.d.preset.Name, err)
			l.d.preset, l.d.fields, l.d.notes = nil, nil, nil
			for i := range l.r.Columns {
				l.r.Columns[i].Field = ""
			}
			l.assign()
		default:
			return fail.Wrap(fail.Internal, err, "the fragment that doctor wrote is not valid")
		}
	}
	return fail.Wrap(fail.Internal, err, "the fragment that doctor wrote is not valid")
}

// opens tells whether the file has what the fields need.
func (l *look) opens(spec *rules.SideSpec) error {
	r, err := l.reader(&spec.Sources[0], spec.Sources[0].Fields)
	if err != nil {
		return err
	}
	return r.Close()
}

// fieldColumns names the columns of the fragment's fields.
func (r *Report) fieldColumns() map[string]string {
	out := map[string]string{}
	for _, c := range r.Columns {
		if c.Field != "" {
			out[c.Field] = c.Name
		}
	}
	return out
}
