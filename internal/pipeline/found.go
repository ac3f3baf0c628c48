package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// Found is a file that a run would read, or a path where none is.
type Found struct {
	Side    rules.Side `json:"side"`
	Source  string     `json:"source"`
	Path    string     `json:"path"` // relative to the job file
	Date    string     `json:"date,omitempty"`
	Size    int64      `json:"size"` // bytes
	Missing bool       `json:"missing,omitempty"`
	Need    rules.Need `json:"need"`
	Remote  string     `json:"remote,omitempty"` // kind of a source that is pulled; its size is not known
	Staged  Staged     `json:"staged,omitempty"` // of plan; "" where the file is missing

	source *rules.Source
	name   string // of the file, as it lies on disk
}

// Staged tells what plan knows of a file without reading it.
type Staged string

// A file that is new is parsed. One that may be staged is hashed first: a file of
// its size was staged under the same declarations, and is parsed again only if its
// bytes are other ones.
const (
	StagedNo    Staged = "no"
	StagedMaybe Staged = "maybe"
)

// markStaged looks up which files may be staged.
func markStaged(files []Found, b *rules.Bound, stage string) {
	for i := range files {
		f := &files[i]
		switch {
		case f.Missing || f.Remote != "":
		case extract.MayBeStaged(stage, b.Job, f.Side, f.source, f.name, f.Size):
			f.Staged = StagedMaybe
		default:
			f.Staged = StagedNo
		}
	}
}

// find lists what the job names, as it lies on disk now, in the order of the job
// and of file names. It is an estimate for the disk check and for plan: what a
// run reads is decided, and refused, by extract alone.
func find(b *rules.Bound, base string) []Found {
	var out []Found
	for _, side := range rules.Sides {
		for _, in := range b.Inputs[side] {
			if r := in.Source.Remote; r != nil {
				out = append(out, Found{Side: side, Source: in.Source.Name, Path: in.Path, Date: in.FileDate, Need: in.Source.Need, Remote: r.Kind, source: in.Source})
				continue
			}
			at := func(p string) string {
				if rel, err := filepath.Rel(base, p); err == nil {
					return declaredPath(base, rel)
				}
				return declaredPath(base, p)
			}
			path := in.Path
			if !filepath.IsAbs(path) {
				path = filepath.Join(base, path)
			}
			paths := []string{path}
			if !in.Source.Literal && strings.ContainsAny(in.Path, "*?[") {
				paths, _ = filepath.Glob(path) // a bad pattern finds nothing; extract says why
				slices.Sort(paths)
			}
			n := len(out)
			for _, p := range paths {
				info, err := os.Stat(p)
				if err != nil || !info.Mode().IsRegular() {
					continue
				}
				out = append(out, Found{
					Side: side, Source: in.Source.Name, Path: at(p), Date: in.FileDate, Size: info.Size(), Need: in.Source.Need,
					source: in.Source, name: p,
				})
			}
			if len(out) == n {
				out = append(out, Found{
					Side: side, Source: in.Source.Name, Path: at(path), Date: in.FileDate, Missing: true, Need: in.Source.Need,
				})
			}
		}
	}
	return out
}

// inputBytes adds up the sizes, compressed files by what they usually come to:
// text of this kind shrinks about fivefold.
func inputBytes(files []Found) int64 {
	n := int64(0)
	for _, f := range files {
		switch filepath.Ext(f.Path) {
		case ".gz", ".zst":
			n += f.Size * 5
		default:
			n += f.Size
		}
	}
	return n
}
