package doctor

import "strings"

// cell is one field of a line of a sample.
type cell struct {
	text   string
	quoted bool
}

// cutLines cuts a sample into lines of fields, at most most of them: RFC 4180 with
// any delimiter and quote, and patient with faults, which are counted. It serves
// only to try dialects; records are read by the product's own reader. Where the
// sample is not whole its last line is left out. quote 0 is none.
func cutLines(text string, delimiter rune, quote byte, whole bool, most int) (lines [][]cell, faults int) {
	var row []cell
	i := 0
	for i < len(text) && len(lines) < most {
		var c cell
		if quote != 0 && text[i] == quote {
			c.quoted = true
			var b strings.Builder
			i++
			for {
				j := strings.IndexByte(text[i:], quote)
				if j < 0 {
					if whole {
						faults++
					}
					return lines, faults
				}
				b.WriteString(text[i : i+j])
				i += j + 1
				if i < len(text) && text[i] == quote {
					b.WriteByte(quote)
					i++
					continue
				}
				break
			}
			c.text = b.String()
		}
		j := strings.IndexFunc(text[i:], func(r rune) bool { return r == delimiter || r == '\n' || r == '\r' })
		rest := ""
		if j < 0 {
			rest, j = text[i:], len(text)-i
		} else {
			rest = text[i : i+j]
		}
		if c.quoted && rest != "" {
			faults++
		} else if !c.quoted {
			c.text = rest
			if quote != 0 && strings.IndexByte(rest, quote) >= 0 {
				faults++
			}
		}
		i += j
		row = append(row, c)
		if i == len(text) {
			break
		}
		if text[i] != '\n' && text[i] != '\r' {
			i += len(string(delimiter))
			if i == len(text) { // a delimiter at the very end: one more empty field
				row = append(row, cell{})
			}
			continue
		}
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			i++
		}
		i++
		lines = append(lines, row)
		row = nil
	}
	if row != nil && whole && len(lines) < most {
		lines = append(lines, row)
	}
	return lines, faults
}

// blank tells a line without a byte.
func blank(row []cell) bool { return len(row) == 1 && row[0].text == "" && !row[0].quoted }
