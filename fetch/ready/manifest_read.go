package ready

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/recon-batch/recon-batch/rules"
)

// read takes the list from the text.
func (m *manifest) read(d *rules.ReadyManifest, text []byte, placed func(string) string) error {
	add := func(where, name string, f listed) error {
		if name == "" {
			return fmt.Errorf("%s has no name", where)
		}
		if _, twice := m.files[placed(name)]; twice {
			return fmt.Errorf("it lists %s twice", name)
		}
		m.files[placed(name)] = f
		return nil
	}
	switch d.Form {
	case rules.ManifestJSON:
		return m.readJSON(d, text, add)
	case rules.ManifestCSV:
		return readCSV(d, text, add)
	}
	return readSums(text, add)
}

// stated reads what a manifest states of one file. get gives the text of a field, and
// whether it is there.
func stated(d *rules.ReadyManifest, get func(field string) (string, bool)) (name string, f listed, err error) {
	text := func(field, what string) string {
		v, ok := get(field)
		if field != "" && (!ok || v == "") && err == nil {
			err = fmt.Errorf("has no %s", what)
		}
		return strings.TrimSpace(v)
	}
	number := func(field, what string) int64 {
		v := text(field, what)
		n, ok := count(v)
		if field == "" {
			return -1
		}
		if !ok && err == nil {
			err = fmt.Errorf("has %q as its %s", v, what)
		}
		return n
	}
	digest := func(field, what string, digits int) string {
		v := strings.ToLower(text(field, what))
		if field != "" && !isHex(v, digits) && err == nil {
			err = fmt.Errorf("has %q as its %s, which is none", v, what)
		}
		return v
	}
	name = text(d.Name, "name")
	f = listed{size: number(d.Size, "size"), records: number(d.Records, "number of records"), sha256: digest(d.SHA256, "SHA-256", 64), md5: digest(d.MD5, "MD5", 32)}
	return name, f, err
}

func (m *manifest) readJSON(d *rules.ReadyManifest, text []byte, add func(where, name string, f listed) error) error {
	// Of members that are there twice the last one would count, and a list may be lost.
	if _, err := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true)).ReadValue(); errors.Is(err, jsontext.ErrDuplicateName) {
		return errors.New("a member is there twice")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&m.whole); err != nil {
		return fmt.Errorf("it is no whole JSON document: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more behind its end")
	}
	v, _ := member(m.whole, d.Files)
	items, ok := v.([]any)
	if !ok {
		return fmt.Errorf("it has no array of files at %q", d.Files)
	}
	for i, item := range items {
		where := fmt.Sprintf("entry %d", i+1)
		if d.Name == "" {
			name, ok := item.(string)
			if !ok {
				return fmt.Errorf("%s is no text", where)
			}
			if err := add(where, name, listed{size: -1, records: -1}); err != nil {
				return err
			}
			continue
		}
		name, f, err := stated(d, func(field string) (string, bool) { return memberText(item, field) })
		if err != nil {
			return fmt.Errorf("%s %w", where, err)
		}
		if err := add(where, name, f); err != nil {
			return err
		}
	}
	return nil
}

// member follows a dotted path into objects; "" is the value itself.
func member(v any, dotted string) (any, bool) {
	if dotted == "" {
		return v, true
	}
	for name := range strings.SplitSeq(dotted, ".") {
		o, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = o[name]; !ok {
			return nil, false
		}
	}
	return v, true
}

// memberText is the text of a member; false where it is not there. That of null is "".
func memberText(v any, dotted string) (string, bool) {
	if dotted == "" {
		return "", false
	}
	v, ok := member(v, dotted)
	switch x := v.(type) {
	case string:
		return x, ok
	case json.Number:
		return x.String(), ok
	case nil:
		return "", ok
	}
	return "", false
}

func readCSV(d *rules.ReadyManifest, text []byte, add func(where, name string, f listed) error) error {
	r := csv.NewReader(bytes.NewReader(text))
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("it has no line with the names of its columns: %w", err)
	}
	at := map[string]int{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		if _, twice := at[name]; twice && name != "" {
			return fmt.Errorf("it has two columns %q", name)
		}
		at[name] = i
	}
	for _, column := range []string{d.Name, d.Size, d.SHA256, d.MD5, d.Records} {
		if _, ok := at[column]; column != "" && !ok {
			return fmt.Errorf("it has no column %q", column)
		}
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		return errors.New("its last line has no end: it may be cut")
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		where := fmt.Sprintf("line %d", line)
		name, f, err := stated(d, func(field string) (string, bool) {
			if i, ok := at[field]; ok && field != "" {
				return row[i], true
			}
			return "", false
		})
		if err != nil {
			return fmt.Errorf("%s %w", where, err)
		}
		if err := add(where, name, f); err != nil {
			return err
		}
	}
}

// readSums reads what sha256sum and md5sum write, with and without --tag.
func readSums(text []byte, add func(where, name string, f listed) error) error {
	if !bytes.HasSuffix(text, []byte("\n")) {
		return errors.New("its last line has no end: it may be cut")
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if line == "" {
			continue
		}
		where := fmt.Sprintf("line %d", n)
		escaped := strings.HasPrefix(line, `\`)
		line = strings.TrimPrefix(line, `\`)
		var digest, name string
		if tag, rest, ok := strings.Cut(line, " ("); ok && (tag == "SHA256" || tag == "MD5") {
			i := strings.LastIndex(rest, ") = ")
			if i < 0 {
				return fmt.Errorf("%s has no digest", where)
			}
			name, digest = rest[:i], rest[i+len(") = "):]
		} else {
			digest, name, _ = strings.Cut(line, " ")
			if name == "" || name[0] != ' ' && name[0] != '*' {
				return fmt.Errorf("%s is not as sha256sum writes it", where)
			}
			name = name[1:]
		}
		if escaped {
			name = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r").Replace(name)
		}
		f := listed{size: -1, records: -1}
		switch digest = strings.ToLower(digest); {
		case isHex(digest, 64):
			f.sha256 = digest
		case isHex(digest, 32):
			f.md5 = digest
		default:
			return fmt.Errorf("%s has no SHA-256 and no MD5", where)
		}
		if err := add(where, name, f); err != nil {
			return err
		}
	}
	return lines.Err()
}
