// Package listing makes records of the files of a place: their names, sizes, times and
// digests, for effects that are documents.
//
//  1. the files are listed, all of them;
//  2. what a digest is asked for is read whole, each at the version that was listed;
//  3. they are listed again: two listings that differ refuse the pull, since a file that
//     came in between could be the one whose absence the first would prove;
//  4. one line is written for each file, in the order of their names.
//
// Any place will do that is a [fetch.Store].
package listing

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Puller lists the files of a source. Of gives the puller of the kind of a place.
type Puller struct {
	Of func(kind string) fetch.Puller
}

// pull is one pull of one input.
type pull struct {
	of      func(kind string) fetch.Puller
	r       *fetch.Request
	l       *rules.Listing
	names   *regexp.Regexp // nil: no columns of names
	base    string         // folder in which the pattern begins, with a slash at its end
	pattern string
	store   fetch.Store
}

func (u Puller) begin(ctx context.Context, r *fetch.Request) (*pull, error) {
	p := &pull{of: u.Of, r: r, l: r.Source().Remote.Listing}
	if p.l.NamePattern != "" {
		p.names = regexp.MustCompile(p.l.NamePattern) // the job file was checked
	}
	var err error
	p.store, p.pattern, err = p.open(ctx)
	p.base = baseOf(p.pattern, r.Source().Literal)
	return p, err
}

// open opens the place. A Store is for one goroutine; each that reads opens its own.
func (p *pull) open(ctx context.Context) (fetch.Store, string, error) {
	if p.l.Place == "" {
		return fetch.Local{Base: p.r.BaseDir}, filepath.ToSlash(filepath.Clean(p.r.Input.Path)), nil
	}
	return p.of(p.l.Place).(fetch.Storer).Store(ctx, p.r)
}

// baseOf is the folder in which a pattern begins: what follows it is the path of a file.
func baseOf(pattern string, literal bool) string {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 && !literal {
		pattern = pattern[:i]
	}
	return pattern[:strings.LastIndexByte(pattern, '/')+1]
}

// Pull implements fetch.Puller. A place without the folder gives no files; a folder without
// files is a listing without records.
func (u Puller) Pull(ctx context.Context, r *fetch.Request) (snap *fetch.Snapshot, err error) {
	p, err := u.begin(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.store.Close()) }()
	list, err := p.store.List(ctx, p.pattern, r.Source().Literal)
	if err != nil {
		return nil, err
	}
	s := &fetch.Snapshot{Kind: rules.FromListing, Address: r.Input.Path, Request: p.digest(), Requests: 1}
	if there, err := p.there(list); err != nil || !there {
		s.Proof = "no file has the name, and the place does not say that there are none"
		return s, err
	}
	digests, err := p.digests(ctx, list)
	if err != nil {
		return nil, err
	}
	after, err := p.store.List(ctx, p.pattern, r.Source().Literal)
	if err != nil {
		return nil, err
	}
	if err := p.unchanged(list, after); err != nil {
		return nil, err
	}
	f, notes, err := p.write(list, digests)
	if err != nil {
		return nil, err
	}
	s.Files, s.Notes, s.Requests = []fetch.File{f}, notes, 2
	s.Proof = fmt.Sprintf("two listings in a row with the same %s, of the same sizes and versions", files(len(list)))
	if p.l.Digest == rules.SHA256Digest {
		s.Proof += "; each was read whole in between"
	}
	return s, nil
}

// there tells whether what was listed is the content of a place, rather than nothing at
// all. Only of a local folder is it known that it is there.
func (p *pull) there(list []fetch.Entry) (bool, error) {
	if len(list) > 0 || p.l.MayBeEmpty {
		return true, nil
	}
	if p.l.Place != "" || p.r.Source().Literal || !strings.ContainsAny(p.pattern, "*?[") {
		return false, nil
	}
	dir := filepath.FromSlash(p.base)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.r.BaseDir, dir)
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fail.Wrap(fail.Input, err, "the folder of the source %s cannot be read", p.r.Source().Name)
	}
	return info.IsDir(), nil
}

