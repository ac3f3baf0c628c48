package extract

import (
	"slices"

	"github.com/recon-batch/recon-batch/rules"
)

// listedReader reads the records of a listing. A file whose name is none is a reject, or,
// where the job leaves such out, passed over and counted like a line that is no record.
type listedReader struct {
	fileReader
	left int64
}

func (l *listedReader) Head() []string       { return headOf(l.fileReader) }
func (l *listedReader) Trailers() [][]string { return trailersOf(l.fileReader) }
func (l *listedReader) ControlLines() int64  { return l.fileReader.ControlLines() + l.left }

func (l *listedReader) Next() (*Record, error) {
	for {
		rec, err := l.fileReader.Next()
		if err != nil {
			return nil, err
		}
		if _, left := extraOf(rec, rules.ListingLeftOut); left {
			l.left++
			continue
		}
		if why, unfit := extraOf(rec, rules.ListingUnfit); unfit {
			return nil, &RecordError{No: rec.No, Line: rec.Line, Column: "path", Reason: why, Raw: rawOf(rec)}
		}
		return rec, nil
	}
}

// extraOf is a member that is no column.
func extraOf(rec *Record, name string) (string, bool) {
	i := slices.IndexFunc(rec.Extra, func(c NamedCell) bool { return c.Name == name })
	if i < 0 {
		return "", false
	}
	return string(rec.Extra[i].Text), true
}
