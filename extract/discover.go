package extract

import (
	"errors"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// foundFile is one file of a source, or the place of one that is missing.
type foundFile struct {
	source  *rules.Source
	input   int    // index in Bound.Inputs of the side
	dir     string // folder that symbolic links may not leave
	rel     string // path inside dir
	date    string // {file_date}, or ""
	missing bool
	kept    string // where its bytes are kept as well, "" nowhere; then they are read there
	sha256  string // of the bytes that it must have (see Pinned); "" whatever it has
}

// open opens the file. A symbolic link that leaves the folder is refused by the
// system call itself (os.Root), so that nothing can be swapped in between.
func (f *foundFile) open() (*os.File, error) {
	if f.kept != "" {
		in, err := os.Open(f.kept)
		if err != nil {
			return nil, fail.Wrap(fail.Input, err, "the kept bytes of %s cannot be read", f.rel)
		}
		return in, nil
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, fail.Wrap(fail.Input, err, "%s cannot be read", f.rel)
	}
	defer root.Close()
	info, err := root.Stat(f.rel) // before opening: to open a pipe would wait for its writer
	if err == nil && !info.Mode().IsRegular() {
		return nil, fail.New(fail.Input, "%s cannot be read: not a regular file", f.rel).
			WithHint("put the file itself in that place, or correct the path")
	}
	if err != nil {
		return nil, f.refused(err)
	}
	in, err := root.Open(f.rel)
	if err != nil {
		return nil, f.refused(err)
	}
	return in, nil
}

// refused is the error of a file that cannot be opened.
func (f *foundFile) refused(err error) error {
	// os has no name for this error; its text is the one of os.Root.
	if strings.Contains(err.Error(), "path escapes from parent") {
		return fail.New(fail.Input, "%s is a symbolic link that leaves its folder", f.rel).
			WithHint("put the file itself into the folder, or name the place where it lies as path")
	}
	return fail.Wrap(fail.Input, err, "%s cannot be read", f.rel).
		WithHint("make the file readable for this program, or correct the path")
}

// discover lists the files of every input, in the order of the inputs and then of
// the names. An exact path is one name and nothing is expanded in it; a pattern
// (* ? [ ]) may give any number. An input without a file gives one entry that is
// missing.
func discover(base string, inputs []rules.Input) ([]*foundFile, error) {
	var found []*foundFile
	for i := range inputs {
		in := &inputs[i]
		names, dir, err := expand(base, in)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			found = append(found, &foundFile{source: in.Source, input: i, dir: dir, rel: n, date: in.FileDate})
		}
		if len(names) == 0 {
			found = append(found, &foundFile{source: in.Source, input: i, dir: dir, rel: in.Path, date: in.FileDate, missing: true})
		}
	}
	return found, nil
}

// fileNames gives each file the name by which the outputs call it: its base name, or,
// where several files of its source share that (a folder a day), its path. A record is
// named by source, file and number, so that no two files of a source may have one name.
func fileNames(found []*foundFile) []string {
	count := map[[2]string]int{}
	key := func(f *foundFile) [2]string { return [2]string{f.source.Name, filepath.Base(f.rel)} }
	for _, f := range found {
		count[key(f)]++
	}
	names := make([]string, len(found))
	for i, f := range found {
		if names[i] = filepath.Base(f.rel); count[key(f)] > 1 {
			names[i] = filepath.ToSlash(f.rel)
		}
	}
	return names
}

// expand returns the names of the files of one input, relative to the folder that
// they may not leave: the job's folder where the path stays inside it, otherwise
// the folder in which the pattern begins.
func expand(base string, in *rules.Input) (names []string, dir string, err error) {
	if in.Pulled != nil {
		return in.Pulled.Names, in.Pulled.Dir, nil
	}
	if in.Source.Remote != nil {
		return nil, "", fail.New(fail.Internal, "the source %s is read before it was pulled", in.Source.Name)
	}
	path := filepath.Clean(in.Path)
	dir = base
	if dir == "" {
		dir = "."
	}
	if !filepath.IsLocal(path) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if in.Source.Literal {
			dir, path = filepath.Dir(path), filepath.Base(path)
		} else {
			dir, path = splitPattern(path)
		}
	}
	if in.Source.Literal || !hasPattern(path) {
		_, err := os.Lstat(filepath.Join(dir, path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, dir, nil
		case err != nil:
			return nil, dir, fail.Wrap(fail.Input, err, "%s cannot be read", in.Path)
		}
		return []string{path}, dir, nil
	}
	names, err = glob(os.DirFS(dir), filepath.ToSlash(path))
	if errors.Is(err, pathpkg.ErrBadPattern) {
		return nil, dir, fail.Wrap(fail.Usage, err, "%s is no pattern", in.Path).
			WithHint("write path: {exact: …} for a name that holds a bracket")
	}
	if err != nil {
		return nil, dir, fail.Wrap(fail.Input, err, "%s: not every folder can be read", in.Path).
			WithHint("files may lie there: make the folder readable, or correct the path")
	}
	if pathpkg.Base(filepath.ToSlash(path)) == "*" { // everything in a folder, but for the folders in it
		names = slices.DeleteFunc(names, func(n string) bool {
			info, err := os.Stat(filepath.Join(dir, n))
			return err == nil && info.IsDir()
		})
	}
	slices.Sort(names)
	return names, dir, nil
}

// glob is fs.Glob that tells of what it cannot read: a folder passed over in
// silence would be files lost in silence. A folder of a matching name is listed
// like a file, and refused where it is opened; some programs write one file as a
// folder of parts.
func glob(fsys fs.FS, pattern string) ([]string, error) {
	names := []string{"."}
	for _, part := range strings.Split(pattern, "/") {
		var next []string
		for _, dir := range names {
			if !hasPattern(part) {
				_, err := fs.Lstat(fsys, pathpkg.Join(dir, part))
				switch {
				case err == nil:
					next = append(next, pathpkg.Join(dir, part))
				case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
					return nil, err
				}
				continue
			}
			if info, err := fs.Stat(fsys, dir); err == nil && !info.IsDir() {
				continue
			}
			entries, err := fs.ReadDir(fsys, dir)
			if dir == "." && errors.Is(err, fs.ErrNotExist) {
				continue // what was listed and is not there is a link to nowhere
			}
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				ok, err := pathpkg.Match(part, e.Name())
				if err != nil {
					return nil, err
				}
				if ok {
					next = append(next, pathpkg.Join(dir, e.Name()))
				}
			}
		}
		names = next
	}
	return names, nil
}

// hasPattern tells whether a path holds a pattern character of path.Match.
func hasPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

// splitPattern cuts a path before the first part that holds a pattern character,
// or before its last part.
func splitPattern(path string) (dir, rest string) {
	dir, rest = filepath.Dir(path), filepath.Base(path)
	for hasPattern(dir) {
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = filepath.Dir(dir)
	}
	return dir, rest
}
