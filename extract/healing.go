package extract

import "slices"

// Healing is what the sources of a side would prove if one file that takes proof away
// were there and whole.
type Healing struct {
	Source   string
	File     string // as the findings name it
	Kind     string // missing_file, cut_file, copied_file, reject, doubtful_file
	Reason   string // why its time is not proved, in words
	Coverage []Interval
}

// MaxHealings bounds how many files are looked at one by one: each costs a statement of
// its own in the search for what holds rows.
const MaxHealings = 16

// blemish is one file that takes the proof from its input.
type blemish struct{ file, kind string }

// blemished notes a file that takes proof away.
func (e *evidence) blemished(file string, status FileStatus, rejected int64) {
	kind := "doubtful_file"
	switch {
	case status == FileMissing:
		kind = "missing_file"
	case status == FileRefused:
		kind = "cut_file"
	case status == FileSkipped:
		kind = "copied_file"
	case rejected > 0:
		kind = "reject"
	}
	e.blemishes = append(e.blemishes, blemish{file, kind})
}

// healings gives for each input that a single file keeps from proving its time what all
// inputs would prove without that, at most MaxHealings in the order of the inputs; and
// what they would prove if every file were whole. An input with several such files, or
// one that its source spoils as a whole, is healed by no single file.
func healings(inputs []evidence) (alone []Healing, all []Interval) {
	whole := slices.Clone(inputs)
	for i, e := range inputs {
		if e.spoiled == "" && e.proved {
			continue
		}
		healed := e
		healed.spoiled, healed.missing, healed.noFile, healed.proved = "", "", false, true
		if e.spoiled == "" && e.missing == "" {
			continue // nothing was expected of it
		}
		whole[i] = healed
		if len(e.blemishes) != 1 || e.bySource || len(alone) == MaxHealings {
			continue
		}
		one := slices.Clone(inputs)
		one[i] = healed
		reason := e.spoiled
		if reason == "" {
			reason = e.missing
		}
		alone = append(alone, Healing{Source: e.source.Name, File: e.blemishes[0].file, Kind: e.blemishes[0].kind, Reason: reason, Coverage: coverageOf(one)})
	}
	return alone, coverageOf(whole)
}
