package doctor

import (
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// role is a product field with the names that columns for it often have, the most
// telling first. English, and what banks of Europe write in their exports.
type role struct {
	field string
	types []string // what its column may look like; nil: anything
	both  []string // names on both sides
	ours  []string // operations only
	their []string // results only
}

var texty = []string{"text", "integer"}

var roles = []role{
	{"operation_id", texty, []string{"operation_id", "op_id", "operationid"},
		[]string{"id", "uuid", "payment_id", "transaction_id", "trx_id", "order_id", "job_id", "charge_id", "refund_id", "payout_id", "reference"},
		[]string{"metadata_operation_id", "metadata_op_id", "payment_metadata_operation_id", "payment_metadata_op_id", "payment_metadata_op", "merchant_reference", "merchantreference",
			"client_reference", "external_reference", "external_id", "customer_reference", "end_to_end_id", "merchant_order_id", "customer_ref", "order_id", "invoice_id", "your_reference", "custom_id",
			"kenmerk", "betalingskenmerk", "referenz", "reference"}},
	{"idempotency_key", texty, []string{"idempotency_key", "idem_key", "idempotence_key", "metadata_idempotency_key", "request_id"}, nil, nil},
	{"remote_id", texty, nil, nil, []string{"remote_id", "charge_id", "psp_reference", "pspreference", "provider_id", "payment_id", "transaction_id", "trx_id", "balance_transaction_id",
		"original_trace", "trace", "servicer_ref", "id", "transactiereferentie", "unique_identifier"}},
	{"entity", texty, []string{"entity", "order_no", "order_number", "order_id", "invoice_no", "invoice_number", "metadata_order_no", "customer_id"}, nil, nil},
	{"type", []string{"text"}, []string{"type", "kind", "operation_type", "row_type", "record_type", "transaction_type", "job_type", "queue_name", "event_type", "reporting_category", "object", "art"}, nil, nil},
	{"state", []string{"text"}, nil, []string{"state", "status", "job_state", "job_status"}, nil},
	{"status", []string{"text"}, nil, nil, []string{"status", "state", "outcome", "result", "payment_status", "reporting_category"}},
	{"amount", []string{"decimal", "integer"}, []string{"amount", "gross", "gross_amount", "amount_gross", "transaction_amount", "payment_amount", "amt", "value", "betrag", "umsatz", "bedrag", "montant", "importe",
		"importo", "valor", "total", "total_amount", "amount_cents", "amount_minor", "net", "net_amount"}, nil, nil},
	{"currency", []string{"currency"}, []string{"currency", "ccy", "currency_code", "currency_iso", "iso_currency", "waehrung", "wahrung", "munt", "devise", "moneda", "valuta", "gross_currency", "transaction_currency"}, nil, nil},
	{"created_at", []string{"timestamp", "date"}, []string{"created_at", "created", "created_utc", "creation_date", "creation_time", "inserted_at", "requested_at", "booked_at", "transaction_time", "transaction_date", "booking_date", "timestamp", "date",
		"datum", "buchungstag", "buchungsdatum", "fecha", "data", "date_time", "datetime", "time", "value_date", "processed_at", "paid_at", "settled_at", "angelegt", "angelegt_am", "erstellt", "erstellt_am"}, nil, nil},
	{"attempts", []string{"integer"}, nil, []string{"attempts", "attempt", "tries", "try_count", "retry_count", "retries", "attempt_count", "receive_count", "approximate_receive_count", "versuche"}, nil},
	{"last_attempt_at", []string{"timestamp"}, nil, []string{"last_attempt_at", "last_tried_at", "last_attempt", "attempted_at"}, nil},
	{"first_failed_at", []string{"timestamp"}, nil, []string{"first_failed_at", "failed_at"}, nil},
	{"lease_until", []string{"timestamp"}, nil, []string{"lease_until", "locked_until", "reserved_until"}, nil},
	{"error_class", []string{"text"}, nil, []string{"error_class", "last_error_class", "error_type", "last_error", "error_code"}, nil},
	{"version", []string{"integer"}, []string{"version", "expected_version", "metadata_version"}, nil, nil},
	{"sequence", []string{"integer"}, nil, nil, []string{"sequence", "seq", "sequence_no"}},
}

// names of the role on one side; "" both.
func (r *role) names(side rules.Side) []string {
	switch side {
	case rules.Operations:
		return append(slices.Clone(r.both), r.ours...)
	case rules.Results:
		return append(slices.Clone(r.both), r.their...)
	}
	return slices.Concat(r.both, r.ours, r.their)
}

// fieldOfName is the first product field that a name is usual for, "".
func fieldOfName(column string) string {
	name := plainName(column)
	for i := range roles {
		if slices.Contains(roles[i].names(""), name) {
			return roles[i].field
		}
	}
	return ""
}

// timeName tells a name that speaks of a day or time.
func timeName(column string) bool {
	name := plainName(column)
	for _, word := range []string{"created", "updated", "date", "time", "timestamp", "datum", "tag", "at", "on", "fecha", "expires", "until", "since", "day"} {
		if name == word || strings.HasSuffix(name, "_"+word) || strings.HasPrefix(name, word+"_") {
			return true
		}
	}
	return false
}

// idName tells a name that speaks of an identifier.
func idName(column string) bool {
	switch fieldOfName(column) {
	case "operation_id", "remote_id", "idempotency_key", "entity":
		return true
	}
	name := plainName(column)
	for _, word := range []string{"id", "ids", "no", "nr", "number", "reference", "ref", "key", "token", "uuid", "iban", "account", "trace", "code", "num"} {
		if name == word || strings.HasSuffix(name, "_"+word) {
			return true
		}
	}
	return (strings.HasSuffix(name, "id") || strings.HasSuffix(name, "nr") || strings.HasSuffix(name, "nummer")) && len(name) > 4
}

// statusWords are texts that nearly always mean one outcome (design: the canonical
// status map). They are suggested, for a person to confirm.
var statusWords = map[rules.Status][]string{
	rules.Succeeded: {"succeeded", "success", "successful", "settled", "paid", "paid_out", "completed", "complete", "confirmed", "captured", "charge", "done", "ok", "book", "acsc", "accc"},
	rules.Pending: {"pending", "processing", "in_progress", "authorised", "authorized", "submitted", "submitted_for_settlement", "settling", "sentforsettle", "queued", "created", "open",
		"pdng", "prov", "rcvd", "actc", "accp", "acsp", "acwc"},
	rules.Failed:   {"failed", "failure", "error", "declined", "refused", "rejected", "denied", "voided", "expired", "cancelled", "canceled", "rjct", "canc"},
	rules.Refunded: {"refunded", "refund"},
	rules.Reversed: {"reversed", "reversal", "charged_back", "chargeback", "dispute", "rtrn", "rvsl"},
	rules.Unknown:  {"unknown", "uncertain", "info"},
}

// bankStatuses is what the words of banks' formats mean (package bank, column status).
var bankStatuses = pairs{
	{"BOOK", "succeeded"}, {"PDNG", "pending"}, {"PROV", "pending"}, {"INFO", "unknown"}, {"RTRN", "reversed"}, {"RVSL", "reversed"},
}

func statusOf(text string) rules.Status {
	word := plainName(text)
	for status, words := range statusWords {
		if slices.Contains(words, word) {
			return status
		}
	}
	return ""
}

// finalStates are local states in which nothing more is done, as programs often
// call them.
var finalStates = []string{"done", "succeeded", "success", "completed", "complete", "confirmed", "settled", "paid", "cancelled", "canceled", "compensated", "refunded",
	"not_applicable", "superseded", "finished", "processed", "delivered", "closed"}
