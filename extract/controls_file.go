package extract

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/folder"
	"github.com/recon-batch/recon-batch/rules"
)

// maxControlFile bounds a control file, in bytes: it holds totals, no records.
const maxControlFile = 1 << 20

// ControlFile is a file of totals that was read.
type ControlFile struct {
	Source string
	Dir    string
	Path   string // inside Dir
	Date   string
	Size   int64
	SHA256 string
}

// controlFiles judges the totals of control files, each over all files of its input,
// and takes the watermarks out of them. Where nothing of the input was read there is
// nothing to judge.
func (l *loader) controlFiles(context.Context) error {
	for i := range l.inputs {
		in := &l.inputs[i]
		if in.Control == nil {
			continue
		}
		var names []string
		j := &controlJudge{name: in.Control.Path, date: in.FileDate, src: in.Source, inFile: true}
		for k, s := range l.staged {
			if s != nil && l.found[k].input == i && l.rel.Files[k].Status == FileStaged {
				j.got.add(&s.sidecar)
				names = append(names, l.found[k].rel)
			}
		}
		if len(names) == 0 {
			continue
		}
		j.of = strings.Join(names[:min(len(names), 5)], ", ")
		err := l.controlFile(i, j)
		switch {
		case err == nil:
			l.rel.Controls = append(l.rel.Controls, j.out...)
		case in.Source.Need == rules.Optional && fail.ClassOf(err) == fail.Input:
			l.leaveOutFiles(in.Source, func(k int) bool { return l.found[k].input == i }, err)
		default:
			return err
		}
	}
	return nil
}

func (l *loader) controlFile(i int, j *controlJudge) error {
	in := &l.inputs[i]
	text, err := l.readControlFile(in)
	if err != nil {
		return err
	}
	rows, err := controlRows(text, in, j.name)
	if err != nil {
		return err
	}
	c := in.Source.Controls
	if slices.ContainsFunc(c.Positions(), func(p rules.Position) bool { return p.In == rules.InFile }) {
		if err := j.judge(rows); err != nil {
			return err
		}
	}
	w := in.Source.Coverage.Through
	if w == nil || w.At.In != rules.InFile {
		return nil
	}
	for _, r := range rows {
		at, err := l.watermarkIn(j.name, in.Source, r)
		if err != nil {
			return err
		}
		l.through = earliest(l.through, i, at)
	}
	if len(rows) == 0 {
		return fail.New(fail.Input, "%s: no row says what the data reach to", j.name).WithHint("correct controls.file.where in the job file, or have the file sent again")
	}
	return nil
}

// readControlFile reads a control file whole, and notes it.
func (l *loader) readControlFile(in *rules.Input) ([]byte, error) {
	names, dir, err := folder.Names(l.opt.BaseDir, in.Control.Path, true)
	if err != nil {
		return nil, err
	}
	f := ControlFile{Source: in.Source.Name, Dir: dir, Path: in.Control.Path, Date: in.FileDate}
	var must *Pinned
	if l.opt.Pinned != nil {
		k := slices.IndexFunc(l.opt.Pinned, func(p Pinned) bool { return p.Control && p.Source == f.Source && p.Date == f.Date })
		if k < 0 {
			return nil, fail.New(fail.Input, "the run read no control file %s, which this job has", f.Path).
				WithHint("judge it again under a job with the control files of the run")
		}
		must = &l.opt.Pinned[k]
	}
	var r io.ReadCloser
	switch {
	case must != nil && must.SHA256 != "" && l.opt.Kept != nil && l.opt.Kept(must.SHA256) != "":
		r, err = os.Open(l.opt.Kept(must.SHA256))
	case len(names) == 0:
		return nil, fail.New(fail.Input, "there is no control file %s beside the files of the source %s", f.Path, f.Source).
			WithHint("wait for it: it comes when the files are whole; or correct controls.file")
	default:
		f.Path = names[0]
		r, err = folder.Open(dir, f.Path)
	}
	if err != nil {
		return nil, inputError(f.Path, err)
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxControlFile+1))
	if err != nil {
		return nil, inputError(f.Path, err)
	}
	if len(text) > maxControlFile {
		return nil, overLimit(f.Path, "bytes of a control file", maxControlFile)
	}
	sum := sha256.Sum256(text)
	f.Size, f.SHA256 = int64(len(text)), hex.EncodeToString(sum[:])
	if must != nil && must.SHA256 != "" && must.SHA256 != f.SHA256 {
		return nil, fail.New(fail.Input, "%s has other bytes than the run read (%s, then %s)", f.Path, short(f.SHA256), short(must.SHA256)).
			WithHint("put the file of that day back")
	}
	l.rel.ControlFiles = append(l.rel.ControlFiles, f)
	return text, nil
}

