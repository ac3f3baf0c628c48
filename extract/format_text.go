package extract

import "strconv"

func itoa(n int) string { return strconv.Itoa(n) }

func quoteText(s string) string { return strconv.Quote(s) }

// plural writes a number with its noun: "1 field", "4 fields".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return itoa(n) + " " + noun + "s"
}
