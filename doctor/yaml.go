package doctor

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pairs is a mapping in the order in which it is written.
type pairs []pair

type pair struct {
	key   string
	value any // string, int, bool, []string, []pairs, pairs
}

func (p pairs) get(key string) (any, bool) {
	for _, x := range p {
		if x.key == key {
			return x.value, true
		}
	}
	return nil, false
}

func (p *pairs) set(key string, value any) {
	for i := range *p {
		if (*p)[i].key == key {
			(*p)[i].value = value
			return
		}
	}
	*p = append(*p, pair{key, value})
}

// flow writes a value in YAML's flow style, on one line.
func flow(v any) string {
	switch v := v.(type) {
	case string:
		return scalar(v)
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	case []string:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = scalar(s)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []pairs:
		parts := make([]string, len(v))
		for i, p := range v {
			parts[i] = flow(p)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case pairs:
		parts := make([]string, len(v))
		for i, p := range v {
			key := scalar(p.key)
			if p.key == "on" { // a key of job files; YAML 1.2 reads it as it stands
				key = p.key
			}
			parts[i] = key + ": " + flow(p.value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		panic(fmt.Sprintf("doctor: no YAML for %T", v)) // every value is ours
	}
}

var (
	plainScalar = regexp.MustCompile(`^(\.\./|/)*[A-Za-z_][A-Za-z0-9_./-]*$`)
	// words that YAML 1.1 or 1.2 reads as something other than text
	yamlWords = regexp.MustCompile(`^(?i:null|true|false|yes|no|on|off|y|n|nan|inf)$`)
)

// scalar writes a text that YAML reads back as this text: plain where it is a word,
// else in double quotes, whose escapes are those of JSON. What is not printable is
// escaped, so that no text of a file can steer a terminal.
func scalar(s string) string {
	if plainScalar.MatchString(s) && !yamlWords.MatchString(s) {
		return s
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic("doctor: " + err.Error()) // a string always has a JSON text
	}
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case r == utf8.RuneError || !unicode.IsPrint(r) && r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(b.String())
}

// oneLine makes a text fit behind a comment mark.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
