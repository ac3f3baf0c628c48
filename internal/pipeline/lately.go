package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
)

// What a former run was read for, beside limits and stages.
const (
	forTrend      = "trend"      // its counts
	forOpen       = "open"       // its open items
	forUnreadable = "unreadable" // it could not be read, and the report says so
)

// lately is what the report shows of the runs before: the current runs of earlier
// business dates of the series. Nothing is decided by it, so that a run which cannot be
// read is left out, with a finding, and stops nobody.
type lately struct {
	read     []FormerRun // the latest first
	trend    []report.TrendPoint
	open     *report.FormerOpen
	openDir  string
	findings []extract.Finding
}

// readLately reads the runs before. A run that is judged again shows nothing of them.
func (r *run) readLately() (*lately, error) {
	l := &lately{}
	if r.again != nil && r.replaying == nil {
		return l, nil
	}
	first := true
	err := formerRuns(r.dir.out, r.Job.Name, seriesOf(r.Job), r.BusinessDate, func(f *published) (bool, error) {
		latest := first
		first = false
		if err := f.readReport(r.dir.out); err != nil {
			l.unreadable(f.ref, err)
			return len(l.read) < report.TrendRuns-1, nil
		}
		ref := f.ref
		ref.For = []string{forTrend}
		l.trend = append(l.trend, report.TrendOf(f.summary))
		if latest {
			dir := filepath.Join(r.dir.out, folderOf(f.m.Job, f.ref.Series), f.ref.BusinessDate, f.ref.RunID)
			open, err := openOf(dir, f.m, f.summary)
			if err != nil {
				l.unreadable(f.ref, err)
			} else {
				l.open, l.openDir = open, dir
				ref.For = append(ref.For, forOpen)
			}
		}
		l.read = append(l.read, ref)
		return len(l.read) < report.TrendRuns-1, nil
	})
	if err != nil {
		if fail.ClassOf(err) != fail.Integrity {
			return nil, err
		}
		l.unreadable(FormerRun{Series: seriesOf(r.Job)}, err)
	}
	slices.Reverse(l.trend)
	return l, nil
}

// unreadable leaves a run out. It is entered all the same: the report says so, which
// makes it another one.
func (l *lately) unreadable(f FormerRun, err error) {
	f.For = []string{forUnreadable}
	if f.RunID != "" {
		l.read = append(l.read, f)
	}
	l.findings = append(l.findings, extract.Finding{Code: "former_unreadable",
		Text: "a former run cannot be read, so that trend and open items do not show it: " + err.Error()})
}

// enter records what was read in the manifest, and hands it to the report.
func (l *lately) enter(m *Manifest, p *report.Past) {
	for _, f := range l.read {
		for _, what := range f.For {
			m.read(f, what)
		}
	}
	p.Trend, p.Former = l.trend, l.open
}

// dirs are the folders that the engine may read for it.
func (l *lately) dirs() []string {
	if l.openDir == "" {
		return nil
	}
	return []string{l.openDir}
}

// openOf finds the open items of a published run: its file of them, or its queues, where
// it is of an older version. Their bytes must be those that were published.
func openOf(dir string, m *Manifest, s *report.Summary) (*report.FormerOpen, error) {
	f := &report.FormerOpen{BusinessDate: m.BusinessDate, RunID: m.RunID, Queues: map[string]string{}}
	has := slices.ContainsFunc(m.Outputs, func(o OutputDigest) bool { return o.Path == report.OpenFile })
	for _, o := range m.Outputs {
		queue, isQueue := strings.CutSuffix(strings.TrimPrefix(o.Path, "queues/"), ".parquet")
		isQueue = isQueue && strings.HasPrefix(o.Path, "queues/") && o.Path != withdrawnParquet && queue != "confirm"
		if o.Path != report.OpenFile && (has || !isQueue) {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(o.Path))
		size, sum, err := hashFile(path)
		if err != nil || size != o.Size || sum != o.SHA256 {
			return nil, fail.New(fail.Integrity, "%s of run %s of %s is not what was published", o.Path, m.RunID, m.BusinessDate).
				WithHint("look at it with recon-batch verify %s, and restore it from a backup", shellQuote(displayPath(dir)))
		}
		if has {
			f.File = path
		} else {
			f.Queues[queue] = path
		}
	}
	if has {
		f.Closing = append([]report.OpenItems{}, s.Open...)
	}
	return f, nil
}

// sameTrend compares the trend of a report with the reports of the runs that it shows, the
// latest first.
func sameTrend(s *report.Summary, former []report.TrendPoint) []string {
	slices.Reverse(former)
	want := append(former, report.TrendOf(s))
	if len(s.Trend) == 0 && len(want) == 1 { // of an older version
		return nil
	}
	if fmt.Sprint(s.Trend) != fmt.Sprint(want) {
		return []string{"the trend of the report is not that of the runs"}
	}
	return nil
}
