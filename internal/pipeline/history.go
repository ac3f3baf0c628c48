package pipeline

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// RunInfo is one line of a job's history: a published run or a refused attempt.
type RunInfo struct {
	BusinessDate  string     `json:"business_date"`
	RunID         string     `json:"run_id,omitempty"`
	Current       bool       `json:"current"`
	Attempt       string     `json:"attempt,omitempty"` // id of a refused run
	Since         string     `json:"since,omitempty"`   // of a refused run: the first time
	Last          string     `json:"last,omitempty"`    // the last time
	Times         int        `json:"times,omitempty"`
	ResolvedBy    string     `json:"resolved_by,omitempty"` // the run of the date that ended well since then
	ExitCode      fail.Class `json:"exit_code"`
	Operations    int64      `json:"operations"`
	Results       int64      `json:"results"`
	Supersedes    string     `json:"supersedes,omitempty"` // run id
	Message       string     `json:"message,omitempty"`    // of a refused run
	ContentDigest string     `json:"content_digest,omitempty"`
	Folder        string     `json:"folder"` // or the note of the attempt
}

// History lists the runs and attempts of a job by date: first the attempts after which
// a run of the date ended well, then the published runs in the order of their revisions,
// then the attempts that are still open; attempts oldest first. date "" lists all dates.
func History(out, job, date string) ([]RunInfo, error) {
	check := date
	if check == "" {
		check = "2000-01-01"
	}
	d, err := newOutDir(out, job, check)
	if err != nil {
		return nil, err
	}
	dates, err := os.ReadDir(d.job)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fail.Wrap(fail.Resources, err, "%s cannot be read", displayPath(d.job))
	}
	list := []RunInfo{}
	for _, e := range dates {
		if !e.IsDir() || !dateName.MatchString(e.Name()) || (date != "" && e.Name() != date) {
			continue
		}
		day, err := newOutDir(out, job, e.Name())
		if err != nil {
			return nil, err
		}
		runs, err := day.history(e.Name())
		if err != nil {
			return nil, err
		}
		list = append(list, runs...)
	}
	return list, nil
}

// history lists one date.
func (d *outDir) history(date string) ([]RunInfo, error) {
	current, err := d.currentID()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(d.date)
	if err != nil {
		return nil, fail.Wrap(fail.Resources, err, "%s cannot be read", displayPath(d.date))
	}
	var runs []RunInfo
	for _, e := range entries {
		if !e.IsDir() || !runIDForm.MatchString(e.Name()) {
			continue
		}
		m, _, err := ReadManifest(d.run(e.Name()))
		if err != nil {
			return nil, err
		}
		info := RunInfo{
			BusinessDate: date, RunID: m.RunID, Current: m.RunID == current, ExitCode: m.Outcome.ExitCode,
			Operations: m.rows(rules.Operations), Results: m.rows(rules.Results), ContentDigest: m.ContentDigest,
			Folder: displayPath(d.run(m.RunID)),
		}
		if m.Supersedes != nil {
			info.Supersedes = m.Supersedes.RunID
		}
		runs = append(runs, info)
	}
	runs = byRevision(runs)
	paths, notes, err := d.readAttempts()
	if err != nil {
		return nil, err
	}
	var open, resolved []RunInfo
	for i, a := range notes {
		info := RunInfo{BusinessDate: date, Attempt: a.ID, Since: a.Since, Last: a.Last, Times: a.Times, ResolvedBy: a.ResolvedBy,
			ExitCode: a.ExitCode, Message: a.Missing, Folder: displayPath(paths[i])}
		if a.ResolvedBy == "" {
			open = append(open, info)
		} else {
			resolved = append(resolved, info)
		}
	}
	bySince := func(a, b RunInfo) int { return cmp.Compare(a.Since, b.Since) }
	slices.SortStableFunc(open, bySince)
	slices.SortStableFunc(resolved, bySince)
	return slices.Concat(resolved, runs, open), nil
}

// byRevision puts a run after the one that it supersedes.
func byRevision(runs []RunInfo) []RunInfo {
	depth := func(r RunInfo) int {
		n := 0
		for r.Supersedes != "" && n < len(runs) {
			i := slices.IndexFunc(runs, func(o RunInfo) bool { return o.RunID == r.Supersedes })
			if i < 0 {
				break
			}
			r = runs[i]
			n++
		}
		return n
	}
	depths := map[string]int{}
	for _, r := range runs {
		depths[r.RunID] = depth(r)
	}
	slices.SortStableFunc(runs, func(a, b RunInfo) int {
		return cmp.Or(cmp.Compare(depths[a.RunID], depths[b.RunID]), cmp.Compare(a.RunID, b.RunID))
	})
	return runs
}

// rows counts the classified rows of a side.
func (m *Manifest) rows(side rules.Side) int64 {
	n := int64(0)
	for _, c := range m.Counts {
		if c.Side == side {
			n += c.Rows
		}
	}
	return n
}

// escapePattern makes a path match only itself in filepath.Glob.
func escapePattern(p string) string {
	out := make([]rune, 0, len(p))
	for _, c := range p {
		switch c {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return string(out)
}

// FindRun resolves what people call a run: its folder, or the link to it.
func FindRun(path string) (string, *Manifest, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, fail.Wrap(fail.Usage, err, "there is no run %s", path).
			WithHint("name a run's folder, out/JOB/DATE/RUN; recon-batch runs list JOB.yaml prints dates and runs")
	}
	if !info.IsDir() {
		return "", nil, fail.New(fail.Usage, "%s is a file, not the folder of a run", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil, fail.Wrap(fail.Usage, err, "there is no run %s", path)
	}
	m, _, err := ReadManifest(real)
	if err != nil {
		return "", nil, err
	}
	return real, m, nil
}

// CurrentRun finds the published run of a job and date.
func CurrentRun(out, job, date string) (string, *Manifest, error) {
	d, err := newOutDir(out, job, date)
	if err != nil {
		return "", nil, err
	}
	id, err := d.currentID()
	if err != nil {
		return "", nil, err
	}
	if id == "" {
		return "", nil, fail.New(fail.Usage, "%s has no published run for %s", job, date).
			WithHint("run it first: recon-batch run --business-date %s JOB.yaml", date)
	}
	if _, err := os.Stat(d.run(id)); err != nil {
		return "", nil, fail.Wrap(fail.Integrity, err, "current of %s points to run %s, which is gone", date, id).
			WithHint("restore the folder from a backup; recon-batch verify tells what else is missing")
	}
	m, _, err := ReadManifest(d.run(id))
	return d.run(id), m, err
}
