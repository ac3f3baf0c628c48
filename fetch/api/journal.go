package api

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// PagesFile is the list of pages, beside the files of a snapshot. It is written as they
// come, and is the checkpoint of the pull.
const PagesFile = "pages.ndjson"

// entry is one line of the list: exactly one of its members is set.
type entry struct {
	Begin   *beginning   `json:"begin,omitempty"`
	Asked   *inquiry     `json:"asked,omitempty"`
	Page    *page        `json:"page,omitempty"`
	Checked *int         `json:"checked,omitempty"` // the page with this index was asked for again, and was the same
	Report  *reportEntry `json:"report,omitempty"`
}

// beginning says what is asked for, and how often it was begun.
type beginning struct {
	Request string `json:"request"`
	Pass    int64  `json:"pass"`
}

// inquiry is a request whose answer has begun to come. The answer may be cut, and asked
// for again; the last one before a page is that of the page.
type inquiry struct {
	Position position            `json:"position"`
	Name     string              `json:"name"` // of its file
	Method   string              `json:"method"`
	URL      string              `json:"url"` // without what proves who asks
	Body     string              `json:"body,omitempty"`
	Status   int                 `json:"status"`
	Time     string              `json:"time"`
	Since    string              `json:"since,omitempty"` // of a lookup: when it was asked, by the earlier clock
	Headers  map[string][]string `json:"headers"`         // those that matter
}

// page is a page that is stored.
type page struct {
	Position position   `json:"position"`
	File     fetch.File `json:"file"`
	Bytes    int64      `json:"bytes"`  // of the document
	Digest   string     `json:"digest"` // of its records, in order
	Total    *int64     `json:"total,omitempty"`
	Through  string     `json:"through,omitempty"`
	Said     string     `json:"said,omitempty"` // of a report: its state; of a lookup: found or none
	Time     string     `json:"time,omitempty"` // of a lookup: when it was asked
	Next     *position  `json:"next,omitempty"` // nil: it is the last one of its slice
}

// reportEntry is a report that the service has been asked to make.
type reportEntry struct {
	ID   string `json:"id"`
	Time string `json:"time"`
}

// journal is the list while it is written.
type journal struct {
	dir     string
	request string
	f       *os.File
	pass    int64
	pages   []page
	checked map[int]bool
	report  *reportEntry
	asked   *inquiry // whose page is not there
}

// openJournal reads what an interrupted pull left. Where it was one of something else,
// all of it is thrown away.
func openJournal(dir, request string) (*journal, error) {
	j := &journal{dir: dir, request: request, checked: map[int]bool{}}
	if err := os.MkdirAll(filepath.Join(dir, fetch.FilesDir), 0o700); err != nil {
		return nil, fail.Disk(err, "the folder of the snapshot cannot be made")
	}
	if err := j.read(); err != nil {
		return nil, err
	}
	if j.pass == 0 {
		return j, j.begin(1)
	}
	kept, err := j.believe()
	if err != nil {
		return nil, err
	}
	if err := j.sweep(); err != nil {
		return nil, err
	}
	if !kept {
		return j, j.rewrite()
	}
	return j, j.open(os.O_APPEND)
}

// read takes the lines of the list, up to one that was cut.
func (j *journal) read() error {
	f, err := os.Open(filepath.Join(j.dir, PagesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fail.Disk(err, "the list of pages cannot be read")
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fail.Disk(err, "the list of pages cannot be read")
		}
		var e entry
		if json.Unmarshal(line, &e) != nil {
			return nil
		}
		switch {
		case e.Begin != nil:
			if e.Begin.Request != j.request {
				j.pass = 0
				return nil
			}
			j.pass = e.Begin.Pass
		case j.pass == 0:
			return nil
		case e.Asked != nil:
			j.asked = e.Asked
		case e.Page != nil:
			j.pages, j.asked = append(j.pages, *e.Page), nil
		case e.Checked != nil:
			j.checked[*e.Checked] = true
		case e.Report != nil:
			j.report = e.Report
		}
	}
}

