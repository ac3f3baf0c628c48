package extract

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// maxMembers bounds the members of an archive: its directory is held in memory.
const maxMembers = 10_000

// zipReader reads the declared members of a zip archive (PKWARE APPNOTE 6.3), one
// after the other, each with a reader of the source's format. Members are
// decompressed while they are read; their CRC-32 and length must fit.
//
// Refused whole are archives with a member that is encrypted, leaves its folder,
// is a link, has the name of another one, or is neither data nor ignored.
type zipReader struct {
	src    *rules.Source
	fields []rules.Field
	name   string
	lim    Limits

	raw     *hashedReader
	file    io.ReaderAt
	size    int64
	spool   *os.File // nil where the file itself is read
	members []*zip.File
	read    int64     // bytes of content of all members
	sum     hash.Hash // of the content of all members, one behind the other

	at     int // member that is read
	inner  fileReader
	stream *memberReader
	header []string
	order  []int // place of each column of the first member in this one; nil where equal
	cells  []Cell
	done   int64 // records of the members before
	lines  int64 // control lines of the members before
	rec    Record
	notes  []string
	below  outsideRows // of the members before
	cut    bool        // one of them ends within a line
	err    error
}

func openZip(src *rules.Source, fields []rules.Field, f io.Reader, name string, lim Limits) (fileReader, error) {
	z := &zipReader{src: src, fields: fields, name: name, lim: lim, sum: sha256.New()}
	z.raw = &hashedReader{r: f, sum: sha256.New()}
	err := z.open(f)
	if err == nil {
		err = z.nextMember()
	}
	if err != nil {
		z.Close()
		return nil, err
	}
	return z, nil
}

func (z *zipReader) open(f io.Reader) (err error) {
	z.file, z.size, z.spool, err = randomAccess(z.raw, plainFile(f), z.name, z.lim)
	if z.raw.err != nil {
		return fail.Wrap(fail.Input, z.raw.err, "%s: cannot be read after %d bytes", z.name, z.raw.read)
	}
	if err != nil {
		return err
	}
	archive, err := openDirectory(z.file, z.size, z.name)
	if err != nil {
		return err
	}
	return z.choose(archive.File)
}

// plainFile is the file behind a stream, nil where it is none.
func plainFile(f io.Reader) *os.File {
	if c, ok := f.(*countingReader); ok {
		f = c.f
	}
	plain, _ := f.(*os.File)
	return plain
}

// randomAccess reads a stream through, so that it is hashed, and gives access to any
// place of it. plain is the file with the same bytes; where there is none they are
// spooled to a temporary one. Errors of r should be *fail.Error.
func randomAccess(r io.Reader, plain *os.File, name string, lim Limits) (at io.ReaderAt, size int64, spool *os.File, err error) {
	var to io.Writer = io.Discard // a plain file is only hashed on the way
	if plain == nil {
		if spool, err = os.CreateTemp("", "recon-batch-*"); err != nil {
			return nil, 0, nil, fail.Wrap(fail.Resources, err, "%s: no temporary file for its content", name).
				WithHint("set TMPDIR to a folder with room for it")
		}
		plain, to = spool, spool
	}
	size, err = io.Copy(to, io.LimitReader(r, lim.ContentBytes+1))
	if err != nil {
		if _, ok := errors.AsType[*fail.Error](err); !ok {
			err = fail.Wrap(fail.Resources, err, "%s: its content cannot be spooled", name).
				WithHint("set TMPDIR to a folder with room for it")
		}
	} else if size > lim.ContentBytes {
		err = overLimit(name, "bytes", lim.ContentBytes)
	}
	if err != nil && spool != nil {
		spool.Close()
		os.Remove(spool.Name())
		spool = nil
	}
	return plain, size, spool, err
}

