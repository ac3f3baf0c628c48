package report

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// Delivery is one set of output files: the summary that Build made, the database
// with the relations that it left, and the folder to write into. The folder
// exists and is empty; the caller publishes it as a whole, so that a half-written
// file is never seen.
type Delivery struct {
	DB      *duck.DB
	In      *Input
	Summary *Summary
	Dir     string
}

// Output writes the files of one format. Write makes the same bytes for the same
// inputs and returns class Resources where the disk is at fault.
type Output struct {
	Name   string // as in outputs.formats of the job
	Always bool   // written whatever the job asks for: the evidence, and what other commands read
	Write  func(context.Context, *Delivery) error
}

// Outputs is the list of all formats, in the order of writing. A new format is a
// file output_<name>.go and a line here.
var Outputs = []Output{
	{Name: "parquet", Always: true, Write: writeParquet},
	{Name: "ndjson", Write: writeNDJSON},
	{Name: "json", Always: true, Write: writeJSON},
	{Name: "md", Write: writeMarkdown},
	{Name: "html", Write: writeHTML},
	{Name: "xlsx", Write: writeXLSX},
	{Name: "prom", Write: writeMetrics},
	{Name: "junit", Write: writeJUnit},
	{Name: "sarif", Write: writeSARIF},
	{Name: "csv", Write: writeCSV},
}

// Deliver writes the formats that the job asks for; none named means all.
func Deliver(ctx context.Context, d *Delivery) error {
	formats := d.In.Bound.Outputs.Formats
	for _, f := range formats {
		if !slices.ContainsFunc(Outputs, func(o Output) bool { return o.Name == f }) {
			return fail.New(fail.Usage, "the output format %q is not known", f).WithHint("use parquet, ndjson, html, xlsx, json, md, prom, junit, sarif or csv")
		}
	}
	for _, o := range Outputs {
		if !o.Always && len(formats) > 0 && !slices.Contains(formats, o.Name) {
			continue
		}
		if err := o.Write(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// path is the place of an output file.
func (d *Delivery) path(parts ...string) string {
	return filepath.Join(append([]string{d.Dir}, parts...)...)
}

// write makes one small file that is complete in memory.
func (d *Delivery) write(name string, data []byte) error {
	if err := os.WriteFile(d.path(name), data, 0o644); err != nil {
		return fail.Wrap(fail.Resources, err, "%s cannot be written", name).WithHint("free disk, or name another folder with --out")
	}
	return nil
}

// queuesDir makes the folder of the queues.
func (d *Delivery) queuesDir() error {
	if err := os.MkdirAll(d.path("queues"), 0o755); err != nil {
		return fail.Wrap(fail.Resources, err, "the folder queues cannot be made").WithHint("free disk, or name another folder with --out")
	}
	return nil
}
