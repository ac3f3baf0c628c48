package rules

// The shapes of product fields: where a value stands, and how it is written.

var fieldShape = &shape{
	name: "field", doc: "How to get one product field.",
	keys: []key{
		{name: "column", doc: "Source column by name; a number is a position from 1.", def: "the field's name", value: schema{"type": []any{"string", "integer"}}},
		{name: "constant", doc: "The value of every record of the source, in place of a column.", value: textValue()},
		{name: "first_of", doc: "Columns, the first of which that holds something gives the value, in place of a column.", value: listValue(textValue())},
		{name: "cases", doc: "Columns by the kind of record, in place of a column: the first case whose `where` holds gives the value, null where none does.", value: listValue(shapeValue(caseShape))},
		{name: "join", doc: "Columns whose texts, with / between them, are the value, in place of a column: a status that two columns tell. Nothing in all of them is null.", value: listValue(textValue())},
		{name: "debit_credit", doc: "An amount in two columns, one of which is filled, in place of a column.", value: shapeValue(debitCreditShape)},
		{name: "sum_of_parts", doc: "The field has no column: only `effects` fills it, with what it adds up.", def: "false", value: boolValue()},
		{name: "json_path", doc: "The column holds JSON: the way to the value inside it. A name goes to a member, a number to an element, from 1, or from the end by -1; a text on the way is JSON again. Nothing there is null, a text that is no JSON is unreadable.", def: "the text of the column", value: anyValue(textValue(), listValue(textValue()))},
		{name: "where", doc: "Column → texts: in a record in which the column has another text the field is null.", def: "every record", value: mapValue(anyValue(textValue(), listValue(textValue())))},
		{name: "optional", doc: "A file without the column gives null; the report says so.", def: "false: such a file is refused", value: boolValue()},
		{name: "type", doc: "Type of the values.", def: "text", value: enumValue(fieldTypes...)},
		{name: "absent", doc: "In a source: it does not have this field, which is null there.", def: "false", value: boolValue()},
		{name: "normalise", doc: "Steps applied in order for matching and comparing; outputs keep the text as found.", def: "none", value: normaliseValue},
		{name: "scale", doc: "Decimals: digits after the point; a value with more is unreadable.", def: "any number", value: schema{"type": "integer", "minimum": 0, "maximum": 28}},
		{name: "decimal", doc: "Decimal mark.", def: "the source's", value: schema{"type": "string", "maxLength": 1}},
		{name: "group", doc: "Grouping mark.", def: "the source's", value: schema{"type": "string"}},
		{name: "notation", doc: "Further spellings of a negative sign.", def: "a leading minus only", value: listValue(enumValue("parentheses", "trailing_minus"))},
		{name: "sign_from", doc: "The sign comes from another column.", value: shapeValue(signFromShape)},
		{name: "minor_units_of", doc: "Product field with the currency; the number is in its minor units (ISO 4217).", value: patternValue(namePattern)},
		{name: "major_units_of", doc: "Product field with the currency; a number with more decimals than its minor unit has is unreadable.", def: "any number of decimals", value: patternValue(namePattern)},
		{name: "exponents", doc: "Currency → decimals of its minor unit, where the source deviates from ISO 4217. With minor_units_of or major_units_of.", value: schema{"type": "object", "propertyNames": schema{"pattern": `^[A-Z]{3}$`}, "additionalProperties": schema{"type": "integer", "minimum": 0, "maximum": 8}}},
		{name: "extra_decimals", doc: "Decimals beyond the minor unit that the source may state, such as half pence. With minor_units_of or major_units_of.", def: "0", value: schema{"type": "integer", "minimum": 0, "maximum": 8}},
		{name: "layout", doc: "Layout or layouts of dates and timestamps: a Go layout, YYYY-MM-DD HH:mm:ss letters, or a name (iso, rfc3339, date; unix, unix_ms for seconds and milliseconds since 1970, unix_float for seconds as programs print floats: digits beyond microseconds are cut; iso_nano for iso, the same).", def: "iso", value: anyValue(schema{"type": "string"}, listValue(schema{"type": "string"}))},
		{name: "zone", doc: "IANA zone of timestamps without an offset.", def: "none: such a text is unreadable", value: schema{"type": "string"}},
		{name: "zone_from", doc: "The zone of each record stands in another column.", value: shapeValue(zoneFromShape)},
		{name: "map", doc: "For the status of the results: what each text means (V19). An unlisted one is surfaced.", value: mapValue(enumValue(statuses...))},
		{name: "placeholders", doc: "Texts that mean empty where the field is a key (V2).", def: "none", value: listValue(textValue())},
		{name: "numeric_cells", doc: "Workbooks: what numbers are worth as keys.", value: shapeValue(numericCellsShape)},
	},
}

var fieldTypes = []FieldType{Text, Decimal, Integer, Boolean, Date, Timestamp, Currency}

var statuses = []Status{Succeeded, Pending, Failed, Unknown, Reversed, Refunded}

var normaliseSteps = []Normalise{NormTrim, NormTrimUnicode, NormRemoveZeroWidth, NormNFC, NormIgnoreCase, NormLineEnds, NormUUID}

var normaliseValue = listValue(anyValue(enumValue(normaliseSteps...), shapeValue(prefixShape)))

var prefixShape = &shape{
	name: "prefix", doc: "A normalisation step with an option.",
	keys: []key{{name: "strip_prefix", doc: "Text taken away from the start where it is there.", required: true, value: textValue()}},
}

var signFromShape = &shape{
	name: "sign_from", doc: "The sign of a number by the mark in another column.",
	keys: []key{
		{name: "column", doc: "Source column with the mark.", required: true, value: textValue()},
		{name: "positive", doc: "Marks of positive numbers.", required: true, value: listValue(textValue())},
		{name: "negative", doc: "Marks of negative numbers.", required: true, value: listValue(textValue())},
	},
}

var caseShape = &shape{
	name: "case", doc: "The column of a field in some of the records.",
	keys: []key{
		{name: "column", doc: "Source column.", required: true, value: textValue()},
		{name: "where", doc: "Column → texts: the case holds where each of them has one of its texts.", def: "it holds always", value: mapValue(anyValue(textValue(), listValue(textValue())))},
	},
}

var debitCreditShape = &shape{
	name: "debit_credit", doc: "An amount in two columns: a number in credit counts as it is, one in debit is taken away. Both filled, other than by zero, is unreadable.",
	keys: []key{
		{name: "debit", doc: "Source column with amounts that go out.", required: true, value: textValue()},
		{name: "credit", doc: "Source column with amounts that come in.", required: true, value: textValue()},
	},
}

var zoneFromShape = &shape{
	name: "zone_from", doc: "The zone of a timestamp without an offset, by the text of another column. A text that is not listed makes the timestamp unreadable.",
	keys: []key{
		{name: "column", doc: "Source column with the zone, such as CET or PDT.", required: true, value: textValue()},
		{name: "zones", doc: "Text of the column → IANA zone.", required: true, value: mapValue(schema{"type": "string"})},
	},
}
