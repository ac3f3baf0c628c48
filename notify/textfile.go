package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/recon-batch/recon-batch/report"
)

// mostTextfile bounds what is read of a former file: more than the bound of series makes.
const mostTextfile = 8 << 20

// textfile writes recon_batch_<series>.prom for the textfile collector: a temporary file
// in the same folder, synced and renamed over the former one, of which it keeps what this
// ending does not say.
func (c *courier) textfile(ctx context.Context) error {
	dir := c.ending.Job.Outputs.Metrics.Textfile
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.ending.BaseDir, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return errors.New("there is no such folder")
	}
	name := "recon_batch_" + c.ending.Series + ".prom"
	// Runs of two dates may end at once. The collector reads *.prom only.
	lock := flock.New(filepath.Join(dir, "."+name+".lock"), flock.SetPermissions(0o644))
	if ok, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil || !ok {
		return plain(err)
	}
	defer lock.Unlock()
	former, err := readTextfile(filepath.Join(dir, name), c.ending.Series)
	if err != nil {
		return plain(err)
	}
	text := report.MetricsText(c.ending.Series, merged(former, c.ending.Families()))
	return plain(replaceFile(dir, name, text))
}

// plain is an error of the file system without the path, which a note need not repeat.
func plain(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

func replaceFile(dir, name, text string) (err error) {
	f, err := os.CreateTemp(dir, "."+name+".tmp-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), filepath.Join(dir, name)); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // some file systems cannot
	return d.Close()
}

// merged are the families of an ending over those that were delivered before: each one
// replaces the former one of its name, and of lasting ones the later value stands. The
// newest published run has all of them, so that nothing but lasting ones remains.
func merged(former, now []report.Family) []report.Family {
	at := map[string]report.Family{}
	for _, f := range former {
		at[f.Name] = f
	}
	for _, f := range now {
		if old, ok := at[f.Name]; ok && slices.Contains(lasting, f.Name) && number(old) > number(f) {
			continue
		}
		at[f.Name] = f
	}
	var out []report.Family
	for _, m := range report.MetricList {
		if f, ok := at[m.Name]; ok {
			out = append(out, f)
		}
	}
	return out
}

// number is the largest value of a family; without any it is less than all.
func number(f report.Family) float64 {
	most := -1.0
	for _, x := range f.Samples {
		if v, err := strconv.ParseFloat(x.Value, 64); err == nil && v > most {
			most = v
		}
	}
	return most
}

var (
	sampleLine  = regexp.MustCompile(`^` + report.MetricPrefix + `([a-z0-9_]+)\{recon_job="((?:[^"\\]|\\.)*)"((?:,[a-z_]+="(?:[^"\\]|\\.)*")*)\} (\S+)$`)
	sampleLabel = regexp.MustCompile(`,([a-z_]+)="((?:[^"\\]|\\.)*)"`)
)

// readTextfile reads a former file of ours. A line that is none of ours is left out: a
// damaged file is replaced, and never stops what is delivered.
func readTextfile(path, series string) ([]report.Family, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the former file is no plain file")
	}
	text, err := io.ReadAll(io.LimitReader(f, mostTextfile))
	if err != nil {
		return nil, err
	}
	var out []report.Family
	for line := range strings.Lines(string(text)) {
		m := sampleLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil || m[2] != series || report.MetricOf(m[1]) == nil {
			continue
		}
		if _, err := strconv.ParseFloat(m[4], 64); err != nil {
			continue
		}
		x := report.Sample{Value: m[4]}
		for _, l := range sampleLabel.FindAllStringSubmatch(m[3], -1) {
			x.Labels = append(x.Labels, l[1], unescape.Replace(l[2]))
		}
		if n := len(out); n == 0 || out[n-1].Name != m[1] {
			out = append(out, report.Family{Name: m[1]})
		}
		last := &out[len(out)-1]
		last.Samples = append(last.Samples, x)
	}
	return out, nil
}

var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")
