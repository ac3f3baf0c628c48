package doctor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/recon-batch/recon-batch/rules"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// plural counts a noun: "1 record", "1,204 records".
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch {
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return grouped(n) + " " + noun
}

// grouped writes a number with a comma between groups of three digits.
func grouped(n int64) string {
	s := itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func sizeText(n int64) string {
	switch {
	case n < 10_000:
		return plural(n, "byte")
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d MiB", n>>20)
	}
}

// list names some of many.
func list(names []string, most int) string {
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// quoted shows a text of the file: plain where it is a word, in quotes otherwise.
// Control characters are spelled out.
func quoted(s string) string {
	cut := ""
	if r := []rune(s); len(r) > 60 {
		s, cut = string(r[:60]), "…"
	}
	plain := s != ""
	for _, r := range s {
		plain = plain && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./[]#:", r))
	}
	if plain {
		return s + cut
	}
	return strconv.Quote(s) + cut
}

var (
	numberForm = regexp.MustCompile(`^[-+]?\(?[-+]?[0-9]*[0-9.,' ]*[0-9]\)?[-+]?$`)
	dateForm   = regexp.MustCompile(`^[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}\.?([T ].*)?$|^[0-9]{2}:[0-9]{2}(:[0-9]{2})?$`)
	totalForm  = regexp.MustCompile(`(?i)^\W*(grand |sub)?(total|totals|sum|sums|summe|gesamt|gesamtsumme|totaal|totaux|totale|totali|suma|somme|footer|trailer|end of (file|report)|eof|number of records|record count)\b`)
	nameForm   = regexp.MustCompile(`^[\pL_#(][\pL\pN _.#/()\[\]&%:+'*€$-]{0,79}$`)
	letterFold = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ß", "ss", "é", "e", "è", "e", "á", "a", "ó", "o", "í", "i", "ç", "c", "ñ", "n")
	spaces     = regexp.MustCompile(`[^a-z0-9]+`)
)

func numberLike(s string) bool { return len(s) < 40 && numberForm.MatchString(strings.TrimSpace(s)) }
func dateLike(s string) bool   { return len(s) < 40 && dateForm.MatchString(strings.TrimSpace(s)) }
func totalWord(s string) bool  { return totalForm.MatchString(s) }

// nameLike tells whether a text could be the name of a column.
func nameLike(s string) bool {
	s = strings.TrimSpace(s)
	return nameForm.MatchString(s) && !dateLike(s)
}

// plainName is a name of a column without case and punctuation.
func plainName(s string) string {
	var b strings.Builder
	lower := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= 'a' && s[i] <= 'z' }
	for i, r := range s { // camelCase is two words, and so is XMLName
		if unicode.IsUpper(r) && i > 0 && (lower(i-1) || lower(i+1) && s[i-1] >= 'A' && s[i-1] <= 'Z') {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Trim(spaces.ReplaceAllString(letterFold.Replace(b.String()), "_"), "_")
}

// timeText shows an oldest or newest value.
func timeText(t time.Time, typ rules.FieldType) string {
	if typ == rules.Date {
		return t.Format("2006-01-02")
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}
