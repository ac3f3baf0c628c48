package extract

import (
	"archive/zip"
	"cmp"
	"encoding/binary"
	"io"
	"slices"
)

// Parts of a zip archive (APPNOTE §4.3): signatures, and lengths in bytes.
const (
	zipLocalSignature   = 0x04034b50
	zipEndSignature     = 0x06054b50
	zip64LocatorSign    = 0x07064b50
	zipLocalLength      = 30
	zipEndLength        = 22
	zip64LocatorLength  = 20
	zip64EndLength      = 56
	zipLongestGap       = 24 + zipLocalLength + 2*(1<<16-1) // data descriptor, local header
	zipLongestComment   = 1<<16 - 1
	zipDescriptorFollow = 0x8 // flag of a member
)

// zipEnd is what the end of an archive says of its directory.
type zipEnd struct {
	members    uint64
	from, stop int64 // place of the directory by its stated size
	offset     int64 // its stated place
}

// openDirectory reads the directory of an archive. Every byte of the file belongs to
// a member, the directory or the end: what stands in front of them, behind them or
// between them (another archive, members that the directory leaves out) would be
// lost in silence, and refuses the file.
func openDirectory(file io.ReaderAt, size int64, name string) (*zip.Reader, error) {
	end, err := findZipEnd(file, size, name)
	if err != nil {
		return nil, err
	}
	if end.members > maxMembers {
		return nil, overLimit(name, "members", maxMembers)
	}
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return nil, brokenZip(name, err)
	}
	if end.from != end.offset {
		return nil, strayBytes(name, 0, max(end.from-end.offset, 1))
	}
	return archive, checkTiling(file, archive.File, end.from, name)
}

// findZipEnd finds the end of the archive, before a library holds all members.
func findZipEnd(file io.ReaderAt, size int64, name string) (zipEnd, error) {
	tail := make([]byte, min(size, zipLongestComment+zipEndLength+zip64LocatorLength))
	start := size - int64(len(tail))
	if _, err := file.ReadAt(tail, start); err != nil && err != io.EOF {
		return zipEnd{}, brokenZip(name, err)
	}
	le := binary.LittleEndian
	for i := len(tail) - zipEndLength; i >= 0; i-- {
		if le.Uint32(tail[i:]) != zipEndSignature {
			continue
		}
		at := start + int64(i)
		if behind := at + zipEndLength + int64(le.Uint16(tail[i+20:])); behind < size {
			return zipEnd{}, strayBytes(name, behind, size-behind)
		}
		e := zipEnd{members: uint64(le.Uint16(tail[i+10:])), stop: at, offset: int64(le.Uint32(tail[i+16:]))}
		length := int64(le.Uint32(tail[i+12:]))
		if l := i - zip64LocatorLength; l >= 0 && le.Uint32(tail[l:]) == zip64LocatorSign {
			e.stop = int64(le.Uint64(tail[l+8:]))
			record := make([]byte, zip64EndLength)
			if e.stop < 0 || e.stop > size-zip64EndLength {
				return zipEnd{}, brokenZip(name, zip.ErrFormat)
			}
			if _, err := file.ReadAt(record, e.stop); err != nil {
				return zipEnd{}, brokenZip(name, err)
			}
			e.members, length, e.offset = le.Uint64(record[32:]), int64(le.Uint64(record[40:])), int64(le.Uint64(record[48:]))
		}
		if e.from = e.stop - length; length < 0 || e.from < 0 {
			return zipEnd{}, brokenZip(name, zip.ErrFormat)
		}
		return e, nil
	}
	return zipEnd{}, brokenZip(name, zip.ErrFormat)
}

// checkTiling holds the members against the bytes up to the directory.
func checkTiling(file io.ReaderAt, members []*zip.File, directory int64, name string) error {
	type extent struct {
		from, stop int64 // of the packed content
		described  bool
	}
	extents := make([]extent, 0, len(members)+1)
	for _, f := range members {
		from, err := f.DataOffset()
		if err != nil {
			return brokenZip(name, err)
		}
		if int64(f.CompressedSize64) < 0 || int64(f.CompressedSize64) > directory-from {
			return cutFile(name, "the member %s is larger than the archive", quoteName(f.Name))
		}
		extents = append(extents, extent{from, from + int64(f.CompressedSize64), f.Flags&zipDescriptorFollow != 0})
	}
	slices.SortFunc(extents, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
	last := extent{}
	buf := make([]byte, 0, 1<<10)
	for _, e := range append(extents, extent{from: directory}) {
		gap := e.from - last.stop
		if gap < 0 {
			return badFile(name, "two members of the archive share the bytes at %d", e.from).
				WithHint("the archive is damaged or made to deceive: have it sent again")
		}
		if gap > zipLongestGap {
			return strayBytes(name, last.stop, gap)
		}
		buf = slices.Grow(buf[:0], int(gap))[:gap]
		if _, err := file.ReadAt(buf, last.stop); err != nil && err != io.EOF {
			return brokenZip(name, err)
		}
		if !fillsGap(buf, last.described, e.from == directory && e.stop == 0) {
			return strayBytes(name, last.stop, gap)
		}
		last = e
	}
	return nil
}

// fillsGap tells whether a gap between two contents is a descriptor of the one
// before, with or without its signature and in 32 or 64 bits, if it has one, and the
// local header of the one after it, if that is not the directory.
func fillsGap(gap []byte, described, atDirectory bool) bool {
	descriptors := []int{0}
	if described {
		descriptors = []int{16, 12, 24, 20, 0}
	}
	return slices.ContainsFunc(descriptors, func(n int) bool {
		if n > len(gap) {
			return false
		}
		h := gap[n:]
		if atDirectory {
			return len(h) == 0
		}
		le := binary.LittleEndian
		return len(h) >= zipLocalLength && le.Uint32(h) == zipLocalSignature &&
			len(h) == zipLocalLength+int(le.Uint16(h[26:]))+int(le.Uint16(h[28:]))
	})
}

func strayBytes(name string, at, n int64) error {
	return badFile(name, "%d bytes at byte %d belong to no member of the archive", n, at).
		WithHint("two archives may have been joined, or the upload was repeated behind a broken one: have it sent again, written anew")
}
