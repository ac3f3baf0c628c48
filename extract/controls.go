package extract

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Control is a total that is stated, beside what was counted of the records. What does
// not tie is refused, so that those of a relation tie wherever they were judged.
type Control struct {
	Source  string
	File    string // that states it: as in File.Name, or the path of the control file
	Date    string // {file_date}, or ""
	Total   string // count, sum, balance
	Field   string // product field of a sum or balance
	Of      string // value of `by` that it is of; "" all records
	Stated  string // a decimal; of a balance the closing one
	Counted string // of a balance the opening one and the entries
	Judged  bool   // false: records were rejected, which it may be about (V36)
}

// statedRow is a line, or a row of a control file, in which totals stand.
type statedRow func(rules.Position) (string, bool)

// counted is what was counted of the records that totals are about.
type counted struct {
	records int64
	rejects bool
	sums    []sidecarTotal           // by Controls.Fields
	groups  map[string]*sidecarGroup // by the value of Controls.By
}

// sidecarGroup is what was counted of the records with one value of Controls.By.
type sidecarGroup struct {
	Rows int64
	Sums []sidecarTotal // by Controls.Fields
}

func (c *counted) add(s *sidecar) {
	c.records += s.Records
	c.rejects = c.rejects || len(s.Rejects) > 0
	addTotals(&c.sums, s.Controls)
	for key, g := range s.Groups {
		if c.groups == nil {
			c.groups = map[string]*sidecarGroup{}
		}
		sum := c.groups[key]
		if sum == nil {
			sum = &sidecarGroup{}
			c.groups[key] = sum
		}
		sum.Rows += g.Rows
		addTotals(&sum.Sums, g.Sums)
	}
}

func addTotals(to *[]sidecarTotal, more []sidecarTotal) {
	if *to == nil {
		*to = slices.Clone(more)
		return
	}
	for i := range more {
		t := &(*to)[i]
		t.Sum = ratText(t.rat().Add(t.rat(), more[i].rat()))
		t.Unreadable += more[i].Unreadable
	}
}

// controlJudge compares totals with what was counted.
type controlJudge struct {
	name   string // of the file that states them, for messages and reports
	of     string // files that they are about, where those are others; "" none
	date   string
	src    *rules.Source
	inFile bool // the positions in a control file are judged, else those in the file itself
	got    counted
	out    []Control
}

// judgeControls checks the totals that a file states about itself: the number of
// records, rejects included, and sums of fields. Sums are not judged where records
// were rejected (V36), since the rejected ones are in them.
func judgeControls(f *foundFile, s *sidecar) error {
	if len(s.Rejects) > 0 && f.source.OnReject != rules.RejectKeep {
		return refuseRejects(f.rel, s.Rejects, false)
	}
	if !f.source.Controls.InLines() {
		return nil
	}
	j := &controlJudge{name: f.rel, date: f.date, src: f.source}
	j.got.add(s)
	rows := []statedRow{s.stated(s.Trailer)}
	if f.source.Controls.Repeats() {
		rows = nil
		for _, t := range s.Trailers {
			rows = append(rows, s.stated(t))
		}
	}
	if err := j.judge(rows); err != nil {
		return err
	}
	f.controls = j.out
	return nil
}

// stated looks up what a file states about itself, with one of its trailers.
func (s *sidecar) stated(trailer []string) statedRow {
	return func(p rules.Position) (string, bool) {
		line := trailer
		if p.In == rules.InHeader {
			line = s.Head
		}
		text, ok := controlField(line, p.Field)
		return strings.TrimSpace(text), ok
	}
}

func controlField(line []string, position int) (string, bool) {
	if position < 1 || position > len(line) {
		return "", false
	}
	return line[position-1], true
}

// judge compares the totals of all rows.
func (j *controlJudge) judge(rows []statedRow) error {
	c := j.src.Controls
	if c.By == nil {
		if len(rows) != 1 {
			return fail.New(fail.Input, "%s: %s state totals, one should", j.name, plural(len(rows), "row")).
				WithHint("say by controls.file.where which row speaks of the source, or by controls.by what each row is about")
		}
		return j.row(rows[0], "", j.got.records, j.got.sums)
	}
	if len(j.got.groups) >= maxControlGroups {
		return overLimit(j.name, "values of the field "+c.By.Field, maxControlGroups)
	}
	seen := map[string]bool{}
	for _, r := range rows {
		of, err := j.text(r, c.By.At)
		if err != nil {
			return err
		}
		if seen[of] {
			return fail.New(fail.Input, "%s: the totals of %s %s are stated twice", j.name, c.By.Field, j.quoted(of)).
				WithHint("two files may have been joined: have it sent again")
		}
		seen[of] = true
		g := j.got.groups[of]
		if g == nil {
			g = &sidecarGroup{Sums: make([]sidecarTotal, len(c.Fields()))}
			for i := range g.Sums {
				g.Sums[i].Sum = "0"
			}
		}
		if err := j.row(r, of, g.Rows, g.Sums); err != nil {
			return err
		}
	}
	for _, of := range slices.Sorted(maps.Keys(j.got.groups)) {
		if !seen[of] {
			return fail.New(fail.Input, "%s: no totals are stated of the %s with %s %s", j.name, plural(int(j.got.groups[of].Rows), "record"), c.By.Field, j.quoted(of)).
				WithHint("the file is not whole, or not the one that its totals speak of: have it sent again")
		}
	}
	return nil
}

func (j *controlJudge) quoted(text string) string { return quoteCell(text, j.src.HideCells) }

