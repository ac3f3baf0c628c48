package rules_test

import "maps"

func init() { maps.Copy(refusals, filesRefusals) }

// filesRefusals has the faults of sources at sftp: and https:.
var filesRefusals = map[string][]string{
	"sftp_no_server": {
		"22:13: \"sftp:///out/psp.csv\" is no address of files | write sftp://host/folder/name.csv, or sftp://host:port/…; /~/ begins in the folder of the user",
	},
	"sftp_folder": {
		"22:13: \"sftp://files.psp.example/out/\" is no address of files | write sftp://host/folder/name.csv, or sftp://host:port/…; /~/ begins in the folder of the user",
		"22:13: the name of the file does not tell its format | add `format: csv` (or tsv, ndjson, json, parquet, typed, fixed, xlsx, xml)",
	},
	"sftp_above": {
		"22:13: \"sftp://files.psp.example/../out.csv\" is no address of files | write sftp://host/folder/name.csv, or sftp://host:port/…; /~/ begins in the folder of the user",
	},
	"sftp_port": {
		"22:13: \"sftp://files.psp.example:99999/out.csv\" is no address of files | write sftp://host/folder/name.csv, or sftp://host:port/…; /~/ begins in the folder of the user",
	},
	"sftp_user_in_path": {
		"22:13: the address holds a user | write the user as `sftp: {user: …}`, and nothing secret into the path",
	},
	"sftp_pattern_of_folders": {
		"22:13: the folder \"/*/\" is a pattern | name one folder; only the name of the file may be a pattern",
	},
	"sftp_bad_pattern": {
		"22:13: \"psp[.csv\" is no pattern | write path: {exact: …} for a name that holds a bracket",
	},
	"sftp_without_key": {
		"22:13: nothing says as whom the server is asked, and how it is known | add `sftp: {user: …, private_key: {file: …}, host_keys: [\"SHA256:…\"]}`",
	},
	"sftp_without_address": {
		"22:13: a source that is pulled by sftp names its place in the path | write sftp://… as its path",
	},
	"sftp_no_login": {
		"23:13: results.sources[0].sftp does not say how the user proves who it is | add `private_key: {file: …}` or `password: {env: …}`",
	},
	"sftp_secret_in_the_open": {
		"23:37: results.sources[0].sftp.password: a secret is never written in the job file | write {file: FILE}, {env: NAME} or {exec: [PROGRAM, ARGUMENT]}",
	},
	"sftp_passphrase_alone": {
		"23:59: results.sources[0].sftp has a passphrase and no private key | add `private_key`, or remove it",
	},
	"sftp_any_host_key": {
		"23:13: results.sources[0].sftp does not say how the server is known | add `host_keys: [\"SHA256:…\"]` with what the owner of the server says, or `known_hosts: {file: …}`",
	},
	"sftp_md5_fingerprint": {
		"23:58: results.sources[0].sftp.host_keys: \"MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48\" is no key of a server | SHA256: and 43 characters as `ssh-keygen -lf` gives them, or a type (ssh-ed25519, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, ssh-rsa) and a key",
	},
	"sftp_other_key": {
		"23:58: results.sources[0].sftp.host_keys: \"ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl\" is no key of a server | SHA256: and 43 characters as `ssh-keygen -lf` gives them, or a type (ssh-ed25519, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, ssh-rsa) and a key",
	},
	"sftp_no_time": {
		"23:36: results.sources[0].sftp.timeout leaves no time | a time such as 30s",
	},
	"checksum_suffix": {
		"23:46: results.sources[0].sftp.checksum.suffix: \"sha256\" is no name | a point and letters, such as .sha256",
	},
	"https_plain": {
		"22:13: results.sources[0].path is not https | write https://…; http goes to private addresses alone, with `allow_private: true`",
	},
	"https_folder": {
		"22:13: \"https://files.psp.example/\" is no address of a file | write https://host/folder/name.csv, or https://host:port/…",
		"22:13: the name of the file does not tell its format | add `format: csv` (or tsv, ndjson, json, parquet, typed, fixed, xlsx, xml)",
	},
	"https_pattern": {
		"22:13: \"https://files.psp.example/psp_*.csv\" is a pattern | a server over HTTP lists nothing: name one file, or make a source with `dates` and {file_date}",
	},
	"https_host_not_fixed": {
		"22:13: \"https://{date}.psp.example/psp.csv\" is no address of a file | write https://host/folder/name.csv, or https://host:port/…",
	},
	"https_user": {
		"22:13: results.sources[0].path: it holds a user or a password | https://host/path; secrets go to `auth`",
	},
	"https_fragment": {
		"22:13: results.sources[0].path has a fragment, which is not sent | remove it",
	},
	"https_without_format": {
		"22:13: the name of the file does not tell its format | add `format: csv` (or tsv, ndjson, json, parquet, typed, fixed, xlsx, xml)",
	},
	"https_without_address": {
		"22:13: a source that is pulled by https names its place in the path | write https://… as its path",
	},
}
