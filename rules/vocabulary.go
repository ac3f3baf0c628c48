package rules

import "slices"

// The shapes of all mappings of a job file. The texts are those of the JSON
// Schema, and so of the help that editors show.

var jobShape = &shape{
	name: "job", doc: "One reconciliation job.",
	keys: []key{
		{name: "version", doc: "Version of the form of the job file.", def: "1", value: schema{"const": 1}},
		{name: "job", doc: "Name of the job: the folder of its runs, and in all outputs. Lower-case letters, digits, hyphens.", required: true, value: patternValue(jobNamePattern)},
		{name: "timezone", doc: "The business calendar, an IANA name. {date} is a business date in it, and instants without an offset are local times in it.", def: "UTC", value: schema{"type": "string"}},
		{name: "as_of", doc: "The reference time of windows and ages; never the wall clock.", def: "{date+1}T00:00, the end of the business date", value: schema{"type": "string"}},
		{name: "clock_skew", doc: "How far a provider's clock may differ from ours (V26, V27, V29).", def: "5m", value: durationValue()},
		{name: "period", doc: "Which rows this run totals; the others are linked and judged as context (V8).", def: "everything", value: shapeValue(periodShape)},
		{name: "extends", doc: "Reusable policy files that stand under this job, relative to the file that names them. A later one wins over an earlier one, the job over all: key by key in mappings; rules and releases of the job come first, then those of the last file.", def: "none", value: anyValue(textValue(), listValue(anyValue(textValue(), shapeValue(extendsShape))))},
		{name: "mode", doc: "enforce; observe: everything is computed and each queue item is marked observe_only; pilot: the same but for the items that pilot names.", def: "enforce", value: enumValue(Enforce, Observe, PilotMode)},
		{name: "pilot", doc: "Who is acted on, with `mode: pilot`: all conditions that are declared must hold.", value: shapeValue(pilotShape)},
		{name: "operations", doc: "What we intended: local exports.", required: true, value: shapeValue(operationsShape)},
		{name: "results", doc: "What the provider says happened.", required: true, value: shapeValue(resultsShape)},
		{name: "match", doc: "The passes of the key cascade, in order. A row that one pass claimed is not offered to the next.", required: true, value: schema{"type": "array", "minItems": 1, "items": shapeValue(passShape)}},
		{name: "compare", doc: "The compared fields, in the order in which differences are listed.", def: "nothing: presence alone counts", value: listValue(shapeValue(compareShape))},
		{name: "scope", doc: "Rules that make rows not_applicable (V7).", def: "none", value: listValue(shapeValue(scopeShape))},
		{name: "types", doc: "Policy by type of operation. \"*\" holds the defaults of all types, and the policy of types that are not listed.", def: "none: every operation is due", value: mapValue(shapeValue(typeShape))},
		{name: "calendars", doc: "Business calendars by name, for windows in business days.", def: "none", value: mapValue(shapeValue(calendarShape))},
		{name: "policy", doc: "Rules that replace the proposal of the rows that they fit, in order: the first that fits wins. The guard has the last word.", def: "none", value: listValue(shapeValue(policyRuleShape))},
		{name: "states", doc: "The local states of operations.", def: "the default set", value: shapeValue(statesShape)},
		{name: "limits", doc: "What one run may propose.", def: "none", value: shapeValue(limitsShape)},
		{name: "releases", doc: "Allowances of the guard, attempts and duration, lifted for a named cohort. Part of the run's identity.", def: "none", value: listValue(shapeValue(releaseShape))},
		{name: "canaries", doc: "Planted operations whose verdict is known. A run in which one comes out otherwise publishes no acting queue (exit 9).", def: "none", value: listValue(shapeValue(canaryShape))},
		{name: "gates", doc: "Conditions under which a published run ends with exit status 3.", def: "none", value: listValue(shapeValue(gateShape))},
		{name: "unattributed", doc: "Narrows which operations a result without identity stands against (V27); the report says so.", def: "not narrowed", value: shapeValue(unattributedShape)},
		{name: "redact", doc: "How personal fields appear in outputs.", def: "nothing is redacted", value: shapeValue(redactShape)},
		{name: "outputs", doc: "What a run writes, and where.", value: shapeValue(outputsShape)},
		{name: "evidence", doc: "Where the bytes are kept that runs read, and how long.", def: "they are not kept", value: shapeValue(evidenceShape)},
		{name: "notify", doc: "Who is told how a run ended.", def: "nobody", value: listValue(shapeValue(notifyShape))},
		{name: "hints", doc: "What is left over on one side is said to be probably what is left over on the other, by small differences: on or off. Nothing is linked by it. docs/matching.md says how.", def: "on", value: enumValue("on", "off")},
		{name: "may_be_empty", doc: "A side without rows, or rows on both sides without one link, is expected and withholds nothing (V38).", def: "false", value: boolValue()},
	},
	later: map[string]string{
		"presets": "name the preset at its source: `preset: stripe-itemised`",
		"use":     "write the keys out",
	},
}

