package pipeline

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/match"
)

// inputsOf lists the files of both sides for the manifest.
func inputsOf(base string, rels ...*extract.Relation) []Input {
	var out []Input
	for _, rel := range rels {
		for _, f := range rel.Files {
			out = append(out, Input{
				Side: rel.Side, Source: f.Source, Name: f.Name, Path: declaredPath(base, f.Path), Date: f.Date,
				Size: f.Size, SHA256: f.SHA256, ContentSHA256: f.ContentSHA256, Arrival: f.Arrival, Status: string(f.Status), Problem: scan.Text(f.Problem),
				Records: f.Records, Control: f.Control, Excluded: f.Excluded, Rejected: f.Rejected, SignedWith: f.SignedWith,
			})
		}
		for _, f := range rel.ControlFiles {
			out = append(out, Input{
				Side: rel.Side, Source: f.Source, Name: filepath.Base(f.Path), Path: declaredPath(base, f.Path), Date: f.Date,
				Size: f.Size, SHA256: f.SHA256, ContentSHA256: f.SHA256, Status: controlFile,
			})
		}
	}
	return out
}

// controlFile is the status of an input that holds totals and no records.
const controlFile = "control"

// declaredPath is a path relative to the job file, so that a manifest does not
// depend on where a job lies. Relative paths are that already.
func declaredPath(base, p string) string {
	if filepath.IsAbs(p) {
		if abs, err := filepath.Abs(base); err == nil {
			if rel, err := filepath.Rel(abs, p); err == nil && filepath.IsLocal(rel) {
				p = rel
			}
		}
	}
	return filepath.ToSlash(p)
}

func coverageOf(rels ...*extract.Relation) []Coverage {
	var out []Coverage
	for _, rel := range rels {
		for _, i := range rel.Coverage {
			c := Coverage{
				Side: rel.Side, Account: i.Account, Sources: i.Source, Proves: i.Proves, Types: i.Types, Complete: i.Complete,
			}
			if !i.Complete {
				c.From, c.Until = instant(i.From), instant(i.Until)
			}
			if i.Lag > 0 {
				c.Lag = i.Lag.String()
			}
			for _, g := range i.Withdrawn {
				c.Withdrawn = append(c.Withdrawn, Gap{From: instant(g.From), Until: instant(g.Until), Reason: scan.Text(g.Reason)})
			}
			out = append(out, c)
		}
	}
	return out
}

// instant writes microseconds since the epoch in UTC.
func instant(us int64) string { return time.UnixMicro(us).UTC().Format(time.RFC3339Nano) }

// keyFindings says which keys repeat among settled pairs (V12 d).
func keyFindings(o *match.Outcome) []extract.Finding {
	var out []extract.Finding
	for _, k := range o.RepeatedInSettled {
		repeat := "values of the key %s repeat"
		if k.Values == 1 {
			repeat = "value of the key %s repeats"
		}
		out = append(out, extract.Finding{
			Code: "key_repeats",
			Text: fmt.Sprintf("%d "+repeat+" among rows that another key settles; the key is not unique", k.Values, k.Pass),
		})
	}
	return out
}
