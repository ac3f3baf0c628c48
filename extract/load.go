package extract

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Options of Load.
type Options struct {
	StageDir string // folder of the staged files; the scratch database must be allowed to use it
	BaseDir  string // folder of the job file: relative paths start there
	// Progress, where set, is told of every batch: bytes read of total (0 where the
	// format is read at random), and records so far. Calls come from several
	// goroutines at once.
	Progress func(file string, bytes, total int64, records int64)
	// Pinned, where set, are the files to read instead of those that the job finds now.
	Pinned []Pinned
	// Kept, where set, gives the path of bytes that are kept elsewhere under their digest,
	// for pinned files; "" where they are not.
	Kept func(sha256 string) string
	// Secret reads what a job file only refers to; what names the key in errors. It may be
	// nil where the records of no source are signed.
	Secret func(s rules.Secret, what string) (string, error)
	// Earlier are the files that runs of earlier business dates read, oldest first; Former
	// those of the former runs of this date, the latest run first. Of sources with an
	// identity alone.
	Earlier, Former []Arrived
}

// Load reads one side: it finds the files of each source, stages what is not
// staged yet, checks what the files state about themselves, and works out what
// the sources prove.
//
// Errors are *fail.Error: class Input where a file is missing, cut, corrupt, or
// short of its own control totals, and its source does not allow that (V35, V36);
// Integrity where records were lost on the way; Resources where the stage folder
// or the engine cannot go on. Nothing of a refused file is in the relation.
func Load(ctx context.Context, db *duck.DB, job *rules.Bound, side rules.Side, opt Options) (*Relation, error) {
	if err := os.MkdirAll(opt.StageDir, 0o700); err != nil {
		return nil, stageError(err)
	}
	if err := ownerAlone(opt.StageDir); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(opt.StageDir)
	if err != nil {
		return nil, stageError(err)
	}
	layout := NewLayout(job.Job, side)
	inputs, err := bankInputs(ctx, opt.BaseDir, job.Inputs[side])
	if err != nil {
		return nil, err
	}
	find := func() ([]*foundFile, error) { return discover(opt.BaseDir, inputs) }
	if opt.Pinned != nil {
		find = func() ([]*foundFile, error) { return pinned(opt.BaseDir, inputs, opt.Pinned, opt.Kept) }
	}
	found, err := find()
	if err != nil {
		return nil, err
	}
	if err := refuseMissing(found); err != nil {
		return nil, err
	}
	l := &loader{
		stager: &stager{db: db, dir: dir, layout: layout, opt: opt},
		job:    job,
		inputs: inputs,
		found:  found,
		rel:    &Relation{Side: side, Layout: layout},
	}
	err = l.load(ctx)
	if kept := l.keeping.Wait(); err == nil {
		err = kept
	}
	if err != nil {
		return nil, err
	}
	return l.rel, nil
}

