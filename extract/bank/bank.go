package bank

import (
	"errors"
	"fmt"
	"io"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// Format is a family of files that one reader reads.
type Format string

// Formats.
const (
	Camt    Format = "camt"    // ISO 20022 camt.052, camt.053, camt.054, versions .02 to .13
	MT940   Format = "mt940"   // SWIFT MT940, customer statement
	MT942   Format = "mt942"   // SWIFT MT942, interim transaction report
	BAI2    Format = "bai2"    // BAI Cash Management Balance Reporting, version 2
	Pain002 Format = "pain002" // ISO 20022 pain.002, customer payment status report
	NACHA   Format = "nacha"   // Nacha ACH file, forward entries and returns
)

// Options of Open. The zero value is what a job without a bank block has.
type Options struct {
	Batch    Batch
	Proof    Proof
	Encoding string // of mt940, mt942, bai2 and nacha: utf-8 (default), latin-1, windows-1252, cp850; XML declares its own
	// Exponent gives the decimals of a currency's minor unit, for bai2.
	Exponent func(code string) (int, bool)
	// CreditCodes and DebitCodes are BAI2 type codes of the bank's own with their sign.
	CreditCodes, DebitCodes []string
	// Reach, where set, lists the operations that the messages of pain.002 had: the
	// status of a group or payment without transactions becomes one row for each.
	Reach func() (Operations, error)
}

// Batch says what becomes of an entry with several transactions.
type Batch string

// Batches.
const (
	Split Batch = ""     // one row for each transaction; they add up to the entry
	Keep  Batch = "keep" // one row for the entry, with the number of its transactions
)

// Proof says how a statement must prove itself.
type Proof string

// Proofs.
const (
	Check   Proof = ""        // totals that the file states must tie
	Require Proof = "require" // and each statement must state opening and closing balance
	Report  Proof = "report"  // what does not tie is a note, and the file proves no absence
)

// Limits bound what a file may ask of a reader.
const (
	maxToken      = 1 << 20 // bytes of one XML token, one line, one field
	maxRow        = 4 << 20 // bytes of the texts of one row
	maxDepth      = 64      // nested XML elements; the deepest message has some 20
	maxStatements = 100_000 // statements of one file, which are kept until its end
)

// A Reader yields the rows of one file.
type Reader interface {
	// Next returns the next row, valid until the following call; io.EOF after the
	// last one, once everything that the file states about itself was checked. Any
	// other error refuses the file: nothing of it can be trusted, earlier rows
	// included.
	Next() (*Row, error)
	// Facts is complete once Next returned io.EOF.
	Facts() *Facts
}

// Row is one transaction, entry, batch or status.
type Row struct {
	Line   int64 // physical line where it starts, from 1
	Values [numColumns]string
}

// Facts are what a file tells besides its rows.
type Facts struct {
	Message     string      // kind of message, as camt.053.001.08
	Control     int64       // structure records: headers, balances, totals, trailers
	Skipped     int64       // entries of a statement that the file holds twice
	Provisional string      // why its rows are not final; "" where they are
	Statements  []Statement // in the order of the file
	Notes       []Note
}

// Note is something that a person should see.
type Note struct {
	Text     string
	Withdraw bool // no absence can be concluded from the file
}

// Open reads a file in one of the formats; f gives its decompressed bytes, name
// stands for it in messages. Errors are *fail.Error of class Input; faults of f
// come back as they are.
func Open(format Format, f io.Reader, name string, opt Options) (Reader, error) {
	switch format {
	case MT940, MT942:
		return orError(newMT(f, name, opt, format == MT942))
	case BAI2:
		return orError(newBAI2(f, name, opt))
	case NACHA:
		return orError(newNACHA(f, name, opt))
	case Pain002:
		return newPain002(f, name, opt), nil
	case Camt:
		return newCamt(f, name, opt), nil
	default:
		return nil, fail.New(fail.Usage, "%s: the format %q is no bank format", name, format)
	}
}

// orError keeps a nil reader from hiding in the interface.
func orError[R Reader](r R, err error) (Reader, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// askBank is the remedy of a fault that only who wrote the file can mend.
const askBank = "look at the place in the file: if it is as the bank sent it, ask the bank for a correct one; if not, fetch it again, unchanged"

// bad is the error of a file that breaks its format; line is 0 where there is none.
func bad(name string, line int64, format string, args ...any) *fail.Error {
	e := fail.New(fail.Input, format, args...)
	if line > 0 {
		e.Msg = name + ": line " + itoa(line) + ": " + e.Msg
	} else {
		e.Msg = name + ": " + e.Msg
	}
	return e.WithHint(askBank)
}

// cut is the error of a file that ends before it should.
func cut(name string, line int64, format string, args ...any) *fail.Error {
	e := bad(name, line, format, args...)
	e.Msg += ": the file is cut"
	return e.WithHint("fetch the file again, and compare its size with the sender's")
}

// hint gives an error its own remedy, where it has none but the general one.
func hint(err error, format string, args ...any) error {
	if e, ok := errors.AsType[*fail.Error](err); ok && (e.Hint == "" || e.Hint == askBank) {
		e.Hint = fmt.Sprintf(format, args...)
	}
	return err
}
