package rules_test

import "maps"

func init() { maps.Copy(refusals, sqlRefusals) }

// sqlRefusals has the faults of queries of databases.
var sqlRefusals = map[string][]string{
	"sql_unknown_parameter": {
		"22:55: results.sources[0].sql.query: there is no parameter :busines_date | did you mean \"business_date\"?",
	},
	"sql_no_parameter": {
		"22:55: results.sources[0].sql.query: there is no parameter :b | known: business_date, file_date, from, until; in a slice of an array write a blank behind the colon",
	},
	"sql_from_without_coverage": {
		"22:55: results.sources[0].sql.query: :from is the time that the source covers, and it declares none | declare `coverage: {from: …, until: …}`",
		"22:55: results.sources[0].sql.query: :until is the time that the source covers, and it declares none | declare `coverage: {from: …, until: …}`",
	},
	"sql_file_date": {
		"22:55: results.sources[0].sql.query: :file_date is known only in a source with `dates` | add `dates: {from: …, until: …}` to the source, or use :business_date",
	},
	"sql_unused_parameter": {
		"22:89: results.sources[0].sql.parameters.account: the query does not use it | remove it, or use it as :account",
	},
	"sql_own_from": {
		"22:80: results.sources[0].sql.parameters.from: the run fills in :from itself | give it another name",
	},
	"sql_parameter_name": {
		"22:80: results.sources[0].sql.parameters.a-b: \"a-b\" is no name of a parameter | letters, digits and underscores, not a digit first",
	},
	"sql_two_statements": {
		"22:55: results.sources[0].sql.query: a second statement follows the first | one query a source; make two sources of them",
	},
	"sql_open_quote": {
		"22:55: results.sources[0].sql.query: a quote (') is never closed | close it; inside of a text a quote is doubled",
	},
	"sql_open_comment": {
		"22:55: results.sources[0].sql.query: a comment is never closed | close it with */",
	},
	"sql_open_dollar": {
		"22:55: results.sources[0].sql.query: a text in dollars ($a$) is never closed | close it by the same mark",
	},
	"sql_numbered_parameter": {
		"22:55: results.sources[0].sql.query: $1 stands for a parameter without a name | write the parameter with its name, as :business_date",
	},
	"sql_question_mark": {
		"22:52: results.sources[0].sql.query: a ? stands for a parameter without a name | write the parameter with its name, as :business_date",
	},
	"sql_executed_comment": {
		"22:52: results.sources[0].sql.query: a comment that the server executes | write what is in it into the query, or take it out",
	},
	"sql_text_continued": {
		"22:55: results.sources[0].sql.query: a text with escapes (E'…') is followed by another text | write it as one text, or join the parts with ||",
	},
	"sql_empty": {
		"22:55: results.sources[0].sql.query: the query is empty | write the SELECT that gives the rows",
	},
	"sql_no_query": {
		"22:12: results.sources[0].sql has no query | add `query: SELECT …`, or `query_file: charges.sql`",
	},
	"sql_two_queries": {
		"22:79: results.sources[0].sql.query_file: the query is written twice | keep one of the two",
	},
	"sql_no_file": {
		"22:60: sql_missing.sql cannot be read: no such file or directory | paths are relative to the file that names them",
	},
	"sql_no_place": {
		"22:12: results.sources[0].sql names no database | add `database: …`, or a whole connection string: `dsn: {env: NAME}`",
		"22:12: results.sources[0].sql names no host | add `host: …`, or a whole connection string: `dsn: {env: NAME}`",
		"22:12: results.sources[0].sql names no user | add `user: …`, or a whole connection string: `dsn: {env: NAME}`",
	},
	"sql_two_places": {
		"22:54: results.sources[0].sql.host: the dsn says it too | keep one of the two",
	},
	"sql_secret_in_the_open": {
		"22:36: results.sources[0].sql.dsn: a secret is never written in the job file | write {file: FILE}, {env: NAME} or {exec: [PROGRAM, ARGUMENT]}",
	},
	"sql_engine": {
		"22:21: results.sources[0].sql.engine: \"postgresql\" is not known here | did you mean \"postgres\"?",
	},
	"sql_name_in_a_folder": {
		"22:73: results.sources[0].sql.name: \"a/b\" is not the name of a file | a name without slashes that does not begin with a dot, such as charges",
	},
	"sql_without_time": {
		"22:76: results.sources[0].sql.timeout leaves no time | a time such as 10m",
	},
	"sql_tls_off_with_ca": {
		"22:88: results.sources[0].sql.tls.ca: without TLS it means nothing | remove it, or `mode: off`",
	},
	"sql_tls_half": {
		"22:72: results.sources[0].sql.tls: a client certificate and its key come together | add the other, or remove it",
	},
	"sql_keyset_without_columns": {
		"22:90: results.sources[0].sql.keyset.columns is an empty list | name at least one, or leave the key out",
	},
	"sql_format": {
		"23:15: the rows of a query are written as NDJSON, not csv | remove it",
	},
	"sql_compression": {
		"23:20: the rows of a query are compressed by zstd, not gzip | remove it",
	},
}
