package pipeline

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/kinds"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// Outcomes of a recheck.
const (
	StillStands = "still_stands"
	Changed     = "changed"
	CannotSay   = "cannot_say"
)

// Rechecked is what the lookups of a job say now about the operation of an item.
type Rechecked struct {
	RunID        string          `json:"run_id"`
	BusinessDate string          `json:"business_date"`
	Item         string          `json:"item_id,omitempty"` // "": the operation has none
	Was          Stand           `json:"was"`               // in the run
	Now          Stand           `json:"now"`               // with what was said now
	Recheck      string          `json:"recheck,omitempty"` // the condition of the item, in words
	Expires      string          `json:"expires_at,omitempty"`
	Outcome      string          `json:"outcome"` // still_stands, changed, cannot_say
	Why          string          `json:"why"`
	DoNotSend    bool            `json:"do_not_send"` // it was to be sent again, and must not be
	Answers      []RecheckAnswer `json:"answers"`
	Evidence     string          `json:"evidence"` // folder of the answers, relative to the output folder, with slashes

	Temporary bool `json:"-"` // it cannot be said since a service did not answer
}

// Stand is what stands about an operation.
type Stand struct {
	Queue  string `json:"queue,omitempty"`
	Class  string `json:"class"`
	Reason string `json:"reason"`
}

func (s Stand) String() string {
	if s.Queue == "" {
		return s.Class + "/" + s.Reason
	}
	return s.Queue + ", " + s.Class + "/" + s.Reason
}

// RecheckAnswer is one answer. The key itself is no part of it: it may be hidden in outputs.
type RecheckAnswer struct {
	Source  string        `json:"source"`
	By      string        `json:"by"` // field whose text was asked by
	Finding fetch.Finding `json:"finding"`
	Records int64         `json:"records"`
	At      string        `json:"at,omitempty"`
	Until   string        `json:"until,omitempty"` // how far the silence speaks
	Why     string        `json:"why,omitempty"`
}

