package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/fetch/web"
	"github.com/recon-batch/recon-batch/rules"
)

// position is where a page begins.
type position struct {
	Slice int    `json:"slice"`
	Page  int    `json:"page"`         // in the slice, from 0
	At    string `json:"at,omitempty"` // offset, number or cursor; "" the first one of cursors
	URL   string `json:"url,omitempty"`
}

// first page of a slice.
func (l *pull) first(slice int) position {
	p := position{Slice: slice}
	if g := &l.a.Pagination; g.Style == rules.PageOffset || g.Style == rules.PageNumber {
		p.At = strconv.FormatInt(g.First, 10)
	}
	return p
}

// parts of all requests of a slice, filled in.
func (l *pull) parts(s slice) (query url.Values, header map[string]string, body map[string]any, err error) {
	date, day := l.r.Job.Date, l.r.Input.FileDate
	bad := func(what string, err error) error {
		return l.usage("see "+what, "%s cannot be filled in: %s", what, err)
	}
	query, header = url.Values{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(l.a.Query)) {
		for _, text := range l.a.Query[name] {
			v, err := rules.Template(text).FillWith(date, day, s.extra)
			if err != nil {
				return nil, nil, nil, bad("api.query."+name, err)
			}
			query.Add(name, v)
		}
	}
	for name, text := range l.a.Headers {
		if header[name], err = text.FillWith(date, day, s.extra); err != nil {
			return nil, nil, nil, bad("api.headers."+name, err)
		}
	}
	if body, err = l.a.FillBody(date, day, s.extra); err != nil {
		return nil, nil, nil, bad("api.body", err)
	}
	return query, header, body, nil
}

// call is the request of a page.
func (l *pull) call(p position) (*web.Call, error) {
	s, g := l.slices[p.Slice], &l.a.Pagination
	query, header, body, err := l.parts(s)
	if err != nil {
		return nil, err
	}
	params := map[string]string{}
	if p.At != "" {
		params[g.At] = p.At
	}
	if g.Limit != "" {
		params[g.Limit] = strconv.FormatInt(g.Size, 10)
	}
	if g.In == "body" {
		if body == nil {
			body = map[string]any{}
		}
		for name, v := range params {
			if err := l.setMember(body, name, v, name != g.At || g.Style != rules.PageCursor); err != nil {
				return nil, err
			}
		}
	} else {
		for name, v := range params {
			query.Set(name, v)
		}
	}
	u := *s.url
	if len(query) > 0 {
		both := u.Query()
		maps.Copy(both, query)
		u.RawQuery = both.Encode()
	}
	c := &web.Call{Method: l.a.Method, URL: &u, Header: http.Header{"Accept-Encoding": {"gzip"}}, Safe: l.a.Safe}
	if p.URL != "" { // an address of the page before has all of it
		if c.URL, err = url.Parse(p.URL); err != nil {
			return nil, l.input("pull it again", "the address of the next page cannot be read")
		}
	}
	for name, v := range header {
		c.Header.Set(name, v)
	}
	if l.a.Method == http.MethodPost {
		if body == nil {
			body = map[string]any{}
		}
		if c.Body, err = jsonBytes(body); err != nil {
			return nil, err
		}
		if c.Header.Get("Content-Type") == "" {
			c.Header.Set("Content-Type", "application/json")
		}
	}
	return c, nil
}

// setMember puts a value at a dotted path of a body; a number where it counts.
func (l *pull) setMember(body map[string]any, name, v string, number bool) error {
	parts := strings.Split(name, ".")
	for _, part := range parts[:len(parts)-1] {
		next, ok := body[part].(map[string]any)
		if !ok {
			if body[part] != nil {
				return l.usage("let pagination.at and pagination.limit name members of objects", "the body has a value at %s, below which a parameter belongs", part)
			}
			next = map[string]any{}
			body[part] = next
		}
		body = next
	}
	if last := parts[len(parts)-1]; number {
		body[last] = json.Number(v)
	} else {
		body[last] = v
	}
	return nil
}

