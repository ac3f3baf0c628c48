package extract

import (
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/folder"
	"github.com/recon-batch/recon-batch/rules"
)

// foundFile is one file of a source, or the place of one that is missing.
type foundFile struct {
	source     *rules.Source
	input      int    // index in Bound.Inputs of the side
	dir        string // folder that symbolic links may not leave
	rel        string // path inside dir
	date       string // {file_date}, or ""
	missing    bool
	kept       string // where its bytes are kept as well, "" nowhere; then they are read there
	sha256     string // of the bytes that it must have (see Pinned); "" whatever it has
	signedWith string // names the keys by which a former run checked its signatures
	pulled     string // digest of the bytes that were pulled; "" of a local file

	controls []Control     // that it states about itself, once it is judged
	through  *int64        // what it says that its data reach to; nil: nothing
	judged   *rules.Judged // of the input; nil: it has no ready rules
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
	return folder.Open(f.dir, f.rel)
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
		for k, n := range names {
			if !utf8.ValidString(n) {
				return nil, fail.New(fail.Input, "the source %s has a file whose name is no UTF-8: %q", in.Source.Name, n).
					WithHint("rename it: outputs could not name it")
			}
			f := &foundFile{source: in.Source, input: i, dir: dir, rel: n, date: in.FileDate, judged: in.Judged}
			if in.Pulled != nil && len(in.Pulled.Digests) == len(names) {
				f.pulled = in.Pulled.Digests[k]
			}
			found = append(found, f)
		}
		if len(names) == 0 {
			found = append(found, &foundFile{source: in.Source, input: i, dir: dir, rel: in.Path, date: in.FileDate, missing: true, judged: in.Judged})
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
// they may not leave, see [folder.Names].
func expand(base string, in *rules.Input) (names []string, dir string, err error) {
	if in.Pulled != nil {
		return in.Pulled.Names, in.Pulled.Dir, nil
	}
	if in.Source.Remote != nil {
		return nil, "", fail.New(fail.Internal, "the source %s is read before it was pulled", in.Source.Name)
	}
	if in.Judged != nil && len(in.Judged.Files) > 0 && in.Judged.Dir != "" {
		return judgedNames(in.Judged), in.Judged.Dir, nil
	}
	names, dir, err = folder.Names(base, in.Path, in.Source.Literal)
	if in.Judged != nil {
		names = nil // it is not ready, whatever lies there
	}
	return names, dir, err
}
