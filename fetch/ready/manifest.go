package ready

import (
	"bufio"
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // what manifests state; it tells a cut file
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// manifest is what a manifest lists.
type manifest struct {
	name   string
	sha256 string
	files  map[string]listed // by name in the place
	whole  any               // the document, of form json
}

// listed is what a manifest says of one file; numbers are -1 and texts "" where it does not.
type listed struct {
	size, records int64
	sha256, md5   string
}

// manifest reads the manifest, and looks for the one before.
func (l *look) manifest(ctx context.Context) error {
	r := l.Input.Source.Ready
	if r == nil || r.Manifest == nil {
		return nil
	}
	name := l.Input.Ready.Manifest
	text, err := l.one(ctx, name, mostManifest)
	if err != nil {
		return err
	}
	if text == nil {
		l.late("the manifest %s is not there", name)
		return nil
	}
	sum := sha256.Sum256(text)
	m := &manifest{name: name, sha256: hex.EncodeToString(sum[:]), files: map[string]listed{}}
	if err := m.read(r.Manifest, bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), l.placed); err != nil {
		l.late("the manifest %s cannot be read: %s", name, err)
		return nil
	}
	l.list = m
	return l.previous(ctx)
}

// placed gives a listed name as the place has it.
func (l *look) placed(name string) string {
	if address, ok := strings.CutSuffix(l.Input.Path, l.pattern); ok && address != "" {
		if in, ok := strings.CutPrefix(name, address); ok {
			return in // a whole address, as s3://bucket/key
		}
	}
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(l.Input.Ready.Folder, name)
}

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
		at[strings.TrimSpace(name)] = i
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

// previous looks for the manifest that this one follows. One that is not there is a gap in
// what is known, and no reason to wait.
func (l *look) previous(ctx context.Context) error {
	p := l.Input.Source.Ready.Manifest.Previous
	if p == nil {
		return nil
	}
	name, want := l.Input.Ready.Previous, ""
	if p.Name != "" {
		v, ok := memberText(l.list.whole, p.Name)
		if !ok {
			l.late("the manifest %s does not say at %q which one it follows", l.list.name, p.Name)
			return nil
		}
		name = v
		if v != "" {
			name = path.Join(path.Dir(l.list.name), v)
		}
	}
	if p.SHA256 != "" {
		v, ok := memberText(l.list.whole, p.SHA256)
		if want = strings.ToLower(v); !ok || want != "" && !isHex(want, 64) {
			l.late("the manifest %s does not say at %q the SHA-256 of the one it follows", l.list.name, p.SHA256)
			return nil
		}
	}
	if name == "" || p.SHA256 != "" && want == "" {
		l.proof("%s is the first manifest", l.list.name)
		return nil
	}
	text, err := l.one(ctx, name, mostManifest)
	if err != nil && fail.ClassOf(err) != fail.Input {
		return err
	}
	sum := sha256.Sum256(text)
	switch {
	case err != nil:
		l.v.Judged.Gap = fmt.Sprintf("the manifest %s, which %s follows, cannot be read", name, l.list.name)
	case text == nil:
		l.v.Judged.Gap = fmt.Sprintf("the manifest %s, which %s follows, is not there", name, l.list.name)
	case want != "" && hex.EncodeToString(sum[:]) != want:
		l.v.Judged.Gap = fmt.Sprintf("the manifest %s is not the one that %s follows: it has another SHA-256", name, l.list.name)
	default:
		l.proof("%s, which it follows, is there", name)
	}
	return nil
}

// listedAlone gives the files that are read: all, or those of the manifest where the
// others are ignored.
func (l *look) listedAlone(files []fetch.Entry) []fetch.Entry {
	r := l.Input.Ready
	if r == nil {
		return files
	}
	var out []fetch.Entry
	for _, e := range files {
		listed := l.list == nil
		if !listed {
			_, listed = l.list.files[e.Name]
		}
		switch {
		case e.Name == path.Clean(r.Manifest) || e.Name == path.Clean(r.Marker) || e.Name == path.Clean(r.Previous):
			// A pattern may name them as well; they are no evidence.
		case listed:
			out = append(out, e)
		case l.Input.Source.Ready.Manifest.Extra == rules.ExtraIgnore:
			l.v.Judged.Unlisted = append(l.v.Judged.Unlisted, e.Name)
		default:
			l.late("%s is there and is not listed in the manifest %s", e.Name, l.list.name)
		}
	}
	return out
}

