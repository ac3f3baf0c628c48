package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// scanned is what is read of a page.
type scanned struct {
	records int64
	digest  string   // of the records, as they came
	hashes  []uint64 // of each record, where they are asked for
	last    []byte   // the last record, where it is asked for
	total   *int64
	values  map[string]jsontext.Token // by path, texts, numbers and words
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
func scan(r io.Reader, records string, paths []string, hashes, last bool) (*scanned, error) {
	s := newScanner(r, paths)
	s.hashes, s.keepLast = hashes, last
	if err := s.all(records); err != nil {
		return nil, err
	}
	s.out.digest = hex.EncodeToString(s.sum.Sum(nil))
	return s.out, nil
}

// all reads a document that has an array of records.
func (s *scanner) all(records string) error {
	s.records = []string{}
	where := "the document is no array"
	if records != "" {
		s.records, where = strings.Split(records, "."), fmt.Sprintf("there is no array at %s", records)
	}
	if err := s.document(); err != nil {
		return err
	}
	if !s.found {
		return &broken{why: where}
	}
	return nil
}

// scanValues reads a document for the values at paths alone.
func scanValues(r io.Reader, paths []string) (*scanned, error) {
	s := newScanner(r, paths)
	return s.out, s.document()
}

func newScanner(r io.Reader, paths []string) *scanner {
	// Names that occur twice and texts that are not UTF-8 are for whoever reads the
	// records to judge.
	s := &scanner{dec: jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), sum: sha256.New(), out: &scanned{values: map[string]jsontext.Token{}}, paths: map[string]bool{}}
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
	switch _, err := s.dec.ReadToken(); {
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
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &broken{why: "the JSON document ends too early", cut: true}
	case ok:
		return &broken{why: fmt.Sprintf("it is no JSON, at byte %d", syntax.ByteOffset+1)}
	}
	return err
}

type scanner struct {
	dec      *jsontext.Decoder
	records  []string // nil: there are none
	wanted   [][]string
	paths    map[string]bool
	sum      hash.Hash
	out      *scanned
	found    bool
	hashes   bool
	keepLast bool
	to       func(record []byte) error // nil: nobody wants them
}

// value reads the value at a path.
func (s *scanner) value(at []string) error {
	kind := s.dec.PeekKind()
	if kind == '[' && s.records != nil && slices.Equal(at, s.records) {
		return s.array()
	}
	if name := strings.Join(at, "."); s.paths[name] && len(at) > 0 {
		if _, twice := s.out.values[name]; twice {
			return &broken{why: fmt.Sprintf("the member %s occurs twice", name)}
		}
		if kind != '{' && kind != '[' {
			t, err := s.dec.ReadToken()
			if err == nil {
				s.out.values[name] = t.Clone()
			}
			return err
		}
	}
	if kind != '{' {
		return s.skip()
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	for s.dec.PeekKind() == '"' {
		k, err := s.dec.ReadToken()
		if err != nil {
			return err
		}
		if inner := append(slices.Clip(at), k.String()); s.leads(inner) {
			err = s.value(inner)
		} else {
			err = s.skip()
		}
		if err != nil {
			return err
		}
	}
	_, err := s.dec.ReadToken() // the brace, or what is wrong
	return err
}

// leads tells whether something that is looked for is at a path or below it.
func (s *scanner) leads(at []string) bool {
	for _, w := range append(s.wanted[:len(s.wanted):len(s.wanted)], s.records) {
		if len(w) >= len(at) && slices.Equal(w[:len(at)], at) {
			return true
		}
	}
	return false
}

// skip passes a value of any size, token by token.
func (s *scanner) skip() error { return s.dec.SkipValue() }

// each gives the records of a document one by one.
func each(r io.Reader, records string, to func([]byte) error) error {
	s := newScanner(r, nil)
	s.to = to
	return s.all(records)
}

// one gives the record that a document is: an object that is not empty.
func one(r io.Reader, to func([]byte) error) error {
	dec := jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	raw, err := dec.ReadValue()
	if err != nil {
		return faulty(err)
	}
	if raw.Kind() != '{' || len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0 {
		return &broken{why: "the document is no record"}
	}
	if err := to(raw); err != nil {
		return err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return &broken{why: "text follows the JSON document"}
	}
	return nil
}

// array reads the records.
func (s *scanner) array() error {
	if s.found {
		return &broken{why: "the array of the records occurs twice"}
	}
	s.found = true
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	for s.dec.PeekKind() != ']' {
		raw, err := s.dec.ReadValue()
		if err != nil {
			return err
		}
		one := sha256.Sum256(raw)
		s.sum.Write(one[:])
		if s.hashes {
			s.out.hashes = append(s.out.hashes, binary.BigEndian.Uint64(one[:]))
		}
		if s.to != nil {
			if err := s.to(raw); err != nil {
				return err
			}
		}
		s.out.records++
		if s.keepLast {
			s.out.last = append(s.out.last[:0], raw...)
		}
	}
	_, err := s.dec.ReadToken()
	return err
}

// text is the value at a path or of a header; "" where there is none, or null.
func (s *scanned) text(head http.Header, path string) string {
	if name, ok := strings.CutPrefix(path, "header:"); ok {
		return strings.TrimSpace(head.Get(name))
	}
	switch t, ok := s.values[path]; {
	case !ok, t.Kind() == 'n':
		return ""
	default:
		return t.String()
	}
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
	if len(record) == 0 {
		return "", nil
	}
	s, err := scanValues(bytes.NewReader(record), []string{path})
	if err != nil {
		return "", err
	}
	if k := s.values[path].Kind(); k != '"' && k != '0' {
		return "", nil
	}
	return s.text(nil, path), nil
}