const jobNamePattern = `^[a-z0-9][a-z0-9-]{0,62}$`

var periodShape = &shape{
	name: "period", doc: "A half-open time, decided by the operation where there is one.",
	keys: []key{
		{name: "by", doc: "Product field of type timestamp or date, declared on both sides.", required: true, value: patternValue(namePattern)},
		{name: "from", doc: "First instant, included; a bare date is its start.", required: true, value: schema{"type": "string"}},
		{name: "until", doc: "First instant after it.", required: true, value: schema{"type": "string"}},
		{name: "reason", doc: "The reason of rows outside.", def: "out_of_period", value: patternValue(namePattern)},
	},
}

// sourceKeys are the keys of a source but for name and fields: a side with one
// source may carry them itself.
var sourceKeys = slices.Concat(placeKeys, remoteSourceKeys(), []key{{name: "listing", doc: listingShape.doc, value: shapeValue(listingShape)}}, formKeys)

// placeKeys say which files of a source are read, and when.
var placeKeys = []key{
	{name: "preset", doc: "What is known of this kind of file: its keys stand under those of the job. `recon-batch presets list` lists them.", def: "none", value: anyValue(schema{"type": "string"}, shapeValue(presetShape))},
	{name: "path", doc: "File to read, relative to the job file; with {date} and {file_date}. The characters * ? [ make it a pattern; {exact: …} takes them as they are, and {{ and }} stand for braces.", value: anyValue(schema{"type": "string"}, shapeValue(pathShape))},
	{name: "dates", doc: "One path for each day, both included; {file_date} is the day. A day without its file is a missing file (need): with required it ends the run, else it is a gap in the coverage.", value: shapeValue(datesShape)},
	{name: "need", doc: "What happens when it is missing or bad (V35): required stops; optional goes on and proves nothing; late-ok may be missing, bad stops.", def: "required", value: enumValue(Required, Optional, LateOK)},
	{name: "ready", doc: readyShape.doc, def: "files are read as they are found", value: shapeValue(readyShape)},
	{name: "on_reject", doc: "What a record that cannot be cut into its fields does (V36): fail stops the run; keep lists it, and the file proves no absence.", def: "fail", value: enumValue(RejectFail, RejectKeep)},
}

