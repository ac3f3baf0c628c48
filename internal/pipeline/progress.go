package pipeline

import "time"

// Stage of a run, in the order of Stages.
type Stage string

// The stages that a run goes through.
const (
	StageRules   Stage = "rules"
	StageFetch   Stage = "fetch"
	StageLookup  Stage = "lookup"
	StageExtract Stage = "extract"
	StageMatch   Stage = "match"
	StageClass   Stage = "classify"
	StageReport  Stage = "report"
	StagePublish Stage = "publish"
)

// Stages in their order. A job without remote sources has no fetch, one without lookups no
// lookup.
var Stages = []Stage{StageRules, StageFetch, StageLookup, StageExtract, StageMatch, StageClass, StageReport, StagePublish}

// Event tells how far a run is. Events of one run come one at a time.
type Event struct {
	Stage   Stage
	Kind    EventKind
	File    string        // being read, in extract
	Bytes   int64         // read of all files of the stage so far
	Total   int64         // bytes of all files, 0 unknown
	Rows    int64         // rows done in this stage so far
	Elapsed time.Duration // of the stage, at its end
	Memory  int64         // bytes that the engine holds, of EngineHolds
	Spilled int64         // bytes that the engine has on disk, of EngineHolds
	Note    string
}

// Held says in words what the engine holds, "" where it holds nothing.
func (e Event) Held() string {
	switch {
	case e.Spilled > 0:
		return "memory " + sizeText(e.Memory) + ", spilled " + sizeText(e.Spilled)
	case e.Memory > 0:
		return "memory " + sizeText(e.Memory)
	}
	return ""
}

// EventKind is what an event tells.
type EventKind int

// Event kinds. A stage begins, advances any number of times and ends; notes, and
// what the engine holds, may come at any time.
const (
	StageBegins EventKind = iota
	StageAdvances
	StageEnds
	Note
	EngineHolds
)
