package report

import (
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
)

// QueueSchemaVersion of the items. It grows only when a field changes its meaning or
// goes away; fields are added without notice.
const QueueSchemaVersion = 1

// QueueField is one field of a queue item. The list of all of them, QueueFields, is the
// contract: the JSON Schema and the reference in docs/queues.md are made from it, and a
// test compares it with what the program writes.
type QueueField struct {
	Name    string
	Kind    fieldKind
	Always  bool // never null
	Confirm bool // in the confirm queue too, which is narrower
	Doc     string
}

// fieldKind is the form of a field in both formats.
type fieldKind string

const (
	kindText     fieldKind = "text"
	kindWhole    fieldKind = "whole number"
	kindBool     fieldKind = "boolean"
	kindInstant  fieldKind = "instant"
	kindAmount   fieldKind = "amount"
	kindTexts    fieldKind = "list of texts"
	kindObject   fieldKind = "object of texts"
	kindEvidence fieldKind = "list of records"
	kindQueue    fieldKind = "queue"
	kindClass    fieldKind = "class"
	kindDigest   fieldKind = "SHA-256"
)

// sqlType is the type of the column in Parquet, as the engine spells it; "" where it
// may be an ENUM or a text.
func (k fieldKind) sqlType() string {
	switch k {
	case kindWhole:
		return "BIGINT"
	case kindBool:
		return "BOOLEAN"
	case kindTexts:
		return "VARCHAR[]"
	case kindObject:
		return "MAP(VARCHAR, VARCHAR)"
	case kindEvidence:
		return "STRUCT(side VARCHAR, \"source\" VARCHAR, file VARCHAR, record BIGINT, sha256 VARCHAR)[]"
	}
	return "VARCHAR"
}