// asListed compares the files with what the manifest says of them.
func (l *look) asListed(ctx context.Context) error {
	m := l.list
	if m == nil {
		return nil
	}
	there := map[string]bool{}
	for _, e := range l.files {
		there[e.Name] = true
	}
	own := 0
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		if !l.names(name) {
			continue // of another source
		}
		if own++; !there[name] {
			l.late("%s is listed in the manifest %s and is not there", name, m.name)
		}
	}
	if own == 0 {
		l.late("the manifest %s lists no file %s", m.name, l.Input.Path)
	}
	what := map[string]bool{}
	for i, e := range l.files {
		want, f := m.files[e.Name], &l.v.Judged.Files[i]
		if want.records >= 0 {
			f.Records, what["records"] = &want.records, true
		}
		if want.size >= 0 {
			what["size"] = true
			if want.size != e.Size {
				l.late("%s has %d bytes, and %d in the manifest %s", e.Name, e.Size, want.size, m.name)
				continue
			}
		}
		for algorithm, digest := range map[string]string{"sha256": want.sha256, "md5": want.md5} {
			if digest != "" {
				what[algorithm] = true
				if err := l.digest(ctx, i, algorithm, digest, "the manifest "+m.name); err != nil {
					return err
				}
			}
		}
	}
	by := "their names"
	if len(what) > 0 {
		by = strings.Join(slices.Sorted(maps.Keys(what)), ", ")
	}
	// First: of all rules it is the one to trust most.
	proof := fmt.Sprintf("the manifest %s (sha256 %.12s) lists %s by %s", m.name, m.sha256, files(own), by)
	l.proofs = slices.Insert(l.proofs, 0, proof)
	return nil
}

// names tells whether the path of the input means a file of this name.
func (l *look) names(name string) bool {
	pattern := path.Clean(l.pattern)
	if l.Input.Source.Literal {
		return name == pattern
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// digest notes what a file must have, and asks it where that costs no pull: of what the
// place states, and of a local file.
func (l *look) digest(ctx context.Context, i int, algorithm, want, says string) error {
	e, f := l.files[i], &l.v.Judged.Files[i]
	got := ""
	if algorithm == "sha256" {
		f.SHA256 = want
		got = e.SHA256
	} else {
		f.MD5 = want
	}
	if _, _, local := e.Local(); local && got == "" {
		var err error
		if got, err = l.hash(ctx, e, algorithm); err != nil {
			return err
		}
	}
	if got != "" && !strings.EqualFold(got, want) {
		l.late("%s has another %s than %s says", e.Name, algorithm, says)
	}
	return nil
}

// digestOf is a digest of a file as it was listed.
type digestOf struct {
	name, algorithm string
	size, modified  int64
}

func (l *look) hash(ctx context.Context, e fetch.Entry, algorithm string) (string, error) {
	key := digestOf{e.Name, algorithm, e.Size, e.Modified.UnixNano()}
	if d, ok := l.digests[key]; ok {
		return d, nil
	}
	r, err := l.store.Open(ctx, e)
	if err != nil {
		return "", err
	}
	defer r.Close()
	d, err := Digest(ctx, r, algorithm)
	if err == nil {
		if l.digests == nil {
			l.digests = map[digestOf]string{}
		}
		l.digests[key] = d
	}
	return d, err
}

// Digest reads to the end and gives the digest, hexadecimal: sha256 or md5.
func Digest(ctx context.Context, r io.Reader, algorithm string) (string, error) {
	var h hash.Hash = sha256.New()
	if algorithm == "md5" {
		h = md5.New() //nolint:gosec // see above
	}
	if _, err := io.Copy(h, interruptible{ctx, r}); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// interruptible ends with the context.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	return io.ReadAll(interruptible{ctx, r})
}

// count reads a number that is not negative.
func count(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0
}

func isHex(text string, digits int) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == digits
}

func slash(p string) string { return filepath.ToSlash(p) }

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return strconv.Itoa(n) + " files"
}
