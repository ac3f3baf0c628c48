package bank

import (
	"slices"
	"strconv"
)

// sign tells whether a type code is a debit: 100 to 399 are credits, 400 to 699
// debits, 920 to 959 and 960 to 999 the bank's own (appendix A of the
// specification). Loans (700 to 799) have no one sign and need a declaration.
func (b *bai2Reader) sign(code string) (debit, known bool) {
	switch {
	case slices.Contains(b.opt.CreditCodes, code):
		return false, true
	case slices.Contains(b.opt.DebitCodes, code):
		return true, true
	case len(code) != 3 || !digits(code):
		return false, false
	}
	switch n, _ := strconv.Atoi(code); {
	case n >= 100 && n < 400, n >= 920 && n < 960:
		return false, true
	case n >= 400 && n < 700, n >= 960:
		return true, true
	}
	return false, false
}

// bai2Returns and bai2Reversals are type codes by which a payment comes back or the
// bank takes back an entry: each is booked like any other.
var (
	bai2Returns   = map[string]bool{"255": true, "257": true, "261": true, "266": true, "555": true, "557": true, "561": true, "566": true}
	bai2Reversals = map[string]bool{"252": true, "258": true, "552": true, "558": true}
)

func (b *bai2Reader) status(v *[numColumns]string, code string) {
	v[Status], v[Finality], v[Reversal] = "BOOK", "2", "false"
	switch {
	case code == "890":
		v[Status], v[Finality] = "INFO", "1"
	case b.group.status == "4":
		v[Status] = "TEST"
	case b.group.status == "2":
		v[Status] = "DLTD"
	case b.group.modifier == "1" || b.group.modifier == "3":
		v[Status], v[Finality] = "PROV", "0"
	case bai2Returns[code]:
		v[Status] = "RTRN"
	case bai2Reversals[code]:
		v[Status], v[Reversal] = "RVSL", "true"
	}
}
