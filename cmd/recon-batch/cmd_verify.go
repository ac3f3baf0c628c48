package main

import (
	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
)

// verifyDocument is what `verify --output json` prints.
type verifyDocument struct {
	SchemaVersion  int                 `json:"schema_version"`
	RunID          string              `json:"run_id"`
	ManifestSHA256 string              `json:"manifest_sha256"`
	OK             bool                `json:"ok"`
	Checks         []pipeline.Verified `json:"checks"`
	NotRecomputed  string              `json:"not_recomputed"`
	Error          *errorObject        `json:"error,omitempty"`
}

func (s *session) verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check a published run offline: digests, run id, rows, links, queues, numbers, chain",
		ArgsUsage: "RUN",
		Description: `RUN is the folder of a run, or the link to it. Reads nothing else but the folders
of the job's other runs. Ends with 7 if

   - a file was changed, removed or added, or a run of the job was removed;
   - a record has no verdict, or several, or one that its side cannot have;
   - a row is linked twice, or its link contradicts its verdict;
   - an item stands on another verdict than the guard allows for its queue,
     names another operation than its row, acts twice on a row, or differs in
     its two files;
   - counts, sums, gates, limits or the exit status are not those of the rows.

It does not judge the rows again: whether a verdict is the right one, and the content
digest, follow from the input files. run --dry-run --output json computes them again.

EXAMPLE
   recon-batch verify out/card-charges/2026-11-29/current`,
		Flags:  []cli.Flag{outputFlag()},
		Action: s.verify,
	}
}

func (s *session) verify(c *cli.Context) error {
	args, asJSON, err := s.call(c, "RUN")
	if err != nil {
		return err
	}
	v, err := pipeline.Verify(c.Context, args[0])
	if err != nil {
		return err
	}
	wrong := 0
	for _, k := range v.Checks {
		wrong += len(k.Wrong)
	}
	var failure error
	if wrong > 0 {
		hint := "restore it from a backup and find out who changed it; do not act on its queues"
		if v.Missing > 0 {
			hint += "; of an earlier date that a run brought from the bucket of the job only a part is here: run that date again, or copy its folder from there"
		}
		failure = fail.New(fail.Integrity, "the run %s is not what was published: %s", v.Manifest.RunID, count(int64(wrong), "fault")).WithHint("%s", hint)
	}
	if asJSON {
		doc := verifyDocument{SchemaVersion: 1, RunID: v.Manifest.RunID, ManifestSHA256: v.ManifestSHA256, OK: wrong == 0, Checks: v.Checks, NotRecomputed: pipeline.NotRecomputed}
		if failure != nil {
			doc.Error = errorOf(failure)
		}
		if err := s.writeJSON(doc); err != nil {
			return err
		}
		return failure
	}
	for _, k := range v.Checks {
		state := "ok"
		if len(k.Wrong) > 0 {
			state = "WRONG"
		}
		s.printf("%-6s %-10s %s\n", state, k.Name, k.Did)
		for _, w := range k.Wrong {
			s.printf("         %s\n", printable(w))
		}
	}
	s.printf("not checked: %s\n", pipeline.NotRecomputed)
	if failure == nil {
		s.printf("run %s is intact (manifest %s)\n", v.Manifest.RunID, v.ManifestSHA256)
	}
	return failure
}
