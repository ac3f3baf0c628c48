package naive

import (
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// Row is one staged record: row id, provenance, and the columns of extract.Layout.
type Row = extract.Row

// Input is everything that the rules look at.
type Input struct {
	Job        *rules.Bound
	Operations []Row
	Results    []Row
	// Coverage of each side: what its sources can prove (V26, V29).
	OperationsCoverage []extract.Interval
	ResultsCoverage    []extract.Interval
	// ResultSources tells by Row.FileNo which source a result came from: its
	// account (V5) and the types that it speaks of (V27). May be nil.
	ResultSources map[int]*rules.Source
	// Lookups are what services said about single operations (V26). The sources are those of
	// the job.
	Lookups []extract.Lookup
	// FormerKeys are the keys that former runs know, by index of Job.Match (V31); nil:
	// nobody has asked.
	FormerKeys map[int][]string
}