// formKeys say what the files hold and what they prove.
var formKeys = []key{
	{name: "format", doc: "Form of the file; never guessed from its content.", def: "by the ending of the path, or of zip.member: .csv .tsv .ndjson .jsonl .json .parquet .xlsx .xml, before .gz, .zst or .zip", value: enumValue(formatNames...)},
	{name: "compression", doc: "Compression of the file, or zip for an archive that holds it.", def: "by the ending of the name: .gz, .zst, .zip", value: enumValue("auto", CompressionNone, CompressionGzip, CompressionZstd, CompressionZip)},
	{name: "csv", doc: "Dialect of CSV, TSV and record-typed files.", value: shapeValue(csvShape)},
	{name: "json", doc: "Where the records of a JSON document are.", value: shapeValue(jsonShape)},
	formatKeys[0], formatKeys[1], formatKeys[2], formatKeys[3], formatKeys[4], formatKeys[5],
	{name: "coverage", doc: "What the source can prove (V26): `complete`, or a mapping.", def: "complete where no source of the side declares any", value: anyValue(schema{"const": "complete"}, shapeValue(coverageShape))},
	{name: "minimum_records", doc: "Fewer data records refuse the file.", def: "0", value: intValue(0)},
	{name: "controls", doc: "Totals that are stated, by the file itself or by a control file beside it.", value: shapeValue(controlsShape)},
	{name: "signature", doc: "Each record is signed by its sender, as the calls of webhooks are: one whose signature is not good is a reject.", def: "records are not signed", value: shapeValue(signatureShape)},
	{name: "known", doc: "Columns and record kinds that the source is known to have; others are surfaced. none takes away what a preset says.", def: "any", value: anyValue(schema{"const": "none"}, shapeValue(knownShape))},
	{name: "effects", doc: "Records of one file that are parts of one effect. none takes away what a preset says.", def: "each record stands for itself", value: anyValue(schema{"const": "none"}, shapeValue(effectsShape))},
	{name: "ties", doc: "Equations between the decimal fields of each record, such as net = gross − fee.", def: "none", value: listValue(shapeValue(tieShape))},
	{name: "zero_sums", doc: "Decimal fields whose sum over all records of a file is zero.", def: "none", value: listValue(shapeValue(zeroSumShape))},
	{name: "pages", doc: "The page of each record of a snapshot; a key on two pages withdraws the coverage.", value: shapeValue(pagesShape)},
	{name: "stated_total", doc: "Totals that the provider states elsewhere.", value: shapeValue(statedTotalShape)},
	{name: "identity", doc: "Which report a file is, whatever it is called, and so which files are the same, a revision, or missing.", def: "a file is known by its content alone", value: shapeValue(identityShape)},
}

var sourceShape = &shape{
	name: "source", doc: "One place that evidence comes from.",
	keys: append(append([]key{
		{name: "name", doc: "Name of the source in outputs; unique in its side.", def: "the side's name, where it is the only source", value: patternValue(sourceNamePattern)},
	}, sourceKeys...), key{
		name: "fields", doc: "Overrides of the side's fields for this source: what is not said is taken from the side. A field that only sources declare is null in the others.", value: mapValue(anyValue(schema{"type": []any{"string", "integer"}}, shapeValue(fieldShape))),
	}),
}

var presetShape = &shape{
	name: "preset", doc: "A preset of a certain version. The effective job says which keys came from it.",
	keys: []key{
		{name: "name", doc: "Name of the preset.", required: true, value: schema{"type": "string"}},
		{name: "version", doc: "The version that the job was written for; another one in the program is refused.", def: "the program's", value: intValue(1)},
		{name: "digest", doc: "SHA-256 of the preset; another one in the program is refused.", def: "the program's", value: schema{"type": "string"}},
		{name: "written_out", doc: "The keys of the preset are written out in this file already, as in an effective job: nothing is added.", def: "false", value: boolValue()},
	},
}

const sourceNamePattern = `^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`

var pathShape = &shape{
	name: "path", doc: "A path taken literally.",
	keys: []key{{name: "exact", doc: "Path in which * ? [ are ordinary characters.", required: true, value: schema{"type": "string"}}},
}

var datesShape = &shape{
	name: "dates", doc: "Days of a source.",
	keys: []key{
		{name: "from", doc: "First day: a date or {date-3}.", required: true, value: schema{"type": "string"}},
		{name: "until", doc: "Last day, included.", required: true, value: schema{"type": "string"}},
	},
}

