package rules

// The shapes of the mappings that say how the file of a bank is read.

var bankKey = key{name: "bank", doc: "How the file of a bank is read and what it must prove.", value: shapeValue(bankShape)}

var bankShape = &shape{
	name: "bank", doc: "The file of a bank or clearing: camt, mt940, mt942, bai2, pain002, nacha.",
	keys: []key{
		{name: "batch", doc: "camt: an entry of several transactions is split into them, which must come to its amount; or kept as one row with their number.", def: "split", value: enumValue("split", "keep")},
		{name: "proof", doc: "check: totals and balances that the file states must tie; require: each statement states both balances as well; report: what does not tie is a finding, and the file proves no absence.", def: "check", value: enumValue("check", "require", "report")},
		{name: "sequence", doc: "check: a number that is left out between two statements of an account is a gap, as a missing page and a balance that does not continue always are; ignore: numbers say nothing.", def: "check", value: enumValue("check", "ignore")},
		{name: "encoding", doc: "Encoding of mt940, mt942, bai2 and nacha; the documents of ISO 20022 declare theirs.", def: "utf-8", value: enumValue(bankEncodings...)},
		{name: "credit_codes", doc: "bai2: type codes of the bank's own that are credits.", def: "100 to 399, 920 to 959", value: listValue(textValue())},
		{name: "debit_codes", doc: "bai2: type codes of the bank's own that are debits.", def: "400 to 699, 960 to 999", value: listValue(textValue())},
		{name: "exponents", doc: "bai2: currency → decimals of its minor unit, where the bank differs from ISO 4217.", def: "ISO 4217", value: schema{"type": "object", "propertyNames": schema{"pattern": `^[A-Z]{3}$`}, "additionalProperties": schema{"type": "integer", "minimum": 0, "maximum": 6}}},
		{name: "reach", doc: "pain002: the operations of the messages that were sent, so that the status of a message or payment block without transactions reaches each of them.", value: shapeValue(bankReachShape)},
	},
}

var bankEncodings = []string{"utf-8", "latin-1", "windows-1252", "cp850"}

var bankReachShape = &shape{
	name: "bank_reach", doc: "A CSV file with a header, one line for each operation. The status of its transaction, where the report lists it, goes before that of its payment block, and that before the one of its message.",
	keys: []key{
		{name: "path", doc: "The file, relative to the job file; with {date} and {file_date}.", required: true, value: schema{"type": "string"}},
		{name: "msg_id", doc: "Column with the id of the message (GrpHdr/MsgId).", def: "msg_id", value: textValue()},
		{name: "pmt_inf_id", doc: "Column with the id of the payment block.", def: "none: only statuses of messages reach", value: textValue()},
		{name: "end_to_end_id", doc: "Column with the end-to-end id.", def: "end_to_end_id", value: textValue()},
		{name: "instruction_id", doc: "Column with the instruction id.", def: "none", value: textValue()},
	},
}
