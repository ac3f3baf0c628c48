// Package folder lists and opens files of local folders by the names and patterns of a
// job. Everybody who looks for the files of a source does it by this one rule: what reads
// them, and what waits until they are whole.
package folder

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
)

// Open opens a file below dir, given by its path inside it. A symbolic link that leaves
// the folder is refused by the system call itself (os.Root), so that nothing can be
// swapped in between. Errors are of class Input.
func Open(dir, rel string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fail.Wrap(fail.Input, err, "%s cannot be read", rel)
	}
	defer root.Close()
	info, err := root.Stat(rel) // before opening: to open a pipe would wait for its writer
	if err == nil && !info.Mode().IsRegular() {
		return nil, fail.New(fail.Input, "%s cannot be read: not a regular file", rel).
			WithHint("put the file itself in that place, or correct the path")
	}
	if err != nil {
		return nil, refused(rel, err)
	}
	in, err := root.Open(rel)
	if err != nil {
		return nil, refused(rel, err)
	}
	return in, nil
}

// refused is the error of a file that cannot be opened.
func refused(rel string, err error) error {
	// os has no name for this error; its text is the one of os.Root.
	if strings.Contains(err.Error(), "path escapes from parent") {
		return fail.New(fail.Input, "%s is a symbolic link that leaves its folder", rel).
			WithHint("put the file itself into the folder, or name the place where it lies as path")
	}
	return fail.Wrap(fail.Input, err, "%s cannot be read", rel).
		WithHint("make the file readable for this program, or correct the path")
}

// Names gives the files that a path names, sorted, relative to dir: the folder that they
// may not leave. That is base where the path stays inside it, otherwise the folder in
// which the pattern begins. A literal path is one name and nothing is expanded in it; a
// pattern (* ? [ ]) may give any number. None is no error.
func Names(base, path string, literal bool) (names []string, dir string, err error) {
	name := filepath.Clean(path)
	dir = base
	if dir == "" {
		dir = "."
	}
	if !filepath.IsLocal(name) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if literal {
			dir, name = filepath.Dir(name), filepath.Base(name)
		} else {
			dir, name = splitPattern(name)
		}
	}
	if literal || !hasPattern(name) {
		_, err := os.Lstat(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, dir, nil
		case err != nil:
			return nil, dir, fail.Wrap(fail.Input, err, "%s cannot be read", path)
		}
		return []string{name}, dir, nil
	}
	names, err = glob(os.DirFS(dir), filepath.ToSlash(name))
	if errors.Is(err, pathpkg.ErrBadPattern) {
		return nil, dir, fail.Wrap(fail.Usage, err, "%s is no pattern", path).
			WithHint("write path: {exact: …} for a name that holds a bracket")
	}
	if err != nil {
		return nil, dir, fail.Wrap(fail.Input, err, "%s: not every folder can be read", path).
			WithHint("files may lie there: make the folder readable, or correct the path")
	}
	if pathpkg.Base(filepath.ToSlash(name)) == "*" { // everything in a folder, but for the folders in it
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