var csvShape = &shape{
	name: "csv", doc: "A CSV dialect: RFC 4180 with the deviations named here.",
	keys: []key{
		{name: "delimiter", doc: "One character, or tab.", def: "a comma; a tab for .tsv", value: schema{"type": "string"}},
		{name: "quote", doc: "One character, doubled inside a quoted field, or none.", def: "\"", value: schema{"type": "string"}},
		{name: "encoding", doc: "Encoding of the text; a byte order mark that fits it is accepted.", def: "utf-8", value: enumValue(csvEncodings...)},
		{name: "header", doc: "Where the names of the columns are: first_line, none, or {first_field: X} for the first line whose first field is X.", def: "first_line", value: anyValue(enumValue("first_line", "none"), shapeValue(firstFieldShape))},
		{name: "columns", doc: "The names of the columns in order, where the header is none.", value: listValue(textValue())},
		{name: "header_names", doc: "How names of columns are compared.", def: "exact", value: enumValue("exact", "trim", "ignore_case")},
		{name: "decimal", doc: "Decimal mark of the source's numbers, a point or a comma.", def: ".", value: schema{"type": "string", "maxLength": 1}},
		{name: "group", doc: "Grouping mark of the source's numbers.", def: "none", value: schema{"type": "string"}},
		{name: "rows", doc: "Tells header, record and trailer lines apart by the text of one field.", value: shapeValue(rowsShape)},
		{name: "ends_before", doc: "The records end before the line with this first field; a file without it is refused.", value: shapeValue(firstFieldShape)},
		{name: "skip_lines", doc: "Lines that are no records, at any place.", value: shapeValue(startsWithShape)},
		{name: "empty_text", doc: "Whether \"\" is null like a bare empty field, or an empty text.", def: "is_null", value: enumValue("is_null", "quoted_is_text")},
		{name: "open_end", doc: "The last line may lack its line end. Else such a file may have been cut there, and proves no absence unless a trailer, controls, a manifest or `coverage: complete` say that it is whole.", def: "false", value: boolValue()},
		{name: "null_words", doc: "Texts that mean null.", def: "none", value: listValue(textValue())},
	},
}

var csvEncodings = []string{"utf-8", "utf-16", "utf-16le", "utf-16be", "latin-1", "windows-1252"}

var firstFieldShape = &shape{
	name: "first_field", doc: "A line by its first field.",
	keys: []key{{name: "first_field", doc: "Text of the first field.", required: true, value: textValue()}},
}

var startsWithShape = &shape{
	name: "starts_with", doc: "Lines by how they start.",
	keys: []key{{name: "starts_with", doc: "First characters of the line.", required: true, value: textValue()}},
}

var rowsShape = &shape{
	name: "rows", doc: "Record kinds by the text of one field.",
	keys: []key{
		{name: "field", doc: "The field, counted from 1.", required: true, value: intValue(1)},
		{name: "header", doc: "Text in header lines.", def: "there are none", value: textValue()},
		{name: "record", doc: "Text in records.", def: "whatever is neither header nor trailer", value: textValue()},
		{name: "trailer", doc: "Text in the trailer: exactly one, after the last record.", def: "there is none", value: textValue()},
	},
}

var jsonShape = &shape{
	name: "json", doc: "A JSON document.",
	keys: []key{
		{name: "path", doc: "Dotted path of the array of records.", def: "the top", value: schema{"type": "string"}},
		{name: "trailer", doc: "Dotted paths of members beside the array, of what the document states about itself: trailer.1 and so on of controls.", def: "none", value: listValue(textValue())},
	},
}

var coverageShape = &shape{
	name: "coverage", doc: "What a source can prove (V26).",
	keys: []key{
		{name: "complete", doc: "It covers every time.", def: "false", value: boolValue()},
		{name: "proves", doc: "What its silence means. Only full-lifecycle proves an absence; settled-only does for types whose effect is the settlement.", def: "full-lifecycle; a pain002 of the results has to say it", value: enumValue(FullLifecycle, SettledOnly, FailuresOnly, PresenceOnly)},
		{name: "types", doc: "The types of operation it should know.", def: "all", value: listValue(textValue())},
		{name: "account", doc: "Sources of one account continue each other. A missing file leaves its time to the others only where the account is named.", def: "one account for the side", value: textValue()},
		{name: "knows", doc: "Expression over the operation: which of them the account should know.", def: "all", value: schema{"type": "string"}},
		{name: "from", doc: "First instant covered.", value: schema{"type": "string"}},
		{name: "until", doc: "First instant not covered.", value: schema{"type": "string"}},
		{name: "through", doc: "What the source says that its data reach to (data_available_until): a position such as trailer.4, or a mapping.", def: "until", value: anyValue(positionValue(), shapeValue(watermarkShape))},
		{name: "lag", doc: "How late a result may appear.", def: "0s", value: durationValue()},
		{name: "controls", doc: "Totals that are stated; also a key of the source.", value: shapeValue(controlsShape)},
	},
}

