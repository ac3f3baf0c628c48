package fetch

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// PartialDir is the folder, below that of a request, of what an interrupted pull had
// brought. It goes away when the pull is whole.
const PartialDir = "partial"

// Partial is a file of a snapshot that is brought piece by piece, in order, and outlives
// an interruption: the next pull finds the pieces that are whole, and asks for the rest.
//
// The pieces lie in one file, and a list beside it has the end and a checksum of each. A
// piece counts only where its bytes fit its checksum, so that nothing depends on which of
// the two files the system brought to the disk first.
type Partial struct {
	data, list *os.File
	sum        hash.Hash // SHA-256 of all
	also       io.Writer
	size       int64
	name, dest string

	mu     sync.Mutex
	placed map[int64]uint32 // checksums of the pieces that are written ahead
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenPartial goes on with a file of the snapshot in dir, the folder of the request, or
// begins it. name is as for [Create]. pin says which content it is (a version, an ETag, a
// time and a size); what was brought under another pin is thrown away. Every byte of the
// file, those that are there already included, is given to also, which may be nil.
func OpenPartial(dir, name, pin string, also io.Writer) (*Partial, error) {
	dest, err := destination(dir, name)
	if err != nil {
		return nil, err
	}
	base := partialPath(dir, name)
	if err := os.MkdirAll(filepath.Dir(base), 0o700); err != nil {
		return nil, fail.Disk(err, "a folder of the snapshot cannot be made")
	}
	if also == nil {
		also = io.Discard
	}
	p := &Partial{sum: sha256.New(), also: also, name: name, dest: dest, placed: map[int64]uint32{}}
	if p.data, err = os.OpenFile(base+".data", os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		p.list, err = os.OpenFile(base+".list", os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err == nil {
		err = p.find(pin)
	}
	if err != nil {
		p.Close()
		return nil, fail.Disk(err, "a file of the snapshot cannot be made")
	}
	return p, nil
}

// find reads what is there, up to the first piece that is not whole, and cuts off the rest.
func (p *Partial) find(pin string) error {
	head, err := json.Marshal(pin)
	if err != nil {
		return err
	}
	in := bufio.NewReader(p.list)
	kept := int64(0) // of the list
	if line, err := in.ReadString('\n'); err == nil && line == string(head)+"\n" {
		kept = int64(len(line))
		for {
			line, err := in.ReadString('\n')
			var end int64
			var want uint32
			if _, bad := fmt.Sscanf(line, "%d %08x\n", &end, &want); err != nil || bad != nil {
				break
			}
			if whole, err := p.piece(end, want); err != nil {
				return err
			} else if !whole {
				break
			}
			kept += int64(len(line))
		}
	}
	if kept == 0 {
		if _, err := p.list.WriteAt([]byte(string(head)+"\n"), 0); err != nil {
			return err
		}
		kept = int64(len(head)) + 1
	}
	if err := errors.Join(p.list.Truncate(kept), p.data.Truncate(p.size)); err != nil {
		return err
	}
	_, err = p.list.Seek(kept, io.SeekStart)
	return err
}

// piece takes over one piece that is there, in two readings: one that believes nothing, and
// one that gives it to the digests.
func (p *Partial) piece(end int64, want uint32) (whole bool, err error) {
	if end <= p.size {
		return false, nil
	}
	got := crc32.New(castagnoli)
	if n, err := io.Copy(got, io.NewSectionReader(p.data, p.size, end-p.size)); err != nil || n != end-p.size || got.Sum32() != want {
		return false, err
	}
	if _, err := io.Copy(io.MultiWriter(p.sum, p.also), io.NewSectionReader(p.data, p.size, end-p.size)); err != nil {
		return false, err
	}
	p.size = end
	return true, nil
}

// Size is what is there, in bytes.
func (p *Partial) Size() int64 { return p.size }

// ReadAt reads what is there, from an offset.
func (p *Partial) ReadAt(b []byte, from int64) (int, error) { return p.data.ReadAt(b, from) }

// Place writes a piece that is not the next one yet, at its offset, so that several can be
// written at the same time. It counts when [Partial.Append] comes to it with the same bytes.
func (p *Partial) Place(piece []byte, at int64) error {
	_, err := p.data.WriteAt(piece, at)
	if err != nil {
		return fail.Disk(err, "a file of the snapshot cannot be written")
	}
	check := crc32.Checksum(piece, castagnoli)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.placed[at] = check
	return nil
}

// Append takes the next piece, and writes it unless it was placed. It is not kept.
func (p *Partial) Append(piece []byte) error {
	if len(piece) == 0 {
		return nil
	}
	var digests sync.WaitGroup
	if p.also != io.Discard {
		digests.Go(func() { p.also.Write(piece) })
	}
	p.mu.Lock()
	check, placed := p.placed[p.size]
	delete(p.placed, p.size)
	p.mu.Unlock()
	var err error
	if !placed {
		_, err = p.data.WriteAt(piece, p.size)
		check = crc32.Checksum(piece, castagnoli)
	}
	p.sum.Write(piece)
	digests.Wait()
	if err == nil {
		p.size += int64(len(piece))
		_, err = fmt.Fprintf(p.list, "%d %08x\n", p.size, check)
	}
	return fail.Disk(err, "a file of the snapshot cannot be written")
}

// SHA256 is the digest of what is there, hexadecimal.
func (p *Partial) SHA256() string { return hex.EncodeToString(p.sum.Sum(nil)) }

// Commit brings the file to the disk and gives it its name. The folder of what is partial
// stays; [Done.Remove] takes it away.
func (p *Partial) Commit() (File, error) {
	err := errors.Join(p.data.Sync(), p.data.Close(), p.list.Close())
	if err == nil {
		err = os.Rename(p.data.Name(), p.dest)
	}
	if err == nil {
		err = os.Remove(p.list.Name())
	}
	if err != nil {
		return File{}, fail.Disk(err, "a file of the snapshot cannot be written")
	}
	return File{Name: p.name, Size: p.size, SHA256: p.SHA256()}, nil
}

// Close leaves what is there to the next pull. After Commit or Discard it does nothing.
func (p *Partial) Close() {
	for _, f := range []*os.File{p.data, p.list} {
		if f != nil {
			f.Close()
		}
	}
}

// Discard takes away what is there.
func (p *Partial) Discard() {
	p.Close()
	os.Remove(p.data.Name())
	os.Remove(p.list.Name())
}

// partialPath is where the pieces of a file lie, without an ending. Its length does not
// depend on that of the name.
func partialPath(dir, name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(dir, PartialDir, hex.EncodeToString(sum[:16]))
}

// Done is the list of the files that a pull has brought whole, for the pull that goes on
// when it is interrupted. It may be used by several goroutines.
type Done struct {
	mu   sync.Mutex
	dir  string
	list *os.File
	of   map[string]done
}

type done struct {
	Pin   string `json:"pin"`
	Proof string `json:"proof,omitempty"` // in words of the puller
	File  File   `json:"file"`
}

// OpenDone reads the list in dir, the folder of the request, or begins it.
func OpenDone(dir string) (*Done, error) {
	if err := os.MkdirAll(filepath.Join(dir, PartialDir), 0o700); err != nil {
		return nil, fail.Disk(err, "a folder of the snapshot cannot be made")
	}
	f, err := os.OpenFile(filepath.Join(dir, PartialDir, "done.ndjson"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fail.Disk(err, "the list of the pull cannot be made")
	}
	d := &Done{dir: dir, list: f, of: map[string]done{}}
	in := bufio.NewReader(f)
	kept := int64(0)
	for {
		line, err := in.ReadString('\n')
		var v done
		if err != nil || json.Unmarshal([]byte(line), &v) != nil {
			break // the end, or what was being written when it was interrupted
		}
		kept += int64(len(line))
		d.of[v.File.Name] = v
	}
	if err = f.Truncate(kept); err == nil {
		_, err = f.Seek(kept, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fail.Disk(err, "the list of the pull cannot be read")
	}
	return d, nil
}

// Have gives a file that an earlier pull brought whole under the same pin. It is read, and
// counts only where its digest is the one of the list.
func (d *Done) Have(name, pin string) (f File, proof string, ok bool) {
	d.mu.Lock()
	v, listed := d.of[name]
	d.mu.Unlock()
	dest, err := destination(d.dir, name)
	if err != nil || !listed || v.Pin != pin {
		return File{}, "", false
	}
	size, digest, err := HashFile(dest)
	if err != nil || size != v.File.Size || digest != v.File.SHA256 {
		return File{}, "", false
	}
	return v.File, v.Proof, true
}

// Add lists a file that is whole.
func (d *Done) Add(f File, pin, proof string) error {
	v := done{Pin: pin, Proof: proof, File: f}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.of[f.Name] = v
	_, err = d.list.Write(append(line, '\n'))
	return fail.Disk(err, "the list of the pull cannot be written")
}

// Sweep removes from the folder of the files all that an earlier pull brought and that is
// not asked for now.
func (d *Done) Sweep(wanted func(name string) bool) error {
	root := filepath.Join(d.dir, FilesDir)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || wanted(filepath.ToSlash(name)) {
			return err
		}
		return os.Remove(path)
	})
	return fail.Disk(err, "what an interrupted pull left cannot be removed")
}

// Bytes is how much an interrupted pull left on the disk, whole files and pieces.
func (d *Done) Bytes() (int64, error) {
	total := int64(0)
	for _, folder := range []string{FilesDir, PartialDir} {
		err := filepath.WalkDir(filepath.Join(d.dir, folder), func(_ string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			info, err := e.Info()
			if err == nil {
				total += info.Size()
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fail.Disk(err, "what an interrupted pull left cannot be read")
		}
	}
	return total, nil
}

// Room tells how many bytes more the disk has to take for files of so many in all, beside
// what an interrupted pull left, and how many it has room for.
func (d *Done) Room(total int64) (more, free int64, err error) {
	there, err := d.Bytes()
	if err != nil {
		return 0, 0, err
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &fs); err != nil {
		return 0, math.MaxInt64, nil // not known; what is written tells
	}
	return total - there, int64(fs.Bavail) * int64(fs.Bsize), nil
}

// Remove takes away the list and all pieces: the pull is whole.
func (d *Done) Remove() error {
	d.list.Close()
	return fail.Disk(os.RemoveAll(filepath.Join(d.dir, PartialDir)), "what the pull kept cannot be removed")
}

// Close leaves the list to the next pull.
func (d *Done) Close() { d.list.Close() }

// destination is where a file of the snapshot lies, in a folder that is made.
func destination(dir, name string) (string, error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) || filepath.Clean(local) != local || strings.ContainsRune(name, 0) {
		return "", fail.New(fail.Input, "%q is no name for a file", name).
			WithHint("names that lead out of their folder are not taken over")
	}
	dest := filepath.Join(dir, FilesDir, local)
	if err := os.MkdirAll(filepath.Dir(dest), 0o700); err != nil {
		return "", fail.Disk(err, "a folder of the snapshot cannot be made")
	}
	return dest, nil
}