// controlRows cuts a control file into the rows that speak of an input.
func controlRows(text []byte, in *rules.Input, name string) ([]statedRow, error) {
	var rows []statedRow
	var err error
	text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
	switch f := in.Source.Controls.File; f.Form {
	case rules.ControlCSV:
		rows, err = csvRows(text, f.Delimiter)
	case rules.ControlJSON:
		rows, err = jsonRows(text, f.Rows)
	default:
		rows, err = propertyRows(text)
	}
	if err != nil {
		return nil, fail.New(fail.Input, "%s: %s", name, err).WithHint("correct controls.file in the job file, or have the file sent again whole")
	}
	out := rows[:0]
	for _, r := range rows {
		holds := true
		for _, w := range in.Control.Where {
			text, ok := r(rules.Position{In: rules.InFile, Name: w.Column})
			holds = holds && ok && text == string(w.Text)
		}
		if holds {
			out = append(out, r)
		}
	}
	return out, nil
}

func namedRow(row map[string]string) statedRow {
	return func(p rules.Position) (string, bool) {
		text, ok := row[p.Name]
		return strings.TrimSpace(text), ok
	}
}

func csvRows(text []byte, delimiter rune) ([]statedRow, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma = delimiter
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	}
	if err != nil {
		return nil, err
	}
	var out []statedRow
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, h := range header {
			h = strings.TrimSpace(h)
			if _, twice := row[h]; twice {
				return nil, errors.New("the column " + quoteName(h) + " is there twice")
			}
			row[h] = fields[i]
		}
		out = append(out, namedRow(row))
	}
}

// jsonRows reads the object, or the array of objects, at a path. Their members are named
// by dotted paths.
func jsonRows(text []byte, path string) ([]statedRow, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text follows the document")
	}
	if path != "" {
		for _, step := range strings.Split(path, ".") {
			m, _ := v.(map[string]any)
			if v = m[step]; v == nil {
				return nil, errors.New("there is nothing at " + path)
			}
		}
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []statedRow
	for _, x := range list {
		if _, ok := x.(map[string]any); !ok {
			return nil, errors.New("the totals are in no object")
		}
		row := map[string]string{}
		flatten(row, "", x)
		out = append(out, namedRow(row))
	}
	return out, nil
}

func flatten(row map[string]string, path string, v any) {
	switch x := v.(type) {
	case map[string]any:
		for k, m := range x {
			flatten(row, strings.TrimPrefix(path+"."+k, "."), m)
		}
	case json.Number:
		row[path] = x.String()
	case string:
		row[path] = x
	}
}

// propertyRows reads lines NAME=VALUE or NAME: VALUE; # begins a line of remarks.
func propertyRows(text []byte) ([]statedRow, error) {
	row := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		at := strings.IndexAny(line, "=:")
		if at <= 0 {
			return nil, errors.New("a line is not NAME=VALUE")
		}
		name := strings.TrimSpace(line[:at])
		if _, twice := row[name]; twice {
			return nil, errors.New("the name " + quoteName(name) + " is there twice")
		}
		row[name] = line[at+1:]
	}
	return []statedRow{namedRow(row)}, nil
}