// choose finds the members with records, in the order of their names.
func (z *zipReader) choose(files []*zip.File) error {
	seen := map[string]bool{}
	var left []string
	for _, f := range files {
		if len(seen) >= maxMembers {
			return overLimit(z.name, "members", maxMembers)
		}
		if err := z.checkMember(f, seen); err != nil {
			return err
		}
		seen[f.Name] = true
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		switch declared := z.declared(); {
		case matchesAny(f.Name, z.ignored()):
		case declared == "" || declared == f.Name || matchesAny(f.Name, []string{declared}):
			z.members = append(z.members, f)
		default:
			left = append(left, f.Name)
		}
	}
	slices.SortFunc(z.members, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	var names []string
	for _, m := range z.members {
		names = append(names, m.Name)
	}
	switch {
	case len(z.members) == 0 && z.declared() != "":
		e := badFile(z.name, "the archive has no member %s", quoteName(z.declared()))
		e.Hint = "the members are: " + quoteList(left)
		if s := closest(z.declared(), left); s != "" {
			e.Hint = "did you mean " + quoteName(s) + "? " + e.Hint
		}
		return e
	case len(z.members) == 0:
		return badFile(z.name, "the archive has no member").WithHint("have it sent again")
	case len(left) > 0:
		return badFile(z.name, "the archive has members that are not declared: %s", quoteList(left)).
			WithHint("declare zip: {member: …} so that they are read, or zip: {ignore: […]} if they are no data")
	case z.declared() == "" && len(z.members) > 1:
		return badFile(z.name, "the archive has %d members: %s", len(z.members), quoteList(names)).
			WithHint("declare zip: {member: …}; a pattern such as *.csv takes several; zip: {ignore: […]} names those that are no data")
	case len(z.members) > 1 && z.src.Controls.InLines():
		return z.ofOne("controls")
	case len(z.members) > 1 && z.src.Coverage.Through != nil && z.src.Coverage.Through.At.Field > 0:
		return z.ofOne("watermark")
	}
	return nil
}

// ofOne is the error of an archive with several members, where something stands in the
// lines of one.
func (z *zipReader) ofOne(what string) error {
	return badFile(z.name, "the archive has %d members with records, and the %s of the source stand in one", len(z.members), what).
		WithHint("have each member checked by the totals of its own kinds (typed), or sent in an archive of its own")
}

func (z *zipReader) declared() string {
	if z.src.Zip == nil {
		return ""
	}
	return z.src.Zip.Member
}

func (z *zipReader) ignored() []string {
	if z.src.Zip == nil {
		return nil
	}
	return z.src.Zip.Ignore
}

func matchesAny(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return p == name || err == nil && ok
	})
}

// checkMember refuses what no archive of data has.
func (z *zipReader) checkMember(f *zip.File, seen map[string]bool) error {
	member := quoteName(f.Name)
	local := strings.TrimSuffix(f.Name, "/")
	switch {
	case !fs.ValidPath(local) || local == "." || strings.ContainsAny(f.Name, "\\\x00") || len(local) > 1 && local[1] == ':':
		return badFile(z.name, "the member %s leaves the folder that an archive is unpacked to", member).
			WithHint("the archive is damaged or made to do harm: ask its sender")
	case seen[f.Name]:
		return badFile(z.name, "two members have the name %s", member).WithHint("which one counts is not clear: have the archive sent again")
	case !f.Mode().IsRegular() && !f.Mode().IsDir():
		return badFile(z.name, "the member %s is no regular file", member).WithHint("have the file itself sent")
	case strings.HasSuffix(f.Name, "/") && f.UncompressedSize64 > 0:
		return badFile(z.name, "the folder %s has content", member).WithHint("have the archive sent again")
	case int64(f.CompressedSize64) < 0 || int64(f.CompressedSize64) > z.size:
		return cutFile(z.name, "the member %s is larger than the archive", member)
	}
	return checkPacked(f, z.name, z.lim)
}

// nextMember opens the next member, which must have the columns of the first.
func (z *zipReader) nextMember() error {
	m := z.members[z.at]
	name := z.name + "/" + m.Name
	if err := z.checkHeader(m); err != nil {
		return err
	}
	body, err := m.Open()
	if err != nil {
		return brokenZip(z.name, err)
	}
	z.stream = &memberReader{&packedReader{body: body, name: name, lim: z.lim, packed: int64(m.CompressedSize64)}, z}
	inner := *z.src
	inner.Compression, inner.Zip = rules.CompressionAuto, nil
	if compressionOf(inner.Compression, name) == rules.CompressionZip {
		return badFile(name, "an archive inside an archive is not read").WithHint("unpack the outer one first")
	}
	if z.inner, err = openReaderLimits(&inner, z.fields, z.stream, name, z.lim); err != nil {
		return err
	}
	header := z.inner.Header()
	if z.header == nil {
		z.header = header
		return nil
	}
	if z.order = nil; slices.Equal(header, z.header) {
		return nil
	}
	z.order = make([]int, len(z.header))
	for i, h := range z.header {
		if z.order[i] = slices.Index(header, h); z.order[i] < 0 || len(header) != len(z.header) {
			return badFile(name, "its columns are others than those of %s: %s", z.members[0].Name, quoteList(header)).
				WithHint("members of one source have the same columns; declare a source for each form")
		}
	}
	z.cells = make([]Cell, len(z.header))
	return nil
}