// digests gives the column digest of each file.
func (p *pull) digests(ctx context.Context, list []fetch.Entry) ([]string, error) {
	out := make([]string, len(list))
	switch p.l.Digest {
	case rules.NoDigest:
		return out, nil
	case rules.ETagDigest:
		for i, e := range list {
			out[i] = e.Version
		}
		return out, nil
	}
	total := int64(0)
	for _, e := range list {
		if e.SHA256 == "" {
			total += e.Size
		}
	}
	if total > p.l.Most {
		return nil, fail.New(fail.Input, "the source %s: %s are %d bytes, more than %d", p.r.Source().Name, p.r.Input.Path, total, p.l.Most).
			WithHint("raise listing.max_bytes, name fewer files, or write digest: none")
	}
	next := make(chan int)
	g, some := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(next)
		for i := range list {
			select {
			case next <- i:
			case <-some.Done():
				return context.Cause(some)
			}
		}
		return nil
	})
	for range min(p.l.Parallel, len(list)) {
		g.Go(func() (err error) {
			st, _, err := p.open(some)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, st.Close()) }()
			for i := range next {
				if out[i] = list[i].SHA256; out[i] != "" {
					continue
				}
				if out[i], err = sum(some, st, list[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return out, g.Wait()
}

// sum reads one file.
func sum(ctx context.Context, st fetch.Store, e fetch.Entry) (_ string, err error) {
	f, err := st.Open(ctx, e)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	n, err := io.Copy(h, reading{ctx, f})
	if err != nil {
		if fail.ClassOf(err) == fail.Internal && ctx.Err() == nil {
			err = fail.Wrap(fail.Input, err, "%s cannot be read", e.Name)
		}
		return "", err
	}
	if n != e.Size {
		return "", fail.New(fail.Input, "%s has %d bytes, and was listed with %d", e.Name, n, e.Size).WithHint("run again when the delivery has ended")
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// reading is a reader that ends with its context.
type reading struct {
	ctx context.Context
	io.Reader
}

func (r reading) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// unchanged compares two listings.
func (p *pull) unchanged(before, after []fetch.Entry) error {
	no := func(name, what string) error {
		return fail.New(fail.Input, "the source %s: %s %s while the files were listed", p.r.Source().Name, name, what).
			WithHint("run again when the delivery has ended")
	}
	was := map[string]fetch.Entry{}
	for _, e := range before {
		was[e.Name] = e
	}
	for _, e := range after {
		old, ok := was[e.Name]
		switch delete(was, e.Name); {
		case !ok:
			return no(e.Name, "appeared")
		case !old.Same(e):
			return no(e.Name, "was changed")
		}
	}
	for _, e := range before {
		if _, gone := was[e.Name]; gone {
			return no(e.Name, "vanished")
		}
	}
	return nil
}

// write writes the records. Members are in a fixed order, those of the names in theirs; what
// is not known is left out.
func (p *pull) write(list []fetch.Entry, digests []string) (fetch.File, []string, error) {
	w, err := fetch.Create(p.r.Dir, rules.ListingFile(p.r.Input.FileDate))
	if err != nil {
		return fetch.File{}, nil, err
	}
	defer w.Abort()
	out := bufio.NewWriter(w)
	var leftOut []string
	for i, e := range list {
		line, left := p.line(e, digests[i])
		if left {
			leftOut = append(leftOut, strings.TrimPrefix(e.Name, p.base))
		}
		if _, err := out.Write(line); err != nil {
			return fetch.File{}, nil, err
		}
	}
	if err := out.Flush(); err != nil {
		return fetch.File{}, nil, err
	}
	p.r.Progress(rules.ListingFile(p.r.Input.FileDate), w.Size(), int64(len(list)))
	f, err := w.Commit()
	f.Address, f.Records = p.r.Input.Path, int64(len(list)-len(leftOut))
	return f, leftOutNote(leftOut), err
}

// line is one record.
func (p *pull) line(e fetch.Entry, digest string) (line []byte, left bool) {
	b := &bytes.Buffer{}
	member := func(name, text string) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(quoted(name))
		b.WriteByte(':')
		b.Write(quoted(text))
	}
	rel := strings.TrimPrefix(e.Name, p.base)
	member("name", path.Base(rel))
	member("path", rel)
	fmt.Fprintf(b, `,"size":%d`, e.Size)
	if !e.Modified.IsZero() {
		member("modified", e.Modified.UTC().Format(time.RFC3339Nano))
	}
	for _, m := range [][2]string{{"version", e.Version}, {"digest", digest}} {
		if m[1] != "" {
			member(m[0], m[1])
		}
	}
	switch groups, why := p.parts(rel); {
	case why == "":
		for _, g := range groups {
			member(g[0], g[1])
		}
	case why == misfit && p.l.OtherNames == rules.LeaveOutNames:
		left = true
		member(rules.ListingLeftOut, why)
	default:
		member(rules.ListingUnfit, why)
	}
	return []byte("{" + b.String() + "}\n"), left
}

const misfit = "the name does not fit name_pattern"

// parts takes a name apart; why says that it is none, "" that it is.
func (p *pull) parts(name string) (groups [][2]string, why string) {
	switch {
	case !utf8.ValidString(name):
		return nil, "the name is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return nil, "the name holds a control character"
	case p.names == nil:
		return nil, ""
	}
	at := p.names.FindStringSubmatchIndex(name)
	if at == nil {
		return nil, misfit
	}
	for i, group := range p.names.SubexpNames() {
		if group != "" && at[2*i] >= 0 {
			groups = append(groups, [2]string{group, name[at[2*i]:at[2*i+1]]})
		}
	}
	return groups, ""
}

// quoted is a text as JSON, without the escapes for HTML.
func quoted(text string) []byte {
	b := &bytes.Buffer{}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a text
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// leftOutNote tells which files are no records.
func leftOutNote(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	const shown = 3
	text := fmt.Sprintf("%s left out, whose names do not fit name_pattern: %q", files(len(names)), names[:min(len(names), shown)])
	if len(names) > shown {
		text += fmt.Sprintf(" and %d more", len(names)-shown)
	}
	return []string{text}
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// digest says what is asked for.
func (p *pull) digest() string {
	text, err := json.Marshal([]any{rules.FromListing, p.l, p.r.Input.Path, p.r.Source().Literal})
	if err != nil {
		panic(err) // texts and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Check implements fetch.Puller: the place can be listed, and the first file read where its
// content is asked for.
func (u Puller) Check(ctx context.Context, r *fetch.Request) []string {
	brief := *r
	brief.Until = time.Time{} // whoever asks does not want to wait for long
	return fetch.Problems(u.check(ctx, &brief))
}

func (u Puller) check(ctx context.Context, r *fetch.Request) (err error) {
	p, err := u.begin(ctx, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.store.Close()) }()
	list, err := p.store.List(ctx, p.pattern, r.Source().Literal)
	if err != nil || len(list) == 0 || p.l.Digest != rules.SHA256Digest {
		return err
	}
	f, err := p.store.Open(ctx, list[0])
	if err != nil {
		return err
	}
	_, err = io.ReadFull(f, make([]byte, min(1, list[0].Size)))
	return errors.Join(err, f.Close())
}
