package rules_test

import "maps"

func init() { maps.Copy(refusals, listingRefusals) }

// listingRefusals has the faults of sources whose records are files.
var listingRefusals = map[string][]string{
	"listing_of_program": {
		"23:16: results.sources[0].listing: a source that is pulled by exec has no files to list | name a folder, or objects at s3:// or sftp://, by path",
	},
	"listing_etag": {
		"23:25: results.sources[0].listing.digest: only objects of S3 have an ETag | sha256, or none",
	},
	"listing_format": {
		"23:15: results.sources[0].format says how files are read, and these are listed | remove it",
	},
	"listing_no_pattern": {
		"23:30: results.sources[0].listing.other_names: without name_pattern every name fits | add name_pattern, or remove the key",
	},
	"listing_bad_pattern": {
		"23:31: results.sources[0].listing.name_pattern: error parsing regexp: missing closing ): `(` | RE2, such as '^(?P<operation_id>[A-Z0-9-]+)_v(?P<version>\\d+)\\.pdf$'",
	},
	"listing_bad_group": {
		"23:31: results.sources[0].listing.name_pattern: \"Number\" cannot be a column | lower-case letters, digits and underscores",
		"23:31: results.sources[0].listing.name_pattern: there is a column size already | give each group a name of its own",
		"23:31: results.sources[0].listing.name_pattern: there is a column unfit already | give each group a name of its own",
	},
}
