package bank

import "strings"

// mtInfo is what field 86 says. Its three forms: German banks write three digits
// and subfields (166?00GUTSCHRIFT?20EREF+…), Dutch ones words between slashes
// (/EREF/…/REMI/…), others plain text.
type mtInfo struct {
	text                        string
	code                        string
	endToEnd, customer, mandate string
	remittance                  string
	name, account               string
	reason                      string
	returned                    bool
}

func (i *mtInfo) fill(v *[numColumns]string) {
	v[Info], v[BankCode] = i.text, i.code
	v[EndToEndID], v[InstructionID], v[MandateID] = reference(i.endToEnd), reference(i.customer), reference(i.mandate)
	v[Remittance] = i.remittance
	v[Counterparty], v[CounterpartyAccount] = i.name, i.account
	v[Reason] = i.reason
}

// lineWidth is the width of field 86: a line of it goes on without a blank.
const lineWidth = 65

func parseInfo(lines []string) mtInfo {
	var plain, glued strings.Builder
	for n, line := range lines {
		if n > 0 && len(lines[n-1]) < lineWidth && !strings.HasSuffix(lines[n-1], " ") && !strings.HasPrefix(line, " ") {
			plain.WriteByte(' ')
		}
		plain.WriteString(line)
		glued.WriteString(line)
	}
	i := mtInfo{text: strings.TrimSpace(plain.String())}
	s := glued.String()
	switch {
	case len(s) > 6 && digits(s[:3]) && strings.IndexByte("?>~^@", s[3]) >= 0 && digits(s[4:6]):
		i.subfields(s)
	case strings.HasPrefix(s, "/") && slashWord(s) != "":
		i.slashes(s)
	default:
		i.remittance = i.text
		i.marks([]string{s})
	}
	return i
}

// returnCodes are the German transaction codes by which a SEPA payment comes back.
var returnCodes = map[string]bool{"108": true, "109": true, "159": true}

// subfieldWidth is the width of a subfield: one that is full goes on in the next.
const subfieldWidth = 27

func (i *mtInfo) subfields(s string) {
	i.code = s[:3]
	i.returned = returnCodes[i.code]
	var purpose []string
	for _, part := range strings.Split(s[3:], s[3:4]) {
		if len(part) < 2 || !digits(part[:2]) {
			if n := len(purpose); n > 0 && part != "" { // the mark inside of a text
				purpose[n-1] += s[3:4] + part
			}
			continue
		}
		id, text := part[:2], part[2:]
		switch {
		case id >= "20" && id <= "29", id >= "60" && id <= "63":
			purpose = append(purpose, text)
		case id == "31":
			i.account = strings.TrimSpace(text)
		case id == "32", id == "33":
			i.name += text
		case id == "34":
			i.reason = strings.TrimSpace(text)
		}
	}
	i.name = strings.TrimSpace(i.name)
	i.marks(purpose)
	if i.remittance == "" {
		i.remittance = strings.TrimSpace(strings.Join(purpose, ""))
	}
}

// sepaMarks are the marks of SEPA references in the purpose of a payment (DFÜ
// agreement of the German banks, appendix 3).
var sepaMarks = []string{"EREF+", "KREF+", "MREF+", "BREF+", "RREF+", "CRED+", "DEBT+", "COAM+", "OAMT+", "SVWZ+", "ABWA+", "ABWE+", "IBAN+", "BIC+"}

// marks finds EREF+ and the like in subfields. A value ends with the subfield that
// is not full, save the purpose (SVWZ+), which goes on to the next mark.
func (i *mtInfo) marks(parts []string) {
	mark := ""
	values := map[string]string{}
	for n, part := range parts {
		full := len([]rune(part)) >= subfieldWidth && n+1 < len(parts)
		for part != "" {
			at, next := len(part), ""
			for _, m := range sepaMarks {
				if j := strings.Index(part, m); j >= 0 && j < at && (j == 0 || part[j-1] == ' ' || len(parts) > 1 && mark != "SVWZ+") {
					at, next = j, m
				}
			}
			if mark != "" {
				values[mark] += part[:at]
			}
			if next == "" {
				break
			}
			mark, part = next, part[at+len(next):]
		}
		if mark != "SVWZ+" && !full {
			mark = ""
		}
	}
	for m, to := range map[string]*string{"EREF+": &i.endToEnd, "KREF+": &i.customer, "MREF+": &i.mandate, "SVWZ+": &i.remittance} {
		if s := strings.TrimSpace(values[m]); s != "" {
			*to = s
		}
	}
}

// slashWords are the code words of the Dutch form.
var slashWords = []string{
	"TRTP", "IBAN", "BIC", "NAME", "EREF", "PREF", "KREF", "MARF", "CSID", "REMI", "RTRN", "CNTP", "PURP",
	"ULTC", "ULTD", "ULTB", "ORDP", "BENM", "ISDT", "SVCL", "BDAT", "ID", "INIT", "RTYP", "OCMT",
}

// slashWord is the code word that a text starts with, "/EREF/".
func slashWord(s string) string {
	if len(s) < 4 || s[0] != '/' {
		return ""
	}
	end := strings.IndexByte(s[1:], '/')
	if end < 2 || end > 4 {
		return ""
	}
	for _, w := range slashWords {
		if s[1:1+end] == w {
			return w
		}
	}
	return ""
}

func (i *mtInfo) slashes(s string) {
	word, from := slashWord(s), 0
	put := func(value string) {
		value = strings.TrimSpace(value)
		switch word {
		case "EREF":
			i.endToEnd = value
		case "KREF", "PREF":
			i.customer = first(i.customer, value)
		case "MARF":
			i.mandate = value
		case "REMI":
			i.remittance = strings.TrimSuffix(strings.TrimPrefix(value, "USTD//"), "/")
		case "NAME":
			i.name = first(i.name, value)
		case "IBAN":
			i.account = first(i.account, value)
		case "CNTP": // IBAN/BIC/name/place
			parts := strings.Split(value, "/")
			i.account = parts[0]
			if len(parts) > 2 {
				i.name = parts[2]
			}
		case "RTRN":
			i.reason, i.returned = value, true
		}
	}
	from = len(word) + 2
	for at := from; at < len(s); {
		w := ""
		if s[at] == '/' {
			w = slashWord(s[at:])
		}
		if w == "" {
			at++
			continue
		}
		put(s[from:at])
		word = w
		at += len(w) + 2
		from = at
	}
	put(strings.TrimSuffix(strings.TrimSpace(s[from:]), "/"))
}
