package pipeline

import (
	"fmt"
	"slices"

	"github.com/recon-batch/recon-batch/internal/duck"
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
	did := "no later run asks for its keys"
	if has {
		did = plural(values, "key", "keys") + " for later runs"
	}
	v.add("keys", did, wrong)
	return nil
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
