package bank

import "strconv"

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// Column is a place in Row.Values.
type Column int

// The columns of all formats. Empty means null. README: columnDocs.
const (
	Message Column = iota
	ReportID
	Account
	AccountCurrency
	StatementID
	StatementNo
	Page
	Copy
	Kind
	EntryNo
	TxNo
	RemoteID
	EntryRef
	ServicerRef
	CustomerRef
	EndToEndID
	InstructionID
	TxID
	UETR
	MandateID
	CreditorRef
	MsgID
	PmtInfID
	Count
	Amount
	Currency
	Side
	UnsignedAmount
	TxAmount
	TxCurrency
	BookingDate
	BookingTime
	ValueDate
	Status
	RawStatus
	Finality
	Reason
	ReasonInfo
	Reversal
	TypeCode
	BankCode
	Remittance
	Info
	Counterparty
	CounterpartyAccount
	Level
	BatchNo
	SEC
	CompanyID
	Trace
	OriginalTrace
	TraceKey
	numColumns
)

// columnDoc is the name of a column with what it holds.
type columnDoc struct {
	name, doc string
	formats   []Format
}

var (
	everywhere = []Format{Camt, MT940, MT942, BAI2, Pain002, NACHA}
	statements = []Format{Camt, MT940, MT942, BAI2}
	iso        = []Format{Camt, Pain002}
)

