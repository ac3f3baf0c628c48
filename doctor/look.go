package doctor

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

const (
	sampleBytes = 1 << 20  // of the content, from its start, that the form is guessed from
	tailBytes   = 64 << 10 // from its end
)

// Options of Look.
type Options struct {
	Side rules.Side // of the fragment; "" is guessed
	// Name is how the fragment names the file: a path from the folder of the job. ""
	// is the path as given.
	Name string
	// NoPreset leaves the presets out: the fragment says everything itself.
	NoPreset bool
	// Limits of what a file may ask for; zero: those of a run.
	Limits extract.Limits
}

// Look reads a file and says what it is. Errors are *fail.Error: the file is not
// there, or cannot be opened. What is wrong with its content is in the report.
func Look(ctx context.Context, path string, opt Options) (*Report, error) {
	info, err := os.Stat(path)
	if err != nil {
		e := fail.Wrap(fail.Input, err, "%s cannot be read", path)
		if errors.Is(err, fs.ErrNotExist) {
			e = e.WithHint("check the name; a path begins in the folder that the command runs in")
		}
		return nil, e
	}
	if !info.Mode().IsRegular() {
		return nil, fail.New(fail.Input, "%s is no regular file", path).WithHint("name one file; a folder has to be looked at file by file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fail.Wrap(fail.Input, err, "%s cannot be read", path)
	}
	defer f.Close()
	if opt.Name == "" {
		opt.Name = path
	}
	if opt.Limits == (extract.Limits{}) {
		opt.Limits = extract.DefaultLimits
	}
	r := &Report{
		SchemaVersion: 1, File: path, Size: info.Size(),
		Remarks: []Remark{}, Columns: []Column{}, Presets: []PresetFit{}, Controls: []Control{}, Findings: []Finding{},
	}
	l := &look{ctx: ctx, f: f, path: path, name: filepath.Base(path), opt: opt, r: r, d: &draft{path: opt.Name}}
	r.look = l
	err = l.all()
	r.look.f = nil
	if err == nil {
		return r, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	e, ok := errors.AsType[*fail.Error](err)
	if !ok || fail.ClassOf(err) != fail.Input && fail.ClassOf(err) != fail.Usage {
		return nil, err
	}
	r.Problem, r.Hint = err.Error(), e.Hint
	return r, nil
}

// look is one file under way.
type look struct {
	ctx  context.Context
	f    *os.File
	path string
	name string // base name, which stands for the file in messages
	opt  Options
	r    *Report
	d    *draft

	member  string // of a zip archive: the one that is looked at
	bytes   byteFacts
	text    string // first part of the content, decoded
	whole   bool   // text is all of it
	tail    string // last part, decoded, from the start of a line
	columns []*column
	trailer []string
	last    [][]string // last records of a workbook
	src     *rules.Source
	own     presetOwn // what the preset that fits best leaves to the job

	byPreset bool   // scanned with what a preset declares
	unproved string // why a bank's file does not prove itself
}

func (l *look) all() error {
	known, err := l.container()
	if err != nil || !known {
		return err
	}
	if !l.d.binary() {
		if err := l.readBytes(); err != nil {
			return err
		}
		if l.bytes.size == 0 {
			return fail.New(fail.Input, "%s: the file is empty", l.name).WithHint("fetch it again, or ask its sender")
		}
		if err := l.encoding(); err != nil {
			return err
		}
		if err := l.form(); err != nil {
			return err
		}
	}
	if err := l.scanProved(); err != nil {
		l.describe() // of what was read up to there
		l.suspicious()
		if l.presets(); !l.readsLines() {
			return err
		}
		if err := l.scanByPreset(); err != nil {
			return err
		}
	}
	if again, err := l.workbookEnd(); err != nil {
		return err
	} else if again {
		if err := l.scan(); err != nil {
			return err
		}
	}
	l.r.Whole = true
	if l.r.Records > 0 && l.r.Rejected == l.r.Records {
		l.describe()
		l.suspicious()
		return fail.New(fail.Input, "%s: no record of it can be read", l.name).WithHint("what is said of its lines above tells why: have the file sent again, or correct it before")
	}
	l.describe()
	if len(l.r.Presets) == 0 {
		l.presets()
	}
	if l.readsLines() && !l.byPreset {
		if err := l.scanByPreset(); err != nil {
			return err
		}
	}
	l.controls()
	l.suspicious()
	l.assign()
	return l.fragment()
}

// readsLines tells whether a preset that declares kinds of lines fits: then the file
// is read by it, since it knows more than the lines show.
func (l *look) readsLines() bool {
	return l.d.preset != nil && slices.ContainsFunc(l.r.Presets, func(f PresetFit) bool { return f.Best && f.lines })
}

func (l *look) scanByPreset() error {
	l.byPreset = true
	l.d.csv = slices.DeleteFunc(l.d.csv, func(p pair) bool { return p.key != "delimiter" && p.key != "quote" })
	l.d.controlLine, l.r.Findings = "", []Finding{}
	if l.d.fields = l.own.fields(); l.own.id {
		l.d.fields = append(l.d.fields, field{"operation_id", pairs{{"constant", "any"}}, ""})
	}
	for _, topic := range []string{"header", "footer", "kinds", "columns"} {
		l.r.Remarks = slices.DeleteFunc(l.r.Remarks, func(m Remark) bool { return m.Topic == topic })
	}
	for i := range l.r.Remarks {
		if m := &l.r.Remarks[i]; m.Topic == "form" {
			m.Text, m.Sure, m.Why = "lines of several kinds, as the preset "+l.d.preset.Name+" declares them", Likely, "they are read by it"
		}
	}
	if err := l.scan(); err != nil {
		return err
	}
	l.describe()
	return nil
}

// scanProved scans. A file of a bank that does not prove itself is read all the
// same, without its proof.
func (l *look) scanProved() error {
	err := l.scan()
	if err == nil || l.src == nil || !l.src.Format.Bank() || fail.ClassOf(err) != fail.Input {
		return err
	}
	l.unproved = err.Error()
	parts := l.d.parts
	mine, _ := parts.get("bank")
	said, _ := mine.(pairs)
	l.d.parts.set("bank", append(slices.Clone(said), pair{"proof", "report"}))
	if again := l.scan(); again != nil {
		l.d.parts = parts
		return err
	}
	return nil
}

// open gives the decompressed content.
func (l *look) open() (io.ReadCloser, error) {
	if l.member != "" {
		return extract.OpenMember(l.f, l.member, l.name, l.opt.Limits)
	}
	if _, err := l.f.Seek(0, io.SeekStart); err != nil {
		return nil, fail.Wrap(fail.Input, err, "%s cannot be read", l.name)
	}
	return extract.OpenContent(l.f, l.d.compression, l.name, l.opt.Limits)
}

// reader reads the file as a run would with these declarations.
func (l *look) reader(src *rules.Source, fields []rules.Field) (extract.FileReader, error) {
	if _, err := l.f.Seek(0, io.SeekStart); err != nil {
		return nil, fail.Wrap(fail.Input, err, "%s cannot be read", l.name)
	}
	return extract.Open(src, fields, l.f, l.name, l.opt.Limits)
}
