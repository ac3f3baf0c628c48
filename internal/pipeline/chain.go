package pipeline

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// chain.json of a job's folder: how many runs were published, and the last of
// them. Every manifest names the one before it.
type chain struct {
	SchemaVersion int     `json:"schema_version"`
	Runs          int     `json:"runs"`
	Last          *RunRef `json:"last"`
}

const chainName = "chain.json"

// withChain runs f while nobody else of this job publishes. Runs of other dates
// wait here for the length of one rename, never longer.
func (d *outDir) withChain(f func(c *chain) error) error {
	for _, name := range []string{".publish.lock", chainName} {
		if err := refuseSpecial(filepath.Join(d.job, name)); err != nil {
			return err
		}
	}
	l := flock.New(filepath.Join(d.job, ".publish.lock"))
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		ok, err := l.TryLock()
		if err != nil {
			return diskError(err, "the publish lock cannot be taken")
		}
		if ok {
			break
		}
		if time.Now().After(deadline) {
			return fail.New(fail.Conflict, "another run of this job has been publishing for 30 seconds").
				WithHint("look for a hanging recon-batch, end it, and run again")
		}
	}
	defer l.Unlock()
	c, err := readChain(d.job)
	if err != nil {
		return err
	}
	return f(c)
}

// writtenChain reads chain.json as it stands; without one no run was published.
func writtenChain(job string) (*chain, error) {
	c := &chain{SchemaVersion: ManifestSchema}
	text, err := os.ReadFile(filepath.Join(job, chainName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fail.Wrap(fail.Integrity, err, "%s cannot be read", filepath.Join(job, chainName))
	default:
		if err := json.Unmarshal(text, c); err != nil {
			return nil, fail.Wrap(fail.Integrity, err, "%s is damaged", filepath.Join(job, chainName)).
				WithHint("restore it from a backup: it is what shows that no run was removed")
		}
	}
	return c, nil
}

// readChain reads chain.json and goes on to a run that was published without
// being entered, which a crash in between leaves behind.
func readChain(job string) (*chain, error) {
	c, err := writtenChain(job)
	if err != nil {
		return nil, err
	}
	refs, err := publishedRuns(job)
	if err != nil {
		return nil, err
	}
	for {
		i := slices.IndexFunc(refs, func(r link) bool { return sameRef(r.previous, c.Last) })
		if i < 0 {
			return c, nil
		}
		next := refs[i].self // a copy: Delete moves the others into its place
		c.Last = &next
		c.Runs++
		refs = slices.Delete(refs, i, i+1)
	}
}

// write replaces chain.json atomically.
func (c *chain) write(job string) error {
	text, err := encode(c)
	if err != nil {
		return err
	}
	return diskError(renameio.WriteFile(filepath.Join(job, chainName), text, 0o644), "the chain of runs cannot be written")
}

// link is a published run and the one that it names as its predecessor.
type link struct {
	self     RunRef
	previous *RunRef
}

// publishedRuns lists every run in a job's folder, by date and id. Folders that
// are no runs are passed over; a run whose manifest is damaged is an error.
func publishedRuns(job string) ([]link, error) {
	dates, err := os.ReadDir(job)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail.Wrap(fail.Resources, err, "%s cannot be read", job)
	}
	var out []link
	for _, date := range dates {
		if !date.IsDir() || !dateName.MatchString(date.Name()) {
			continue
		}
		runs, err := os.ReadDir(filepath.Join(job, date.Name()))
		if err != nil {
			return nil, fail.Wrap(fail.Resources, err, "%s cannot be read", filepath.Join(job, date.Name()))
		}
		for _, run := range runs {
			if !run.IsDir() || !runIDForm.MatchString(run.Name()) {
				continue
			}
			m, sum, err := ReadManifest(filepath.Join(job, date.Name(), run.Name()))
			if err != nil {
				return nil, err
			}
			out = append(out, link{
				self:     RunRef{BusinessDate: date.Name(), RunID: run.Name(), ManifestSHA256: sum},
				previous: m.Previous,
			})
		}
	}
	return out, nil
}

func sameRef(a, b *RunRef) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// checkChain follows the runs of a job from the last back to the first and
// returns what does not fit, in words, and how many runs it has. No line: nothing
// was removed or altered.
func checkChain(job string) (wrong []string, runs int, err error) {
	c := new(chain)
	text, err := os.ReadFile(filepath.Join(job, chainName))
	if errors.Is(err, fs.ErrNotExist) {
		return []string{chainName + " is missing: nothing shows that no run was removed"}, 0, nil
	}
	if err != nil {
		return nil, 0, fail.Wrap(fail.Integrity, err, "%s cannot be read", filepath.Join(job, chainName))
	}
	if err := json.Unmarshal(text, c); err != nil {
		return []string{chainName + " is damaged: " + err.Error()}, 0, nil
	}
	refs, err := publishedRuns(job)
	if err != nil {
		return nil, 0, err
	}
	seen := 0
	for at := c.Last; at != nil; seen++ {
		i := slices.IndexFunc(refs, func(l link) bool {
			return l.self.BusinessDate == at.BusinessDate && l.self.RunID == at.RunID
		})
		if i < 0 {
			return append(wrong, "the run "+at.BusinessDate+"/"+at.RunID+" is missing: it was published and has been removed"), c.Runs, nil
		}
		if refs[i].self.ManifestSHA256 != at.ManifestSHA256 {
			wrong = append(wrong, "the manifest of "+at.BusinessDate+"/"+at.RunID+" is not the one that was published")
		}
		at = refs[i].previous
		refs = slices.Delete(refs, i, i+1)
	}
	for _, l := range refs {
		wrong = append(wrong, "the run "+l.self.BusinessDate+"/"+l.self.RunID+" does not belong to the chain of published runs")
	}
	if seen != c.Runs {
		wrong = append(wrong, "the chain counts other runs than it has")
	}
	return wrong, seen, nil
}
