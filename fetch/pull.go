package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// SnapshotSchema is the version of snapshot.json. It grows only when a field changes its
// meaning or goes away.
const SnapshotSchema = 1

// Names below the folder of a snapshot.
const (
	FilesDir     = "files"         // the files, and nothing else once the snapshot is written
	SnapshotFile = "snapshot.json" // written last
)

// Pull pulls one input by the puller of its kind into Request.Dir and writes the
// snapshot. Whatever a folder holds that has no snapshot is for the puller to go on from.
func Pull(ctx context.Context, p Puller, r *Request) (*Snapshot, error) {
	if g, ok := p.(Grouper); ok {
		all, err := PullGroup(ctx, g, []*Request{r})
		if err != nil {
			return nil, err
		}
		return all[0], nil
	}
	s, err := pullOne(ctx, p.Pull, r, r.Now())
	if err != nil {
		return nil, err
	}
	return s, s.write(r.Dir)
}

// pullOne pulls one input and fills its snapshot, but does not write it.
func pullOne(ctx context.Context, pull func(context.Context, *Request) (*Snapshot, error), r *Request, begun time.Time) (*Snapshot, error) {
	if err := os.MkdirAll(filepath.Join(r.Dir, FilesDir), 0o700); err != nil {
		return nil, fail.Disk(err, "the folder of the snapshot cannot be made")
	}
	if err := removeParts(r.Dir); err != nil {
		return nil, err
	}
	s, err := pull(ctx, r)
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	s.SchemaVersion, s.Job, s.BusinessDate, s.FileDate = SnapshotSchema, r.Job.Name, r.Job.Date, r.Input.FileDate
	s.Side, s.Source, s.Declared = string(r.Side), r.Source().Name, r.Declared
	s.CoversFrom, s.CoversUntil = micros(r.Input.From), micros(r.Input.Until)
	s.Begun, s.Ended = stamp(begun), stamp(r.Now())
	if s.Files == nil {
		s.Files = []File{}
	}
	return s, s.there(r.Dir)
}

// interrupted is the reason for which the run was ended, where that is the error.
func interrupted(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		return cause
	}
	return err
}

// there compares what the puller says that it wrote with what lies in the folder. A name
// that leaves it, a file that nobody speaks of or of another size is a fault of the puller.
func (s *Snapshot) there(dir string) error {
	names := map[string]int64{}
	for _, f := range s.Files {
		if _, twice := names[f.Name]; twice || !filepath.IsLocal(f.Name) {
			return fail.New(fail.Integrity, "the source %s was pulled into a file named %q, which cannot be", s.Source, f.Name).
				WithHint("this is a fault of the program; please report it")
		}
		names[f.Name] = f.Size
	}
	root := filepath.Join(dir, FilesDir)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		size, ok := names[filepath.ToSlash(name)]
		if !ok || size != info.Size() || !info.Mode().IsRegular() {
			return fail.New(fail.Integrity, "the source %s left %s of %d bytes, of which it does not speak", s.Source, name, info.Size()).
				WithHint("this is a fault of the program; please report it")
		}
		delete(names, filepath.ToSlash(name))
		return nil
	})
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return fail.New(fail.Integrity, "the source %s speaks of %d files that are not there", s.Source, len(names)).
			WithHint("this is a fault of the program; please report it")
	}
	return nil
}

// write keeps the snapshot: whole on the disk, or not there.
func (s *Snapshot) write(dir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, SnapshotFile), append(text, '\n'))
}

// ReadSnapshot reads the snapshot of a folder; nil where there is none.
func ReadSnapshot(dir string) (*Snapshot, error) {
	text, err := os.ReadFile(filepath.Join(dir, SnapshotFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail.Wrap(fail.Input, err, "the snapshot in %s cannot be read", dir)
	}
	s := &Snapshot{}
	if err := json.Unmarshal(text, s); err != nil || s.SchemaVersion != SnapshotSchema {
		return nil, fail.New(fail.Input, "the snapshot in %s is damaged, or of another version of the program", dir).
			WithHint("pull it again, or restore the folder from a backup")
	}
	return s, nil
}

// Names of the files that are read, in the order in which they are.
func (s *Snapshot) Names() []string {
	out := []string{}
	for _, f := range s.Files {
		if !f.Raw {
			out = append(out, filepath.FromSlash(f.Name))
		}
	}
	return out
}

// Digests are the SHA-256 of these files, in their order.
func (s *Snapshot) Digests() []string {
	out := []string{}
	for _, f := range s.Files {
		if !f.Raw {
			out = append(out, f.SHA256)
		}
	}
	return out
}

// Size is that of all files, in bytes.
func (s *Snapshot) Size() int64 {
	n := int64(0)
	for _, f := range s.Files {
		n += f.Size
	}
	return n
}

// SortFiles puts files into the order of their names, for kinds in which no other order
// means anything.
func (s *Snapshot) SortFiles() {
	slices.SortFunc(s.Files, func(a, b File) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
}

// micros writes a bound of the coverage, in microseconds; "" where there is none.
func micros(us *int64) string {
	if us == nil {
		return ""
	}
	return stamp(time.UnixMicro(*us))
}

// stamp writes an instant.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
