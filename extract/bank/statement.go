package bank

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// Statement is one statement, or one page of one, without its entries.
type Statement struct {
	Account  string
	Currency string
	ID       string `json:",omitempty"`
	Number   string `json:",omitempty"` // as found
	Page     int    `json:",omitempty"` // 0 not stated
	First    bool   // it opens the statement: no page comes before it
	Last     bool   // it closes the statement: no page comes after it
	Opening  string `json:",omitempty"` // signed; "" not stated
	Closing  string `json:",omitempty"`
	From     string `json:",omitempty"` // date of the opening balance, else start of the reported time
	Until    string `json:",omitempty"`
	Booked   string `json:",omitempty"` // sum of the booked entries, signed
	Entries  int64
	Copy     string `json:",omitempty"`
	Line     int64
}

// Key tells statements apart: two with one key are one statement, read twice.
func (s *Statement) Key() string {
	return fmt.Sprintf("%q %q %q %q %d %q %q %q %q %d", s.Account, s.Currency, s.ID, s.Number, s.Page, s.From, s.Opening, s.Closing, s.Booked, s.Entries)
}

// Name stands for the statement in messages.
func (s *Statement) Name() string {
	what := "the statement"
	switch {
	case s.Number != "":
		what += " " + s.Number
	case s.ID != "":
		what += " " + s.ID
	}
	if s.Page > 0 {
		what += " page " + strconv.Itoa(s.Page)
	}
	if s.Account != "" {
		what += " of account " + s.Account
	}
	return what
}

// Place is a statement with the file that it stands in.
type Place struct {
	File      int
	Statement *Statement
}

// Gap says that something is missing between two statements of an account, or at
// the end of one: no absence can be concluded from the files that it touches.
type Gap struct {
	Files []int
	Text  string
}

// Chain looks at the statements of any number of files in the order of their
// accounts, dates, numbers and pages, and finds what does not continue: a missing
// page, a number that is left out, an opening balance that is not the closing
// balance before it. A number that never changes, or starts again at 1, is no
// numbering. numbers = false looks at pages and balances only.
func Chain(places []Place, numbers bool) []Gap {
	sorted := inOrder(places)
	var gaps []Gap
	for i := range sorted {
		if i > 0 {
			preferNext(sorted, i)
		}
		b := sorted[i]
		var a *Place
		if i > 0 && sameAccount(sorted[i-1].Statement, b.Statement) {
			a = &sorted[i-1]
		}
		if text := gapBefore(a, b.Statement, numbers); text != "" {
			g := Gap{Files: []int{b.File}, Text: text}
			if a != nil && a.File != b.File {
				g.Files = []int{a.File, b.File}
			}
			gaps = append(gaps, g)
		}
		if ends := i+1 == len(sorted) || !sameAccount(b.Statement, sorted[i+1].Statement); ends && !b.Statement.Last {
			gaps = append(gaps, Gap{Files: []int{b.File}, Text: b.Statement.Name() + " is not the last page of it, and the next page is missing"})
		}
	}
	return gaps
}

// inOrder sorts statements by account, date, number and page.
func inOrder(places []Place) []Place {
	return slices.SortedStableFunc(slices.Values(places), func(a, b Place) int {
		x, y := a.Statement, b.Statement
		nx, _ := strconv.ParseInt(x.Number, 10, 64)
		ny, _ := strconv.ParseInt(y.Number, 10, 64)
		return cmp.Or(
			cmp.Compare(x.Account, y.Account), cmp.Compare(x.Currency, y.Currency), cmp.Compare(x.From, y.From),
			cmp.Compare(nx, ny), cmp.Compare(x.Page, y.Page))
	})
}

// Joined proves statements over their pages, where only the first page states the
// opening balance and only the last one the closing balance. It returns the files of
// the first statement that does not tie, and why.
func Joined(places []Place) (files []int, fault string) {
	sorted := inOrder(places)
	for i := 0; i < len(sorted); i++ {
		a := sorted[i].Statement
		if !a.First || a.Last || a.Opening == "" {
			continue
		}
		var sum total
		sum.addText(a.Opening)
		for j := i; j < len(sorted) && sameAccount(a, sorted[j].Statement) && (j == i || !sorted[j].Statement.First); j++ {
			b := sorted[j].Statement
			if j > i && b.Page != sorted[j-1].Statement.Page+1 {
				break // a page is missing, which is another fault
			}
			sum.addText(b.Booked)
			files = append(files, sorted[j].File)
			if !b.Last {
				continue
			}
			var closing total
			if closing.addText(b.Closing); b.Closing != "" && !sum.equal(&closing) {
				return files, fmt.Sprintf("the pages of %s up to page %d: opening %s + entries = %s, but the closing balance is %s", a.Name(), b.Page, a.Opening, &sum, b.Closing)
			}
			break
		}
		files = nil
	}
	return nil, ""
}

