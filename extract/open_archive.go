package extract

import (
	"archive/zip"
	"io"
	"os"
	"slices"
	"strings"
)

// Member is one member of a zip archive.
type Member struct {
	Name  string
	Size  int64 // as the archive states it, decompressed
	Fault error // why a run refuses the archive for it; nil where it does not
}

// Members lists the members of a zip archive that are files, by their names. No
// member is decompressed.
func Members(f *os.File, name string, lim Limits) ([]Member, error) {
	z, archive, err := directory(f, name, lim)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []Member
	for _, m := range archive.File {
		if len(out) == maxMembers {
			return nil, overLimit(name, "members", maxMembers)
		}
		fault := z.checkMember(m, seen)
		seen[m.Name] = true
		if fault != nil || !strings.HasSuffix(m.Name, "/") {
			out = append(out, Member{Name: m.Name, Size: int64(min(m.UncompressedSize64, 1<<62)), Fault: fault})
		}
	}
	slices.SortFunc(out, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// OpenMember gives the decompressed bytes of one member, within the limits.
func OpenMember(f *os.File, member, name string, lim Limits) (io.ReadCloser, error) {
	z, archive, err := directory(f, name, lim)
	if err != nil {
		return nil, err
	}
	for _, m := range archive.File {
		if m.Name != member {
			continue
		}
		if err := z.checkMember(m, nil); err != nil {
			return nil, err
		}
		body, err := m.Open()
		if err != nil {
			return nil, brokenZip(name, err)
		}
		return &packedReader{body: body, name: name + "/" + member, lim: lim, packed: int64(m.CompressedSize64)}, nil
	}
	return nil, badFile(name, "the archive has no member %s", quoteName(member))
}

func directory(f *os.File, name string, lim Limits) (*zipReader, *zip.Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, inputError(name, err)
	}
	archive, err := openDirectory(f, info.Size(), name)
	if err != nil {
		return nil, nil, err
	}
	return &zipReader{name: name, lim: lim, size: info.Size()}, archive, nil
}

// Sheet is one sheet of a workbook.
type Sheet struct {
	Name   string
	Hidden bool
}

// Sheets lists the sheets of a workbook in its order.
func Sheets(f *os.File, name string, lim Limits) ([]Sheet, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, inputError(name, err)
	}
	b, err := openBook(f, info.Size(), name, lim)
	if err != nil {
		return nil, err
	}
	out := make([]Sheet, len(b.sheets))
	for i, s := range b.sheets {
		out[i] = Sheet{Name: s.name, Hidden: s.hidden}
	}
	return out, nil
}
