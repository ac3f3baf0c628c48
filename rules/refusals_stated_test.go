package rules_test

import "maps"

func init() { maps.Copy(refusals, statedRefusals) }

// statedRefusals has the faults of what sources state: totals, watermarks, signatures.
var statedRefusals = map[string][]string{
	"controls_balance_in_two_files": {
		`24:27: results.sources[0].controls: opening and closing stand in two files | take both from the file itself, or both from the control file`,
	},
	"controls_balance_of_text": {
		"24:27: the field entity is text, it has no sum | declare `type: decimal`",
	},
	"controls_by_amount": {
		`24:49: the field amount is decimal, totals do not go by it | name a field of texts or currencies`,
	},
	"controls_by_elsewhere": {
		`24:40: results.sources[0].controls: the totals of one value stand in different places | take all totals from the lines that name the value`,
	},
	"controls_by_total_line": {
		"24:43: results.sources[0].controls: this source cannot state its totals for each value of a field | state them in trailers of a CSV file or a sheet, in a control file, or by `typed: {kinds: [{as: footer, by: …}]}`",
	},
	"controls_by_two": {
		`24:40: results.sources[0].controls.by names 2 fields, it needs one | by: {currency: trailer.2}`,
	},
	"controls_file_of_every_day": {
		"23:24: the source has `dates`, but its control file is the same for every day | put {file_date} where the day is in the name, or say by `where` which rows speak of the day",
	},
	"controls_of_ndjson": {
		"24:17: a ndjson file has no trailer | state them in a control file (file.NAME), or use `stated_total` or `minimum_records`",
	},
	"controls_of_nothing": {
		"23:17: nothing is taken from the control file | add `count: file.records` or `sum: {amount: file.total}`",
	},
	"controls_position": {
		`24:25: results.sources[0].controls.count: "trailer.0" is no position | trailer.2 is the second field of the trailer; header.2 of the header; total_line.2 of the line named by csv.ends_before; file.total the column or member total of the control file`,
	},
	"controls_without_file": {
		"23:17: the controls stand in a control file, but none is declared | add `controls: {file: psp_{date}.ctl}`",
	},
	"controls_without_header": {
		"24:17: the controls stand in a header, but no header is declared | add `csv: {rows: {field: 1, header: H}}`",
	},
	"controls_without_json_trailer": {
		"25:17: the controls stand in a trailer, but json.trailer names no path | add `json: {path: data, trailer: [meta.count]}`",
	},
	"json_trailer_at_top": {
		"24:24: the document is the array of records: nothing stands beside it | add `path: data`, where the records are",
	},
	"json_trailer_in_records": {
		`24:36: data.count lies in the records | name a member beside the records`,
	},
	"signature_brace": {
		`23:50: results.sources[0].signature.signed: a brace stands alone | signed: "{sent_at}.{body}"`,
	},
	"signature_in_the_open": {
		`23:52: results.sources[0].signature.secrets[0]: a secret is never written in the job file | write {file: FILE}, {env: NAME} or {exec: [PROGRAM, ARGUMENT]}`,
	},
	"signature_of_another_scheme": {
		"23:68: results.sources[0].signature.encoding: the scheme stripe says that itself | remove it, or write `scheme: hmac`",
	},
	"signature_of_workbook": {
		`24:25: a record of a xlsx file holds no body as it came | write the calls as they came into an ndjson or csv file`,
	},
	"signature_without_body": {
		`23:50: results.sources[0].signature.signed: the body is not signed | signed: "{sent_at}.{body}"`,
	},
	"signature_without_key": {
		`23:51: results.sources[0].signature.secrets is an empty list | name at least one, or leave the key out`,
	},
	"watermark_day_not_said": {
		"24:98: the layout has no time of day, and nothing says whether the day is included | add `day: included` where the data hold that day to its end, `day: excluded` where they end before it",
	},
	"watermark_day_of_time": {
		`24:117: the layout has a time of day | remove it`,
	},
	"watermark_latest_day": {
		"23:74: the field booked is date, it is no instant | declare `type: timestamp`",
	},
	"watermark_latest_layout": {
		`23:83: results.sources[0].coverage.through.latest: the field says how its times are written | remove layout, zone and day: the field has its own`,
	},
	"watermark_layout": {
		`24:98: results.sources[0].coverage.through.layout: "YYYYMM" does not give year, month and day | a Go layout such as 2006-01-02 15:04:05, YYYYMMDDHHmm, YYYY-MM-DD, or iso`,
	},
	"watermark_no_group": {
		"23:81: results.sources[0].coverage.through.name: it is no regular expression with a group `through` | '_until_(?P<through>\\d{8})\\.csv$'",
	},
	"watermark_of_everything": {
		"24:43: the source has a watermark, and no time that it could shorten | declare `from` and `until` as well: the watermark shortens that time",
	},
	"watermark_two_places": {
		"24:74: results.sources[0].coverage.through says 2 places, it needs one | write one of `at: trailer.4`, `name: '…(?P<through>…)'` and `latest: created_at`",
	},
	"watermark_without_trailer": {
		"23:74: the watermark is to stand in a trailer, but no trailer is declared | add `csv: {rows: {field: 1, trailer: T}}`",
	},
}