// checkHeader compares the name that a member has in the directory with the one in
// front of it: programs that go by either must read the same (APPNOTE §4.3.7).
func (z *zipReader) checkHeader(m *zip.File) error {
	const fixed = 30
	data, err := m.DataOffset()
	if err != nil {
		return brokenZip(z.name, err)
	}
	head := make([]byte, min(data, int64(fixed+len(m.Name)+1<<16)))
	if _, err := z.file.ReadAt(head, data-int64(len(head))); err != nil {
		return brokenZip(z.name, err)
	}
	for i := len(head) - fixed - len(m.Name); i >= 0; i-- {
		h := head[i:]
		if binary.LittleEndian.Uint32(h) != 0x04034b50 {
			continue
		}
		n, extra := int(binary.LittleEndian.Uint16(h[26:])), int(binary.LittleEndian.Uint16(h[28:]))
		if fixed+n+extra == len(h) && string(h[fixed:fixed+n]) == m.Name {
			return nil
		}
	}
	return badFile(z.name, "the directory of the archive has a member %s, and what stands in its place has another name", quoteName(m.Name)).
		WithHint("the archive is damaged or made to deceive: have it sent again")
}

func (z *zipReader) Header() []string { return z.header }

// Trailer is that of the member, where there is one member.
func (z *zipReader) Trailer() []string {
	if len(z.members) == 1 && z.inner != nil {
		return z.inner.Trailer()
	}
	return nil
}

func (z *zipReader) Head() []string {
	if len(z.members) == 1 && z.inner != nil {
		return headOf(z.inner)
	}
	return nil
}

func (z *zipReader) Trailers() [][]string {
	if len(z.members) == 1 && z.inner != nil {
		return trailersOf(z.inner)
	}
	return nil
}

func (z *zipReader) ControlLines() int64 {
	if z.inner == nil {
		return z.lines
	}
	return z.lines + z.inner.ControlLines()
}

func (z *zipReader) Next() (*Record, error) {
	for z.err == nil {
		rec, err := z.inner.Next()
		switch {
		case err == nil:
			z.rec = *rec
			z.rec.No += z.done
			if z.order != nil {
				for i, at := range z.order {
					z.cells[i] = rec.Cells[at]
				}
				z.rec.Cells, z.rec.whole = z.cells, nil
			}
			return &z.rec, nil
		case err == io.EOF:
			z.err = z.endMember()
		default:
			if bad, ok := errors.AsType[*RecordError](err); ok {
				return nil, z.reject(*bad)
			}
			z.err = err
		}
	}
	return nil, z.err
}

// reject gives a bad record its number in the archive.
func (z *zipReader) reject(bad RecordError) error {
	bad.No += z.done
	z.rec.No = bad.No
	if len(z.members) > 1 {
		bad.Reason = z.members[z.at].Name + ": " + bad.Reason
	}
	return &bad
}

// Notes are those of the members.
func (z *zipReader) Notes() []string { return z.notes }

// Outside are the rows of all members.
func (z *zipReader) Outside() outsideRows { return z.below }

// OpenEnd tells it of the members.
func (z *zipReader) OpenEnd() bool { return z.cut }

// endMember reads a member to its end, whose checksum counts, and opens the next.
func (z *zipReader) endMember() error {
	if _, err := io.Copy(io.Discard, z.stream); err != nil {
		return err
	}
	for _, n := range notesOf(z.inner) {
		z.notes = append(z.notes, z.members[z.at].Name+": "+n)
	}
	z.below.add(outsideOf(z.inner))
	z.cut = z.cut || openEndOf(z.inner)
	if z.at == len(z.members)-1 {
		return io.EOF
	}
	z.done = z.rec.No
	z.lines += z.inner.ControlLines()
	if err := z.closeMember(); err != nil {
		return err
	}
	z.at++
	return z.nextMember()
}

func (z *zipReader) closeMember() error {
	var err error
	if z.inner != nil {
		err = z.inner.Close()
		z.inner = nil
	}
	if z.stream != nil {
		z.stream.Close()
		z.stream = nil
	}
	return err
}

func (z *zipReader) Digests() Digests {
	d := Digests{Size: z.raw.read}
	z.raw.sum.Sum(d.Raw[:0])
	z.sum.Sum(d.Content[:0])
	return d
}

// Close lets go of the member and removes the spooled archive.
func (z *zipReader) Close() error {
	err := z.closeMember()
	if z.spool != nil {
		z.spool.Close()
		os.Remove(z.spool.Name())
		z.spool = nil
	}
	if z.err == nil {
		z.err = fail.New(fail.Internal, "%s: read after close", z.name)
	}
	return err
}

// memberReader is the content of one member as a part of that of all.
type memberReader struct {
	*packedReader
	z *zipReader
}

func (m *memberReader) Read(p []byte) (int, error) {
	n, err := m.packedReader.Read(p)
	m.z.read += int64(n)
	m.z.sum.Write(p[:n])
	if m.z.read > m.z.lim.ContentBytes {
		err = overLimit(m.z.name, "bytes of content", m.z.lim.ContentBytes)
		m.err = err
	}
	return n, err
}
