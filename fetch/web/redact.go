package web

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strings"
	"sync"
)

// shortest secret that is looked for in what comes: a shorter one is found everywhere.
const shortest = 6

// Secrets are the texts that must reach no file, note or error, in the forms in which
// they are sent. It may be used by several goroutines.
type Secrets struct {
	mu   sync.RWMutex
	list []string
}

// Add notes a secret.
func (s *Secrets) Add(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range texts {
		if len(t) < shortest {
			continue
		}
		for _, form := range []string{t, url.QueryEscape(t), url.PathEscape(t), base64.StdEncoding.EncodeToString([]byte(t)), base64.RawURLEncoding.EncodeToString([]byte(t)), strings.ReplaceAll(t, "/", `\/`)} {
			known := false
			for _, l := range s.list {
				known = known || l == form
			}
			if !known {
				s.list = append(s.list, form)
			}
		}
	}
}

// Hide replaces the secrets in a text.
func (s *Secrets) Hide(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range s.list {
		text = strings.ReplaceAll(text, l, "…")
	}
	return text
}

// In tells whether a text holds a secret.
func (s *Secrets) In(text string) bool { return s.Hide(text) != text }

// Longest is the length of the longest form of a secret, 0 where there is none.
func (s *Secrets) Longest() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n := 0
	for _, l := range s.list {
		n = max(n, len(l))
	}
	return n
}

// Watch looks for secrets in what is written to it, wherever it is cut.
type Watch struct {
	of    *Secrets
	tail  []byte
	Found bool
}

// Watch begins to look.
func (s *Secrets) Watch() *Watch { return &Watch{of: s} }

// Write implements io.Writer. It never fails.
func (w *Watch) Write(p []byte) (int, error) {
	n := w.of.Longest()
	if n == 0 || w.Found {
		return len(p), nil
	}
	w.of.mu.RLock()
	defer w.of.mu.RUnlock()
	// The seam: the end of what came before, with the beginning of what comes now.
	seam := append(w.tail, p[:min(len(p), n)]...)
	for _, l := range w.of.list {
		if bytes.Contains(seam, []byte(l)) || bytes.Contains(p, []byte(l)) {
			w.Found = true
			return len(p), nil
		}
	}
	if len(p) >= n {
		seam = p
	}
	w.tail = append(w.tail[:0:0], seam[max(len(seam)-n, 0):]...)
	return len(p), nil
}

// Shown is an address for people: without query, fragment, user and secrets.
func (s *Secrets) Shown(u *url.URL) string {
	v := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return s.Hide(v.String())
}

// Clean makes a text of others fit for an error: without secrets and control characters.
func (s *Secrets) Clean(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 || c >= 0x2028 && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s.Hide(text), ""))
}

// Cut is the beginning of a text of others, cleaned.
func (s *Secrets) Cut(text string) string {
	if text = s.Clean(text); len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}

// excerpt is the beginning of what an answer says, for an error.
func (s *Secrets) excerpt(b []byte) string {
	text := strings.Map(func(c rune) rune {
		switch {
		case c == '\n', c == '\t', c == '\r':
			return ' '
		case c < ' ', c >= 0x7f && c < 0xa0, c >= 0x2028 && c <= 0x202e, c >= 0x2066 && c <= 0x2069, c == 0xfffd:
			return -1
		}
		return c
	}, s.Hide(strings.ToValidUTF8(string(b), "")))
	text = strings.Join(strings.Fields(text), " ")
	// A secret that the read was cut in would stand at the end.
	if n := s.Longest(); len(b) >= mostExcerpt && len(text) > n {
		text = text[:len(text)-n]
	}
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}

// mostExcerpt is how much of an answer that is no success is read.
const mostExcerpt = 4 << 10
