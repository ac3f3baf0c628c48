package bank

import "testing"

// fuzz seeds a target with the fixtures of its format, and checks that what is
// accepted keeps what the package promises: rows that come to the balances, amounts
// that are numbers, and the same rows when they are read again.
func fuzz(f *testing.F, format Format) {
	for _, x := range fixtures(f) {
		if x.format == format {
			f.Add(x.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []Options{{}, {Batch: Keep, Proof: Report}} {
			rows, facts, err := read(format, data, opt)
			if err != nil {
				wantInput(t, err)
				continue
			}
			sums(t, rows)
			if opt.Proof == Check {
				balanced(t, rows, facts)
			}
			for i := range rows {
				if v := &rows[i].Values; v[Status] == "" && format != Camt || v[Message] == "" {
					t.Errorf("row %d has no status or message", i)
				}
			}
			again, same, err := read(format, data, opt)
			if err != nil || golden(format, again, same) != golden(format, rows, facts) {
				t.Errorf("read again: %v, other rows", err)
			}
			Chain(placesOf(facts), true)
		}
	})
}

func FuzzCamt(f *testing.F)    { fuzz(f, Camt) }
func FuzzMT940(f *testing.F)   { fuzz(f, MT940) }
func FuzzMT942(f *testing.F)   { fuzz(f, MT942) }
func FuzzBAI2(f *testing.F)    { fuzz(f, BAI2) }
func FuzzPain002(f *testing.F) { fuzz(f, Pain002) }
func FuzzNACHA(f *testing.F)   { fuzz(f, NACHA) }
