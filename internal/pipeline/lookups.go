package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// LookupAsked is what a service was asked about single operations, in a manifest. Keys are
// counted, since one may stand for several operations.
type LookupAsked struct {
	Source     string `json:"source"`
	Path       string `json:"path"`       // of what was asked, relative to the output folder, with slashes
	SHA256     string `json:"sha256"`     // of that file
	Digest     string `json:"digest"`     // of what decides in it; part of the run id
	Operations int64  `json:"operations"` // that were asked about
	LeftOut    int64  `json:"left_out"`   // undecided ones beyond lookup.limits.operations
	extract.LookupCounts
}

// lookUp is the first round of a job with lookups: everything else is matched and judged, and
// the services are asked about what is undecided. What they say is one more input of the
// run that follows. A run that is judged again, and one from snapshots, ask nobody.
func (r *run) lookUp(ctx context.Context, stage string, allowed []string) (err error) {
	if len(r.Job.Lookups()) == 0 || r.again != nil || r.LastSnapshots {
		return nil
	}
	dir, err := os.MkdirTemp(stage, "lookup-")
	if err != nil {
		return diskError(err, "a temporary folder cannot be made")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	questions, err := r.questions(ctx, stage, dir, allowed)
	if err != nil {
		return err
	}
	f := r.fetching(ctx)
	f.questions = map[string]classify.Question{}
	for _, q := range questions {
		f.questions[q.Source.Name] = q
	}
	snapshots, err := f.pull(ctx)
	r.snapshots = append(r.snapshots, snapshots...)
	return err
}

// questions judges what is there without lookups, in an engine of its own.
func (r *run) questions(ctx context.Context, stage, dir string, allowed []string) (out []classify.Question, err error) {
	if err := os.WriteFile(filepath.Join(dir, rules.FoundFile), nil, 0o600); err != nil {
		return nil, diskError(err, "a temporary file cannot be written")
	}
	bound := *r.bound
	bound.Inputs = map[rules.Side][]rules.Input{rules.Operations: r.bound.Inputs[rules.Operations], rules.Results: slices.Clone(r.bound.Inputs[rules.Results])}
	for i := range bound.Inputs[rules.Results] {
		if in := &bound.Inputs[rules.Results][i]; in.Source.IsLookup() {
			in.Pulled = &rules.Pulled{Dir: dir, Names: []string{rules.FoundFile}}
		}
	}
	db, err := duck.Open(ctx, duck.Options{
		MemoryBytes: r.budget.DuckDB, Threads: r.threads(), SpillDir: filepath.Join(stage, "spill"), Allowed: allowed,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rels, err := r.load(ctx, db, &bound, filepath.Join(stage, "files"))
	if err != nil {
		return nil, err
	}
	outcome, err := match.Run(ctx, db, &bound, rels[0], rels[1], match.Options{})
	if err != nil {
		return nil, err
	}
	return classify.Questions(ctx, db, &bound, rels[0], rels[1], outcome)
}

// lookups reads what the lookups of a job were asked, and sets it beside the results. kept
// gives the path of bytes that are kept elsewhere under their digest, may be nil; m is the
// manifest of a run that is judged again, nil else.
//
// What was found and cannot be read, or has no remote_id, is refused whatever the source may
// lack: an effect would be there, and not count.
func lookups(ctx context.Context, db *duck.DB, job *rules.Bound, res *extract.Relation, m *Manifest, out string, kept func(string) string) ([]LookupAsked, error) {
	var list []LookupAsked
	for _, in := range job.Inputs[rules.Results] {
		src := in.Source
		if !src.IsLookup() {
			continue
		}
		if err := readable(ctx, db, src, res); err != nil {
			return nil, err
		}
		l := extract.Lookup{Source: src}
		was := LookupAsked{}
		if m != nil {
			i := slices.IndexFunc(m.Lookups, func(a LookupAsked) bool { return a.Source == src.Name })
			if i < 0 {
				res.Lookups = append(res.Lookups, l)
				continue // it could not be asked then
			}
			was = m.Lookups[i]
		} else if in.Pulled == nil || in.Pulled.Dir == "" {
			res.Lookups = append(res.Lookups, l)
			continue // it may be missing, and is
		}
		path := filepath.Join(in.Pulled.Dir, fetch.AskedFile)
		_, digest, err := fetch.HashFile(path)
		if m != nil && (err != nil || digest != was.SHA256) && kept != nil && kept(was.SHA256) != "" {
			path = kept(was.SHA256)
			_, digest, err = fetch.HashFile(path)
		}
		if err != nil || m != nil && digest != was.SHA256 {
			return nil, fail.New(fail.Input, "what the lookup %s was asked is not there, or is not what it was: %s", src.Name, displayPath(path)).
				WithHint("restore the folder of the snapshot from a backup, or run the date again")
		}
		asked, err := fetch.ReadAsked(path)
		if err != nil {
			return nil, err
		}
		l.Operations, l.LeftOut = asked.Operations, asked.LeftOut
		for i := range asked.Answers {
			l.Answers = append(l.Answers, answer(&asked.Answers[i], job))
		}
		a := LookupAsked{Source: src.Name, SHA256: digest, Path: was.Path, Digest: asked.Digest(job), Operations: l.Operations, LeftOut: l.LeftOut, LookupCounts: l.Counts()}
		if m == nil {
			rel, err := filepath.Rel(out, path)
			if err != nil {
				return nil, err
			}
			a.Path = filepath.ToSlash(rel)
		}
		if a.Unknown > 0 || a.LeftOut > 0 {
			res.Findings = append(res.Findings, extract.Finding{Code: "lookup_incomplete", Source: src.Name, Text: a.words() + "; what was not asked about stays undecided"})
		}
		res.Lookups, list = append(res.Lookups, l), append(list, a)
	}
	return list, nil
}

// answer is an answer as the engine takes it.
func answer(x *fetch.Answer, job *rules.Bound) extract.LookupAnswer {
	out := extract.LookupAnswer{Key: x.Key, Found: x.Finding == fetch.Found, Unknown: x.Finding == fetch.Unknown, At: x.At, Why: x.Why}
	if until := x.Until(job); !until.IsZero() {
		us := until.UnixMicro()
		out.Until = &us
	}
	return out
}

// readable refuses records of a lookup that are found and cannot be taken.
func readable(ctx context.Context, db *duck.DB, src *rules.Source, res *extract.Relation) error {
	for _, f := range res.Files {
		switch {
		case f.Source != src.Name:
		case f.Status == extract.FileRefused:
			return fail.New(fail.Input, "what the lookup %s has found cannot be read: %s", src.Name, f.Problem).
				WithHint("correct the fields of the source; an effect that was found must not be left out")
		case f.Status == extract.FileStaged && f.Records > 0 && res.Layout.RecordID() != "":
			var n int64
			if err := db.Scan(ctx, "SELECT count(*) FROM "+res.Layout.Relation(f.Staged)+" WHERE kx IS NULL", &n); err != nil {
				return err
			}
			if n > 0 {
				return fail.New(fail.Input, "%s that the lookup %s has found have no %s, by which the same effect in another source would be known", plural(n, "record", "records"), src.Name, res.Layout.RecordID()).
					WithHint("map the member of the record that holds it")
			}
		}
	}
	return nil
}

// askedFiles are the files of the lookups that the archive keeps beside what is read: what was
// asked, and the answers as they came.
func (r *run) askedFiles() ([]keptFile, error) {
	var out []keptFile
	for _, in := range r.bound.Inputs[rules.Results] {
		if !in.Source.IsLookup() || in.Pulled == nil || in.Pulled.Dir == "" {
			continue
		}
		snap, err := fetch.ReadSnapshot(filepath.Dir(in.Pulled.Dir))
		if err != nil {
			return nil, err
		}
		if snap == nil {
			continue // of a run that is judged again
		}
		for _, f := range snap.Files {
			if f.Raw {
				out = append(out, keptFile{source: in.Source.Name, path: filepath.Join(in.Pulled.Dir, filepath.FromSlash(f.Name)), File: f})
			}
		}
	}
	return out, nil
}

type keptFile struct {
	source, path string
	fetch.File
}

// lookupPlan tells how a lookup will be asked.
func lookupPlan(src *rules.Source) string {
	l := src.Remote.Lookup
	text := "asked after the match, by GET, about operations that are undecided (" + strings.Join(l.Ask, ", ") + "), at most " + itoa(int(l.Limits.Operations)) +
		", at " + l.Requests.Rate + ", by " + strings.Join(l.By, ", then ")
	switch {
	case l.Exact && l.Lag == 0:
		text += "; its silence counts up to the request"
	case l.Proves():
		text += "; its silence counts up to " + durationText(l.Lag) + " before the request"
	default:
		text += "; its silence proves nothing, since it is not exact and does not say its lag"
	}
	if l.Proves() && len(l.Sufficient) > 0 {
		text += ", under " + strings.Join(l.Sufficient, " or ") + " alone"
	} else if l.Proves() {
		text += ", if it is silent under every identity key"
	}
	return text + provesWords(src.Coverage)
}

// words tell what was asked.
func (a LookupAsked) words() string {
	text := "the lookup " + a.Source + " was asked about " + plural(a.Operations, "operation", "operations") +
		": " + plural(a.Found, "key", "keys") + " found, " + itoa(int(a.None)) + " not there, " + itoa(int(a.Unproven)) + " silent without proof, " + itoa(int(a.Unknown)) + " unknown"
	if a.LeftOut > 0 {
		text += "; " + plural(a.LeftOut, "undecided operation was", "undecided operations were") + " left out, beyond lookup.limits.operations"
	}
	return text
}
