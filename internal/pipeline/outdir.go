package pipeline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// outDir is the folder of one job and business date. No part of it below and
// including the declared output folder may be a symbolic link: a link would send
// a queue to a place that nobody declared.
type outDir struct {
	out  string // the declared output folder, absolute
	job  string // <out>/<job>
	date string // <out>/<job>/<date>
}

var (
	jobName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:@[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$`) // JOB or JOB@SERIES, see Series
	dateName = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
)

// newOutDir checks the names and what exists of them; it creates nothing.
func newOutDir(out, job, date string) (*outDir, error) {
	if out == "" {
		return nil, fail.New(fail.Usage, "no output folder is named").
			WithHint("give outputs.dir in the job file, or --out DIR")
	}
	if slices.Contains(strings.Split(filepath.ToSlash(out), "/"), "..") {
		return nil, fail.New(fail.Usage, "the output folder %q holds `..`", out).
			WithHint("name the folder itself, without `..`")
	}
	if !jobName.MatchString(job) {
		return nil, fail.New(fail.Usage, "the job name %q cannot name a folder", job).
			WithHint("use letters, digits, '.', '_' and '-'")
	}
	if !dateName.MatchString(date) {
		return nil, fail.New(fail.Usage, "the business date %q is not of the form 2006-01-02", date)
	}
	abs, err := filepath.Abs(out)
	if err != nil {
		return nil, fail.Wrap(fail.Resources, err, "the output folder %s cannot be found", out)
	}
	d := &outDir{out: abs, job: filepath.Join(abs, job)}
	d.date = filepath.Join(d.job, date)
	for _, p := range []string{d.out, d.job, d.date, d.attempts()} {
		if err := refuseLink(p); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *outDir) attempts() string     { return filepath.Join(d.date, "attempts") }
func (d *outDir) run(id string) string { return filepath.Join(d.date, id) }
func (d *outDir) current() string      { return filepath.Join(d.date, currentName) }

// outOfRun is the output folder of the run in dir.
func outOfRun(dir string) string { return filepath.Dir(filepath.Dir(filepath.Dir(dir))) }

// make creates the folders of job and date and checks them again.
func (d *outDir) make() error {
	if err := os.MkdirAll(d.date, 0o755); err != nil {
		return diskError(err, "the output folder cannot be made")
	}
	for _, p := range []string{d.out, d.job, d.date} {
		if err := refuseLink(p); err != nil {
			return err
		}
	}
	return nil
}

// refuseLink refuses a path that exists and is no plain folder.
func refuseLink(p string) error {
	info, err := os.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fail.Wrap(fail.Resources, err, "the output folder cannot be read")
	case info.Mode()&fs.ModeSymlink != 0:
		return fail.New(fail.Usage, "%s is a symbolic link; outputs never leave the declared folder", displayPath(p)).
			WithHint("remove the link, or name its target with --out")
	case !info.IsDir():
		return fail.New(fail.Usage, "%s is not a folder", displayPath(p)).
			WithHint("move the file away, or name another folder with --out")
	}
	return nil
}

// refuseSpecial refuses a path that exists and is no plain file: a link would be
// followed out of the folder.
func refuseSpecial(p string) error {
	if info, err := os.Lstat(p); err == nil && !info.Mode().IsRegular() {
		return fail.New(fail.Usage, "%s is not a plain file", displayPath(p)).WithHint("remove it")
	}
	return nil
}

// displayPath shortens a path for people: relative to the working folder where
// it lies below it.
func displayPath(p string) string {
	wd, err := os.Getwd()
	if err != nil {
		return p
	}
	if rel, err := filepath.Rel(wd, p); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return p
}

func pathExists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}