// jsonBytes writes a body in one form: members sorted.
func jsonBytes(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// next gives the position behind a page; nil where it is the last one. seen counts the
// records of the slice, this page included.
func (l *pull) next(p position, s *scanned, head http.Header, seen int64) (*position, error) {
	g := &l.a.Pagination
	n := &position{Slice: p.Slice, Page: p.Page + 1}
	last := false
	switch g.Stop {
	case "":
		return nil, nil
	case rules.StopEmpty:
		last = s.records == 0
	case rules.StopShort:
		last = s.records < g.Size
	case rules.StopTotal:
		last = s.total != nil && seen >= *s.total || s.records == 0
	case rules.StopMore:
		more, ok := s.more(head, g.More)
		if !ok {
			return nil, l.input("see pagination.more", "%s says nothing at %s, where it should say whether there are more pages", l.fileName(p), g.More)
		}
		last = !more
	}
	switch g.Style {
	case rules.PageOffset:
		at, err := strconv.ParseInt(p.At, 10, 64)
		if err != nil {
			return nil, err
		}
		// By what came, not by what was asked for: a service may give fewer.
		n.At = strconv.FormatInt(at+s.records, 10)
		if !last && s.records == 0 {
			return nil, &changed{l.fileName(p) + " has no records, and is not said to be the last page"}
		}
	case rules.PageNumber:
		at, err := strconv.ParseInt(p.At, 10, 64)
		if err != nil {
			return nil, err
		}
		n.At = strconv.FormatInt(at+1, 10)
	case rules.PageLink:
		target, err := web.Next(head.Values("Link"))
		if err != nil {
			return nil, l.input("ask the provider; the page is kept", "%s: %s", l.fileName(p), err)
		}
		if target == "" {
			return nil, nil
		}
		return n, l.follow(p, n, target)
	case rules.PageCursor:
		text, err := l.cursor(p, s, head)
		if err != nil {
			return nil, err
		}
		if g.Stop == rules.StopNoNext {
			last = text == ""
		}
		switch {
		case last:
		case text == "":
			return nil, l.input("see pagination.next and pagination.stop", "%s names no next page, and is not said to be the last one", l.fileName(p))
		case l.c.Secrets.In(text):
			return nil, l.input("send the key in a header", "%s: its next cursor holds a secret, which would be stored", l.fileName(p))
		case g.IsURL:
			return n, l.follow(p, n, text)
		default:
			n.At = text
		}
	}
	if last {
		return nil, nil
	}
	return n, nil
}

// cursor is what a page says of the next one; "" nothing.
func (l *pull) cursor(p position, s *scanned, head http.Header) (string, error) {
	g := &l.a.Pagination
	if g.Next != "" {
		return s.text(head, g.Next), nil
	}
	if s.records == 0 {
		return "", nil
	}
	text, err := memberOf(s.last, g.Last)
	if err != nil || text == "" {
		return "", l.input("see pagination.last", "the last record of %s has no text or number at %s", l.fileName(p), g.Last)
	}
	return text, nil
}

// follow takes an address of an answer over: on the origin of the source, and without the
// key of the source.
func (l *pull) follow(p position, n *position, target string) error {
	call, err := l.call(p)
	if err != nil {
		return err
	}
	u, err := call.URL.Parse(target)
	if err != nil {
		return l.input("ask the provider", "%s: the address of the next page cannot be read", l.fileName(p))
	}
	u.Fragment = ""
	if !web.SameOrigin(l.origin, u) || u.User != nil {
		return l.input("a provider that sends us to another host is not followed", "%s leads to %s, which is not the origin of the source", l.fileName(p), u.Scheme+"://"+u.Host)
	}
	n.URL = l.c.WithoutKey(u).String()
	if l.c.Secrets.In(n.URL) {
		return l.input("send the key in a header", "%s: the address of the next page holds a secret, which would be stored", l.fileName(p))
	}
	return nil
}
