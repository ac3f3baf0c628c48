package rules

import (
	"slices"
	"strings"
)

// bankColumns are the columns of the formats of banks, in order: a closed list, which
// package extract/bank gives (its Columns). A test of extract holds both equal.
var bankColumns = map[Format][]string{
	FormatCamt: strings.Fields(`message report_id account account_currency statement_id statement_no page copy kind entry_no tx_no
		remote_id entry_ref servicer_ref end_to_end_id instruction_id tx_id uetr mandate_id creditor_ref msg_id pmt_inf_id count
		amount currency side unsigned_amount tx_amount tx_currency booking_date booking_time value_date status raw_status finality
		reason reason_info reversal type_code bank_code remittance info counterparty counterparty_account`),
	FormatMT940: strings.Fields(`message report_id account account_currency statement_no page entry_no remote_id entry_ref servicer_ref
		customer_ref end_to_end_id instruction_id mandate_id amount currency side unsigned_amount booking_date value_date status
		raw_status finality reason reversal type_code bank_code remittance info counterparty counterparty_account`),
	FormatMT942: strings.Fields(`message report_id account account_currency statement_no page entry_no remote_id entry_ref servicer_ref
		customer_ref end_to_end_id instruction_id mandate_id amount currency side unsigned_amount booking_date booking_time value_date
		status raw_status finality reason reversal type_code bank_code remittance info counterparty counterparty_account`),
	FormatBAI2: strings.Fields(`message report_id account account_currency entry_no remote_id servicer_ref customer_ref end_to_end_id
		creditor_ref amount currency side unsigned_amount booking_date booking_time value_date status raw_status finality reversal
		type_code remittance`),
	FormatPain002: strings.Fields(`message report_id servicer_ref end_to_end_id instruction_id tx_id uetr msg_id pmt_inf_id count amount
		currency booking_time status finality reason reason_info level`),
	FormatNACHA: strings.Fields(`message report_id account entry_no remote_id customer_ref amount currency side unsigned_amount
		booking_date status finality reason reason_info reversal type_code remittance counterparty batch_no sec company_id trace
		original_trace trace_key`),
}

// BankColumns lists the columns that files of a bank's format have, in order; nil for
// other formats.
func BankColumns(f Format) []string { return slices.Clone(bankColumns[f]) }

// bankFields refuses columns that the format of a bank does not have. An optional one
// is refused as well: no file would ever have it.
func (d *decoder) bankFields(src *Source, place func(Field) string) {
	names := bankColumns[src.Format]
	for _, f := range src.Fields {
		for _, c := range f.columns() {
			if slices.Contains(names, c) {
				continue
			}
			p := place(f)
			if column := join(p, "column"); c == f.Column {
				if _, ok := d.places[column]; ok {
					p = column
				}
			}
			hint := didYouMean(c, names)
			if hint == "" {
				hint = "its columns are " + strings.Join(names, ", ")
			}
			d.fail(p, hint, "the field %s takes the column %q, which the format %s does not have", f.Name, c, src.Format)
		}
	}
}
