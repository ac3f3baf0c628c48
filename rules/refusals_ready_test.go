package rules_test

import "maps"

func init() { maps.Copy(refusals, readyRefusals) }

// readyRefusals has the faults of ready rules.
var readyRefusals = map[string][]string{
	"ready_csv_files": {
		`23:64: results.sources[0].ready.manifest.files says nothing about a manifest of the form csv | remove it: each line is a file`,
	},
	"ready_folder_of_pattern": {
		`23:24: results.sources[0].ready: temporary names cannot be looked for in a folder whose name holds * ? [ | rename the folder`,
	},
	"ready_manifest_column": {
		"23:25: results.sources[0].ready.manifest does not say where the names of the files are | add `name:` with the column of the names",
	},
	"ready_manifest_form": {
		"23:32: results.sources[0].ready.manifest: the name of the manifest does not tell its form | add `form: json` (or csv, sums)",
	},
	"ready_manifest_name": {
		"23:25: results.sources[0].ready.manifest does not say where the names of the files are | add `name:` with the field of the name",
	},
	"ready_marker_address": {
		`23:23: results.sources[0].ready.marker: "s3://exports/DONE" is an address | write the name alone, as it is in the place of the source`,
	},
	"ready_marker_holds": {
		`23:46: results.sources[0].ready.marker.holds: "record" is not known here | did you mean "records"?`,
	},
	"ready_marker_two_texts": {
		`23:48: results.sources[0].ready.marker has content and holds | keep one of the two`,
	},
	"ready_no_time": {
		`23:23: results.sources[0].ready.stable is no time | a time as 2m`,
	},
	"ready_nothing": {
		`23:14: results.sources[0].ready has no rule | declare manifest, marker, renamed, temporary or stable`,
	},
	"ready_of_query": {
		`23:14: results.sources[0].ready: a source that is pulled by exec has no files to look at before | remove it: exec proves by itself that what it brings is whole, or brings nothing`,
	},
	"ready_previous": {
		"23:56: results.sources[0].ready.manifest.previous needs one of path and name | add `path: manifest_{date-1}.json`, or `name:` with the field that has its name",
	},
	"ready_previous_field": {
		`23:65: results.sources[0].ready.manifest.previous: only a manifest in JSON has fields of its own | name it by its path`,
	},
	"ready_renamed_and_temporary": {
		`23:41: results.sources[0].ready says renamed, and the temporary names as well | keep one of the two`,
	},
	"ready_same_every_day": {
		`24:23: results.sources[0].ready.marker is the same for every day of the source | put {file_date} where the day is in the name`,
	},
	"ready_sums_fields": {
		`23:54: results.sources[0].ready.manifest.size says nothing about a manifest of the form sums | remove it: each line has digest and name`,
		`23:68: results.sources[0].ready.manifest.files says nothing about a manifest of the form sums | remove it: each line has digest and name`,
	},
	"ready_temporary_form": {
		`23:36: results.sources[0].ready.temporary: "part?" is no form of a temporary name | *.tmp, .* or upload-*: one * for the name, and no folder`,
	},
	"ready_unknown_key": {
		`23:27: unknown key "market" in results.sources[0].ready | did you mean "marker"?`,
	},
}
