package rules_test

import "maps"

func init() { maps.Copy(refusals, s3Refusals) }

// s3Refusals has the faults of sources at s3:.
var s3Refusals = map[string][]string{
	"s3_no_object": {
		"22:13: \"s3://exports/\" is no address of objects | write s3://bucket/folder/name.csv; the name of a bucket has 3 to 63 letters, digits, points and hyphens, and no pattern",
		"22:13: the name of the file does not tell its format | add `format: csv` (or tsv, ndjson, json, parquet, typed, fixed, xlsx, xml)",
	},
	"s3_bad_pattern": {
		"22:13: \"psp[.csv\" is no pattern | write path: {exact: …} for a name that holds a bracket",
	},
	"s3_one_key": {
		"23:24: results.sources[0].s3 has one of access_key and secret_key | write both, or leave both to the default chain",
	},
	"s3_secret_in_the_open": {
		"23:48: results.sources[0].s3.secret_key: a secret is never written in the job file | write {file: FILE}, {env: NAME} or {exec: [PROGRAM, ARGUMENT]}",
	},
	"s3_token_alone": {
		"23:27: results.sources[0].s3 has a session_token without keys | add access_key and secret_key, or leave all to the default chain",
	},
	"s3_profile_and_keys": {
		"23:21: results.sources[0].s3 has keys and a profile that gives keys | keep one of the two",
	},
	"s3_http": {
		"23:22: results.sources[0].s3.endpoint: over http anybody on the way can change what is read | use https, or say `allow_private: true` for a store in a network of your own",
	},
	"s3_customer_key_over_http": {
		"23:22: results.sources[0].s3.endpoint: the key of the customer would be sent over http | use https",
	},
	"s3_endpoint": {
		"23:22: results.sources[0].s3.endpoint: it is no http or https URL | https://host or https://host:port",
	},
	"s3_endpoint_query": {
		"23:22: results.sources[0].s3.endpoint: an endpoint has no query | https://host or https://host:port",
	},
	"s3_owner": {
		"23:35: results.sources[0].s3.expected_bucket_owner: \"1234\" is no account | the 12 digits of an account, in quotes: \"012345678901\"",
	},
	"s3_too_much_memory": {
		"23:23: results.sources[0].s3: 10 parts of 67108864 bytes in memory are more than 268435456 bytes | make part_size or parallel smaller",
	},
	"s3_without_address": {
		"22:13: a source that is pulled by s3 names its place in the path | write s3://… as its path",
	},
}
