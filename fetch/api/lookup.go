package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/web"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Asker asks about single operations: sources of the kind lookup, after the match of all
// others. Request.Questions says which.
type Asker struct {
	Pause time.Duration // of the first wait before a request is sent again; 0: a second
}

// Pull implements fetch.Puller: it asks by GET alone, at the rate of the source, and stores the
// answers like pages. Those that an interrupted pull stored are not asked for again, unless they
// are unknown, or silence that only the known key can vouch for. A key whose request fails is unknown, and the others are asked for, until
// requests.failures attempts in a row have failed; then, or at the end of limits.time, all that
// is left is unknown.
//
// What is unknown ends a pull as what is missing does (V35): where the source is required, and
// where it is late-ok unless the service could not be reached. The error is the first one.
func (p Asker) Pull(ctx context.Context, r *fetch.Request) (*fetch.Snapshot, error) {
	k, err := p.prepare(r)
	if err != nil {
		return nil, err
	}
	defer k.c.Close()
	if k.j, err = openJournal(r.Dir, k.digest); err != nil {
		return nil, err
	}
	defer k.j.close()
	for i := range k.j.pages {
		k.keep(&k.j.pages[i])
	}
	if err := k.adopt(); err != nil {
		return nil, err
	}
	asked, err := k.all(ctx, r.Questions)
	if err != nil {
		return nil, err
	}
	for _, a := range asked.Answers {
		if a.Err != nil && !k.goesOn(a.Err) {
			return nil, a.Err
		}
	}
	return k.snapshot(asked)
}

// goesOn tells whether the run may go on without an answer (V35).
func (k *looking) goesOn(err error) bool {
	switch k.r.Source().Need {
	case rules.Optional:
		return true
	case rules.LateOK:
		return fail.ClassOf(err) == fail.Temporary
	}
	return false
}

// Check implements fetch.Puller: it asks for the key that the service should know, where one is
// named.
func (p Asker) Check(ctx context.Context, r *fetch.Request) []string {
	k, err := p.prepare(r)
	if err == nil {
		defer k.c.Close()
		err = k.look(ctx)
	}
	return fetch.Problems(err)
}