var pagesShape = &shape{
	name: "pages", doc: "Pages of a snapshot.",
	keys: []key{
		{name: "column", doc: "Source column with the page.", required: true, value: textValue()},
		{name: "on_overlap", doc: "What a key on two pages does.", def: "withdraw", value: enumValue("withdraw")},
	},
}

var statedTotalShape = &shape{
	name: "stated_total", doc: "Totals that the provider states.",
	keys: []key{{name: "distinct_keys", doc: "Number of distinct identity keys.", required: true, value: intValue(0)}},
}

var operationsShape = &shape{
	name: "operations", doc: "The side of the operations. A side with one source may carry the keys of the source itself.",
	keys: append(append(sideKeys(), operationsKeys...), sourceKeys...),
}

var resultsShape = &shape{
	name: "results", doc: "The side of the results. A side with one source may carry the keys of the source itself.",
	keys: append(append(sideKeys(),
		key{name: "keep_effect", doc: "Which of several effects of one operation is the good one (V10).", value: shapeValue(keepEffectShape)},
	), sourceKeys...),
}

func sideKeys() []key {
	return []key{
		{name: "sources", doc: "Where the rows come from.", value: schema{"type": "array", "minItems": 1, "items": shapeValue(sourceShape)}},
		{name: "fields", doc: "Product fields: name → column, or a mapping. Required where no preset brings them.", value: mapValue(anyValue(schema{"type": []any{"string", "integer"}}, shapeValue(fieldShape)))},
		{name: "transport_columns", doc: "Source columns that are no part of the record, such as a page number (V4).", def: "none", value: listValue(textValue())},
		{name: "survivor", doc: "Which of several records of one record id stands (V5).", value: shapeValue(survivorShape)},
	}
}

var survivorShape = &shape{
	name: "survivor", doc: "How repeated records of one record id are folded.",
	keys: []key{
		{name: "by", doc: "The record id: remote_id where the results declare it, else the identity field.", required: true, value: patternValue(namePattern)},
		{name: "latest", doc: "The record with the greatest value of this field stands; a tie is not resolved.", required: true, value: patternValue(namePattern)},
	},
}

var keepEffectShape = &shape{
	name: "keep_effect", doc: "The good one of several effects: earliest or agrees.",
	keys: []key{
		{name: "earliest", doc: "The effect with the smallest value of this field of the results.", value: patternValue(namePattern)},
		{name: "agrees", doc: "The effect that agrees with the operation in these compared fields.", value: listValue(patternValue(namePattern))},
	},
}

var passShape = &shape{
	name: "pass", doc: "One pass of the key cascade.",
	keys: []key{
		{name: "pass", doc: "Name of the pass, unique in the job.", required: true, value: patternValue(namePattern)},
		{name: "on", doc: "The parts of the key.", value: listValue(anyValue(patternValue(namePattern), shapeValue(keyPartShape)))},
		{name: "group", doc: "In place of on: the parts of a key that whole groups share, n rows of one side and m of the other (V16). A pass by groups comes after those by identity key.", value: listValue(anyValue(patternValue(namePattern), shapeValue(keyPartShape)))},
		{name: "same", doc: "Of a group: further parts in which its rows agree. Rows that differ in them form groups of their own; the currency is among them.", def: "none", value: listValue(anyValue(patternValue(namePattern), shapeValue(keyPartShape)))},
		{name: "sum", doc: "Of a group: the field that is added up on both sides.", value: patternValue(namePattern)},
		{name: "equation", doc: "Of a group, in place of sum: what is added up on each side.", value: shapeValue(equationShape)},
		{name: "count", doc: "Of a group: the fields by which a row states how many rows of the other side belong to it.", def: "none", value: shapeValue(groupCountShape)},
		{name: "tolerance", doc: "Of a group: greatest difference of its two sums that counts as equal, the boundary included: a decimal, or {absolute, relative}.", def: "0", value: anyValue(patternValue(decimalPattern), schema{"type": "number", "minimum": 0}, shapeValue(groupToleranceShape))},
		{name: "identity", doc: "The key is declared unique. Keys of operation_id or idempotency_key alone always are (V3).", def: "false", value: boolValue()},
		{name: "within", doc: "Candidates differ by at most this in a timestamp or date field, the boundary included.", value: mapValue(durationValue())},
		{name: "suggest", doc: "Links nothing, only suggests (V15).", def: "false", value: boolValue()},
	},
}

