package extract

import (
	"slices"
	"testing"

	"github.com/recon-batch/recon-batch/extract/bank"
	"github.com/recon-batch/recon-batch/rules"
)

// TestBankColumns: job files are held against the columns that the readers give.
func TestBankColumns(t *testing.T) {
	for _, f := range []rules.Format{rules.FormatCamt, rules.FormatMT940, rules.FormatMT942, rules.FormatBAI2, rules.FormatPain002, rules.FormatNACHA} {
		var want []string
		for _, c := range bank.Columns(bank.Format(f)) {
			want = append(want, c.String())
		}
		if got := rules.BankColumns(f); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: rules know\n%q\nbank gives\n%q", f, got, want)
		}
	}
}
