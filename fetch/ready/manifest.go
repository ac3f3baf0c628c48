package ready

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // what manifests state; it tells a cut file
	"crypto/sha256"
	"encoding/hex"
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
			if err := l.astray(ctx, name); err != nil {
				return err
			}
			continue
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
