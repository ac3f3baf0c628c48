package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/report"
)

// keys checks the file that later runs ask (see keysName): it is there where the job says
// so, has the keys that the job makes, as many as the manifest says, in order and each
// once. That these are the keys of the rows cannot be had from the folder alone.
func (v *checker) keys() error {
	m := v.Manifest
	path, has := v.path(keysName)
	var wrong []string
	if v.job != nil {
		want := keysOf(v.job)
		same := slices.EqualFunc(want, m.Keys, func(w key, k Keys) bool { return w.Key == k.Key && w.Form == k.Form })
		if !same {
			wrong = append(wrong, fmt.Sprintf("the manifest has %d keys for later runs that are not the %d of the job", len(m.Keys), len(want)))
		}
	}
	if has != (len(m.Keys) > 0) {
		wrong = append(wrong, fmt.Sprintf("%s and the manifest do not tell the same of keys for later runs", keysName))
	}
	values := int64(0)
	if has {
		counts, err := countKeys(v.ctx, v.db, path)
		if err != nil {
			return err
		}
		for _, k := range m.Keys {
			if counts[k.Key] != k.Values {
				wrong = append(wrong, fmt.Sprintf("%d keys %s, the manifest says %d", counts[k.Key], k.Key, k.Values))
			}
			values += k.Values
			delete(counts, k.Key)
		}
		for _, n := range counts {
			wrong = append(wrong, fmt.Sprintf("%d keys of a name that the manifest does not have", n))
		}
		if wrong, err = v.none(wrong, "keys that do not follow the one before them", "keys", duck.Slots{"file": duck.Literal(path)}); err != nil {
			return err
		}
	}
	undone, err := v.undone()
	if err != nil {
		return err
	}
	wrong = append(wrong, undone...)
	did := "no later run asks for its keys"
	if has {
		did = plural(values, "key", "keys") + " for later runs"
	}
	v.add("keys", did, wrong)
	return nil
}

// askedRuns are the former runs whose keys the run asked for, where all of them lie beside
// it unaltered; nil else.
func (v *checker) askedRuns() *knowers {
	m := v.Manifest
	if v.job == nil || filepath.Base(v.dir) != m.RunID {
		return nil
	}
	k := knowersOf(outOfRun(v.dir), v.job, m)
	if k == nil || len(k.unknown) > 0 || slices.ContainsFunc(k.runs, func(f knower) bool { return f.unaltered() != nil }) {
		return nil
	}
	return k
}

// undone checks the effects nobody asked for that are to be undone: none where a former
// run may know any of them, and none whose id at the provider a former run had.
func (v *checker) undone() (wrong []string, err error) {
	if slices.ContainsFunc(v.Manifest.Former, func(f FormerRun) bool { return slices.Contains(f.For, forUnknown) }) {
		if wrong, err = v.none(wrong, "effects are to be undone, although it is not known what former runs knew (V31)", "undone", nil); err != nil {
			return nil, err
		}
	}
	hidden := v.summary == nil || slices.ContainsFunc(v.summary.Redacted, func(r report.Redacted) bool { return r.Field == "remote_id" })
	k := v.askedRuns()
	if k == nil || hidden {
		return wrong, nil
	}
	for _, key := range k.keys {
		if key.pass != classify.RecordIDKey {
			continue
		}
		for name, files := range k.files(key) {
			wrong, err = v.none(wrong, "effects are to be undone that a former run knew (V31)", "undone_known", duck.Slots{"files": strings.Join(files, ", "), "key": duck.Literal(name)})
			if err != nil {
				return nil, err
			}
		}
	}
	return wrong, nil
}

// knew checks what the manifest says of a former run whose keys were to be asked.
func (v *checker) knew(f FormerRun, former *Manifest) (wrong []string) {
	if v.job == nil {
		return nil
	}
	k := &knowers{keys: keysOf(v.job)}
	k.add(knower{ref: f, m: former}, true)
	for what, is := range map[string]bool{forKeys: len(k.runs) > 0, forUnknown: len(k.unknown) > 0} {
		if slices.Contains(f.For, what) && !is {
			wrong = append(wrong, fmt.Sprintf("the run %s/%s was read for %q, which its manifest does not bear out", f.BusinessDate, f.RunID, what))
		}
	}
	return wrong
}
