package sftp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// file is one file that was listed.
type file struct {
	path string // on the server
	name string // of it alone
	size int64
	time time.Time // when it was changed, in seconds
}

// pin says which content it is, as far as a server of files says it.
func (f *file) pin() string { return fmt.Sprintf("%s %d %d", f.path, f.size, f.time.Unix()) }

// is tells whether a file is as it was.
func (f *file) is(now fs.FileInfo) bool {
	return now.Mode().IsRegular() && now.Size() == f.size && now.ModTime().Unix() == f.time.Unix()
}

// list gives the files that the address names, in the order of their names. None is no error.
func (p *pull) list(ctx context.Context) ([]*file, error) {
	return p.find(ctx, p.path, p.r.Source().Literal)
}

// find gives the files of a path, the last part of which may be a pattern.
func (p *pull) find(ctx context.Context, at string, literal bool) ([]*file, error) {
	folder, pattern := path.Split(at)
	if literal || !strings.ContainsAny(pattern, `*?[\`) {
		f, err := p.look(ctx, at)
		if f == nil || err != nil {
			return nil, err
		}
		return []*file{f}, nil
	}
	if folder = path.Clean(folder); !path.IsAbs(at) && folder == "" {
		folder = "."
	}
	var found []fs.FileInfo
	err := p.with(ctx, p.at(folder), func(l *link) (err error) {
		defer l.begin()()
		if found, err = l.sftp.ReadDir(folder); errors.Is(err, fs.ErrNotExist) {
			found, err = nil, nil // no folder yet, no file yet
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []*file
	for _, e := range found {
		ok, err := path.Match(pattern, e.Name())
		if err != nil {
			return nil, p.fail(fail.Usage, "write path: {exact: …} for a name that holds a bracket", "%s is no pattern", p.at(at))
		}
		if !ok || e.IsDir() || p.unfinished(pattern, e.Name()) {
			continue
		}
		f := &file{path: path.Join(folder, e.Name()), name: e.Name(), size: e.Size(), time: e.ModTime()}
		switch mode := e.Mode(); {
		case mode.IsRegular():
		case mode&fs.ModeSymlink != 0:
			// What it leads to is what it names: some servers keep deliveries so.
			to, err := p.stat(ctx, f.path)
			switch {
			case err != nil:
				return nil, err
			case to == nil:
				return nil, p.fail(fail.Input, "run again when the delivery has ended, or name the others more closely", "%s is a link to a file that is not there", p.at(f.path))
			case !to.Mode().IsRegular():
				continue
			}
			f.size, f.time = to.Size(), to.ModTime()
		default:
			continue // a device or a pipe is no delivery
		}
		if err := p.named(f); err != nil {
			return nil, err
		}
		if out = append(out, f); len(out) > mostFiles {
			return nil, p.fail(fail.Input, "name them more closely, or make several sources of them", "%s names more than %d files", p.at(at), mostFiles)
		}
	}
	slices.SortFunc(out, func(a, b *file) int { return strings.Compare(a.name, b.name) })
	for i := range out {
		if i > 0 && out[i].name == out[i-1].name {
			return nil, p.fail(fail.Input, "run again; if it stays so, the listing of the server cannot be relied upon", "%s is listed twice", p.at(out[i].path))
		}
	}
	return out, nil
}

// look gives one file, links followed; nil where it is not there.
func (p *pull) look(ctx context.Context, at string) (*file, error) {
	info, err := p.stat(ctx, at)
	if err != nil || info == nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, p.fail(fail.Usage, "name a file", "%s is no file", p.at(at))
	}
	f := &file{path: at, name: path.Base(at), size: info.Size(), time: info.ModTime()}
	return f, p.named(f)
}

// stat looks at a path, links followed; nil where nothing is there.
func (p *pull) stat(ctx context.Context, at string) (info fs.FileInfo, err error) {
	err = p.with(ctx, p.at(at), func(l *link) (err error) {
		defer l.begin()()
		if info, err = l.sftp.Stat(at); errors.Is(err, fs.ErrNotExist) {
			info, err = nil, nil
		}
		return err
	})
	return info, err
}

// named refuses a name of the server that no file of ours can have.
func (p *pull) named(f *file) error {
	if !fetch.Nameable(f.name) {
		return p.fail(fail.Input, "rename it, or name the others more closely", "%q cannot be the name of a file", p.at(f.path))
	}
	return nil
}

// temporary are endings of names of files that are being written, as programs that send
// files give them.
var temporary = []string{".tmp", ".temp", ".part", ".partial", ".filepart", ".crdownload", ".swp", "~"}

// unfinished tells whether a name is hidden, is that of a file that is being written, or of
// a checksum, and the pattern does not name such ones.
func (p *pull) unfinished(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") {
		return true
	}
	endings := temporary
	if s := p.of.Checksum.Suffix; s != "" {
		endings = append(slices.Clone(temporary), s)
	}
	lower := strings.ToLower(name)
	return slices.ContainsFunc(endings, func(e string) bool {
		return strings.HasSuffix(lower, strings.ToLower(e)) && !strings.HasSuffix(strings.ToLower(pattern), strings.ToLower(e))
	})
}

// unchanged lists again and compares. The error is a *changed.
func (p *pull) unchanged(ctx context.Context, before []*file) error {
	after, err := p.list(ctx)
	if err != nil {
		return err
	}
	was := map[string]*file{}
	for _, f := range before {
		was[f.name] = f
	}
	for _, f := range after {
		old := was[f.name]
		delete(was, f.name)
		switch {
		case old == nil:
			return &changed{p.at(f.path) + " appeared while the others were pulled"}
		case old.pin() != f.pin():
			return &changed{p.at(f.path) + " was changed while it was pulled"}
		}
	}
	for _, f := range was {
		return &changed{p.at(f.path) + " was deleted while it was pulled"}
	}
	return nil
}