// preferNext puts at i the statement that continues the balance of the one before,
// among those of one day that numbers and pages do not order.
func preferNext(sorted []Place, i int) {
	closing := sorted[i-1].Statement.Closing
	for j := i; j < len(sorted) && closing != ""; j++ {
		x, y := sorted[i].Statement, sorted[j].Statement
		if !sameAccount(sorted[i-1].Statement, y) || x.From != y.From || x.Number != y.Number || x.Page != y.Page {
			return
		}
		if y.Opening != "" && sameNumber(y.Opening, closing) {
			moved := sorted[j]
			copy(sorted[i+1:j+1], sorted[i:j])
			sorted[i] = moved
			return
		}
	}
}

func sameAccount(a, b *Statement) bool { return a.Account == b.Account && a.Currency == b.Currency }

// gapBefore says what is missing before b; a is the statement before it, if any.
func gapBefore(a *Place, b *Statement, numbers bool) string {
	switch {
	case a == nil && !b.First:
		return b.Name() + " is not the first page of it, and the page before it is missing"
	case a == nil && numbers && b.Page > 1: // a bank may open each page like a first one (60F)
		return b.Name() + " opens like a first page, and the page before it is missing"
	case a == nil:
		return ""
	}
	x := a.Statement
	switch {
	case !x.Last && b.First:
		return x.Name() + " is not the last page of it, and the next page is missing"
	case x.Last && !b.First:
		return b.Name() + " is not the first page of it, and the page before it is missing"
	case !x.Last && x.Page > 0 && b.Page > 0 && b.Page != x.Page+1:
		return fmt.Sprintf("%s is followed by page %d: the pages between are missing", x.Name(), b.Page)
	case x.Closing != "" && b.Opening != "" && !sameNumber(x.Closing, b.Opening):
		return fmt.Sprintf("%s opens with %s, but %s closes with %s: what lies between is missing", b.Name(), b.Opening, x.Name(), x.Closing)
	}
	nx, errX := strconv.ParseInt(x.Number, 10, 64)
	nb, errB := strconv.ParseInt(b.Number, 10, 64)
	if numbers && x.Last && errX == nil && errB == nil && nb > nx+1 && nx > 0 {
		return fmt.Sprintf("%s follows %s: the numbers between are missing", b.Name(), x.Name())
	}
	return ""
}

// sameNumber compares two texts of decimal.String or total.String.
func sameNumber(a, b string) bool {
	var x, y total
	x.addText(a)
	y.addText(b)
	return x.equal(&y)
}

// proof adds up the entries of one statement and checks what it states.
type proof struct {
	opening, closing *balance
	booked           total // signed, entries in the currency of the balances
	foreign          string
}

// balance is one stated balance.
type balance struct {
	rank     int // 2 opening or closing by name, 1 the closing balance before, 0 interim
	amount   decimal
	currency string
	date     string
}

func (p *proof) add(d decimal, currency string) {
	p.booked.add(d)
	for _, b := range []*balance{p.opening, p.closing} {
		if b != nil && b.currency != currency && p.foreign == "" {
			p.foreign = currency
		}
	}
}

// fault says why opening + entries is not closing; "" where it is, or where the
// statement does not state both.
func (p *proof) fault() string {
	o, c := p.opening, p.closing
	switch {
	case o == nil || c == nil:
		return ""
	case o.currency != c.currency:
		return fmt.Sprintf("the opening balance is in %s, the closing balance in %s", o.currency, c.currency)
	case p.foreign != "":
		return fmt.Sprintf("an entry is in %s, the balances are in %s: they cannot be added up", p.foreign, o.currency)
	}
	sum := p.booked.plus(o.amount)
	if sum.is(c.amount) {
		return ""
	}
	return fmt.Sprintf("opening %s + entries %s = %s %s, but the closing balance is %s", o.amount, &p.booked, sum, o.currency, c.amount)
}

// unproved refuses a file whose proof fails, or notes it where the job wants that.
func (f *Facts) unproved(opt Options, where, fault string) error {
	switch {
	case fault == "":
		return nil
	case opt.Proof == Report:
		if len(f.Notes) < maxNotes {
			f.Notes = append(f.Notes, Note{Text: where + ": " + fault, Withdraw: true})
		}
		return nil
	}
	return fail.New(fail.Input, "%s: %s", where, fault).WithHint(proofHint)
}

// maxNotes bounds what is kept of a file that proves nothing.
const maxNotes = 1000

const proofHint = "the statement is not whole, or an entry was changed: have it sent again; `bank: {proof: report}` reads it, and concludes no absence from it"
