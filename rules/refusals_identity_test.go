package rules_test

import "maps"

func init() { maps.Copy(refusals, identityRefusals) }

// identityRefusals has the faults of what tells the files of a source apart.
var identityRefusals = map[string][]string{
	"identity_constant_sequence": {
		`24:46: results.sources[0].identity.sequence is a number of each file, not one text for all | name its place: {name: '_(\d+)\.csv$'}, {at: trailer.3}, {field: F} or {statement: number}`,
	},
	"identity_control_file": {
		`25:31: results.sources[0].identity.period.at: a control file is of all files of the source | take the part from the file itself`,
	},
	"identity_empty": {
		"24:17: results.sources[0].identity names no part | add `period: \"{date}\"`, or what else tells the reports apart",
	},
	"identity_field_of_time": {
		`24:34: the field created_at is timestamp, by which nobody knows a report | name a field of type text, integer, date or currency`,
	},
	"identity_file_date": {
		"24:26: results.sources[0].identity.period: {file_date} is known only in a source with `dates` | add `dates: {from: …, until: …}` to the source, or use {date}",
	},
	"identity_hidden_field": {
		`24:35: the field entity is hidden in outputs, where the identity of each file stands | take the part from elsewhere`,
	},
	"identity_no_field": {
		`24:34: the results declare no field "bookd" | did you mean "booked"?`,
	},
	"identity_no_group": {
		`24:33: results.sources[0].identity.period.name has 0 groups where one is needed | put what is the part in parentheses, and write (?:…) for all others`,
	},
	"identity_no_statement": {
		`24:38: results.sources[0].identity.period.statement: a csv file holds no bank statement | take the part from elsewhere`,
	},
	"identity_no_trailer": {
		"24:31: parts of the identity stand in a trailer, but no trailer is declared | add `csv: {rows: {field: 1, trailer: T}}`",
	},
	"identity_part_alone": {
		"24:42: results.sources[0].identity.part: nothing says how many parts there are, so that nobody would miss the last one | add `parts`, or by `ready` a manifest or a marker",
	},
	"identity_parts_alone": {
		"24:43: results.sources[0].identity.parts: how many parts there are says nothing while no file says which it is | add `part`",
	},
	"identity_pattern": {
		"24:33: results.sources[0].identity.period.name is no regular expression: error parsing regexp: missing closing ): `(\\d{8}` | such as '_(\\d{8})\\.csv$', in single quotes",
	},
	"identity_revision_alone": {
		"24:28: results.sources[0].identity.revision: revisions of what? No other part is declared | add `period: \"{date}\"`, or what else tells the reports apart",
	},
	"identity_two_places": {
		`24:26: results.sources[0].identity.period names 2 places where one is needed | keep one of name, at, field and statement`,
	},
}
