package sql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// Names below the folder of a request, as long as a pull by slices is not whole.
const (
	slicesDir  = "slices"
	slicesFile = "slices.json" // in slicesDir: what is stored
)

// stored is the checkpoint of a pull by slices.
type stored struct {
	Request   string       `json:"request"`   // digest of what is asked for
	Columns   string       `json:"columns"`   // digest of names and types of the result
	Snapshots []string     `json:"snapshots"` // of the database, from which slices come
	Rows      int64        `json:"rows"`
	Last      [][]byte     `json:"last"` // key of the last row; null: there is none
	Whole     bool         `json:"whole"`
	Slices    []fetch.File `json:"slices"`
}

// slices reads a query slice by slice, each a part of its own of the compressed file, so
// that the bytes of the file do not depend on where a pull was cut short.
func (p *pull) slices(ctx context.Context, c conn, cols []column, keys []int) error {
	dir := filepath.Join(p.r.Dir, slicesDir)
	s, err := p.checkpoint(dir, cols)
	if err != nil {
		return err
	}
	if id := p.snap.id(); !slices.Contains(s.Snapshots, id) {
		s.Snapshots = append(s.Snapshots, id)
	}
	p.out.Requests++
	err = c.each(ctx, p.t.noKey(p.q, cols, keys), nil, true, func([][]byte) error {
		return p.t.badKey("a row has no value in a column of the keyset")
	})
	if err != nil {
		return err
	}
	for !s.Whole {
		if err := p.slice(ctx, c, cols, keys, dir, s); err != nil {
			return err
		}
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if err := fetch.WriteFile(filepath.Join(dir, slicesFile), text); err != nil {
			return err
		}
		p.stored = len(s.Slices)
	}
	return p.join(dir, s)
}

// slice reads the next slice.
func (p *pull) slice(ctx context.Context, c conn, cols []column, keys []int, dir string, s *stored) error {
	w, err := fetch.Create(dir, fmt.Sprintf("%06d", len(s.Slices)+1))
	if err != nil {
		return err
	}
	defer w.Abort()
	k := &keyed{t: p.t, cols: cols, at: keys, skip: s.Last != nil}
	for _, v := range s.Last {
		k.last = append(k.last, slices.Clone(v))
	}
	limit := p.t.of.Keyset.Rows
	p.out.Requests++
	rows, err := p.write(ctx, c, p.t.slice(p.q, cols, keys, s.Last, limit), cols, w, k, s.Rows)
	if err != nil {
		return err
	}
	if k.skip {
		return p.t.badKey(errKeyGone)
	}
	f, err := w.Commit()
	if err != nil {
		return err
	}
	f.Records = rows
	s.Slices, s.Rows, s.Last, s.Whole = append(s.Slices, f), s.Rows+rows, k.last, rows < limit
	return nil
}

// checkpoint finds what an earlier attempt stored, where it may be gone on from: it asked for
// the same, and saw the same snapshot of the database or rows that are immutable. All
// else is taken away.
func (p *pull) checkpoint(dir string, cols []column) (*stored, error) {
	h := sha256.New()
	for _, c := range cols {
		fmt.Fprintf(h, "%q %q\n", c.name, c.as)
	}
	empty := &stored{Request: p.out.Request, Columns: hex.EncodeToString(h.Sum(nil))}
	text, err := os.ReadFile(filepath.Join(dir, slicesFile))
	if err == nil {
		s := &stored{}
		if json.Unmarshal(text, s) == nil && p.usable(dir, s, empty) {
			p.r.Note("the source %s: going on behind the %s that are stored", p.t.name, count(s.Rows))
			return s, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fail.Disk(err, "the checkpoint of a pull cannot be read")
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, fail.Disk(err, "the slices of an earlier pull cannot be removed")
	}
	return empty, fail.Disk(os.MkdirAll(dir, 0o700), "a folder of the snapshot cannot be made")
}

func (p *pull) usable(dir string, s, want *stored) bool {
	if s.Request != want.Request || s.Columns != want.Columns {
		return false
	}
	if !p.t.of.Keyset.Immutable && !slices.Equal(s.Snapshots, []string{p.snap.id()}) {
		return false
	}
	for _, f := range s.Slices {
		size, digest, err := fetch.HashFile(filepath.Join(dir, fetch.FilesDir, f.Name))
		if err != nil || size != f.Size || digest != f.SHA256 {
			return false
		}
	}
	return true
}

// join makes the file of the slices.
func (p *pull) join(dir string, s *stored) error {
	w, err := fetch.Create(p.r.Dir, p.r.Input.Path)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, f := range s.Slices {
		if err := appendFile(w, filepath.Join(dir, fetch.FilesDir, f.Name)); err != nil {
			return err
		}
	}
	proof := fmt.Sprintf("%s in %d slices by (%s), read to the end in one repeatable-read snapshot",
		count(s.Rows), len(s.Slices), strings.Join(p.t.of.Keyset.Columns, ", "))
	if n := len(s.Snapshots); n > 1 {
		proof = fmt.Sprintf("%s in %d slices by (%s), read to the end in %d repeatable-read snapshots of rows that are declared immutable",
			count(s.Rows), len(s.Slices), strings.Join(p.t.of.Keyset.Columns, ", "), n)
	}
	if err := p.commit(w, s.Rows, proof); err != nil {
		return err
	}
	return fail.Disk(os.RemoveAll(dir), "the slices of the pull cannot be removed")
}

func appendFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fail.Disk(err, "a slice cannot be read")
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return fail.Disk(err, "a slice cannot be put to the others")
}