// load stages the files and fills the relation.
func (l *loader) load(ctx context.Context) error {
	l.stageAll(ctx)
	l.judgeTotals()
	l.arrivals(ctx)
	if err := l.settle(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{l.checkSources, l.controlFiles, l.checkPages, l.checkBanks, l.sequences, l.revisions, l.otherTimes, l.latestRecords, l.findUnreadable, l.listRepeated} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	l.checkKnown()
	l.checkRange()
	l.checkEnd()
	l.total()
	l.remark()
	l.remarkUnlisted()
	l.watermarks()
	l.listControls()
	l.rel.Coverage = l.coverage()
	l.remarkSilent()
	return nil
}

// loader holds one side while it is loaded. The slices run in parallel with found.
type loader struct {
	*stager
	job     *rules.Bound
	inputs  []rules.Input
	found   []*foundFile
	staged  []*staged
	errs    []error
	rel     *Relation
	spoiled map[string]string // source → why its coverage is withdrawn whole
	// elsewhen says of a file (index of found) why its records are of other times
	elsewhen map[int]string
	// what banks say of a file (index of found): what is missing beside it, and why its
	// rows are not final
	gaps, provisional map[int]string
	through           map[int]int64 // input → what its data reach to, by its own word
	// of the identity of each file: which report it is, which file of an earlier date it is
	// again, in the place of another one or in its own, and which later one counts in its place
	arrived  []*Arrival
	resent   map[int]*Arrived
	reread   map[int]*Arrived
	newer    map[int]int
	replaced []superseded
}

// refuseMissing refuses a side whose required sources lack files, all at once.
func refuseMissing(found []*foundFile) error {
	var missing []string
	for _, f := range found {
		if f.missing && f.source.Need != rules.Optional && f.source.Need != rules.LateOK {
			missing = append(missing, f.rel)
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return fail.New(fail.Input, "there is no file %s", missing[0]).
			WithHint("wait for the file, or correct its path; a source that may be missing is declared need: late-ok")
	default:
		return fail.New(fail.Input, "%d files are missing: %s", len(missing), strings.Join(missing[:min(len(missing), 10)], ", ")).
			WithHint("wait for the files, or correct their path; a source that may be missing is declared need: late-ok")
	}
}

// stageAll stages the files, as many at a time as there are processors.
func (l *loader) stageAll(ctx context.Context) {
	l.staged = make([]*staged, len(l.found))
	l.errs = make([]error, len(l.found))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, f := range l.found {
		if f.missing {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if l.staged[i], l.errs[i] = l.file(ctx, f); l.errs[i] == nil {
				s := &l.staged[i].sidecar
				for _, judge := range []func(*foundFile, *sidecar) error{judgePulled, judgeStated, judgeControls, l.judgeThrough, judgeProofs, l.judgeKeys} {
					if l.errs[i] == nil {
						l.errs[i] = judge(f, s)
					}
				}
			}
		})
	}
	wg.Wait()
}

// settle decides in the order of the files what became of each: the first of
// several files of one content stands (V6), a fault ends the run or, in an optional
// source, leaves the file out (V35).
func (l *loader) settle(ctx context.Context) error {
	first := map[string]int{} // content → index of the first file
	var faults []error
	names := fileNames(l.found)
	for i, f := range l.found {
		file := File{No: i, Source: f.source.Name, Dir: f.dir, Path: f.rel, Name: names[i], Date: f.date, Arrival: l.arrived[i]}
		s, err := l.staged[i], l.errs[i]
		if s == nil && err != nil && fail.ClassOf(err) == fail.Input {
			s = l.copyOf(ctx, f, first)
		}
		if s != nil {
			file.Size, file.SHA256, file.ContentSHA256, file.SignedWith = s.Size, s.SHA256, s.Content, s.SignedWith
		}
		switch {
		case f.missing:
			problem, what := f.lacking()
			file.Status, file.Problem = FileMissing, problem
			l.find("file_missing", f, "%s: its source proves nothing for that time", what)
		case l.isSuperseded(i):
			l.supersede(i, &file)
		case s != nil && hasFirst(first, s):
			other := l.found[first[s.Content]]
			file.Status, file.Problem = FileSkipped, "same content as "+other.rel
			l.staged[i] = nil
			l.find("file_skipped", f, "%s has the same content as %s and was skipped: it covers nothing", f.rel, other.rel)
		case err != nil && fail.ClassOf(err) == fail.Input && f.source.Need == rules.Optional:
			file.Status, file.Problem = FileRefused, err.Error()
			l.staged[i] = nil
			l.find("file_refused", f, "%v; the file was left out, and its source proves nothing for that time", err)
		case err != nil:
			faults = append(faults, err)
		case l.wasRead(i):
			was := l.resent[i]
			file.Status, file.Problem = FileSkipped, fmt.Sprintf("same content as %s, which run %s read for %s", was.Path, was.RunID, slot(was.Date, was.BusinessDate))
			l.find("file_skipped", f, "%s has the %s, and was skipped: the file of %s is not there", f.rel, file.Problem, slot(f.date, l.job.Date))
			l.staged[i] = nil
		default:
			file.Status, file.Staged, file.Cached = FileStaged, s.path, s.cached
			file.Records, file.Control, file.Rejected = s.Records, s.Control, int64(len(s.Rejects))
			if s.Records > 0 {
				first[s.Content] = i
			}
			for _, r := range s.Rejects {
				r.File = i
				l.rel.Rejects = append(l.rel.Rejects, r)
			}
			l.rel.Records += s.Rows
		}
		l.rel.Files = append(l.rel.Files, file)
	}
	return joinFaults(faults)
}

func hasFirst(first map[string]int, s *staged) bool {
	_, ok := first[s.Content]
	return ok && s.Records > 0
}

// copyOf tells whether a file that could not be read is a copy of one that could:
// then it is skipped like any copy. It returns nil where it is none.
func (l *loader) copyOf(ctx context.Context, f *foundFile, first map[string]int) *staged {
	in, err := f.open()
	if err != nil {
		return nil
	}
	defer in.Close()
	raw, err := hashFile(ctx, in)
	if err != nil {
		return nil
	}
	for content, i := range first {
		if s := l.staged[i]; s.SHA256 == fmt.Sprintf("%x", raw) {
			return &staged{sidecar: sidecar{SHA256: s.SHA256, Content: content, Size: s.Size, Records: s.Records}}
		}
	}
	return nil
}

// joinFaults makes one error of all faulty files. What is not a fault of the input
// comes first, since it says that the run itself cannot go on.
func joinFaults(faults []error) error {
	for _, err := range faults {
		if fail.ClassOf(err) != fail.Input {
			return err
		}
	}
	if len(faults) < 2 {
		return errors.Join(faults...)
	}
	texts := make([]string, 0, 10)
	for _, err := range faults {
		if text := err.Error(); len(texts) < cap(texts) && !slices.Contains(texts, text) { // two files may share one fault
			texts = append(texts, text)
		}
	}
	e := fail.New(fail.Input, "%d files cannot be used: %s", len(faults), strings.Join(texts, "; "))
	if first, ok := errors.AsType[*fail.Error](faults[0]); ok {
		e.Hint = first.Hint
	}
	return e
}

// find adds a finding about a file.
func (l *loader) find(code string, f *foundFile, format string, args ...any) {
	l.rel.Findings = append(l.rel.Findings, Finding{
		Code: code, Source: f.source.Name, File: f.rel, Text: fmt.Sprintf(format, args...),
	})
}

// of calls f for each staged file of a source, in order.
func (l *loader) of(source string, f func(i int, s *staged)) {
	for i, s := range l.staged {
		if s != nil && l.rel.Files[i].Status == FileStaged && l.found[i].source.Name == source {
			f(i, s)
		}
	}
}

// sources lists the sources of the side that have inputs, in declared order.
func (l *loader) sources() []*rules.Source {
	var out []*rules.Source
	for i := range l.inputs {
		if s := l.inputs[i].Source; !slices.ContainsFunc(out, func(o *rules.Source) bool { return o.Name == s.Name }) {
			out = append(out, s)
		}
	}
	return out
}

// total adds up the totals of the staged files.
func (l *loader) total() {
	sums := map[string]*Total{}
	for i, s := range l.staged {
		if s == nil || l.rel.Files[i].Status != FileStaged {
			continue
		}
		for _, t := range s.Totals {
			sum := sums[t.Currency]
			if sum == nil {
				sum = &Total{Currency: t.Currency, Sum: new(big.Rat)}
				sums[t.Currency] = sum
			}
			sum.Rows += t.Rows
			sum.Unreadable += t.Unreadable
			sum.Sum.Add(sum.Sum, t.rat())
		}
	}
	for _, t := range sums {
		l.rel.Totals = append(l.rel.Totals, *t)
	}
	slices.SortFunc(l.rel.Totals, func(a, b Total) int { return strings.Compare(a.Currency, b.Currency) })
}

func (t *sidecarTotal) rat() *big.Rat {
	r, ok := new(big.Rat).SetString(t.Sum)
	if !ok {
		panic(fmt.Sprintf("sidecar sum %q", t.Sum)) // we wrote it ourselves
	}
	return r
}

// coverage gives what the inputs prove.
func (l *loader) coverage() []Interval {
	inputs := make([]evidence, len(l.inputs))
	for i := range l.inputs {
		in := &l.inputs[i]
		e := evidence{source: in.Source, complete: in.Source.Coverage.Complete, from: in.From, until: in.Until}
		if at, ok := l.through[i]; ok && in.Until != nil && at < *in.Until {
			e.through = &at
		}
		e.spoiled = l.spoiled[in.Source.Name]
		if e.spoiled == "" && in.Judged != nil {
			e.spoiled = in.Judged.Gap
		}
		e.bySource = e.spoiled != ""
		for j, f := range l.found {
			if f.input != i {
				continue
			}
			file := &l.rel.Files[j]
			proved := false
			switch {
			case file.Status == FileMissing:
				e.missing, e.noFile = "no file "+f.rel, true
				if f.late() != "" {
					e.missing, _ = f.lacking()
				} else if f.source.Remote != nil {
					e.missing = f.rel + " did not come"
				}
			case file.Status == FileSuperseded && l.found[l.newer[j]].input == f.input:
				continue // the later one speaks for it
			case l.supersededEvidence(j, &e), l.resentEvidence(j, &e):
			case file.Status == FileRefused:
				e.spoiled = f.rel + " could not be read whole"
			case file.Status == FileSkipped:
				e.missing = f.rel + " is a copy: " + file.Problem
			case file.Rejected > 0:
				e.spoiled = fmt.Sprintf("%s has %d rejected records", f.rel, file.Rejected)
			case l.elsewhen[j] != "":
				e.spoiled = l.elsewhen[j]
			case l.staged[j] != nil && l.staged[j].Outside.Rows > 0:
				e.spoiled = fmt.Sprintf("%s has %s with values outside its range", f.rel, plural(int(l.staged[j].Outside.Rows), "row"))
			case l.mayBeCut(j):
				e.spoiled = f.rel + " may have been cut: its last line has no end"
			case l.bankEvidence(j, &e):
			default:
				e.proved, proved = true, true
			}
			if !proved {
				e.blemished(f.rel, file.Status, file.Rejected)
			}
		}
		if e.spoiled != "" {
			l.rel.Findings = append(l.rel.Findings, Finding{
				Code: "coverage_withdrawn", Source: in.Source.Name,
				Text: fmt.Sprintf("%s: no absence is concluded from source %s for %s", e.spoiled, in.Source.Name, describeSpan(in.From, in.Until)),
			})
		}
		inputs[i] = e
	}
	l.rel.Healings, l.rel.Healed = healings(inputs)
	return coverageOf(inputs)
}
