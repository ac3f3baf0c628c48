package scan

import "strings"

// leastIBAN is the length of the shortest IBAN, that of Norway.
const leastIBAN = 15

// ibanLength is the length of the IBANs of each country in the registry of ISO 13616.
var ibanLength = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28,
	"CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
	"FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28,
	"IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
	"LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
	"NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24,
	"SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

// findIBANs looks at every place where a country and two digits stand.
func findIBANs(text string) []Span {
	var out []Span
	for i := 0; i+leastIBAN <= len(text); i++ {
		if !isLetter(text[i]) || !isLetter(text[i+1]) || !isDigit(text[i+2]) || !isDigit(text[i+3]) || i > 0 && isAlnum(text[i-1]) {
			continue
		}
		length := ibanLength[strings.ToUpper(text[i:i+2])]
		if length == 0 {
			continue
		}
		plain, until := letters(text, i, length)
		if len(plain) < length || until < len(text) && isAlnum(text[until]) || !mod97(plain) {
			continue
		}
		out = append(out, Span{i, until, IBAN, plain[:4] + "…" + plain[length-4:]})
		i = until - 1
	}
	return out
}

// letters reads so many letters and digits from a place on, with one blank or dash between
// any two, and says where they end.
func letters(text string, i, length int) (string, int) {
	plain := make([]byte, 0, length)
	for i < len(text) && len(plain) < length {
		if isAlnum(text[i]) {
			plain = append(plain, text[i])
			i++
			continue
		}
		n := between(text, i)
		if n == 0 || i+n >= len(text) || !isAlnum(text[i+n]) {
			break
		}
		i += n
	}
	return string(plain), i
}

// mod97 is the check of ISO/IEC 7064, MOD 97-10, over an IBAN without blanks.
func mod97(iban string) bool {
	rest := 0
	for _, c := range []byte(iban[4:] + iban[:4]) {
		switch {
		case isDigit(c):
			rest = (rest*10 + int(c-'0')) % 97
		default:
			rest = (rest*100 + int(c|0x20-'a') + 10) % 97
		}
	}
	return rest == 1
}