var columnDocs = [numColumns]columnDoc{
	Message:             {"message", "Kind of message: camt.053.001.08, MT940, BAI2, pain.002.001.03, NACHA.", everywhere},
	ReportID:            {"report_id", "Id of the bank's message: GrpHdr/MsgId, field 20, file id of BAI2; for NACHA origin, date and modifier of the file.", everywhere},
	Account:             {"account", "The account: IBAN, or the bank's own number; for NACHA that of the receiver.", []Format{Camt, MT940, MT942, BAI2, NACHA}},
	AccountCurrency:     {"account_currency", "Currency of the account.", statements},
	StatementID:         {"statement_id", "Id of the statement, report or notification.", []Format{Camt}},
	StatementNo:         {"statement_no", "Number of the statement: ElctrncSeqNb, else LglSeqNb; first part of field 28C.", []Format{Camt, MT940, MT942}},
	Page:                {"page", "Page of the statement.", []Format{Camt, MT940, MT942}},
	Copy:                {"copy", "COPY, DUPL or CODU where the statement says that it is a copy or a duplicate.", []Format{Camt}},
	Kind:                {"kind", "entry: one transaction; batch: an entry of several that is not split; tx: one transaction of a split batch; charges: what the bank kept of a split batch.", []Format{Camt}},
	EntryNo:             {"entry_no", "Entry in its statement (account, batch), from 1.", []Format{Camt, MT940, MT942, BAI2, NACHA}},
	TxNo:                {"tx_no", "Transaction in its entry, from 1; null where the entry is one row.", []Format{Camt}},
	RemoteID:            {"remote_id", "What the row is at the bank, for the field remote_id: account and bank reference, with the number of the transaction where only the entry has one, and a mark of its sign and kind; file, batch and trace number of NACHA. Null where the bank gives no reference. One entry has one in camt.052, .053 and .054.", []Format{Camt, MT940, MT942, BAI2, NACHA}},
	EntryRef:            {"entry_ref", "NtryRef; further text of field 61.", []Format{Camt, MT940, MT942}},
	ServicerRef:         {"servicer_ref", "The bank's reference: AcctSvcrRef of the transaction, else of the entry; text behind // in field 61; bank reference of BAI2.", []Format{Camt, MT940, MT942, BAI2, Pain002}},
	CustomerRef:         {"customer_ref", "Customer reference of field 61 or BAI2; individual id of NACHA, which is cut at 15 characters.", []Format{MT940, MT942, BAI2, NACHA}},
	EndToEndID:          {"end_to_end_id", "The id that you gave to the payment: EndToEndId, EREF.", []Format{Camt, MT940, MT942, BAI2, Pain002}},
	InstructionID:       {"instruction_id", "InstrId; KREF of MT940.", []Format{Camt, MT940, MT942, Pain002}},
	TxID:                {"tx_id", "TxId of the clearing.", iso},
	UETR:                {"uetr", "Unique end-to-end transaction reference.", iso},
	MandateID:           {"mandate_id", "Mandate of a direct debit: MndtId, MREF, MARF.", []Format{Camt, MT940, MT942}},
	CreditorRef:         {"creditor_ref", "Structured reference of the creditor (CdtrRefInf/Ref); the clearing reference (CREF) of BAI2.", []Format{Camt, BAI2}},
	MsgID:               {"msg_id", "Id of your message (pain.001): Btch/MsgId, Refs/MsgId, OrgnlMsgId.", iso},
	PmtInfID:            {"pmt_inf_id", "Id of your payment block: Btch/PmtInfId, Refs/PmtInfId, OrgnlPmtInfId.", iso},
	Count:               {"count", "Number of transactions that the row stands for, where the file states it.", []Format{Camt, Pain002}},
	Amount:              {"amount", "Signed amount in major units: money in is positive, money out negative. pain.002: as instructed, without sign.", everywhere},
	Currency:            {"currency", "Currency of the amount.", everywhere},
	Side:                {"side", "CRDT for money in, DBIT for money out: with unsigned_amount for `sign_from`, where your amounts of payouts are positive.", []Format{Camt, MT940, MT942, BAI2, NACHA}},
	UnsignedAmount:      {"unsigned_amount", "The amount without its sign.", []Format{Camt, MT940, MT942, BAI2, NACHA}},
	TxAmount:            {"tx_amount", "Amount as instructed, without sign, where it is stated.", []Format{Camt}},
	TxCurrency:          {"tx_currency", "Currency of tx_amount.", []Format{Camt}},
	BookingDate:         {"booking_date", "Booking date, YYYY-MM-DD; as-of date of BAI2; effective entry date of NACHA.", []Format{Camt, MT940, MT942, BAI2, NACHA}},
	BookingTime:         {"booking_time", "Booking time as found, where there is one; time of the report for MT942; of the status for pain.002.", []Format{Camt, MT942, BAI2, Pain002}},
	ValueDate:           {"value_date", "Value date, YYYY-MM-DD.", statements},
	Status:              {"status", "Outcome in words of the standard. BOOK, PDNG, INFO, FUTR; RTRN: a returned payment; RVSL: a reversal; PROV: intraday, not final; MIXD: a batch that is kept, of which only some transactions came back; TEST, DLTD: a test or deletion group of BAI2. NACHA: SENT; PRNT a prenotification; RTRN; NOCH a notification of change, the payment stands; DISH, CNTS a dishonoured and a contested return, which undo the one before; RVSL. pain.002: the code as found.", everywhere},
	RawStatus:           {"raw_status", "Status as found: Sts, mark of field 61, as-of-date modifier of BAI2.", statements},
	Finality:            {"finality", "0 provisional, 1 pending, 2 booked or final: for `survivor: {by: remote_id, latest: finality}` over intraday reports and statements.", everywhere},
	Reason:              {"reason", "Reason of a return, reversal or rejection: AC04, R01, 914.", []Format{Camt, MT940, MT942, Pain002, NACHA}},
	ReasonInfo:          {"reason_info", "Reason in words.", []Format{Camt, Pain002, NACHA}},
	Reversal:            {"reversal", "true where the bank marks the entry as a reversal (RvslInd, RC, RD), else false.", []Format{Camt, MT940, MT942, BAI2, NACHA}},
	TypeCode:            {"type_code", "Kind of transaction: PMNT-ICDT-ESCT; NTRF; type code of BAI2; transaction code of NACHA.", []Format{Camt, MT940, MT942, BAI2, NACHA}},
	BankCode:            {"bank_code", "The bank's own code (BkTxCd/Prtry/Cd); three digits at the start of field 86.", []Format{Camt, MT940, MT942}},
	Remittance:          {"remittance", "Remittance text; parts are joined by a blank.", []Format{Camt, MT940, MT942, BAI2, NACHA}},
	Info:                {"info", "Further text of the bank: AddtlTxInf, else AddtlNtryInf of an entry that is one row; field 86 as a whole.", []Format{Camt, MT940, MT942}},
	Counterparty:        {"counterparty", "Name of the other party.", []Format{Camt, MT940, MT942, NACHA}},
	CounterpartyAccount: {"counterparty_account", "Account of the other party.", []Format{Camt, MT940, MT942}},
	Level:               {"level", "transaction, payment or group: what the status was given for; reach: a status of payment or group, carried to one operation of it.", []Format{Pain002}},
	BatchNo:             {"batch_no", "Number of the batch.", []Format{NACHA}},
	SEC:                 {"sec", "Standard entry class: PPD, CCD, WEB, COR.", []Format{NACHA}},
	CompanyID:           {"company_id", "Company id of the batch.", []Format{NACHA}},
	Trace:               {"trace", "Trace number of the entry itself.", []Format{NACHA}},
	OriginalTrace:       {"original_trace", "Trace number of the forward entry: that of addenda 98 or 99, or of the entry itself.", []Format{NACHA}},
	TraceKey:            {"trace_key", "original_trace, effective date and amount in cents, joined by /: trace numbers alone repeat over time.", []Format{NACHA}},
}

// Columns lists the columns of a format, in order.
func Columns(f Format) []Column {
	var out []Column
	for c := range columnDocs {
		for _, has := range columnDocs[c].formats {
			if has == f {
				out = append(out, Column(c))
			}
		}
	}
	return out
}

// String is the name of the column, which job files bind fields to.
func (c Column) String() string { return columnDocs[c].name }

// Doc says what the column holds.
func (c Column) Doc() string { return columnDocs[c].doc }

func quote(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}
