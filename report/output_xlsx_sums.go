package report

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// sheetSum adds up exactly the amounts that a sheet shows as numbers in one currency.
type sheetSum struct {
	rows int64 // with a number
	of   [maxDecimals + 1]struct {
		sum, size int64 // in units of so many decimals: the sum, and that of the amounts without their sign
		more, all big.Int
	}
}

// add adds a decimal text of which exactDecimals says that it is a number of so many
// decimals, which makes it less than 10^15 units.
func (x *sheetSum) add(text string, decimals int) {
	var units int64
	seen, point := 0, false
	for i := 0; i < len(text) && (!point || seen < decimals); i++ {
		switch c := text[i]; {
		case c == '.':
			point = true
		case c >= '0' && c <= '9':
			units = units*10 + int64(c-'0')
			if point {
				seen++
			}
		}
	}
	for ; seen < decimals; seen++ {
		units *= 10
	}
	x.rows++
	at := &x.of[decimals]
	at.size += units
	if strings.HasPrefix(text, "-") {
		units = -units
	}
	at.sum += units
	if at.size > 1<<62 {
		x.settle()
	}
}

func (x *sheetSum) settle() {
	for i := range x.of {
		at := &x.of[i]
		at.more.Add(&at.more, big.NewInt(at.sum))
		at.all.Add(&at.all, big.NewInt(at.size))
		at.sum, at.size = 0, 0
	}
}

// value is the sum; decimals is the most that one of the amounts has, size is in units of
// them what they come to without their signs.
func (x *sheetSum) value() (sum *big.Rat, decimals int, size *big.Int) {
	x.settle()
	sum, size = new(big.Rat), new(big.Int)
	for i := range x.of {
		at := &x.of[i]
		if at.all.Sign() == 0 {
			continue
		}
		size.Mul(size, power(i-decimals))
		size.Add(size, &at.all)
		decimals = i
		sum.Add(sum, new(big.Rat).SetFrac(&at.more, power(i)))
	}
	return sum, decimals, size
}

// power is 10^n.
func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// held tells whether a spreadsheet adds the same amounts up to the same sum once it is
// rounded to the decimals: each of n numbers and each addition is off by 2^-53 of what is
// added up at most, so that n times the size must stay below 2^52 units.
func (x *sheetSum) held() bool {
	_, _, size := x.value()
	return size.Mul(size, big.NewInt(x.rows+4)).BitLen() <= 52
}

// heldSum tells the same of some amounts of the summary, of which each has to be a number.
func heldSum(texts ...string) bool {
	var x sheetSum
	for _, t := range texts {
		n, ok := exactDecimals(t, 0)
		if !ok {
			return false
		}
		x.add(t, n)
	}
	return x.held()
}

// rounded is a sum in a formula, rounded to the decimals of what it adds up.
func rounded(expr string, decimals int) string {
	return "ROUND(" + expr + "," + strconv.Itoa(decimals) + ")"
}

// decimalsOf is how many decimals a decimal text has.
func decimalsOf(text string) int {
	_, frac, _ := strings.Cut(text, ".")
	return len(frac)
}

// crossCheck is one line of the sheet Checks: a value of the report against a formula over
// the cells of a sheet.
type crossCheck struct {
	what, code string
	value      string // decimal text
	rest       string // of it not on the sheet as numbers; "" nothing
	decimals   int
	count      bool                 // a number of rows, not an amount
	formula    func(row int) string // over the cells; row is that of the check, whose column B has the currency
	note       string
}

// countCheck compares a number of rows with those of a sheet, by a column that is never
// empty.
func countCheck(what string, of, shown int64, parts []sheetSpan, col string, note string) crossCheck {
	c := crossCheck{what: what, value: strconv.FormatInt(of, 10), count: true, note: note}
	if of != shown {
		c.rest = strconv.FormatInt(of-shown, 10)
	}
	c.formula = func(int) string {
		return sumOver(parts, func(p sheetSpan) string { return "COUNTA(" + p.column(col) + ")" })
	}
	return c
}

