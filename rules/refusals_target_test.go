package rules_test

import "maps"

func init() { maps.Copy(refusals, targetRefusals) }

// targetRefusals has the faults of the bucket that runs are sent to.
var targetRefusals = map[string][]string{
	"target_no_prefix": {
		"59:30: outputs.publish: \"s3://runs\" is no place in a bucket | write s3://bucket/prefix; runs are kept below it, as PREFIX/JOB/DATE/RUN/",
	},
	"target_pattern": {
		"59:30: outputs.publish: \"s3://runs/{date}\" is no place in a bucket | write s3://bucket/prefix; runs are kept below it, as PREFIX/JOB/DATE/RUN/",
	},
	"target_without_address": {
		"59:25: outputs.s3 says how a bucket is asked, and none is named | add publish: s3://bucket/prefix, or remove the key",
	},
	"target_kms_key": {
		"59:82: outputs.s3.kms_key is the key of an encryption that is not asked for | add sse: aws:kms, or remove the key",
	},
	"target_customer_key": {
		"59:73: unknown key \"sse_customer_key\" in outputs.s3 | known: endpoint, region, path_style, checksums, profile, access_key, secret_key, session_token, allow_private, expected_bucket_owner, parallel, sse, kms_key",
	},
	"target_http": {
		"59:64: outputs.s3.endpoint: over http anybody on the way can change what is read | use https, or say `allow_private: true` for a store in a network of your own",
	},
}
