package report

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
)

// Reopen is a file for which an earlier business date is to be run again.
type Reopen struct {
	BusinessDate string `json:"business_date"`
	Side         string `json:"side"`
	Source       string `json:"source"`
	File         string `json:"file"`
	Why          string `json:"why"`
	Command      string `json:"command"` // that runs the date again, in the folder of the job file
}

// Revision is a file that took the place of a former one with the same identity, whole, and
// what became of its records.
type Revision struct {
	Side          string         `json:"side"`
	Source        string         `json:"source"`
	Key           string         `json:"key"` // which report both are
	File          string         `json:"file"`
	Former        string         `json:"former"` // file
	FormerSHA256  string         `json:"former_sha256"`
	FormerRun     string         `json:"former_run"` // that read it; "" both were there in this run
	Records       int64          `json:"records"`
	FormerRecords int64          `json:"former_records"`
	Compared      bool           `json:"compared"` // row by row; false: the former rows are not to be had any more, and the next three are 0
	Added         int64          `json:"added"`
	Gone          int64          `json:"gone"`
	Changed       int64          `json:"changed"` // other content under the same key
	Sums          []RevisionSums `json:"sums"`    // of the amount field
}

// RevisionSums are the sums of one currency; "" where there is none.
type RevisionSums struct {
	Currency string `json:"currency"`
	Former   string `json:"former_amount"`
	Now      string `json:"amount"`
}

// RevisionsOf is what the report says of revisions.
func RevisionsOf(list []extract.Revision) []Revision {
	out := []Revision{}
	for _, x := range list {
		r := Revision{Side: string(x.Side), Source: x.Source, Key: x.Key, File: x.File, Former: x.Former, FormerSHA256: x.FormerSHA256, FormerRun: x.FormerRun,
			Records: x.Rows, FormerRecords: x.FormerRows, Compared: x.Compared, Added: x.Added, Gone: x.Gone, Changed: x.Changed, Sums: []RevisionSums{}}
		for _, s := range x.Sums {
			r.Sums = append(r.Sums, RevisionSums{Currency: s.Currency, Former: sumText(s.Former, s.Currency), Now: sumText(s.Now, s.Currency)})
		}
		out = append(out, r)
	}
	return out
}

// sumText writes a sum as the amounts of its currency are written.
func sumText(text, currency string) string {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return ""
	}
	return amountText(r, currency)
}

// reopenText says at the top which earlier dates are to be run again; "" none.
func reopenText(s *Summary) string {
	var dates []string
	for _, r := range s.Reopen {
		if !slices.Contains(dates, r.BusinessDate) {
			dates = append(dates, r.BusinessDate)
		}
	}
	switch n := len(dates); {
	case n == 0:
		return ""
	case n == 1:
		return fmt.Sprintf("the business date %s is to be run again: %s", dates[0], s.Reopen[0].Why)
	case n > 5:
		dates = append(dates[:5:5], fmt.Sprintf("and %d more", n-5))
	}
	return "earlier business dates are to be run again: " + strings.Join(dates, ", ")
}
