package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// pullsIn lists the folders of pulls, oldest first.
func pullsIn(home string) ([]string, error) {
	entries, err := os.ReadDir(home)
	if err != nil {
		return nil, diskError(err, "the folder of the evidence cannot be read")
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && len(e.Name()) == 4 {
			out = append(out, filepath.Join(home, e.Name()))
		}
	}
	return out, nil
}

// begunName says what a folder without a snapshot was begun for.
const begunName = "begun.json"

type begun struct {
	Declared string    `json:"declared"`
	At       time.Time `json:"at"`
}

// declaration is the digest of what the job says of a source, the date included.
func declaration(job *rules.Bound, in *rules.Input) string {
	text, err := json.Marshal([]any{job.Digest(), job.Date, in.Source.Name, in.FileDate, in.Path, in.From, in.Until})
	if err != nil {
		panic(err) // texts and numbers only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// folder is where a pull goes: the last one where it was cut short, is of the same
// declaration, not too old and in nobody's hands; else a new one. A pilot and the whole
// job pull the same sources and may run at the same time: the folder is locked until
// release is called, or the process ends.
func (f *fetching) folder(home string, pulls []string, declared string) (dir string, release func(), err error) {
	n := 0
	if len(pulls) > 0 {
		last := pulls[len(pulls)-1]
		if _, err := fmt.Sscanf(filepath.Base(last), "%d", &n); err != nil {
			return "", nil, fail.New(fail.Usage, "%s is no folder of a pull", displayPath(last)).WithHint("move it away")
		}
		if release := f.free(last); release != nil {
			var b begun
			text, err := os.ReadFile(filepath.Join(last, begunName))
			_, done := os.Lstat(filepath.Join(last, fetch.SnapshotFile))
			cut := err == nil && json.Unmarshal(text, &b) == nil && errors.Is(done, fs.ErrNotExist)
			if cut && b.Declared == declared && time.Since(b.At) < pullGoesOn && noLinks(last) {
				f.note("going on with the pull that was cut short: %s", displayPath(last))
				return last, release, nil
			}
			if cut {
				// Nothing reads it any more.
				if err := os.RemoveAll(last); err != nil {
					release()
					return "", nil, diskError(err, "the folder of an interrupted pull cannot be removed")
				}
				n--
			}
			release()
		}
	}
	for n++; ; n++ {
		if n > 9999 {
			return "", nil, fail.New(fail.Resources, "%s holds %d pulls", displayPath(home), n-1).WithHint("move it away")
		}
		dir = filepath.Join(home, fmt.Sprintf("%04d", n))
		err := os.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue // somebody else was first
		}
		if err != nil {
			return "", nil, diskError(err, "the folder of the pull cannot be made")
		}
		break
	}
	// It is locked before it says anything: until then nobody takes it for one that was cut
	// short.
	l := flock.New(filepath.Join(dir, begunName), flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return "", nil, diskError(err, "the folder of the pull cannot be locked")
	}
	release = func() { l.Close() }
	text, err := json.Marshal(begun{Declared: declared, At: time.Now().UTC()})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, begunName), text, 0o600)
	}
	if err != nil {
		release()
		return "", nil, diskError(err, "the folder of the pull cannot be made")
	}
	return dir, release, nil
}

// noLinks tells whether all in a folder are files and folders: what is gone on with is
// written into it, and not to where a link leads.
func noLinks(dir string) bool {
	return filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !e.Type().IsRegular() {
			err = fs.ErrInvalid
		}
		return err
	}) == nil
}

// free locks a folder that was begun; nil where it was not, or is in somebody's hands.
func (f *fetching) free(dir string) (release func()) {
	path := filepath.Join(dir, begunName)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	l := flock.New(path)
	if ok, err := l.TryLock(); err != nil || !ok {
		return nil
	}
	return func() { l.Close() }
}

// share keeps files that an earlier pull of the date brought byte for byte only once. A
// link that cannot be made costs room and nothing else.
func (f *fetching) share(p *pulling) {
	// One that went on is among those that were there before.
	before := slices.DeleteFunc(slices.Clone(p.pulls), func(dir string) bool { return dir == p.dir })
	if len(before) == 0 {
		return
	}
	last := before[len(before)-1]
	former, err := fetch.ReadSnapshot(last)
	if former == nil || err != nil {
		return
	}
	by := map[string]string{}
	for _, x := range former.Files {
		by[x.SHA256] = filepath.Join(last, fetch.FilesDir, filepath.FromSlash(x.Name))
	}
	for _, x := range p.snap.Files {
		old, ok := by[x.SHA256]
		if !ok {
			continue
		}
		// What lies there is believed by its bytes alone.
		if size, sum, err := fetch.HashFile(old); err != nil || size != x.Size || sum != x.SHA256 {
			continue
		}
		path := filepath.Join(p.dir, fetch.FilesDir, filepath.FromSlash(x.Name))
		if tmp := path + ".link"; os.Link(old, tmp) == nil && os.Rename(tmp, path) != nil {
			f.note("%s is left over", displayPath(tmp))
		}
	}
}