// QueueFields are the fields of an item in the order of the columns.
var QueueFields = []QueueField{
	{"schema_version", kindWhole, true, true, "version of this contract, 1"},
	{"item_id", kindText, true, true, "32 hexadecimal digits; the same for the same observed state, however often and from whatever files a run is repeated. Key of whoever acts: an id is acted upon once"},
	{"case_id", kindText, true, true, "the case that the item belongs to, the same across runs"},
	{"run_id", kindText, true, true, "the run that wrote the item"},
	{"queue", kindQueue, true, true, "the proposed action: `confirm`, `requeue`, `compensate`, `review`, `close`"},
	{"operation_id", kindText, false, true, "the operation; null where a result stands alone"},
	{"idempotency_key", kindText, false, true, "key of the operation. A requeue uses this key and no other one"},
	{"remote_id", kindText, false, true, "id of the result at the provider; for compensate the surplus effect, which is to be undone; for confirm the effect that confirms, where the register keeps such an id"},
	{"keep_remote_id", kindText, false, false, "for compensate: the good effect, which stays"},
	{"undo_keep", kindTexts, false, false, "for compensate: `remote_id`, then `keep_remote_id` where there is one, which must differ; null for others"},
	{"type", kindText, false, true, "type of the operation"},
	{"entity", kindText, false, true, "what the operation is about"},
	{"version", kindText, false, true, "version that the operation was seen at; the update of the register row holds only at this version"},
	{"amount", kindAmount, false, true, "exact decimal text, or the text as found where it is unreadable"},
	{"currency", kindText, false, true, "currency of the amount"},
	{"destination", kindText, false, false, "where the operation was sent"},
	{"class", kindClass, true, true, "class of the verdict (docs/verdicts.md)"},
	{"reason", kindText, true, true, "reason of the verdict"},
	{"fields", kindText, false, false, "names of the differing fields, joined by `;`"},
	{"refused", kindText, false, false, "codes of the guard checks that were not passed, joined by `;`; see below"},
	{"rule", kindText, false, false, "the rule behind the proposal"},
	{"because", kindText, false, false, "the sentence of that rule, as the job gives it"},
	{"risk", kindText, false, false, "the risk of a duplicate, in words"},
	{"advice", kindText, false, false, "for people: for each differing field with a declared authority, which side is to be put right; of a group what it adds up to, and which rows would close it; of what is left over, which row of the other side it probably belongs to"},
	{"release", kindText, false, false, "id of the release that lifted an allowance for this item (`releases`)"},
	{"closing_reason", kindText, false, false, "for close: the reason to store with the row"},
	{"other_actions", kindTexts, true, false, "what may be done instead of the proposal: an acting item may always be left to a person (`review`). Nothing that the guard refused is offered"},
	{"effect", kindText, false, false, "what the effect is (`describe.effect` of the type)"},
	{"truth", kindText, false, false, "which source is the truth (`describe.truth`)"},
	{"closes_when", kindText, true, true, "what proof closes the item (`describe.closes_when`, else a sentence of the program)"},
	{"effects_seen", kindWhole, false, true, "how many effects of the operation were seen at the provider; null where the data do not say, which is not none"},
	{"effect_remote_ids", kindTexts, true, false, "their ids at the provider, in the order of the texts"},
	{"expected_state", kindText, false, true, "state that the register row was seen in. Change it only if it still is; never empty where there is a `next_state`"},
	{"next_state", kindText, false, true, "state that the row moves to by this action; null for review, and for a compensation where no register row moves"},
	{"next_state_final", kindBool, false, true, "whether that state is final in the job; never for requeue"},
	{"attempts", kindWhole, false, false, "attempts so far"},
	{"next_attempt_at", kindInstant, false, false, "for requeue: not before"},
	{"expires_at", kindInstant, false, false, "for requeue: not from this instant on. It lies before the end of the key's lifetime, of the longest duration and of the proof"},
	{"proof_valid_until", kindInstant, false, true, "not from this instant on (`proof_valid` of the type)"},
	{"recheck", kindText, false, false, "the condition to check again at the moment of acting, in words"},
	{"recheck_key", kindText, false, false, "the same as data: the key under which no result may be known (requeue)"},
	{"recheck_since", kindInstant, false, false, "the same as data: results from this instant on count (requeue)"},
	{"business_operation", kindText, false, false, "for compensate: the operation that undoes the effect (`compensate_with`)"},
	{"parameters", kindObject, true, false, "its parameters, by name; empty where the job declares none"},
	{"approvals", kindWhole, false, false, "approvals that are needed before anybody acts"},
	{"owner", kindText, false, false, "who answers for it"},
	{"due_at", kindInstant, false, false, "the owner's reply is due (review, compensate); after a critical error the reference time"},
	{"candidates", kindWhole, false, false, "rows that this one could belong to (V27)"},
	{"set_id", kindWhole, false, false, "number, within the run, of rows that are ambiguous together"},
	{"observe_only", kindBool, true, true, "nobody is to act on it"},
	{"deferred", kindBool, true, false, "the budget of the run was used up; the next run decides again (V34)"},
	{"hidden", kindBool, true, true, "a field that whoever acts needs is redacted (`redact:`): the ids here are no ids, nobody is to act on them"},
	{"local_ref", kindObject, true, true, "the job's own reference columns (`operations.local_ref`); empty where none are declared or there is no operation"},
	{"evidence", kindEvidence, false, false, "every record that the item rests on: `side`, `source`, `file`, `record` (from 1), `sha256` of the file"},
	{"o_source", kindText, false, true, "the operation's record: its source in the job"},
	{"o_file", kindText, false, true, "its file"},
	{"o_record", kindWhole, false, true, "its number in the file, from 1"},
	{"o_sha256", kindDigest, false, true, "digest of that file"},
	{"r_source", kindText, false, true, "the result's record: its source in the job"},
	{"r_file", kindText, false, true, "its file"},
	{"r_record", kindWhole, false, true, "its number in the file, from 1"},
	{"r_sha256", kindDigest, false, true, "digest of that file"},
}

// queueReference is the part of docs/queues.md that follows from the code: the table
// of the fields, and the codes of the guard.
func queueReference() string {
	var b strings.Builder
	b.WriteString("| field | form | null | confirm | meaning |\n|---|---|---|---|---|\n")
	for _, f := range QueueFields {
		null, confirm := "may be", ""
		if f.Always {
			null = "never"
		}
		if f.Confirm {
			confirm = "yes"
		}
		b.WriteString("| `" + f.Name + "` | " + string(f.Kind) + " | " + null + " | " + confirm + " | " + f.Doc + " |\n")
	}
	b.WriteString("\nCodes in `refused`:\n\n| code | meaning |\n|---|---|\n")
	for _, code := range refusedCodes() {
		b.WriteString("| `" + code + "` | " + classify.Sentence(code) + " |\n")
	}
	b.WriteString("| `budget` | the retry budget of the run is used up before the item would expire; the next run decides again |\n")
	return b.String()
}

// refusedCodes are the codes of all checks in their order. A check is one bit.
func refusedCodes() []string {
	all := strings.Split((^classify.Check(0)).Codes(), ";")
	return slices.DeleteFunc(all, func(c string) bool { return classify.Sentence(c) == "" })
}
