// Package bank reads the files of banks and clearings: camt.052, camt.053, camt.054
// and pain.002 of ISO 20022, MT940 and MT942 of SWIFT, BAI2, and Nacha files.
//
// # The idea
//
// Each format has a reader that goes over the file once and yields rows with the
// columns of [Columns]: one for each transaction, entry, batch or status. Memory
// depends neither on the size of the file nor on that of an entry. What the file
// says about itself is checked on the way: opening balance + entries = closing
// balance, sums and numbers of entries, the transactions of a batch against its
// entry, control totals and hashes. A row may be given before its file is proved,
// so that an error of [Reader].Next is one of the whole file.
//
// # Readings
//
// Amounts are exact decimals with a sign: money in is positive. The sign is that of
// the standard (CdtDbtInd, marks C, D, RC, RD, type codes, transaction codes), and
// the balances decide whether it is right. Statuses are those of the standard; what
// a code makes more than a booking has a word of its own (a return RTRN, a reversal
// RVSL), so that BOOK never stands for money that came back. Rows of intraday
// reports are PROV, whatever they say. References that mean nothing (NOTPROVIDED,
// NONREF) are empty. Nothing is sniffed: the job declares the format.
//
// # Sources
//
// ISO 20022 message definitions camt.052 to camt.054 and pain.002; SWIFT standards
// MT940 and MT942; Cash Management Balance Reporting Specifications, version 2
// (BAI, 2005); Nacha Operating Rules, appendix on record formats, by moov-io/ach.
//
// The package knows no job: extract binds it to one, and imports it.
package bank
