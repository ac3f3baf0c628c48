package pipeline

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// What FormerRun.For says of former runs and the keys of effects that nobody asked for.
const (
	forKeys    = "keys"            // its keys were to be asked
	forUnknown = "keys, not known" // it may know any key
)

// knowers are the former runs that may know an effect (V31): all of earlier business
// dates, of every series of the job.
type knowers struct {
	keys    []key // that the job asks for
	runs    []knower
	unknown []FormerRun // published no keys, made them in another way, or are gone
}

// knower is a former run that published its keys.
type knower struct {
	ref FormerRun
	dir string
	m   *Manifest
}

// formerKnowers finds them; nil where the job undoes no effect that nobody asked for, or
// where a run that is judged again did not ask. The current run of a date must have
// published its keys, made as this run makes them: else nobody knows what it knew.
// Revisions that it superseded are asked as far as they have keys, since the files of a
// date may forget what they once held.
func (r *run) formerKnowers() (*knowers, error) {
	k := &knowers{keys: keysOf(r.Job)}
	if len(k.keys) == 0 {
		return nil, nil
	}
	if r.again != nil {
		return knowersOf(r.dir.out, r.Job, r.again), nil
	}
	series, err := seriesUnder(r.dir.out, r.Job.Name)
	if err != nil {
		return nil, err
	}
	for _, s := range series {
		if err := k.of(r.dir.out, r.Job.Name, s, r.BusinessDate); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// of adds the runs of a series of earlier business dates, the latest first.
func (k *knowers) of(out, job, series, before string) error {
	folder := folderOf(job, series)
	dates, err := os.ReadDir(filepath.Join(out, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fail.Wrap(fail.Resources, err, "%s cannot be read", displayPath(filepath.Join(out, folder)))
	}
	current := map[string]bool{} // dates with a current run that is there
	named := []*RunRef{}         // runs that were published, by the runs after them
	for _, date := range slices.Backward(dates) {
		if !date.IsDir() || !dateName.MatchString(date.Name()) {
			continue
		}
		d, err := newOutDir(out, folder, date.Name())
		if err != nil {
			return err
		}
		entries, err := os.ReadDir(d.date)
		if err != nil {
			return fail.Wrap(fail.Resources, err, "%s cannot be read", displayPath(d.date))
		}
		former, id := date.Name() < before, ""
		if former {
			if id, err = d.currentID(); err != nil {
				return err
			}
		}
		for _, e := range entries {
			if !e.IsDir() || !runIDForm.MatchString(e.Name()) {
				continue
			}
			m, sum, err := ReadManifest(d.run(e.Name()))
			if !former {
				if err == nil {
					named = append(named, m.Previous)
				}
				continue
			}
			if err != nil {
				return fail.Wrap(fail.Integrity, err, "the run %s of %s cannot be read", e.Name(), date.Name()).
					WithHint("restore it from a backup")
			}
			current[date.Name()] = current[date.Name()] || e.Name() == id
			named = append(named, m.Previous)
			k.add(knower{ref: FormerRun{Series: series, RunRef: RunRef{BusinessDate: date.Name(), RunID: e.Name(), ManifestSHA256: sum}}, dir: d.run(e.Name()), m: m}, e.Name() == id)
		}
		if id != "" && !current[date.Name()] { // it was put away, and what it knew with it
			named = append(named, &RunRef{BusinessDate: date.Name(), RunID: id})
		}
	}
	// So was a date of which nothing is left but its name in the chain.
	c := new(chain)
	if text, err := os.ReadFile(filepath.Join(out, folder, chainName)); err == nil && json.Unmarshal(text, c) == nil {
		named = append(named, c.Last)
	}
	for _, ref := range named {
		if ref != nil && ref.BusinessDate < before && !current[ref.BusinessDate] {
			current[ref.BusinessDate] = true // told once
			// Without a digest: the run is another one when this one is to be had again.
			k.unknown = append(k.unknown, FormerRun{Series: series, RunRef: RunRef{BusinessDate: ref.BusinessDate, RunID: ref.RunID}})
		}
	}
	return nil
}

func (k *knowers) add(f knower, current bool) {
	for _, want := range k.keys {
		if !slices.ContainsFunc(f.m.Keys, func(have Keys) bool { return have.Form == want.Form }) {
			if current {
				k.unknown = append(k.unknown, f.ref)
			}
			return
		}
	}
	k.runs = append(k.runs, f)
}

// knowersOf are those that a published run asked, to judge it again under a job; nil
// where it asked none. One that is not what it was may know any key.
func knowersOf(out string, job *rules.Job, m *Manifest) *knowers {
	k := &knowers{keys: keysOf(job)}
	if len(k.keys) == 0 || len(m.Keys) == 0 {
		return nil
	}
	for _, f := range m.Former {
		if slices.Contains(f.For, forUnknown) {
			k.unknown = append(k.unknown, f)
		}
		if !slices.Contains(f.For, forKeys) {
			continue
		}
		dir := filepath.Join(out, folderOf(m.Job, f.Series), f.BusinessDate, f.RunID)
		former, sum, err := ReadManifest(dir)
		if err != nil || sum != f.ManifestSHA256 || !filepath.IsLocal(filepath.Join(folderOf(m.Job, f.Series), f.BusinessDate, f.RunID)) {
			k.unknown = append(k.unknown, f)
			continue
		}
		k.add(knower{ref: f, dir: dir, m: former}, true)
	}
	return k
}

// record enters the former runs into the manifest, and so into the run's identity.
func (k *knowers) record(m *Manifest) {
	if k == nil {
		return
	}
	for _, f := range k.runs {
		m.read(f.ref, forKeys)
	}
	for _, f := range k.unknown {
		m.read(f, forUnknown)
	}
}

// former is who classify asks; none where a former run may know any key.
func (k *knowers) former() []classify.Former {
	if k == nil || len(k.unknown) > 0 {
		return nil
	}
	return []classify.Former{k.ask}
}

// dirs are the folders that the engine has to read.
func (k *knowers) dirs() []string {
	var out []string
	if k != nil && len(k.unknown) == 0 {
		for _, f := range k.runs {
			out = append(out, f.dir)
		}
	}
	return out
}

// unaltered compares the file of keys with its digest.
func (f *knower) unaltered() error {
	i := slices.IndexFunc(f.m.Outputs, func(o OutputDigest) bool { return o.Path == keysName })
	path := filepath.Join(f.dir, keysName)
	if i >= 0 {
		if err := refuseSpecial(path); err != nil {
			return err
		}
		if size, sum, err := hashFile(path); err == nil && size == f.m.Outputs[i].Size && sum == f.m.Outputs[i].SHA256 {
			return nil
		}
	}
	return fail.New(fail.Integrity, "%s of run %s of %s is not what was published", keysName, f.ref.RunID, f.ref.BusinessDate).
		WithHint("look at it with recon-batch verify %s, and restore it from a backup", shellQuote(displayPath(f.dir)))
}