var equationShape = &shape{
	name: "equation", doc: "What is added up on each side of a group: sums of fields, added and taken away, such as sum(gross) - sum(fee).",
	keys: []key{
		{name: "operations", doc: "Of the fields of the operations.", required: true, value: textValue()},
		{name: "results", doc: "Of the fields of the results.", required: true, value: textValue()},
	},
}

var groupCountShape = &shape{
	name: "count", doc: "The fields of type integer by which rows state how many rows of the other side belong to their group. Several rows of one side state the sum of theirs; where one of them states nothing, nothing is stated.",
	keys: []key{
		{name: "operations", doc: "Field of the operations: the number of results.", value: patternValue(namePattern)},
		{name: "results", doc: "Field of the results: the number of operations.", value: patternValue(namePattern)},
	},
}

var groupToleranceShape = &shape{
	name: "group_tolerance", doc: "The tolerance of the two sums of a group; with both, either suffices.",
	keys: []key{
		{name: "absolute", doc: "Greatest absolute difference: a decimal, or one for each currency, {EUR: \"0.05\"}; then other currencies have none.", value: anyValue(patternValue(decimalPattern), schema{"type": "number", "minimum": 0}, mapValue(patternValue(decimalPattern)))},
		{name: "relative", doc: "Greatest share of the larger absolute sum: a decimal such as \"0.01\", or 1%.", value: anyValue(patternValue(decimalPattern), patternValue(percentPattern), schema{"type": "number", "minimum": 0})},
	},
}

var keyPartShape = &shape{
	name: "key_part", doc: "One part of a key: `field`, or one field for each side.",
	keys: []key{
		{name: "field", doc: "Product field of both sides.", value: patternValue(namePattern)},
		{name: "operations", doc: "Product field of the operations.", value: patternValue(namePattern)},
		{name: "results", doc: "Product field of the results.", value: patternValue(namePattern)},
		{name: "nullable", doc: "An empty part is a value of its own.", def: "false: such a key links nothing", value: boolValue()},
	},
}

var compareShape = &shape{
	name: "compare", doc: "One compared field.",
	keys: []key{
		{name: "field", doc: "Product field of both sides; its name in reports.", value: patternValue(namePattern)},
		{name: "operations", doc: "Product field of the operations, where it has another name.", def: "field", value: patternValue(namePattern)},
		{name: "results", doc: "Product field of the results, where it has another name.", def: "field", value: patternValue(namePattern)},
		{name: "as", doc: "Comparator.", def: "by the declared type of the fields", value: enumValue(comparators...)},
		{name: "tolerance", doc: "Greatest difference that counts as equal, the boundary included: a decimal, a duration for timestamps, or {absolute, relative}.", def: "0", value: anyValue(patternValue(decimalPattern), durationValue(), schema{"type": "number", "minimum": 0}, shapeValue(toleranceShape))},
		{name: "round", doc: "Both sides are rounded before they are compared.", value: shapeValue(roundShape)},
		{name: "normalise", doc: "Steps for this comparison, after those of the field.", def: "none", value: normaliseValue},
		{name: "map", doc: "Text of the results → text of the operations.", value: mapValue(textValue())},
		{name: "expect", doc: "For a mapped status: what it should be.", def: "succeeded", value: enumValue(statuses...)},
		{name: "scheme", doc: "Order of versions.", def: "integer for integers, timestamp for timestamps, else opaque", value: enumValue(schemes...)},
		{name: "fields", doc: "For as: fingerprint, the product fields that enter it.", value: listValue(patternValue(namePattern))},
		{name: "only_if_equal", doc: "Compared only where this other compared field is equal.", value: patternValue(namePattern)},
	},
}