// look asks for the known key, in a folder of its own.
func (k *looking) look(ctx context.Context) (err error) {
	if k.how.Known == "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "recon-batch-connect-")
	if err != nil {
		return fail.Disk(err, "a temporary folder cannot be made")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := *k.r
	r.Dir, k.r = dir, &r
	if k.j, err = openJournal(dir, k.digest); err != nil {
		return err
	}
	defer k.j.close()
	return k.known(ctx)
}

// known says why no silence counts: the key that the service should know is not found there. It
// is asked for anew: what the service said earlier does not vouch for what it says now.
func (k *looking) known(ctx context.Context) error {
	delete(k.stored, k.how.Known)
	a, err := k.ask(ctx, k.how.Known)
	switch {
	case err != nil:
		return err
	case a.Err != nil:
		return a.Err
	case a.Finding != fetch.Found:
		return k.input("see the address of the lookup, and `known`", "the key that it should know is %s there, so that its silence about others proves nothing", a.Finding)
	}
	return nil
}

// prepare resolves what the job says for the date.
func (p Asker) prepare(r *fetch.Request) (*looking, error) {
	how := r.Source().Remote.Lookup
	l := &pull{r: r, a: &rules.API{Web: how.Web, Headers: how.Headers, Limits: rules.APILimits{PageBytes: how.Limits.AnswerBytes}}, z: packer{ending: ".zst"}}
	k := &looking{pull: l, how: how, stored: map[string]*page{}}
	call, err := k.call("key")
	if err != nil {
		return nil, err
	}
	l.origin = call.URL
	until := r.Now().Add(how.Limits.Time)
	if !r.Until.IsZero() && r.Until.Before(until) {
		until = r.Until
	}
	if l.c, err = web.New(web.Options{
		Source: r.Source().Name, Web: &how.Web, Origins: []*url.URL{l.origin}, BaseDir: r.BaseDir, Until: until, Now: r.Now, Note: r.Note, Pause: p.Pause,
	}); err != nil {
		return nil, err
	}
	said, err := json.Marshal([]any{"lookup", how.URL, how.Query, how.Headers, how.Records, how.One, how.Key, how.Absent, how.Known, r.Job.Date})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(said)
	l.digest = hex.EncodeToString(sum[:])
	return k, nil
}

// all asks every question. Each key is asked by once.
func (k *looking) all(ctx context.Context, questions [][]string) (*fetch.Asked, error) {
	out := &fetch.Asked{SchemaVersion: fetch.AskedSchema, Operations: int64(len(questions)), LeftOut: k.r.LeftOut, Answers: []fetch.Answer{}}
	v := &vouching{looking: k, out: out}
	if err := v.begin(ctx, len(questions)); err != nil {
		return nil, err
	}
	said := map[string]fetch.Finding{}
	for i, keys := range questions {
		for _, key := range keys {
			if said[key] == "" {
				a, err := k.ask(ctx, key)
				if err != nil {
					return nil, err
				}
				said[key] = a.Finding
				if err := v.add(ctx, a); err != nil {
					return nil, err
				}
			}
			if said[key] == fetch.Found {
				break
			}
		}
		k.r.Progress(fetch.AskedFile, 0, int64(i+1))
	}
	return out, v.vouch(ctx)
}

// snapshot writes what is read of the answers: their records, in the order in which they were
// asked for, and what was asked.
func (k *looking) snapshot(asked *fetch.Asked) (*fetch.Snapshot, error) {
	s := &fetch.Snapshot{
		Kind: rules.FromLookup, Address: k.c.Secrets.Shown(k.origin), Request: k.digest,
		Proof: fmt.Sprintf("one answer for each of %d keys, of %d operations", len(asked.Answers), asked.Operations),
	}
	w, err := fetch.Create(k.r.Dir, rules.FoundFile)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	n := int64(0)
	for _, a := range asked.Answers {
		if a.Finding != fetch.Found {
			continue
		}
		err := k.records(a.File, func(record []byte) error {
			line := jsontext.Value(slices.Clone(record))
			if err := line.Compact(); err != nil {
				return err
			}
			n++
			_, err := w.Write(append(line, '\n'))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	found, err := w.Commit()
	if err != nil {
		return nil, err
	}
	found.Records = n
	list, err := asked.Write(k.r.Dir)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(k.raw, func(a, b fetch.File) int { return strings.Compare(a.Name, b.Name) })
	if err := fetch.SyncFiles(k.r.Dir, k.raw); err != nil {
		return nil, err
	}
	s.Files = append([]fetch.File{found, list}, k.raw...)
	s.Requests, s.Retries = k.c.Counts()
	return s, k.j.sync()
}

// looking is a lookup that is under way.
type looking struct {
	*pull
	how    *rules.Lookup
	stored map[string]*page // by key: the last answer
	raw    []fetch.File     // all that are stored
}

// keep takes a stored answer.
func (k *looking) keep(pg *page) {
	k.stored[pg.Position.At] = pg
	f := pg.File
	f.Raw = true
	k.raw = append(k.raw, f)
}

// adopt takes over an answer that came whole just before the program was killed.
func (k *looking) adopt() error {
	a := k.j.asked
	if k.j.asked = nil; a == nil {
		return nil
	}
	size, digest, err := fetch.HashFile(k.j.path(a.Name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fail.Disk(err, "%s cannot be read", a.Name)
	}
	said, n, err := k.judge(a.Position.At, a.Name, a.Status)
	if err != nil {
		return k.remove(a.Name)
	}
	pg := &page{Position: a.Position, File: fetch.File{Name: a.Name, Size: size, SHA256: digest, Records: n}, Said: string(said), Time: a.Since}
	k.keep(pg)
	return k.j.write(entry{Page: pg})
}

// lone tells whether an error is one of a single key, which leaves the others to be asked for.
func lone(ctx context.Context, err error) bool {
	if _, bad := errors.AsType[*broken](err); bad || ctx.Err() != nil {
		return ctx.Err() == nil
	}
	class := fail.ClassOf(err)
	return class == fail.Temporary || class == fail.Usage || class == fail.Input
}

// ask gives the answer about one key.
func (k *looking) ask(ctx context.Context, key string) (fetch.Answer, error) {
	pg := k.stored[key]
	if pg == nil {
		var err error
		if pg, err = k.bring(ctx, key); err != nil {
			if !lone(ctx, err) {
				return fetch.Answer{}, err
			}
			return fetch.Answer{Key: key, Finding: fetch.Unknown, Err: quiet(err, key)}, nil
		}
		k.keep(pg)
	}
	at, err := time.Parse(time.RFC3339Nano, pg.Time)
	if err != nil {
		return fetch.Answer{}, err
	}
	a := fetch.Answer{Key: key, Finding: fetch.Finding(pg.Said), File: pg.File.Name, SHA256: pg.File.SHA256, Records: pg.File.Records, At: at}
	if a.Finding == fetch.None {
		if a.Covers = at.Add(-k.how.Lag); !k.how.Proves() {
			a.Covers, a.Why = time.Time{}, "the service is not exact, and does not say its lag"
		}
	}
	return a, nil
}

// quiet takes a key out of what is said about it: it may be a field that outputs hide.
func quiet(err error, key string) error {
	hide := []string{"/" + url.PathEscape(key), "/{key}"}
	if len(key) > 5 {
		hide = append(hide, key, "{key}", url.QueryEscape(key), "{key}")
	}
	class, hint := fail.Input, "see the answer of the service"
	if e, ok := errors.AsType[*fail.Error](err); ok {
		class, hint = e.Class, e.Hint
	}
	return fail.New(class, "%s", strings.NewReplacer(hide...).Replace(err.Error())).WithHint("%s", hint)
}

// bring asks about a key and stores what comes, if it is an answer.
func (k *looking) bring(ctx context.Context, key string) (*page, error) {
	call, err := k.call(key)
	if err != nil {
		return nil, err
	}
	name, err := k.fileName(key)
	if err != nil {
		return nil, err
	}
	var w *fetch.Writer
	defer func() {
		if w != nil {
			w.Abort()
		}
	}()
	status, asked := 0, k.r.Now()
	age, further := time.Duration(0), false
	since := func() string { return asked.Add(min(k.c.Skew(), 0) - age).UTC().Format(time.RFC3339Nano) }
	call.Read = func(res *http.Response) error {
		if age, err = ageOf(res.Header); err != nil {
			return k.input("ask the service itself, not a cache", "%s", err)
		}
		next, err := web.Next(res.Header.Values("Link"))
		further = next != "" || err != nil
		if w != nil {
			w.Abort()
		}
		if w, err = fetch.Create(k.r.Dir, name); err != nil {
			return err
		}
		status = res.StatusCode
		if err := k.j.write(entry{Asked: &inquiry{
			Position: position{At: key}, Name: name, Method: http.MethodGet, URL: k.c.Secrets.Hide(call.URL.String()), Status: status,
			Time: k.r.Now().UTC().Format(time.RFC3339Nano), Headers: k.headers(res.Header), Since: since(),
		}}); err != nil {
			return err
		}
		return k.save(res, w)
	}
	if err := k.c.Do(ctx, call); err != nil {
		return nil, err
	}
	f, err := w.Keep()
	if err != nil {
		return nil, err
	}
	pg := &page{Position: position{At: key}, File: f, Time: since()}
	said, n, err := k.judge(key, name, status)
	if err == nil && said == fetch.None && further {
		err = k.input("see the declaration of the lookup", "the answer about a key: it has no record, but by its Link header there is another page")
	}
	if err != nil {
		return nil, errors.Join(k.remove(name), err)
	}
	pg.Said, pg.File.Records = string(said), n
	return pg, k.j.write(entry{Page: pg})
}

// call is the request about a key.
func (k *looking) call(key string) (*web.Call, error) {
	if key == "" || key == "." || key == ".." {
		// As part of a path it would be another path.
		return nil, k.input("correct the key of the operation", "the service cannot be asked about the key %q", key)
	}
	date, day := k.r.Job.Date, k.r.Input.FileDate
	text, err := k.how.URL.FillWith(date, day, map[string]string{"key": url.PathEscape(key)})
	if err != nil {
		return nil, k.usage("see the address of the lookup", "it cannot be filled in: %s", err)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, k.usage("see the address of the lookup", "it is no URL")
	}
	q := u.Query()
	for name, list := range k.how.Query {
		for _, t := range list {
			v, err := rules.Template(t).FillWith(date, day, map[string]string{"key": key})
			if err != nil {
				return nil, k.usage("see the query of the lookup", "it cannot be filled in: %s", err)
			}
			q.Add(name, v)
		}
	}
	u.RawQuery = q.Encode()
	c := &web.Call{URL: u, Direct: true, Header: http.Header{"Accept-Encoding": {"gzip"}, "Cache-Control": {"no-cache"}}, Most: k.a.Limits.PageBytes, Accept: []int{http.StatusOK}}
	for _, status := range k.how.Absent {
		c.Accept = append(c.Accept, int(status))
	}
	for name, t := range k.a.Headers {
		v, err := t.FillWith(date, day, nil)
		if err != nil {
			return nil, k.usage("see lookup.headers", "lookup.headers.%s cannot be filled in: %s", name, err)
		}
		c.Header.Set(name, v)
	}
	return c, nil
}

// judge reads a stored answer. Whatever is not clearly about the key is an error.
func (k *looking) judge(key, name string, status int) (fetch.Finding, int64, error) {
	fault := func(format string, args ...any) error {
		return k.input("see the declaration of the lookup", "the answer about a key: %s", fmt.Sprintf(format, args...))
	}
	none := func() (fetch.Finding, int64, error) {
		if c := k.strange(key); c != "" {
			return "", 0, fault("it says that there is none, but the key holds %s, which a service may not understand in an address, and `known` has none", c)
		}
		return fetch.None, 0, nil
	}
	if status != http.StatusOK {
		return none()
	}
	n := int64(0)
	id := k.r.Source().Field("remote_id")
	err := k.records(name, func(record []byte) error {
		n++
		holds, err := k.holds(record, key)
		if err == nil && !holds {
			err = fault("it has a record without that key at %s", strings.Join(k.how.Key, " or "))
		}
		if err != nil || id == nil || id.Column == "" || len(id.JSONPath) > 0 {
			return err
		}
		got, err := memberOf(record, id.Column)
		if err == nil && got == "" {
			err = fault("it has a record without remote_id at %s, by which the same effect in another source would be known", id.Column)
		}
		return err
	})
	if b, ok := errors.AsType[*broken](err); ok {
		err = fault("%s", b.why)
	}
	switch {
	case err != nil:
		return "", 0, err
	case n == 0:
		if why, err := k.against(name); why != "" || err != nil {
			return "", 0, cmp.Or(err, fault("it is empty, but %s", why))
		}
		return none()
	}
	return fetch.Found, n, nil
}

// holds tells whether a record has a key at one of the paths.
func (k *looking) holds(record []byte, key string) (bool, error) {
	for _, path := range k.how.Key {
		got, err := memberOf(record, path)
		if err != nil || got == key {
			return err == nil, err
		}
	}
	return false, nil
}

// records gives those of a stored answer.
func (k *looking) records(name string, to func([]byte) error) error {
	in, done, err := k.opened(name)
	if done != nil {
		defer done()
	}
	switch {
	case err != nil:
		return err
	case k.how.One:
		return one(in, to)
	}
	return each(in, k.how.Records, to)
}

func (k *looking) remove(name string) error {
	return fail.Disk(os.Remove(k.j.path(name)), "%s cannot be taken away", name)
}