// column is the address of a column of the data.
func (p sheetSpan) column(col string) string {
	return "'" + p.sheet + "'!" + col + strconv.Itoa(p.first) + ":" + col + strconv.Itoa(p.last)
}

// sumOver adds a term up over all parts of a sheet that have data.
func sumOver(parts []sheetSpan, term func(sheetSpan) string) string {
	var out []string
	for _, p := range parts {
		if p.last >= p.first {
			out = append(out, term(p))
		}
	}
	if len(out) == 0 {
		return "0"
	}
	return strings.Join(out, "+")
}

// plainCode is a currency that a spreadsheet compares with nothing but the same text, in
// either case: a criterion may hold operators and wildcards.
var plainCode = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,15}$`)

// sumOfCurrency is the formula that adds up an amount column over the rows of the currency
// which column B of the check names, where more of kind is kind. nil: there is none; only
// tells that the sheet has no other currency. Texts among the amounts count as nothing.
func sumOfCurrency(parts []sheetSpan, code string, only bool, amounts, currencies, more string) func(row int) string {
	if !plainCode.MatchString(code) && (code != "" || !only) {
		return nil
	}
	return func(row int) string {
		return sumOver(parts, func(p sheetSpan) string {
			sum := p.column(amounts)
			var where []string
			if code != "" {
				where = append(where, p.column(currencies), "$B"+strconv.Itoa(row))
			}
			if more != "" {
				where = append(where, p.column(more), `"statement"`)
			}
			if where == nil {
				return "SUM(" + sum + ")"
			}
			return "SUMIFS(" + sum + "," + strings.Join(where, ",") + ")"
		})
	}
}

// Why a check has no formula.
const (
	tooManyDigits = "no formula: a spreadsheet does not add up so many digits exactly"
	noPlainCode   = "no formula: a spreadsheet could take the currency for another text"
)

// checksSheet writes the checks that reach over sheets.
func (b *book) checksSheet(list []crossCheck) {
	s := b.sheet("Checks", "Values of the report against sums that the spreadsheet makes of the cells. Whoever opens this workbook computes them anew. Checks within one statement stand beside it.",
		sheetColumn{"what", 44}, sheetColumn{"currency", 9}, sheetColumn{"value of the report", 22}, sheetColumn{"not on the sheet as numbers", 22}, sheetColumn{"sum of the cells", 22}, sheetColumn{checkColumn, 10}, sheetColumn{"note", 60})
	for _, c := range list {
		s.begin()
		style := styleAmount + c.decimals
		if c.count {
			style = styleCount
		}
		number := func(text string) {
			if c.count {
				n, _ := strconv.ParseInt(text, 10, 64)
				s.whole(n, style)
				return
			}
			s.amount(text, c.code, styleAmount)
		}
		s.sentence(c.what, styleText)
		s.text(c.code, styleText)
		number(c.value)
		if c.rest == "" {
			s.skip(1)
		} else {
			number(c.rest)
		}
		_, value := exactDecimals(c.value, c.decimals)
		_, rest := exactDecimals(c.rest, c.decimals)
		if c.formula == nil || !value || c.rest != "" && !rest {
			s.skip(2)
			s.sentence(c.note, styleText)
			s.end()
			continue
		}
		sum := minus(c.value, c.rest, c.decimals)
		if c.count {
			s.formula(c.formula(s.row), sum, styleCount)
		} else {
			s.formula(rounded(c.formula(s.row), c.decimals), sum, styleAmount+c.decimals)
		}
		s.check(rounded(s.ref(2, s.row)+"-"+s.ref(3, s.row)+"-"+s.ref(4, s.row), c.decimals) + "=0")
		s.sentence(c.note, styleText)
		s.end()
	}
}

// minus subtracts decimal texts; "" is nothing.
func minus(a, b string, decimals int) string {
	var x exactTexts
	return new(big.Rat).Sub(x.number(a), x.number(b)).FloatString(decimals)
}