// believe looks whether the files of the list are there and what they were. From the
// first one that is not, all is asked for again. kept is false where the list has to be
// written anew.
func (j *journal) believe() (kept bool, err error) {
	whole, err := wholeLines(filepath.Join(j.dir, PagesFile))
	if err != nil {
		return false, err
	}
	for i, p := range j.pages {
		size, digest, err := fetch.HashFile(j.path(p.File.Name))
		if err == nil && size == p.File.Size && digest == p.File.SHA256 {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fail.Disk(err, "%s cannot be read", p.File.Name)
		}
		j.pages, j.asked = j.pages[:i], nil
		clear(j.checked)
		return false, nil
	}
	return whole, nil
}

// wholeLines tells whether a file ends with a line.
func wholeLines(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fail.Disk(err, "the list of pages cannot be read")
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return false, err
	}
	b := make([]byte, 1)
	_, err = f.ReadAt(b, end-1)
	return b[0] == '\n', err
}

func (j *journal) path(name string) string {
	return filepath.Join(j.dir, fetch.FilesDir, filepath.FromSlash(name))
}

// sweep takes away files that the list does not know, but the one that came whole just
// before its line was to be written.
func (j *journal) sweep() error {
	known := map[string]bool{}
	for _, p := range j.pages {
		known[p.File.Name] = true
	}
	if j.asked != nil {
		known[j.asked.Name] = true
	}
	files, err := os.ReadDir(filepath.Join(j.dir, fetch.FilesDir))
	if err != nil {
		return fail.Disk(err, "the folder of the snapshot cannot be read")
	}
	for _, f := range files {
		if !known[f.Name()] {
			if err := os.RemoveAll(j.path(f.Name())); err != nil {
				return fail.Disk(err, "%s cannot be taken away", f.Name())
			}
		}
	}
	return nil
}

// begin throws away what is there, and begins a pass.
func (j *journal) begin(pass int64) error {
	j.close()
	j.pass, j.pages, j.asked, j.report = pass, nil, nil, nil
	clear(j.checked)
	if err := os.Remove(filepath.Join(j.dir, PagesFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail.Disk(err, "the list of pages cannot be taken away")
	}
	if err := j.sweep(); err != nil {
		return err
	}
	if err := j.open(os.O_TRUNC); err != nil {
		return err
	}
	return j.write(entry{Begin: &beginning{Request: j.request, Pass: pass}})
}

// rewrite writes the list anew, without what is not believed.
func (j *journal) rewrite() error {
	if err := j.open(os.O_TRUNC); err != nil {
		return err
	}
	err := j.write(entry{Begin: &beginning{Request: j.request, Pass: j.pass}})
	if err == nil && j.report != nil {
		err = j.write(entry{Report: j.report})
	}
	for i := range j.pages {
		if err == nil {
			err = j.write(entry{Page: &j.pages[i]})
		}
	}
	if err == nil && j.asked != nil {
		err = j.write(entry{Asked: j.asked})
	}
	for i := range j.pages {
		if err == nil && j.checked[i] {
			err = j.write(entry{Checked: &i})
		}
	}
	return err
}

func (j *journal) open(how int) error {
	f, err := os.OpenFile(filepath.Join(j.dir, PagesFile), os.O_WRONLY|os.O_CREATE|how, 0o600)
	if err != nil {
		return fail.Disk(err, "the list of pages cannot be written")
	}
	j.f = f
	return nil
}

func (j *journal) close() {
	if j.f != nil {
		j.f.Close()
		j.f = nil
	}
}

// write adds a line. A process that is killed loses none of them; where the machine loses
// the last ones, the pages are asked for again.
func (j *journal) write(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = j.f.Write(append(line, '\n'))
	return fail.Disk(err, "the list of pages cannot be written")
}

// sync brings the list to the disk.
func (j *journal) sync() error { return fail.Disk(j.f.Sync(), "the list of pages cannot be written") }
