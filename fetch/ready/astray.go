package ready

import (
	"context"
	"path"
	"slices"
	"strings"
)

// compressed are endings that are put behind a name.
var compressed = []string{".gz", ".zst", ".bz2", ".xz", ".z", ".zip", ".gpg", ".pgp"}

// astray looks at a listed name that the path of the input does not mean. It is one of another
// source, unless it looks like a file of this one that nobody would read: a list is written on
// another machine, with its folders, with \ or in capitals. Passed over in silence, such a file
// would be missed by nobody.
func (l *look) astray(ctx context.Context, listed string) error {
	name := strings.ReplaceAll(strings.ToLower(listed), `\`, "/")
	inside, doubled := strings.CutPrefix(listed, path.Clean(l.Input.Ready.Folder)+"/")
	switch {
	case doubled && l.names(inside), path.IsAbs(listed) && l.alike(path.Base(name)):
		es, err := l.store.List(ctx, listed, true)
		if err != nil || len(es) > 0 {
			return err
		}
	case strings.Contains(listed, `\`) && l.alike(path.Base(name)):
	case path.Dir(listed) == path.Dir(path.Clean(l.pattern)) && l.alike(path.Base(name)):
	case path.Dir(listed) == path.Dir(path.Clean(l.pattern)) && slices.Contains(compressed, path.Ext(name)) && l.alike(strings.TrimSuffix(path.Base(name), path.Ext(name))):
		if _, plain := l.list.files[strings.TrimSuffix(listed, path.Ext(listed))]; plain {
			return nil // listed in both forms
		}
	default:
		return nil
	}
	l.late("the manifest %s lists %q, which looks like a file of %s and is not in its place, or has another name", l.list.name, listed, l.Input.Path)
	return nil
}

// alike tells whether the last part of a name, in small letters, is one by the last part of the
// path.
func (l *look) alike(base string) bool {
	pattern := strings.ToLower(path.Base(l.pattern))
	if l.Input.Source.Literal {
		return pattern == base
	}
	ok, err := path.Match(pattern, base)
	return ok && err == nil
}