var comparators = []Comparator{AsText, AsDecimal, AsInteger, AsBoolean, AsDate, AsInstant, AsCurrency, AsMapped, AsStatus, AsVersion, AsFingerprint}

var schemes = []VersionScheme{VersionInteger, VersionSemantic, VersionTimestamp, VersionOpaque}

var toleranceShape = &shape{
	name: "tolerance", doc: "A tolerance; with both, either suffices.",
	keys: []key{
		{name: "absolute", doc: "Greatest absolute difference: a decimal, or a duration for timestamps.", value: anyValue(patternValue(decimalPattern), durationValue(), schema{"type": "number", "minimum": 0})},
		{name: "relative", doc: "Greatest share of the larger absolute value: a decimal such as \"0.01\", or 1%.", value: anyValue(patternValue(decimalPattern), patternValue(percentPattern), schema{"type": "number", "minimum": 0})},
	},
}

var roundShape = &shape{
	name: "round", doc: "Rounding of decimals.",
	keys: []key{
		{name: "places", doc: "Digits after the point.", required: true, value: schema{"type": "integer", "minimum": 0, "maximum": 28}},
		{name: "halves", doc: "Where halves go.", required: true, value: enumValue("away_from_zero", "to_even")},
	},
}

var scopeShape = &shape{
	name: "scope", doc: "A rule that makes rows of one side not_applicable.",
	keys: []key{
		{name: "rule", doc: "Name of the rule, unique in the job.", required: true, value: patternValue(ruleNamePattern)},
		{name: "side", doc: "The side of the rows.", required: true, value: enumValue(Operations, Results)},
		{name: "when", doc: "Expression over the product fields of that side; the rule applies only where it is true.", required: true, value: schema{"type": "string"}},
		{name: "reason", doc: "The reason of the rows.", required: true, value: patternValue(namePattern)},
	},
}

const ruleNamePattern = `^[a-z][a-z0-9_-]{0,62}$`

var gateShape = &shape{
	name: "gate", doc: "A condition that fails the run.",
	keys: []key{
		{name: "gate", doc: "Name of the gate, unique in the job.", required: true, value: patternValue(ruleNamePattern)},
		{name: "fail_when", doc: "share(class) > 1%, count(class) > 0, count(class/reason) >= 5, oldest(queue) > 3d, findings(unknown_kind) > 0, rejects > 0, differences > 0.", required: true, value: schema{"type": "string"}},
	},
}

var unattributedShape = &shape{
	name: "unattributed", doc: "Narrows V27.",
	keys: []key{
		{name: "within", doc: "Only operations created within this before the result.", def: "any time", value: durationValue()},
		{name: "contradicts", doc: "Further fields of both sides in which a difference excludes an operation.", def: "type, entity, currency and time only", value: listValue(patternValue(namePattern))},
	},
}

// redactWays are the ways to hide a field; hash is another word for token.
var redactWays = []string{"token", "hash", "mask", "drop"}

var redactShape = &shape{
	name: "redact", doc: "How personal fields appear in outputs.",
	keys: []key{
		{name: "key", doc: "The key of tokens; never written in the job file itself.", value: shapeValue(secretShape)},
		{name: "fields", doc: "Product field → token (hashed with the key, still joins; hash is the same), mask, or drop.", def: "none", value: mapValue(enumValue(redactWays...))},
		{name: "free_text", doc: "Card numbers, IBANs and secrets in texts are masked: on or off. docs/redaction.md says where.", def: "on", value: enumValue("on", "off")},
		{name: "exempt", doc: "Product fields in which card numbers, IBANs and secrets stay, such as order numbers of 16 digits.", def: "none", value: listValue(patternValue(namePattern))},
	},
}