// Recheck asks the lookups of the job again about the operation of an item, just before somebody
// acts on it, and judges it once more with what they say. item is an item_id of a queue, or an
// operation id. The answers are kept beside the evidence of the run; queues stay as they are.
func Recheck(ctx context.Context, o Options, run, item string) (_ *Rechecked, err error) {
	if len(o.Job.Lookups()) == 0 {
		return nil, fail.New(fail.Usage, "the job %s declares no lookup to ask", o.Job.Name).
			WithHint("declare a source with `lookup:`, see docs/sources-lookups.md; or look at the provider by hand, by the condition `recheck` of the item")
	}
	dir, m, err := o.publishedRun(run)
	if err != nil {
		return nil, err
	}
	out := &Rechecked{RunID: m.RunID, BusinessDate: m.BusinessDate, Answers: []RecheckAnswer{}}
	var of subject
	if err := o.judgedAgain(ctx, dir, m, nil, func(x *explainer) error { return of.find(x, item, out) }); err != nil {
		return nil, err
	}
	b, err := o.boundFor(m)
	if err != nil {
		return nil, err
	}
	if err := pulledBefore(b, m, outOfRun(dir)); err != nil {
		return nil, err
	}
	folder, err := recheckFolder(outOfRun(dir), o.Job.Name, m.BusinessDate, of.id)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(outOfRun(dir), folder)
	if err != nil {
		return nil, err
	}
	out.Evidence = filepath.ToSlash(rel)
	tmp, err := os.MkdirTemp("", "recon-batch-recheck-")
	if err != nil {
		return nil, diskError(err, "a temporary folder cannot be made")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	asked := map[string]string{}
	for i := range b.Inputs[rules.Results] {
		in := &b.Inputs[rules.Results][i]
		if !in.Source.IsLookup() {
			continue
		}
		said, err := of.ask(ctx, o, b, in, filepath.Join(folder, in.Source.Name))
		if err != nil {
			return nil, err
		}
		out.answered(in.Source, said, &of)
		asked[in.Source.Name] = filepath.Join(tmp, in.Source.Name)
		if err := together(asked[in.Source.Name], in.Pulled, filepath.Join(folder, in.Source.Name, fetch.FilesDir)); err != nil {
			return nil, err
		}
	}
	silent := false
	if err := o.judgedAgain(ctx, dir, m, asked, func(x *explainer) (err error) {
		if out.Now, err = of.stand(x); err == nil {
			silent, err = x.holds(rules.Operations, of.rid, match.Silent(x.b, match.Columns(x.b.Job, x.rels[0].Layout, "o"), x.rels[1]))
		}
		return err
	}); err != nil {
		return nil, err
	}
	out.conclude(of.expires, silent, publishedAt(dir), time.Now())
	return out, nil
}

// publishedAt is when a run was published, to the second, as services tell their time: from
// then on somebody may have acted on its items. Where nothing tells it, it is now.
func publishedAt(dir string) time.Time {
	var t Timings
	text, err := os.ReadFile(filepath.Join(dir, timingsName))
	if err == nil && json.Unmarshal(text, &t) == nil {
		if at, err := time.Parse(time.RFC3339Nano, t.Started); err == nil {
			return at.Add(time.Duration(t.Seconds * float64(time.Second))).Truncate(time.Second)
		}
	}
	return time.Now().Truncate(time.Second)
}

// reach is how far the silence of the services speaks, by the one that lags most; zero where
// none is silent.
func (out *Rechecked) reach() (least time.Time) {
	for _, a := range out.Answers {
		if at, err := time.Parse(time.RFC3339Nano, a.Until); err == nil && (least.IsZero() || at.Before(least)) {
			least = at
		}
	}
	return least
}

// subject is the operation that is asked about.
type subject struct {
	rid     int64
	id      string              // of the item, else made of the row: a name for its folder
	expires time.Time           // of the item; zero: none
	keys    map[string][]string // by source
	fields  map[string][]string // of which they are the texts
}

// find looks for the item, and for the keys to ask by.
func (of *subject) find(x *explainer, item string, out *Rechecked) error {
	var rid, expires sql.NullInt64
	var id, recheck sql.NullString
	err := x.db.Scan(x.ctx, explainSQL("recheck").Render(duck.Slots{"item": duck.Literal(item)}), &id, &rid, &recheck, &expires)
	if err != nil {
		return err
	}
	if !id.Valid {
		rids, err := x.find(rules.Operations, item)
		if err != nil {
			return err
		}
		if len(rids) != 1 {
			return fail.New(fail.Usage, "run %s has no item %q, and %s of that name", out.RunID, item, plural(int64(len(rids)), "operation", "operations")).
				WithHint("take an item_id of its queues")
		}
		rid = sql.NullInt64{Int64: rids[0], Valid: true}
		id.String = fmt.Sprintf("operation-%d", rids[0])
	} else {
		out.Item, out.Recheck = id.String, recheck.String
	}
	if !rid.Valid {
		return fail.New(fail.Usage, "the item %s is about no single operation, and lookups ask by the keys of operations", item).
			WithHint("name an operation id in its place, or look at the effect itself at the provider")
	}
	of.rid, of.id, of.keys, of.fields = rid.Int64, id.String, map[string][]string{}, map[string][]string{}
	if expires.Valid {
		of.expires = time.UnixMicro(expires.Int64).UTC()
		out.Expires = clock(of.expires)
	}
	if out.Was, err = of.stand(x); err != nil {
		return err
	}
	cols := match.Columns(x.b.Job, x.rels[0].Layout, "o")
	for _, src := range x.b.Lookups() {
		for i, key := range match.LookupKeys(x.b.Job, cols, src) {
			var text sql.NullString
			if err := x.db.Scan(x.ctx, fmt.Sprintf("SELECT CASE WHEN %s THEN %s END FROM operations o WHERE rid = %d", match.MayKnow(cols, src), key, of.rid), &text); err != nil {
				return err
			}
			if text.Valid {
				of.keys[src.Name] = append(of.keys[src.Name], text.String)
				of.fields[src.Name] = append(of.fields[src.Name], src.Remote.Lookup.By[i])
			}
		}
	}
	return nil
}

// stand is what stands about the operation now.
func (of *subject) stand(x *explainer) (s Stand, err error) {
	err = x.db.Scan(x.ctx, explainSQL("stand").Render(duck.Slots{"rid": fmt.Sprint(of.rid)}), &s.Class, &s.Reason, &s.Queue)
	return s, err
}

// ask asks one lookup by all keys of the operation. A service that does not answer is an answer.
func (of *subject) ask(ctx context.Context, o Options, b *rules.Bound, in *rules.Input, dir string) (*fetch.Asked, error) {
	src := *in.Source
	src.Need = rules.Optional
	one := *in
	one.Source = &src
	r := &fetch.Request{
		Job: b, Side: rules.Results, Input: &one, Declared: b.AskedDigest(in), Dir: dir, BaseDir: o.baseDir(), Until: o.Until, Now: time.Now,
		Note: func(string, ...any) {}, Progress: func(string, int64, int64) {},
	}
	if keys := of.keys[src.Name]; len(keys) > 0 {
		r.Questions = [][]string{keys}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, diskError(err, "the folder of the recheck cannot be made")
	}
	if _, err := fetch.Pull(ctx, kinds.Of(rules.FromLookup), r); err != nil {
		return nil, err
	}
	return fetch.ReadAsked(filepath.Join(dir, fetch.FilesDir, fetch.AskedFile))
}

// answered takes what a lookup said.
func (out *Rechecked) answered(src *rules.Source, said *fetch.Asked, of *subject) {
	for _, a := range said.Answers {
		x := RecheckAnswer{Source: src.Name, Finding: a.Finding, Records: a.Records, Why: scan.Text(a.Why)}
		if i := slices.Index(of.keys[src.Name], a.Key); i >= 0 {
			x.By = of.fields[src.Name][i]
		}
		if !a.At.IsZero() {
			x.At = clock(a.At)
		}
		if a.Finding == fetch.None && !a.Covers.IsZero() {
			x.Until = clock(a.Covers)
		}
		out.Temporary = out.Temporary || a.Later
		out.Answers = append(out.Answers, x)
	}
}

// has tells whether some answer is of this kind.
func (out *Rechecked) has(f fetch.Finding) bool {
	return slices.ContainsFunc(out.Answers, func(a RecheckAnswer) bool { return a.Finding == f })
}

// conclude says what follows. An item whose time is over has changed, whatever was said; what
// differs now has changed; and without a proof of what the item stands on nothing can be said.
// Nor can it while a service lags behind the time from which somebody may have acted on the
// item: what was sent since would not be seen.
func (out *Rechecked) conclude(expires time.Time, silent bool, published, now time.Time) {
	absent, reach := out.Was.Class == "absent", out.reach()
	switch {
	case out.Now != out.Was:
		out.Outcome, out.Why = Changed, fmt.Sprintf("it was %s, and is %s now", out.Was, out.Now)
		if out.has(fetch.Found) {
			out.Why += ": the service has a record of it"
		}
	case !expires.IsZero() && now.After(expires):
		out.Outcome, out.Why = Changed, "the item expired at "+clock(expires)
	case out.has(fetch.Unknown):
		out.Outcome, out.Why = CannotSay, "a service could not be asked"
	case len(out.Answers) == 0:
		out.Outcome, out.Why = CannotSay, "no lookup of the job asks about this operation"
	case absent && !out.has(fetch.Found) && !silent:
		out.Outcome, out.Why = CannotSay, "the service is silent about it, and its silence proves nothing: it is not exact, lags behind, or was not asked by every identity key"
	case absent && !out.has(fetch.Found) && reach.Before(published):
		out.Outcome, out.Why = CannotSay, fmt.Sprintf("the silence of the service speaks up to %s, and the run was published at %s: what somebody has sent since would not be seen; ask again after %s",
			clock(reach), clock(published), clock(published.Add(now.Sub(reach)).Truncate(time.Second).Add(time.Second)))
	case !absent && !out.has(fetch.Found):
		out.Outcome, out.Why = CannotSay, "the service has no record of it, although the run had one"
	default:
		out.Outcome, out.Why = StillStands, "the service says what the run was told"
		if absent && !out.has(fetch.Found) {
			out.Why = "the service has no record of it up to " + clock(reach)
		}
	}
	out.DoNotSend = out.Was.Queue == "requeue" && out.Outcome != StillStands
}

// recheckFolder makes the folder of a recheck, beside the pulls of the job.
func recheckFolder(outDir, job, date, id string) (string, error) {
	home := filepath.Join(outDir, evidenceName, job, "rechecks", date, id)
	for dir := home; len(dir) >= len(filepath.Join(outDir, evidenceName)); dir = filepath.Dir(dir) {
		if err := refuseLink(dir); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", diskError(err, "the folder of the recheck cannot be made")
	}
	for n := 1; n <= 9999; n++ {
		dir := filepath.Join(home, fmt.Sprintf("%04d", n))
		switch err := os.Mkdir(dir, 0o700); {
		case err == nil:
			return dir, nil
		case !errors.Is(err, os.ErrExist):
			return "", diskError(err, "the folder of the recheck cannot be made")
		}
	}
	return "", fail.New(fail.Resources, "%s holds 9999 rechecks", displayPath(home)).WithHint("move it away")
}

// together puts what the run was told, and what was said now, into one folder: a key that was
// asked by again has its new answer, if there was one, and all records that were ever found are there.
func together(dir string, was *rules.Pulled, now string) error {
	if err := os.MkdirAll(filepath.Join(dir, fetch.FilesDir), 0o700); err != nil {
		return diskError(err, "a temporary folder cannot be made")
	}
	both := []string{now}
	if was != nil && was.Dir != "" {
		both = []string{was.Dir, now}
	}
	out := &fetch.Asked{SchemaVersion: fetch.AskedSchema}
	found, err := os.OpenFile(filepath.Join(dir, fetch.FilesDir, rules.FoundFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return diskError(err, "a temporary file cannot be written")
	}
	defer found.Close()
	for _, from := range both {
		asked, err := fetch.ReadAsked(filepath.Join(from, fetch.AskedFile))
		if err != nil {
			return err
		}
		for _, a := range asked.Answers {
			if a.Finding == fetch.Unknown {
				continue // it says nothing, and takes nothing back
			}
			out.Answers = append(slices.DeleteFunc(out.Answers, func(x fetch.Answer) bool { return x.Key == a.Key }), a)
		}
		in, err := os.Open(filepath.Join(from, rules.FoundFile))
		if err == nil {
			_, err = io.Copy(found, in)
			err = errors.Join(err, in.Close())
		}
		if err != nil {
			return fail.Wrap(fail.Input, err, "what the lookup has found cannot be read")
		}
	}
	if err := found.Close(); err != nil {
		return diskError(err, "a temporary file cannot be written")
	}
	_, err = out.Write(dir)
	return err
}

// asAsked are the files of a side that are read, with those of lookups that were asked again, and
// sets where these lie.
func asAsked(b *rules.Bound, side rules.Side, pins []extract.Pinned, asked map[string]string) []extract.Pinned {
	if side != rules.Results || asked == nil {
		return pins
	}
	for i := range b.Inputs[side] {
		in := &b.Inputs[side][i]
		dir := asked[in.Source.Name]
		if dir == "" {
			continue
		}
		in.Pulled = &rules.Pulled{Dir: filepath.Join(dir, fetch.FilesDir), Names: []string{rules.FoundFile}}
		pins = append(slices.DeleteFunc(pins, func(p extract.Pinned) bool { return p.Source == in.Source.Name }), extract.Pinned{Source: in.Source.Name, Path: rules.FoundFile})
	}
	return pins
}
