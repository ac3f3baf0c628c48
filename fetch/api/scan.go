package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// scanned is what is read of a page.
type scanned struct {
	records int64
	digest  string   // of the records, without white space
	hashes  []uint64 // of each record, where they are asked for
	last    []byte   // the last record
	total   *int64
	values  map[string]json.Token // by path
}

// broken says that a page is no whole JSON document.
type broken struct {
	why string
	cut bool // it ends too early
}

func (b *broken) Error() string { return b.why }

// scan reads a page: records one by one, and the values at the paths, where those are
// paths of members. Nothing but one record is in memory at a time, and eight bytes of each
// where hashes are asked for.
func scan(r io.Reader, records string, paths []string, hashes bool) (*scanned, error) {
	s := newScanner(r, paths)
	s.hashes = hashes
	s.records = []string{}
	if records != "" {
		s.records = strings.Split(records, ".")
	}
	if err := s.document(); err != nil {
		return nil, err
	}
	if !s.found {
		where := "the document is no array"
		if records != "" {
			where = fmt.Sprintf("there is no array at %s", records)
		}
		return nil, &broken{why: where}
	}
	s.out.digest = hex.EncodeToString(s.sum.Sum(nil))
	return s.out, nil
}

// scanValues reads a document for the values at paths alone.
func scanValues(r io.Reader, paths []string) (*scanned, error) {
	s := newScanner(r, paths)
	return s.out, s.document()
}

func newScanner(r io.Reader, paths []string) *scanner {
	s := &scanner{dec: json.NewDecoder(r), sum: sha256.New(), out: &scanned{values: map[string]json.Token{}}, paths: map[string]bool{}}
	s.dec.UseNumber()
	for _, p := range paths {
		if p != "" && !strings.HasPrefix(p, "header:") {
			s.paths[p] = true
			s.wanted = append(s.wanted, strings.Split(p, "."))
		}
	}
	return s
}

// document reads all of it.
func (s *scanner) document() error {
	if err := s.value([]string{}); err != nil {
		return faulty(err)
	}
	switch _, err := s.dec.Token(); {
	case err == io.EOF:
		return nil
	case err == nil:
		return &broken{why: "text follows the JSON document"}
	default:
		return faulty(err)
	}
}

// faulty gives an error of the decoder its form; errors of reading stay.
func faulty(err error) error {
	if b, ok := errors.AsType[*broken](err); ok {
		return b
	}
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &broken{why: "the JSON document ends too early", cut: true}
	case errors.As(err, &syntax):
		return &broken{why: "it is no JSON: " + syntax.Error()}
	}
	return err
}

type scanner struct {
	dec     *json.Decoder
	records []string // nil: there are none
	wanted  [][]string
	paths   map[string]bool
	sum     hash.Hash
	out     *scanned
	found   bool
	hashes  bool
	b       bytes.Buffer
}

// value reads the value at a path.
func (s *scanner) value(at []string) error {
	t, err := s.dec.Token()
	if err != nil {
		return err
	}
	if t == json.Delim('[') && s.records != nil && slices.Equal(at, s.records) {
		return s.array()
	}
	if name := strings.Join(at, "."); s.paths[name] && len(at) > 0 {
		if _, twice := s.out.values[name]; twice {
			return &broken{why: fmt.Sprintf("the member %s occurs twice", name)}
		}
		s.out.values[name] = t
	}
	switch t {
	case json.Delim('{'):
		for s.dec.More() {
			k, err := s.dec.Token()
			if err != nil {
				return err
			}
			name, _ := k.(string)
			inner := append(slices.Clip(at), name)
			if s.leads(inner) {
				err = s.value(inner)
			} else {
				err = s.skip()
			}
			if err != nil {
				return err
			}
		}
		_, err = s.dec.Token()
		return err
	case json.Delim('['):
		return s.close()
	}
	return nil
}

// leads tells whether something that is looked for is at a path or below it.
func (s *scanner) leads(at []string) bool {
	for _, w := range append(s.wanted[:len(s.wanted):len(s.wanted)], s.records) {
		if len(w) > 0 && len(w) >= len(at) && slices.Equal(w[:len(at)], at) {
			return true
		}
	}
	return false
}

// skip passes a value of any size.
func (s *scanner) skip() error {
	t, err := s.dec.Token()
	if d, ok := t.(json.Delim); err == nil && ok && (d == '{' || d == '[') {
		return s.close()
	}
	return err
}

// close passes what is left of an object or array that is open.
func (s *scanner) close() error {
	for depth := 1; depth > 0; {
		t, err := s.dec.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

// array reads the records.
func (s *scanner) array() error {
	if s.found {
		return &broken{why: "the array of the records occurs twice"}
	}
	s.found = true
	var raw json.RawMessage
	for s.dec.More() {
		raw = raw[:0]
		if err := s.dec.Decode(&raw); err != nil {
			return err
		}
		s.b.Reset()
		if err := json.Compact(&s.b, raw); err != nil {
			return err
		}
		one := sha256.Sum256(s.b.Bytes())
		s.sum.Write(one[:])
		if s.hashes {
			s.out.hashes = append(s.out.hashes, binary.BigEndian.Uint64(one[:]))
		}
		s.out.records++
		if !s.dec.More() {
			s.out.last = slices.Clone(s.b.Bytes())
		}
	}
	_, err := s.dec.Token()
	return err
}

// text is the value at a path or of a header; "" where there is none, or null.
func (s *scanned) text(head http.Header, path string) string {
	if name, ok := strings.CutPrefix(path, "header:"); ok {
		return strings.TrimSpace(head.Get(name))
	}
	switch v := s.values[path].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// number is a whole number at a path; ok is false where there is none.
func (s *scanned) number(head http.Header, path string) (int64, bool) {
	n, err := strconv.ParseInt(s.text(head, path), 10, 64)
	return n, err == nil && n >= 0
}

// more reads a yes or no.
func (s *scanned) more(head http.Header, path string) (more, ok bool) {
	switch strings.ToLower(s.text(head, path)) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

// memberOf gives the text or number at a path of a record.
func memberOf(record []byte, path string) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(record))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "", err
	}
	for _, part := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return "", nil
		}
		v = m[part]
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	}
	return "", nil
}
