package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/web"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Lookup is how a service is asked about single operations, one request each.
type Lookup struct {
	URL     rules.Template      // with {key}, where the query has none
	Query   map[string][]string // templates, with {key}
	Records string              // path of the array of records; "" the answer is the array
	One     bool                // the answer is the record itself
	Key     string              // path in a record whose value has to be the key; "" not compared
	Absent  []int               // statuses that say that there is none, such as 404
	Known   string              // a key that the service has a record of. It is asked for first, and unless it is found no silence counts; required with Absent
	Exact   bool                // the service answers from its books
	Lag     time.Duration       // how far the answers may lag behind
}

// What a service says about a key.
type Finding string

// Findings. Whatever is not clearly one of the first two is the third.
const (
	Found   Finding = "found"
	None    Finding = "none"
	Unknown Finding = "unknown"
)

// Answer is what a service said about one key.
type Answer struct {
	Key     string
	Finding Finding
	File    fetch.File // of the answer as it came; without a name where none was stored
	Records int64
	At      time.Time // of the request, by the earlier of our clock and that of the service

	// Covers is the instant up to which the answer None speaks of the operation: At less
	// the lag, where the service is exact or says its lag. Zero: its silence proves nothing.
	Covers time.Time

	Err error // why it is unknown
}

// Lookup asks about keys, in their order, through the client of the source of the request:
// GET alone, at its rate. Answers are stored below Request.Dir like pages; those that an
// interrupted call stored are not asked for again, unless they are unknown. A key whose
// request fails is unknown, and the others are asked for, until requests.failures attempts
// in a row have failed. The error is one of the declaration, of the disk, or of a run that ends.
func (p Puller) Lookup(ctx context.Context, r *fetch.Request, how Lookup, keys []string) ([]Answer, error) {
	l, err := p.prepare(r)
	if err != nil {
		return nil, err
	}
	defer l.c.Close()
	if len(how.Absent) > 0 && how.Known == "" {
		return nil, l.usage("name a key that the service has a record of", "a status says that there is none, and so would a wrong address")
	}
	digest, err := json.Marshal([]any{"lookup", how, l.digest})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(digest)
	if l.j, err = openJournal(r.Dir, hex.EncodeToString(sum[:])); err != nil {
		return nil, err
	}
	defer l.j.close()
	k := &looking{pull: l, how: how, stored: map[string]*page{}}
	for i := range l.j.pages {
		k.stored[l.j.pages[i].Position.At] = &l.j.pages[i]
	}
	if err := k.adopt(); err != nil {
		return nil, err
	}
	silence := error(nil) // why no silence counts
	if how.Known != "" {
		a, err := k.ask(ctx, how.Known)
		if err != nil {
			return nil, err
		}
		if a.Finding != Found {
			silence = l.input("see the address of the lookup, and the known key", "the key that it should know is %s there", a.Finding)
		}
	}
	out := make([]Answer, 0, len(keys))
	for _, key := range keys {
		a, err := k.ask(ctx, key)
		if err != nil {
			return nil, err
		}
		if a.Finding == None && silence != nil {
			a.Finding, a.Err, a.Covers = Unknown, silence, time.Time{}
		}
		out = append(out, a)
	}
	files := make([]fetch.File, 0, len(k.stored))
	for _, key := range slices.Sorted(maps.Keys(k.stored)) {
		files = append(files, k.stored[key].File)
	}
	if err := fetch.SyncFiles(r.Dir, files); err != nil {
		return nil, err
	}
	return out, l.j.sync()
}

// looking is a lookup that is under way.
type looking struct {
	*pull
	how    Lookup
	stored map[string]*page // by key
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
	k.stored[a.Position.At] = pg
	return k.j.write(entry{Page: pg})
}

// ask gives the answer about one key.
func (k *looking) ask(ctx context.Context, key string) (Answer, error) {
	pg := k.stored[key]
	if pg == nil {
		var err error
		if pg, err = k.bring(ctx, key); err != nil {
			// What is one of this key alone leaves the others to be asked for.
			class := fail.ClassOf(err)
			if _, bad := errors.AsType[*broken](err); ctx.Err() != nil || !bad && class != fail.Temporary && class != fail.Usage && class != fail.Input {
				return Answer{}, err
			}
			return Answer{Key: key, Finding: Unknown, Err: err}, nil
		}
		k.stored[key] = pg
	}
	at, err := time.Parse(time.RFC3339Nano, pg.Time)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Key: key, Finding: Finding(pg.Said), File: pg.File, Records: pg.File.Records, At: at}
	if a.Finding == None && (k.how.Exact || k.how.Lag > 0) {
		a.Covers = at.Add(-k.how.Lag)
	}
	return a, nil
}

// bring asks about a key and stores what comes, if it is an answer.
func (k *looking) bring(ctx context.Context, key string) (*page, error) {
	call, err := k.call(key)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(key))
	name := "lookup-" + hex.EncodeToString(sum[:12]) + ".json" + k.z.ending
	var w *fetch.Writer
	defer func() {
		if w != nil {
			w.Abort()
		}
	}()
	status, asked := 0, k.r.Now()
	since := func() string { return asked.Add(min(k.c.Skew(), 0)).UTC().Format(time.RFC3339Nano) }
	call.Read = func(res *http.Response) error {
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
	if err != nil {
		return nil, errors.Join(k.remove(name), err)
	}
	pg.Said, pg.File.Records = string(said), n
	return pg, k.j.write(entry{Page: pg})
}

// call is the request about a key.
func (k *looking) call(key string) (*web.Call, error) {
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
	c := &web.Call{URL: u, Direct: true, Header: http.Header{"Accept-Encoding": {"gzip"}}, Most: k.a.Limits.PageBytes, Accept: append([]int{http.StatusOK}, k.how.Absent...)}
	for name, t := range k.a.Headers {
		v, err := t.FillWith(date, day, nil)
		if err != nil {
			return nil, k.usage("see api.headers", "api.headers.%s cannot be filled in: %s", name, err)
		}
		c.Header.Set(name, v)
	}
	return c, nil
}

// judge reads a stored answer. Whatever is not clearly about the key is an error.
func (k *looking) judge(key, name string, status int) (Finding, int64, error) {
	if status != http.StatusOK {
		return None, 0, nil
	}
	in, done, err := k.opened(name)
	if done != nil {
		defer done()
	}
	if err != nil {
		return "", 0, err
	}
	fault := func(format string, args ...any) error {
		return k.input("see the declaration of the lookup", "the answer about a key: %s", fmt.Sprintf(format, args...))
	}
	n := int64(0)
	check := func(record []byte) error {
		if n++; k.how.Key == "" {
			return nil
		}
		got, err := memberOf(record, k.how.Key)
		if err == nil && got != key {
			err = fault("it has a record with another key at %s", k.how.Key)
		}
		return err
	}
	if k.how.One {
		err = one(in, check)
	} else {
		err = each(in, k.how.Records, check)
	}
	if b, ok := errors.AsType[*broken](err); ok {
		err = fault("%s", b.why)
	}
	if err != nil {
		return "", 0, err
	}
	if n == 0 {
		return None, 0, nil
	}
	return Found, n, nil
}

func (k *looking) remove(name string) error {
	return fail.Disk(os.Remove(k.j.path(name)), "%s cannot be taken away", name)
}
