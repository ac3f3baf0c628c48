package rules

// The shapes of the mappings that say how a container is read.

var formatNames = []Format{FormatCSV, "tsv", FormatNDJSON, FormatJSON, FormatParquet, FormatTyped, FormatFixed, FormatXLSX, FormatXML,
	FormatCamt, FormatMT940, FormatMT942, FormatBAI2, FormatPain002, FormatNACHA}

// formatKeys are the keys of a source for containers and record kinds.
var formatKeys = []key{
	{name: "zip", doc: "Which members of a zip archive are data.", value: shapeValue(zipShape)},
	{name: "typed", doc: "Kinds of lines of a record-typed file; the dialect is said under csv.", value: shapeValue(typedShape)},
	{name: "fixed", doc: "Lines of fixed width.", value: shapeValue(fixedShape)},
	{name: "xlsx", doc: "Where the records of a workbook are.", value: shapeValue(xlsxShape)},
	{name: "xml", doc: "Which elements of an XML document are records.", value: shapeValue(xmlShape)},
	bankKey,
}

var zipShape = &shape{
	name: "zip", doc: "A zip archive. Members that are neither data nor ignored refuse it.",
	keys: []key{
		{name: "member", doc: "Name of the member with the records, or a pattern (* ? [) that one or more members fit; * does not pass a slash.", def: "the only member", value: textValue()},
		{name: "ignore", doc: "Names or patterns of members that are no data.", def: "none", value: listValue(textValue())},
	},
}

var typedShape = &shape{
	name: "typed", doc: "A file whose lines are of several kinds, told apart by the text of one field.",
	keys: []key{
		{name: "field", doc: "The field with the kind, counted from 1.", def: "1", value: intValue(1)},
		{name: "column", doc: "Name of the column with the kind.", def: "record_kind", value: textValue()},
		{name: "first", doc: "Kind of the first line; a file that begins otherwise is refused.", def: "any", value: textValue()},
		{name: "last", doc: "Kind of the last line; a file that ends otherwise is cut.", def: "any", value: textValue()},
		{name: "kinds", doc: "The kinds of lines. Headers are levels in this order.", required: true, value: schema{"type": "array", "minItems": 1, "items": shapeValue(kindShape)}},
	},
}

var kindShape = &shape{
	name: "kind", doc: "One kind of line.",
	keys: append([]key{
		{name: "columns", doc: "Names of all fields of the line in order, the kind's among them.", def: "those of a names line", value: listValue(textValue())},
	}, kindKeys...),
}

var fixedKindShape = &shape{
	name: "fixed_kind", doc: "One kind of line of fixed width.",
	keys: append([]key{
		{name: "columns", doc: "Column → bytes of the encoded line, both included, from 1.", def: "none", value: mapValue(bytesValue())},
	}, kindKeys...),
}

// kindKeys are the keys of both.
var kindKeys = []key{
	{name: "kind", doc: "Text of the kind.", required: true, value: textValue()},
	{name: "as", doc: "What such lines are: record; header and footer of the records between; names of the columns of the lines that follow; or ignored.", def: "record", value: enumValue(RoleRecord, RoleHeader, RoleNames, RoleFooter, RoleIgnored)},
	{name: "of", doc: "Of a names line: the kinds whose columns it names.", def: "all that follow it", value: listValue(textValue())},
	{name: "carry", doc: "Of a header: column → its field, by position or by name, which the records after it get as well, until the next such line or one of a header declared above.", def: "none", value: mapValue(fieldRefValue())},
	{name: "since", doc: "Of a footer: its records are those after the last line of this header kind.", def: "all of the file", value: textValue()},
	{name: "by", doc: "Of a footer: there is one such line for each value of a column, and it speaks of the records with that value.", value: shapeValue(kindKeyShape)},
	{name: "count", doc: "Field with the number of records, or a mapping.", value: anyValue(fieldRefValue(), shapeValue(kindCountShape))},
	{name: "sums", doc: "Fields with sums of columns, as the file writes them.", def: "none", value: listValue(shapeValue(kindSumShape))},
}

func fieldRefValue() schema { return schema{"type": []any{"string", "integer"}} }

const bytesPattern = `^[1-9][0-9]{0,5}(-[1-9][0-9]{0,5})?$`

func bytesValue() schema { return anyValue(patternValue(bytesPattern), intValue(1)) }

var kindKeyShape = &shape{
	name: "footer_key", doc: "Which records a footer speaks of.",
	keys: []key{
		{name: "field", doc: "Field of the footer with the value.", required: true, value: fieldRefValue()},
		{name: "column", doc: "Column of the records that has it.", required: true, value: textValue()},
	},
}

var kindCountShape = &shape{
	name: "kind_count", doc: "A stated number.",
	keys: []key{
		{name: "field", doc: "Field with the number.", required: true, value: fieldRefValue()},
		{name: "of", doc: "The kinds that are counted.", def: "all records", value: listValue(textValue())},
		{name: "lines", doc: "Every line counts, that of the number and of the header included.", def: "false", value: boolValue()},
	},
}

