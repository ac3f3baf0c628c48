package extract

import (
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// Lookup is what a service said about single operations: the coverage of each of them (V26),
// beside the intervals of files. It stands in the coverage of its source: whose account it is,
// and which operations it should know.
type Lookup struct {
	Source     *rules.Source
	Answers    []LookupAnswer // one for each key
	Operations int64          // that it was asked about
	LeftOut    int64          // that are undecided as well, beyond lookup.limits.operations
}

// LookupCounts counts answers, by keys.
type LookupCounts struct {
	Found    int64 `json:"found"`
	None     int64 `json:"none"`     // their silence counts
	Unproven int64 `json:"unproven"` // their silence proves nothing
	Unknown  int64 `json:"unknown"`  // the service could not be asked
}

// Counts of its answers.
func (l *Lookup) Counts() LookupCounts {
	var c LookupCounts
	for _, a := range l.Answers {
		switch {
		case a.Found:
			c.Found++
		case a.Unknown:
			c.Unknown++
		case a.Until == nil:
			c.Unproven++
		default:
			c.None++
		}
	}
	return c
}

// LookupAnswer is what it said about a key.
type LookupAnswer struct {
	Key     string
	Found   bool
	Unknown bool   // it could not be asked
	Until   *int64 // none is there that came before, microseconds since the epoch; nil: its silence proves nothing

	// For people: when it was asked, zero where it did not answer; and why nothing follows
	// from what it said, "" where something does.
	At  time.Time
	Why string
}

// Deciding lists the staged columns of a side that a verdict may follow from: keys, compared
// values, and fields, but for the texts that are neither. A mapped status decides by what it
// means, not by its text.
func (l *Layout) Deciding() []string {
	texts := map[string]bool{"f_type": true, "f_entity": true}
	for i := range l.job.Compare {
		texts[l.CompareColumn(i)] = true
	}
	var out []string
	for _, col := range l.Columns {
		name, field := strings.CutPrefix(col.Name, "f_")
		switch {
		case field && name == "status" && l.HasStatus():
		case field && l.spec.Field(name).Type == rules.Text && !texts[col.Name]:
		case strings.HasPrefix(col.Name, "raw_"), slices.Contains([]string{"rec", "pg", "p1", "p2", "w1", "w2", "hx"}, col.Name):
		default:
			out = append(out, col.Name)
		}
	}
	return out
}