// row compares the totals of one row.
func (j *controlJudge) row(r statedRow, of string, records int64, sums []sidecarTotal) error {
	c := j.src.Controls
	if j.here(c.Count) {
		stated, text, err := j.number(r, c.Count, nil)
		if err != nil {
			return err
		}
		if !stated.IsInt() || stated.Sign() < 0 {
			return j.noNumber(c.Count)
		}
		// A rejected record has no value: which count it belongs to is not known.
		judged := of == "" || !j.got.rejects
		if n := new(big.Rat).SetInt64(records); judged && stated.Cmp(n) != 0 {
			return j.breach(fmt.Sprintf("control count%s %s against %d records read", j.ofText(of), text, records), c.Count, stated, n, "")
		}
		j.note("count", "", of, text, fmt.Sprint(records), judged)
	}
	for i, s := range c.Sums {
		if !j.here(s.At) {
			continue
		}
		stated, text, err := j.number(r, s.At, j.field(s.Field))
		if err != nil {
			return err
		}
		got := sums[i].rat()
		if !j.got.rejects && stated.Cmp(got) != 0 {
			return j.breach(fmt.Sprintf("control sum of %s%s is %s against %s over the records read", s.Field, j.ofText(of), text, ratText(got)), s.At, stated, got, j.unreadable(s.Field, &sums[i]))
		}
		j.note("sum", s.Field, of, text, ratText(got), !j.got.rejects)
	}
	if b := c.Balance; b != nil && j.here(b.Closing) {
		opening, _, err := j.number(r, b.Opening, j.field(b.Field))
		if err != nil {
			return err
		}
		closing, text, err := j.number(r, b.Closing, j.field(b.Field))
		if err != nil {
			return err
		}
		entries := &sums[len(sums)-1]
		got := new(big.Rat).Add(opening, entries.rat())
		if !j.got.rejects && closing.Cmp(got) != 0 {
			return j.breach(fmt.Sprintf("the closing balance%s is %s, but the opening one of %s and entries of %s come to %s", j.ofText(of), text, ratText(opening), entries.Sum, ratText(got)),
				b.Closing, closing, got, j.unreadable(b.Field, entries))
		}
		j.note("balance", b.Field, of, text, ratText(got), !j.got.rejects)
	}
	return nil
}

func (j *controlJudge) note(total, field, of, stated, got string, judged bool) {
	j.out = append(j.out, Control{Source: j.src.Name, File: j.name, Date: j.date, Total: total, Field: field, Of: of, Stated: stated, Counted: got, Judged: judged})
}

// here tells whether the position is one of those that are judged now.
func (j *controlJudge) here(p rules.Position) bool {
	return p.Stated() && (p.In == rules.InFile) == j.inFile
}

func (j *controlJudge) ofText(of string) string {
	if j.src.Controls.By == nil {
		return ""
	}
	return " of " + j.src.Controls.By.Field + " " + j.quoted(of)
}

func (j *controlJudge) field(name string) *rules.Field {
	for i := range j.src.Fields {
		if j.src.Fields[i].Name == name {
			return &j.src.Fields[i]
		}
	}
	return &rules.Field{}
}

// number reads a stated number, which is written as the field writes its numbers; a count
// has no field. It returns the number and its canonical text.
func (j *controlJudge) number(r statedRow, p rules.Position, f *rules.Field) (*big.Rat, string, error) {
	text, err := j.text(r, p)
	if err != nil {
		return nil, "", err
	}
	form := decimalForm{mark: '.'}
	if f != nil {
		form = newDecimalForm(*f, j.src)
	}
	n, ok := form.parse([]byte(text))
	if !ok {
		return nil, "", j.noNumber(p)
	}
	return n.rat(), n.String(), nil
}

func (j *controlJudge) text(r statedRow, p rules.Position) (string, error) {
	if text, ok := r(p); ok {
		return text, nil
	}
	return "", fail.New(fail.Input, "%s: the %s has no %s, which should hold a control", j.name, lineName(p.In), fieldName(p)).
		WithHint("correct controls in the job file, or have the file sent again whole")
}

func (j *controlJudge) noNumber(p rules.Position) error {
	return fail.New(fail.Input, "%s: %s should hold a control and is no number", j.name, placeName(p)).
		WithHint("correct controls in the job file, or have the file sent again whole")
}

// breach is the error of a total that does not tie.
func (j *controlJudge) breach(what string, p rules.Position, stated, got *big.Rat, more string) error {
	text := fmt.Sprintf("%s: %s (%s)", j.name, what, placeName(p))
	if j.of != "" {
		text += " of " + j.of
	}
	text += "; the difference is " + ratText(new(big.Rat).Sub(stated, got)) + more
	return fail.New(fail.Input, "%s", text).
		WithHint("the file is not whole, or not the one that its %s speaks of: have it sent again", lineName(p.In))
}

// unreadable says what else may be the cause of a sum that does not tie.
func (j *controlJudge) unreadable(field string, t *sidecarTotal) string {
	if t.Unreadable == 0 {
		return ""
	}
	return fmt.Sprintf("; %d values of %s cannot be read as declared", t.Unreadable, field)
}

func lineName(in string) string {
	if in == rules.InFile {
		return "control file"
	}
	return strings.ReplaceAll(in, "_", " ")
}

func fieldName(p rules.Position) string {
	if p.In == rules.InFile {
		return "field " + quoteName(p.Name)
	}
	return "field " + itoa(p.Field)
}

func placeName(p rules.Position) string { return fieldName(p) + " of the " + lineName(p.In) }