var kindSumShape = &shape{
	name: "kind_sum", doc: "A stated sum of a column.",
	keys: []key{
		{name: "field", doc: "Field with the sum.", required: true, value: fieldRefValue()},
		{name: "column", doc: "Column that is added up; an empty one counts as zero.", required: true, value: textValue()},
		{name: "of", doc: "The kinds whose records are added up.", def: "all records", value: listValue(textValue())},
		{name: "where", doc: "Column → text: only records that have it.", def: "all", value: mapValue(textValue())},
		{name: "minus", doc: "Column → text: records that have it are subtracted.", def: "none", value: mapValue(textValue())},
		{name: "tolerance", doc: "Greatest difference that counts as equal, where the file rounds its sums.", def: "0", value: patternValue(decimalPattern)},
	},
}

var fixedShape = &shape{
	name: "fixed", doc: "Lines of fixed width; places are bytes of the encoded line.",
	keys: []key{
		{name: "line_length", doc: "Bytes of each line, its end not counted; another length refuses the file.", required: true, value: intValue(1)},
		{name: "line_end", doc: "any: LF or CRLF; none: the lines follow each other without ends.", def: "any", value: enumValue("any", "none")},
		{name: "encoding", doc: "Encoding of the text.", def: "utf-8", value: enumValue(fixedEncodings...)},
		{name: "trim", doc: "Which blanks of a field are padding.", def: "both", value: enumValue("both", "left", "right", "none")},
		{name: "decimal", doc: "Decimal mark of the source's numbers, a point or a comma.", def: ".", value: schema{"type": "string", "maxLength": 1}},
		{name: "group", doc: "Grouping mark of the source's numbers.", def: "none", value: schema{"type": "string"}},
		{name: "columns", doc: "Column → bytes, where all lines are of one kind.", value: mapValue(bytesValue())},
		{name: "kind", doc: "Bytes with the record kind.", def: "all lines are records", value: bytesValue()},
		{name: "column", doc: "Name of the column with the kind.", def: "record_kind", value: textValue()},
		{name: "first", doc: "Kind of the first line; a file that begins otherwise is refused.", def: "any", value: textValue()},
		{name: "last", doc: "Kind of the last line; a file that ends otherwise is cut.", def: "any", value: textValue()},
		{name: "kinds", doc: "The kinds of lines. Headers are levels in this order.", value: schema{"type": "array", "minItems": 1, "items": shapeValue(fixedKindShape)}},
		{name: "padding", doc: "A line of nothing but this character fills the last block and is no record; such lines come last.", def: "none", value: schema{"type": []any{"string", "integer"}}},
	},
}

var fixedEncodings = []string{"utf-8", "latin-1", "windows-1252"}

var xlsxShape = &shape{
	name: "xlsx", doc: "A sheet of a workbook. Values are read as stored, not as shown; dates become ISO 8601 texts.",
	keys: []key{
		{name: "sheet", doc: "Name of the sheet. A hidden one is read only if it is named.", def: "the only sheet", value: textValue()},
		{name: "header_row", doc: "Row of the sheet with the names of the columns, from 1; 0 where there is none and columns names them.", def: "1, or the first row of the range", value: intValue(0)},
		{name: "columns", doc: "The names of the columns in order, where header_row is 0.", value: listValue(textValue())},
		{name: "header_names", doc: "How names of columns are compared.", def: "exact", value: enumValue("exact", "trim", "ignore_case")},
		{name: "range", doc: "Part of the sheet that is read: A1:F200, A3:F or A:F. Rows with values below a last row are a finding, and the file proves no absence.", def: "all of it", value: patternValue(rangePattern)},
		{name: "skip_empty_rows", doc: "A row without a value is no record; else it is a bad one.", def: "true", value: boolValue()},
		{name: "rows", doc: "Tells header, record and trailer rows apart by the text of one cell.", value: shapeValue(rowsShape)},
		{name: "ends_before", doc: "The records end before the row with this first cell; a sheet without it is refused.", value: shapeValue(firstFieldShape)},
		{name: "null_words", doc: "Texts that mean null.", def: "none", value: listValue(textValue())},
	},
}

const rangePattern = `^[A-Z]{1,3}([1-9][0-9]{0,6})?:[A-Z]{1,3}([1-9][0-9]{0,6})?$`

var xmlShape = &shape{
	name: "xml", doc: "Elements of an XML document. Paths are local names joined by /, whatever their namespace; a last part @name is an attribute.",
	keys: []key{
		{name: "path", doc: "Path of the records from the root.", required: true, value: textValue()},
		{name: "carry", doc: "Column → path from the root, of a value that stands before the records in an element around them.", def: "none", value: mapValue(textValue())},
		{name: "trailer", doc: "Paths from the root to what the document states about itself: trailer.1 and so on of controls.", def: "none", value: listValue(textValue())},
		{name: "encoding", doc: "Encoding of the document, where it must be this one.", def: "as the document declares it", value: textValue()},
	},
}

var numericCellsShape = &shape{
	name: "numeric_cells", doc: "What numbers in number cells of a workbook are worth as keys.",
	keys: []key{
		{name: "from_15_digits", doc: "Whole numbers of 15 digits and more: a cell holds no more than 15, so that such a key may be damaged. They are reported in either case.", def: "unusable", value: enumValue("unusable", "usable")},
	},
}
