package web

import (
	"io"
	"log"
	"net"
	"reflect"
	"strings"
	"testing"
)

var localAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}

func discard() *log.Logger { return log.New(io.Discard, "", 0) }

func TestNextLink(t *testing.T) {
	for _, c := range []struct {
		values []string
		next   string
		bad    bool
	}{
		{nil, "", false},
		{[]string{`<https://a/?page=2>; rel="next", <https://a/?page=9>; rel="last"`}, "https://a/?page=2", false},
		{[]string{`<https://a/?page=1>; rel="prev"`, `</?page=3>;rel=next`}, "/?page=3", false},
		{[]string{`<?c=a,b;c>; title="a \"quoted\", text>"; rel="prev NEXT"`}, "?c=a,b;c", false},
		{[]string{`<x>; rel=prev; rel=next`}, "", false}, // the first counts
		{[]string{`<x>; rel = "next" ; title*=UTF-8''x`}, "x", false},
		{[]string{`<x>; rel=next, <x>; rel=next`}, "x", false},
		{[]string{`<x>; rel=nextpage`}, "", false},
		{[]string{``, ` , `, `,<x>; rel=next,`}, "x", false},
		{[]string{`<x>; ; rel=next;`}, "x", false},
		{[]string{`<x>; rel=next, <y>; rel=next`}, "", true},
		{[]string{`<x>; rel=next; anchor="#foo"`}, "", true},
		{[]string{`<>; rel=next`}, "", true},
		{[]string{`<x; rel=next`}, "", true},
		{[]string{`<x>; rel="next`}, "", true},
		{[]string{`https://a/?page=2; rel=next`}, "", true},
		{[]string{`<x>; rel=next <y>; rel=prev`}, "", true},
	} {
		next, err := Next(c.values)
		if next != c.next || (err != nil) != c.bad {
			t.Errorf("%q: %q %v", c.values, next, err)
		}
	}
}

// FuzzLinks: no text breaks the parser, and what it reads, written anew, is read the same.
func FuzzLinks(f *testing.F) {
	for _, s := range []string{`<https://a/?page=2>; rel="next", <https://a/?page=9>; rel="last"`, `<x>; rel = "a \" b"; anchor=#x`, `,,<>;`, `<a>;rel=next;rel=prev`, "<\x00>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		links, err := ParseLinks([]string{s})
		if err != nil {
			return
		}
		var b strings.Builder
		for _, l := range links {
			quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
			b.WriteString("<" + l.Target + ">")
			if l.Rel != nil {
				b.WriteString(`; rel="` + quoted.Replace(strings.Join(l.Rel, " ")) + `"`)
			}
			if l.Anchor != "" {
				b.WriteString(`; anchor="` + quoted.Replace(l.Anchor) + `"`)
			}
			b.WriteString(" , ")
		}
		again, err := ParseLinks([]string{b.String()})
		if err != nil {
			t.Fatalf("%q is read, and as %q not: %v", s, b.String(), err)
		}
		for i := range links {
			if len(links[i].Rel) == 0 {
				links[i].Rel = nil
			}
			if len(again[i].Rel) == 0 {
				again[i].Rel = nil
			}
		}
		if !reflect.DeepEqual(links, again) {
			t.Fatalf("%q: %v, again %v", s, links, again)
		}
		if n := strings.Count(s, "<"); len(links) > n {
			t.Fatalf("%q: %d links", s, len(links))
		}
	})
}
