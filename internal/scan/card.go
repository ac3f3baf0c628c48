package scan

import "strings"

// leastCard and mostCard bound the digits of a card number.
const (
	leastCard = 13
	mostCard  = 19
)

// issuer is a range of first digits, both included, and the lengths of its numbers.
type issuer struct {
	from, until string
	least, most int
}

// issuers are the ranges of the schemes, as they publish them.
var issuers = []issuer{
	{"4", "4", 13, 13}, {"4", "4", 16, 16}, {"4", "4", 19, 19}, // Visa
	{"51", "55", 16, 16}, {"2221", "2720", 16, 16}, // Mastercard
	{"34", "34", 15, 15}, {"37", "37", 15, 15}, // American Express
	{"300", "305", 14, 19}, {"3095", "3095", 14, 19}, {"36", "36", 14, 19}, {"38", "39", 14, 19}, // Diners Club
	{"6011", "6011", 16, 19}, {"644", "649", 16, 19}, {"65", "65", 16, 19}, // Discover, RuPay, Troy, Elo
	{"3528", "3589", 16, 19},                   // JCB
	{"62", "62", 16, 19}, {"81", "82", 16, 19}, // UnionPay, RuPay
	{"5018", "5018", 13, 19}, {"5020", "5020", 13, 19}, {"5038", "5038", 13, 19}, {"5893", "5893", 13, 19},
	{"6304", "6304", 13, 19}, {"6759", "6759", 13, 19}, {"6761", "6763", 13, 19}, // Maestro
	{"2200", "2204", 16, 19},                     // Mir
	{"60", "60", 16, 16}, {"508", "508", 16, 16}, // RuPay
	{"9792", "9792", 16, 16}, // Troy
}

// isCard tells whether digits alone are a card number.
func isCard(digits string) bool {
	if len(digits) < leastCard || len(digits) > mostCard || !luhn(digits) {
		return false
	}
	for _, r := range issuers {
		head := digits[:len(r.from)]
		if len(digits) >= r.least && len(digits) <= r.most && head >= r.from && head <= r.until {
			return true
		}
	}
	return false
}

// luhn is the check of ISO/IEC 7812-1, annex B.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// block is a run of digits.
type block struct{ from, until int }

// findCards looks at runs of digits, and at runs with one blank or dash between them.
func findCards(text string) []Span {
	var out []Span
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		run := blocksAt(text, i)
		i = run[len(run)-1].until
		for len(run) > 0 {
			n := cardIn(text, run)
			if n == 0 {
				run = run[1:]
				continue
			}
			from, until := run[0].from, run[n-1].until
			out = append(out, Span{from, until, Card, shownCard(plainDigits(text, run[:n]))})
			run = run[n:]
		}
	}
	return out
}

// blocksAt reads the blocks from a place on.
func blocksAt(text string, i int) []block {
	var run []block
	for {
		b := block{i, i}
		for b.until < len(text) && isDigit(text[b.until]) {
			b.until++
		}
		run = append(run, b)
		n := between(text, b.until)
		if n == 0 || b.until+n >= len(text) || !isDigit(text[b.until+n]) {
			return run
		}
		i = b.until + n
	}
}

// cardIn is the number of blocks, from the first on, that are a card number; 0 none. All
// but the last have at least four digits: dates and grouped amounts have fewer.
func cardIn(text string, run []block) int {
	if !startsApart(text, run[0].from) {
		return 0
	}
	digits, found := 0, 0
	for n, b := range run {
		if digits += b.until - b.from; digits > mostCard {
			break
		}
		if digits >= leastCard && endsApart(text, b.until) && isCard(plainDigits(text, run[:n+1])) {
			found = n + 1
		}
		if b.until-b.from < 4 {
			break
		}
	}
	return found
}

func plainDigits(text string, run []block) string {
	if len(run) == 1 {
		return text[run[0].from:run[0].until]
	}
	var b strings.Builder
	for _, x := range run {
		b.WriteString(text[x.from:x.until])
	}
	return b.String()
}

// startsApart tells whether a number begins at a place: what stands before it is no letter,
// save the format code of a first track, and it is no fraction. A comma separates cells as
// often as decimals.
func startsApart(text string, at int) bool {
	if at == 0 {
		return true
	}
	c := text[at-1]
	if isLetter(c) {
		return (c == 'B' || c == 'b') && (at == 1 || !isAlnum(text[at-2])) && strings.Contains(text[at:], "^")
	}
	return !(c == '.' && at >= 2 && isDigit(text[at-2]))
}

// endsApart tells whether a number ends at a place: no letter follows, and no fraction.
func endsApart(text string, at int) bool {
	if at >= len(text) {
		return true
	}
	c := text[at]
	return !isAlnum(c) && !(c == '.' && at+1 < len(text) && isDigit(text[at+1]))
}

// shownCard keeps what PCI DSS 3.4 lets be seen: the first six digits and the last four.
func shownCard(digits string) string {
	return digits[:6] + strings.Repeat("*", len(digits)-10) + digits[len(digits)-4:]
}
