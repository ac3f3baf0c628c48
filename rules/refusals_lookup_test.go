package rules_test

import "maps"

// The refusals of lookups.
func init() { maps.Copy(refusals, lookupRefusals) }

var lookupRefusals = map[string][]string{
	"lookup_absent_is_an_error": {
		`42:23: results.sources[2].lookup.absent[1]: "500" is no status that says that there is none | 404, 410 or 204; any other status says that the service could not answer`,
	},
	"lookup_absent_without_known": {
		"42:17: results.sources[2].lookup.absent: a wrong address says the same, and nothing tells it apart | add `known:`, a key that the service has a record of",
	},
	"lookup_asks_about_success": {
		`28:14: results.sources[1].lookup.ask: "equal" is no reason that is asked about | known: coverage_incomplete, outcome_unknown, unattributed_result, several_candidates, keys_disagree, counterpart_not_unique, unmapped_status, no_result, failed_at_provider`,
	},
	"lookup_by_a_time": {
		`39:13: the field created_at of the operations is timestamp, and no key as it is found | ask by a field of type text`,
	},
	"lookup_by_no_identity": {
		"39:13: provider_ref is part of no identity key, so that an answer about it would link nothing | ask by a field of a pass with `identity: true`",
	},
	"lookup_by_nothing": {
		`39:13: the operations have no field "payment" to ask by | known: operation_id, idempotency_key, provider_ref, created_at`,
	},
	"lookup_by_one_spelling": {
		"22:13: the field idempotency_key is normalised for matching, and the service is asked by its text as it is found; its silence would prove nothing about other spellings | if the service finds whatever these steps make equal, say so: `sufficient: [idempotency_key]`",
	},
	"lookup_id_is_constant": {
		`37:7: results.sources[2]: records need a remote_id of their own, by which the same effect in another source is known | name the member of the record that holds it`,
	},
	"lookup_keeps_rejects": {
		"35:7: results.sources[2]: what a lookup gives is read as records of JSON, all of them or none | leave `format`, `compression` and `on_reject` out",
	},
	"lookup_one_without_absent": {
		"40:14: results.sources[2].lookup.one: an answer that is the record says by its status that there is none | add `absent: [404]`",
	},
	"lookup_with_times": {
		"46:38: results.sources[2].coverage.from: a lookup covers the operations that it is asked about, up to the time of the request | remove it; `lookup.lag` says how far answers may lag behind",
		"46:61: results.sources[2].coverage.until: a lookup covers the operations that it is asked about, up to the time of the request | remove it; `lookup.lag` says how far answers may lag behind",
	},
	"lookup_without_account": {
		"37:7: results.sources[2] belongs to no account, and other sources do; one effect would count twice | add `coverage: {account: …}` to the source: the account of the files of the same provider",
	},
	"lookup_without_key": {
		`18:7: results.sources[1].lookup asks the same whatever the operation | put {key} where the key goes: "https://host/charges/{key}", or query: {reference: "{key}"}`,
	},
	"lookup_without_survivor": {
		"18:7: results.sources[1].lookup asks for effects that other sources hold as well, and nothing says which record of them stands | add `survivor: {by: remote_id, latest: updated_at}` to the side",
		"37:7: results.sources[2].lookup asks for effects that other sources hold as well, and nothing says which record of them stands | add `survivor: {by: remote_id, latest: updated_at}` to the side",
	},
}
