package web

import (
	"fmt"
	"strings"
)

// Link is one link of a Link header (RFC 8288).
type Link struct {
	Target string
	Rel    []string // lower case
	Anchor string   // "" none
}

// ParseLinks reads the values of all Link headers of an answer. An error says that they
// do not keep to RFC 8288 §3: who cannot tell where a link ends must not guess that there
// is none.
func ParseLinks(values []string) ([]Link, error) {
	var out []Link
	for _, v := range values {
		p := &linkParser{s: v}
		for {
			p.blanks()
			if p.take(',') { // empty elements of a list are allowed
				continue
			}
			if p.i == len(p.s) {
				break
			}
			l, err := p.link()
			if err != nil {
				return nil, err
			}
			out = append(out, l)
			p.blanks()
			if p.i < len(p.s) && !p.take(',') {
				return nil, p.fault("a comma")
			}
		}
	}
	return out, nil
}

type linkParser struct {
	s string
	i int
}

func (p *linkParser) fault(wanted string) error {
	return fmt.Errorf("the Link header is broken at byte %d, where %s should be", p.i+1, wanted)
}

func (p *linkParser) blanks() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t') {
		p.i++
	}
}

func (p *linkParser) take(c byte) bool {
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

// link reads one target and its parameters.
func (p *linkParser) link() (Link, error) {
	var l Link
	if !p.take('<') {
		return l, p.fault("<")
	}
	end := strings.IndexByte(p.s[p.i:], '>')
	if end < 0 {
		p.i = len(p.s)
		return l, p.fault(">")
	}
	l.Target = strings.TrimSpace(p.s[p.i : p.i+end])
	p.i += end + 1
	hasRel, hasAnchor := false, false
	for {
		p.blanks()
		if !p.take(';') {
			return l, nil
		}
		p.blanks()
		name := strings.ToLower(p.token())
		if name == "" {
			if p.i == len(p.s) || p.s[p.i] == ';' || p.s[p.i] == ',' { // ";" alone is met in the wild
				continue
			}
			return l, p.fault("the name of a parameter")
		}
		p.blanks()
		value := ""
		if p.take('=') {
			p.blanks()
			var err error
			if value, err = p.value(); err != nil {
				return l, err
			}
		}
		switch { // only the first of each counts (§3.3, §3.2)
		case name == "rel" && !hasRel:
			hasRel, l.Rel = true, strings.Fields(strings.ToLower(value))
		case name == "anchor" && !hasAnchor:
			hasAnchor, l.Anchor = true, value
		}
	}
}

// token of RFC 9110 §5.6.2.
func (p *linkParser) token() string {
	start := p.i
	for p.i < len(p.s) {
		c := p.s[p.i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0 {
			p.i++
			continue
		}
		break
	}
	return p.s[start:p.i]
}

// value is a quoted text, or whatever reaches to the next separator.
func (p *linkParser) value() (string, error) {
	if !p.take('"') {
		start := p.i
		for p.i < len(p.s) && strings.IndexByte(" \t;,\"<>", p.s[p.i]) < 0 {
			p.i++
		}
		return p.s[start:p.i], nil
	}
	var b strings.Builder
	for p.i < len(p.s) {
		c := p.s[p.i]
		p.i++
		switch {
		case c == '"':
			return b.String(), nil
		case c == '\\' && p.i < len(p.s):
			b.WriteByte(p.s[p.i])
			p.i++
		default:
			b.WriteByte(c)
		}
	}
	return "", p.fault("a closing quote")
}

// Next gives the target of the one link to the following page; "" where there is none.
// Two different ones are an error, and so is one of another context (anchor).
func Next(values []string) (string, error) {
	links, err := ParseLinks(values)
	if err != nil {
		return "", err
	}
	next, found := "", false
	for _, l := range links {
		for _, r := range l.Rel {
			switch {
			case r != "next":
			case l.Anchor != "" && l.Anchor != "#":
				return "", fmt.Errorf("the Link header names the page that follows another one")
			case found && l.Target != next:
				return "", fmt.Errorf("the Link header names two following pages")
			default:
				next, found = l.Target, true
			}
		}
	}
	if found && next == "" {
		return "", fmt.Errorf("the Link header names an empty address")
	}
	return next, nil
}
