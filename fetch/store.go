package fetch

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/folder"
)

// Entry is one file or object of a place, as it was listed.
type Entry struct {
	Name     string    // as a job writes it for this place, with slashes: a path from the folder of the job file, a key of the bucket, a path on the server
	Size     int64     // bytes
	Modified time.Time // by the clock of the place; zero where it has none
	Version  string    // by which the place pins its content: VersionId, ETag; "" none
	SHA256   string    // hexadecimal, where the place states it; else ""

	dir, rel string // of a local file: the folder that no link may leave, and the path inside it
}

// Same tells whether two looks at one name saw the same file, as far as the place tells.
func (e Entry) Same(o Entry) bool {
	return e.Name == o.Name && e.Size == o.Size && e.Version == o.Version && e.Modified.Equal(o.Modified) && e.SHA256 == o.SHA256
}

// Local gives the folder and the path inside it where a local file was found; ok is false
// for files of other places.
func (e Entry) Local() (dir, rel string, ok bool) { return e.dir, e.rel, e.dir != "" }

// Store is a place with files: a local folder, a bucket, a folder of an SFTP server. It
// may be used by one goroutine at a time.
//
// Errors are of class Input (a name that is no file, a link that leaves its folder, a file
// that changed), Temporary (the place does not answer), or Usage (no pattern, no right).
type Store interface {
	// List gives the files whose names fit a pattern (* ? [ ], none of them past a
	// slash), or, with literal or without such a character, the one of exactly this name,
	// in the order of their names. None is no error. A folder is no file.
	List(ctx context.Context, pattern string, literal bool) ([]Entry, error)

	// Open reads one file as it was listed. Where it has changed since, the error, of Open
	// or of the last Read, is of class Input.
	Open(ctx context.Context, e Entry) (io.ReadCloser, error)

	Close() error
}

// Storer is a puller whose sources are places with files.
type Storer interface {
	Puller

	// Store opens the place that the source of the request names. pattern is what the
	// path of the input means there, for [Store.List]; whether it is literal the source
	// says. Nothing is written to the folder of the request.
	Store(ctx context.Context, r *Request) (s Store, pattern string, err error)
}

// Local is the folder of a job file, and what its paths lead to, as a [Store].
type Local struct{ Base string }

// List is that of [Store]. A name that fits and is no regular file is an error of class
// Input, as it is where files are read.
func (l Local) List(_ context.Context, pattern string, literal bool) ([]Entry, error) {
	names, dir, err := folder.Names(l.Base, pattern, literal)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, rel := range names {
		e := Entry{Name: l.name(dir, rel, filepath.IsAbs(pattern)), dir: dir, rel: rel}
		f, err := folder.Open(dir, rel)
		if err != nil {
			if _, gone := os.Lstat(filepath.Join(dir, rel)); errors.Is(gone, fs.ErrNotExist) {
				continue // taken away or renamed since it was listed
			}
			return nil, err
		}
		info, err := f.Stat()
		f.Close() // nothing was written
		if err != nil {
			return nil, fail.Wrap(fail.Input, err, "%s cannot be read", e.Name)
		}
		e.Size, e.Modified = info.Size(), info.ModTime()
		out = append(out, e)
	}
	return out, nil
}

// name is how a job writes a file: as a path from its folder, unless it said a whole path.
func (l Local) name(dir, rel string, absolute bool) string {
	name := filepath.Join(dir, rel)
	if base := filepath.Clean(l.Base); !absolute {
		if r, err := filepath.Rel(base, name); err == nil {
			name = r
		}
	}
	return filepath.ToSlash(name)
}

// Open is that of [Store].
func (l Local) Open(_ context.Context, e Entry) (io.ReadCloser, error) {
	f, err := folder.Open(e.dir, e.rel)
	if err != nil {
		return nil, err
	}
	r := &localFile{File: f, listed: e}
	if err := r.unchanged(); err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// Close is that of [Store].
func (l Local) Close() error { return nil }

// localFile is a file that is compared with its entry when it is opened and at its end.
type localFile struct {
	*os.File
	listed Entry
}

func (f *localFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if err == io.EOF {
		if changed := f.unchanged(); changed != nil {
			return n, changed
		}
	}
	return n, err
}

// WriteTo is that of the embedded file, by way of Read.
func (f *localFile) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{f})
}

func (f *localFile) unchanged() error {
	info, err := f.Stat()
	if err != nil {
		return fail.Wrap(fail.Input, err, "%s cannot be read", f.listed.Name)
	}
	if info.Size() != f.listed.Size || !info.ModTime().Equal(f.listed.Modified) {
		return fail.New(fail.Input, "%s was written to after it was looked at", f.listed.Name).
			WithHint("run again when the file is complete; have it delivered under another name and renamed")
	}
	return nil
}
