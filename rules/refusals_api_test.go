package rules_test

import "maps"

// The refusals of sources over HTTP.
func init() { maps.Copy(refusals, apiRefusals) }

var apiRefusals = map[string][]string{
	"api_body_no_object": {
		`22:74: results.sources[0].api.body is no JSON object | a mapping, or a text such as '{"status": "settled"}'`,
	},
	"api_body_of_get": {
		"22:60: results.sources[0].api.body: a GET has no body | add `method: POST`",
	},
	"api_cursor_from_nowhere": {
		"22:66: results.sources[0].api.pagination: a cursor comes from `next` or from `last`, one of them | `next: meta.next_cursor`, or `last: id` for the value of the last record",
	},
	"api_days_in_hours": {
		`22:152: results.sources[0].api.window.step: times are written as days, and the slices are not whole days | whole days, such as 1d`,
	},
	"api_form_of_nothing": {
		`22:140: results.sources[0].api.window.form: "iso" is no layout of a time | rfc3339, rfc3339_utc, unix, unix_ms, date, or a layout such as 20060102`,
	},
	"api_host_not_fixed": {
		"22:18: results.sources[0].api.url: its host is not fixed | name one host; parameters go to `query`",
	},
	"api_key_alone": {
		`22:59: results.sources[0].api.tls: a certificate is used with its key | name both`,
	},
	"api_link_with_cursor": {
		"22:86: results.sources[0].api.pagination.next means nothing with `style: link` | remove it",
	},
	"api_not_https": {
		"22:18: results.sources[0].api.url is not https | write https://…; http goes to private addresses alone, with `allow_private: true`",
	},
	"api_overlap_without_survivor": {
		"22:145: results.sources[0].api.window.overlap asks for records again that an earlier window gave, and nothing says which version stands | add `survivor: {by: remote_id, latest: updated_at}` to the side, or leave the overlap out",
	},
	"api_page_with_next": {
		"22:66: results.sources[0].api.pagination: pages are counted, and a next one is named as well | remove it, or write `style: cursor`",
	},
	"api_pages_are_json": {
		`22:60: results.sources[0].api.name: pages are JSON, and "page.csv" does not end so | a name such as charges.json; pages are compressed here`,
	},
	"api_parts_of_nothing": {
		`22:66: results.sources[0].api.query.id: {id} is not known here | remove it`,
	},
	"api_rate": {
		`22:71: results.sources[0].api.requests.rate: "fast" is no rate | 10/s, 100/m or 1000/h`,
	},
	"api_report_from_nowhere": {
		"22:75: results.sources[0].api.report: the address of the report is said by an answer or here, one of them | `download: data.url`, or `content: https://…/{id}`",
	},
	"api_report_with_pages": {
		`22:76: results.sources[0].api.records: a report is one file, not pages | remove it`,
	},
	"api_safe_get": {
		`22:60: results.sources[0].api.safe: a GET may always be sent again | remove it`,
	},
	"api_secret_in_header": {
		"22:79: results.sources[0].api.headers.Authorization: a secret is never written in the job file | secrets go to `auth`",
	},
	"api_secret_in_the_open": {
		`22:69: results.sources[0].api.auth.bearer: a secret is never written in the job file | write {file: FILE}, {env: NAME} or {exec: [PROGRAM, ARGUMENT]}`,
	},
	"api_short_without_total": {
		"22:88: results.sources[0].api.pagination.stop: a service may give fewer records than it is asked for, and without a total nobody would see it | leave `stop` out, so that an empty page is asked for; or add `total` and `size`",
	},
	"api_signature_not_sent": {
		`22:110: results.sources[0].api.auth.hmac.headers: no header sends the signature | X-Signature: "{signature}"`,
	},
	"api_signed_unknown": {
		`22:91: results.sources[0].api.auth.hmac.string: {pth} is no placeholder here | placeholders: {method}, {host}, {path}, {query}, {timestamp}, {nonce}, {key_id}, {body}, {body_sha256}, {body_sha256_base64}`,
	},
	"api_stop_says_nothing": {
		"22:86: results.sources[0].api.pagination.stop, but nothing says where it is | add `more: has_more`",
	},
	"api_two_ways": {
		`22:60: results.sources[0].api.auth names 2 ways, it takes one | one of basic, bearer, api_key, oauth2, hmac, sigv4`,
	},
	"api_user_in_url": {
		"22:18: results.sources[0].api.url: it holds a user or a password | https://host/path; secrets go to `auth`",
	},
	"api_window_unknown": {
		"22:69: results.sources[0].api.query.since: {from} is not known here | add `window: {from: …, until: …}`",
	},
}
