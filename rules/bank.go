package rules

import "slices"

// Formats of banks and clearings. Their columns are those of the package
// extract/bank.
const (
	FormatCamt    Format = "camt"    // ISO 20022 camt.052, camt.053, camt.054
	FormatMT940   Format = "mt940"   // SWIFT MT940
	FormatMT942   Format = "mt942"   // SWIFT MT942
	FormatBAI2    Format = "bai2"    // BAI2
	FormatPain002 Format = "pain002" // ISO 20022 pain.002
	FormatNACHA   Format = "nacha"   // Nacha ACH files
)

var bankFormats = []Format{FormatCamt, FormatMT940, FormatMT942, FormatBAI2, FormatPain002, FormatNACHA}

// Bank tells whether the format is one of a bank or clearing.
func (f Format) Bank() bool { return slices.Contains(bankFormats, f) }

// Bank says how the file of a bank is read and what it must prove.
type Bank struct {
	Batch       string         // split (default), keep
	Proof       string         // check (default), require, report
	Sequence    string         // check (default), ignore
	Encoding    string         // of formats that do not declare it: utf-8 (default), latin-1, windows-1252, cp850
	CreditCodes []string       // type codes of BAI2 that are credits
	DebitCodes  []string       // … debits
	Exponents   map[string]int // currency → decimals of its minor unit, over ISO 4217 (BAI2)
	Reach       *BankReach
}

// BankReach is a list of the operations of the messages that were sent: a CSV file
// with a header. A status of pain.002 for a whole message or payment block becomes a
// row for each of its operations.
type BankReach struct {
	Path          Template
	MsgID         string // columns
	PmtInfID      string // "" none
	EndToEndID    string // at least one of the two
	InstructionID string
	SHA256        string // of the file; set while the sources are loaded
}

// Columns by which provisional rows are known; they are names of the package
// extract/bank.
const (
	bankStatusColumn  = "status"
	provisionalRemedy = "declare `status: {column: status, map: {BOOK: succeeded, PDNG: pending, PROV: pending}}`"
)

// bankNotFinal are the outcomes of rows that are not booked: intraday rows, and those
// of test and deletion groups of BAI2. None of them is a ground for an action.
var bankNotFinal = [...]string{"PROV", "TEST", "DLTD"}

// ProvisionalFault says why rows of the source that are not booked could pass for final
// ones, "" where they cannot: a result without a mapped status counts as succeeded
// (V19), so that its operation would be confirmed.
func (s *Source) ProvisionalFault() (fault, remedy string) {
	for _, f := range s.Fields {
		if f.Map == nil {
			continue
		}
		if f.Column != bankStatusColumn || f.Position != 0 {
			return "the status of its rows is not that of the column `status`", provisionalRemedy
		}
		for _, word := range bankNotFinal {
			if status, ok := f.Map[word]; ok && status != Pending && status != Unknown {
				return "the map of its status says that " + word + " is " + string(status), "write " + word + ": pending"
			}
		}
		return "", ""
	}
	return "its rows have no mapped status, and would count as succeeded", provisionalRemedy
}
