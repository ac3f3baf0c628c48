package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/pipeline"
)

// snapshotDocument is what `snapshot --output json` prints.
type snapshotDocument struct {
	SchemaVersion int                 `json:"schema_version"`
	Job           string              `json:"job"`
	BusinessDate  string              `json:"business_date"`
	Snapshots     []pipeline.Snapshot `json:"snapshots"` // paths are relative to the output folder
}

func (s *session) snapshotCommand() *cli.Command {
	return &cli.Command{
		Name:      "snapshot",
		Usage:     "pull the remote sources of a business date, and judge nothing",
		ArgsUsage: "JOB.yaml",
		Description: `Brings what databases, buckets, interfaces and programs hold into
<out>/.evidence/, each pull into a folder of its own that is never written again.
A pull that was cut short goes on where it ended. 'run --last-snapshots' judges what
is there, now or years later, and asks nobody.

EXAMPLES
   recon-batch snapshot --business-date 2026-11-29 job.yaml
   recon-batch run --business-date 2026-11-29 --last-snapshots job.yaml`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "business-date", Usage: "the `DATE` to pull, such as 2026-11-29, today or yesterday (required)"},
			&cli.StringFlag{Name: "as-of", Usage: "reference `TIME` of the job, instead of its own"},
			&cli.StringFlag{Name: "out", Usage: "output folder `DIR`, instead of the job's outputs.dir"},
			waitFlag(),
			giveUpFlag(),
			&cli.DurationFlag{Name: "lock-wait", Usage: "wait for another run of this job and date for at most this `TIME`, such as 10m", DefaultText: "do not wait"},
			outputFlag(),
			&cli.BoolFlag{Name: "no-progress", DisableDefaultText: true, Usage: "no progress on stderr"},
			&cli.BoolFlag{Name: "quiet", DisableDefaultText: true, Usage: "nothing on stderr but errors"},
		},
		Action: s.snapshot,
	}
}

// waitFlag is the flag of commands that read what may be late.
func waitFlag() cli.Flag {
	return &cli.DurationFlag{Name: "wait-for-inputs", Usage: "wait for sources that are late for at most this `TIME`, such as 2h", DefaultText: "do not wait"}
}

// giveUpFlag is the flag of commands that ask the outside world.
func giveUpFlag() cli.Flag {
	return &cli.DurationFlag{Name: "give-up-after", Usage: "nothing outside is tried again after this `TIME`, such as 30m", Value: defaultGiveUp}
}

// defaultGiveUp ends the trying of a nightly job before its day does.
const defaultGiveUp = 2 * time.Hour

func (s *session) snapshot(c *cli.Context) error {
	_, asJSON, opt, err := s.jobCall(c, "JOB.yaml")
	if err != nil {
		return err
	}
	progress := s.newProgress(c.Bool("quiet"), c.Bool("no-progress"))
	opt.Progress = progress.event
	list, err := pipeline.TakeSnapshot(c.Context, *opt)
	progress.close()
	if err != nil {
		return err
	}
	if asJSON {
		return s.writeJSON(snapshotDocument{SchemaVersion: 1, Job: opt.Job.Name, BusinessDate: opt.BusinessDate, Snapshots: list})
	}
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "SIDE\tSOURCE\tFOLDER\tPROOF")
	for _, x := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", x.Side, printable(x.Source), printable(pipeline.SnapshotFolder(*opt, x)), printable(x.Proof))
	}
	return flush(w)
}
