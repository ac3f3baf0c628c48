package rules

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateLayout is how dates are written everywhere.
const dateLayout = "2006-01-02"

// Template is a text with placeholders for dates: {date}, {date-3}, {date+1},
// {file_date}, {file_date+1}, each optionally with a Go layout: {date:20060102}.
// {{ and }} stand for braces.
type Template string

var placeholder = regexp.MustCompile(`^(date|file_date)([+-][0-9]{1,4})?(?::(.+))?$`)

// templatePart is a piece of a template: literal text, or a placeholder.
type templatePart struct {
	literal string
	name    string // date or file_date; "" for literal text
	days    int
	layout  string
}

// parts cuts a template. The error names the placeholder at fault.
func (t Template) parts() ([]templatePart, error) {
	var out []templatePart
	var lit strings.Builder
	s := string(t)
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "{{"), strings.HasPrefix(s[i:], "}}"):
			lit.WriteByte(s[i])
			i += 2
		case s[i] == '}':
			return nil, fmt.Errorf("a closing brace without an opening one")
		case s[i] == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				return nil, fmt.Errorf("an opening brace without a closing one")
			}
			m := placeholder.FindStringSubmatch(s[i+1 : i+end])
			if m == nil {
				return nil, fmt.Errorf("{%s} is no placeholder", s[i+1:i+end])
			}
			p := templatePart{name: m[1], layout: m[3]}
			if p.layout == "" {
				p.layout = dateLayout
			}
			p.days, _ = strconv.Atoi(m[2]) // "" is 0; at most four digits
			if lit.Len() > 0 {
				out = append(out, templatePart{literal: lit.String()})
				lit.Reset()
			}
			out = append(out, p)
			i += end + 1
		default:
			lit.WriteByte(s[i])
			i++
		}
	}
	if lit.Len() > 0 {
		out = append(out, templatePart{literal: lit.String()})
	}
	return out, nil
}

// uses tells whether the template holds the placeholder.
func (t Template) uses(name string) bool {
	parts, _ := t.parts()
	for _, p := range parts {
		if p.name == name {
			return true
		}
	}
	return false
}

// Uses tells whether the template holds the placeholder date or file_date.
func (t Template) Uses(name string) bool { return t.uses(name) }

// Fill replaces the placeholders. date and fileDate are 2006-01-02; fileDate is ""
// where the source has no dates.
func (t Template) Fill(date, fileDate string) (string, error) { return t.fill(date, fileDate) }

func (t Template) fill(date, fileDate string) (string, error) {
	parts, err := t.parts()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		if p.name == "" {
			b.WriteString(p.literal)
			continue
		}
		base := date
		if p.name == "file_date" {
			base = fileDate
		}
		day, err := time.Parse(dateLayout, base)
		if err != nil {
			return "", fmt.Errorf("{%s} has no date here", p.name)
		}
		day = day.AddDate(0, 0, p.days)
		if y := day.Year(); y < 1 || y > 9999 {
			return "", fmt.Errorf("{%s%+d} of %s is outside the years 1 to 9999", p.name, p.days, base)
		}
		b.WriteString(day.Format(p.layout))
	}
	return b.String(), nil
}