var secretShape = &shape{
	name: "secret", doc: "Where a secret is.",
	keys: []key{
		{name: "file", doc: "File, relative to the job file.", value: schema{"type": "string"}},
		{name: "env", doc: "Environment variable.", value: schema{"type": "string"}},
		{name: "exec", doc: "A program and its arguments, started without a shell in the folder of the job file. What it writes on its standard output is the secret.", value: listValue(textValue())},
	},
}

var outputsShape = &shape{
	name: "outputs", doc: "What a run writes.",
	keys: []key{
		{name: "dir", doc: "Folder, relative to the job file; never above it by `..`.", def: "out", value: schema{"type": "string"}},
		{name: "formats", doc: "Forms of queues and reports: docs/report-outputs.md says what each is for.", def: "parquet, ndjson, html, json, md, prom", value: listValue(enumValue(outputFormats...))},
		{name: "rows", doc: "narrow: one small row for each input row; wide: with all fields as well.", def: "narrow", value: enumValue("narrow", "wide")},
		{name: "confirm_ndjson", doc: "Write the confirm queue as NDJSON too, and as CSV where that is asked for; it may be large.", def: "false", value: boolValue()},
		{name: "metrics", doc: "Where metrics are delivered, beside the metrics.prom of the run.", def: "nowhere", value: shapeValue(metricsShape)},
		{name: "publish", doc: "Bucket and prefix that runs are sent to when they are published here, and that former runs are brought from: s3://bucket/prefix. docs/outputs-s3.md.", def: "nowhere", value: patternValue("^s3://")},
		{name: "s3", doc: "What the address of `publish` does not say.", value: shapeValue(targetShape)},
	},
}

var outputFormats = []string{"parquet", "ndjson", "html", "xlsx", "json", "md", "prom", "junit", "sarif", "csv"}

// shapes are all shapes, for the schema and the tests of schema and reference.
var shapes = []*shape{
	jobShape, periodShape, operationsShape, resultsShape, sourceShape, presetShape, pathShape, datesShape, csvShape, firstFieldShape,
	startsWithShape, rowsShape, jsonShape, zipShape, typedShape, kindShape, kindKeyShape, kindCountShape, kindSumShape,
	fixedShape, fixedKindShape, xlsxShape, xmlShape, numericCellsShape, coverageShape, watermarkShape, controlsShape, balanceShape, controlFileShape, signatureShape, knownShape, effectsShape, effectPartShape, tieShape, zeroSumShape, pagesShape, statedTotalShape, identityShape, identityPartShape, fieldShape,
	prefixShape, signFromShape, caseShape, debitCreditShape, zoneFromShape, survivorShape, keepEffectShape, passShape, equationShape, groupCountShape, groupToleranceShape, keyPartShape, compareShape,
	toleranceShape, roundShape, scopeShape, extendsShape, policyFileShape, pilotShape, typeShape, windowShape, businessDaysShape,
	retryShape, backoffShape, errorsShape, compensationShape, unexpectedShape, approvalsShape, describeShape,
	calendarShape, policyRuleShape, statesShape, transitionShape, limitsShape, retryBudgetShape, retryRateShape, blastShape, baselineShape,
	releaseShape, canaryShape, gateShape, unattributedShape, redactShape,
	execShape, readyShape, manifestShape, previousShape, markerShape, evidenceShape, listingShape, s3Shape, sftpShape, knownHostsShape, checksumShape, httpsShape, sqlShape, sqlTLSShape, keysetShape,
	apiShape, apiWindowShape, paginationShape, apiReportShape, apiLimitsShape, lookupShape, lookupLimitsShape, webAuthShape, basicAuthShape, keyAuthShape, oauth2Shape, hmacShape, sigv4Shape, webTLSShape, webRequestsShape,
	secretShape, outputsShape, targetShape, metricsShape, endpointShape, notifyShape, bankShape, bankReachShape,
}
