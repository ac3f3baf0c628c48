package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

var sqlHolds = parseSQL("holds")

// Hold is an obstacle with the rows in the period that it alone keeps from being decided
// or acted on: were it gone, they would be. Rows with more than one obstacle stand under
// several, undecided rows that no obstacle of a known kind explains under other, and each
// row stands under one hold. A row is an operation, or a result that no operation stands
// for.
type Hold struct {
	Code    string  `json:"code"`
	What    string  `json:"what"`           // text of the status, name of the field, type of the operations, reason of the verdict, why a file proves nothing; "" none or redacted
	Side    string  `json:"side,omitempty"` // where the obstacle stands, where it is a record or a file
	Source  string  `json:"source,omitempty"`
	File    string  `json:"file,omitempty"`
	Record  int64   `json:"record,omitempty"` // of a stray result
	Rows    int64   `json:"rows"`             // that it alone blocks
	Amounts []Money `json:"amounts"`          // of these rows: of the operation, else of the result
	Clears  string  `json:"clears"`           // in words what clears it
	Command string  `json:"command"`          // the next command, in the folder of the job file; "" none is known
}

// maxHolds bounds the list; what is left is one line, more.
const maxHolds = 50

// clearing says in words what clears an obstacle, %s being what it is. The file and the
// record stand beside it.
var clearing = map[string]string{
	"stray":                 "find out whose effect the result is: an identity key on it, or a scope rule that sets it aside, decides these operations (V27)",
	"missing_file":          "put the file in its place and run again",
	"cut_file":              "have the file sent again whole and run again",
	"copied_file":           "have the file of this time sent, not the copy of another one, and run again",
	"reject":                "have the rejected records corrected or sent again, and run again",
	"doubtful_file":         "have the file checked and sent again, and run again",
	"not_covered":           "run again once a file that covers their time is there, or declare what the sources cover",
	"unmapped_status":       "add the status to the map of the results' status field and run again",
	"unknown_time":          "have the time stated in full, with its zone, and run again",
	"unreadable_value":      "correct the values, or the declaration of the field, and run again",
	"attempts":              "a release (`releases` in the job) with more attempts for these operations, or a higher max_attempts of their type",
	"duration":              "a release (`releases` in the job) with more duration for these operations",
	"key_lifetime":          "no run clears an expired idempotency key: decide each case by hand, under a new operation",
	"no_key":                "an idempotency key on the operations, the one that was sent",
	"no_policy":             "a policy for the type under `types` in the job",
	"budget":                "the budget of retries of the next run",
	"not_idempotent":        "nothing makes a second call safe: a person asks the provider, or the type is declared idempotent once its keys are honoured",
	"key_shared":            "find out which of the operations the key belongs to, and give the others keys of their own",
	"error_class":           "a person decides each by its error; where the error may pass, list its code as transient under `errors` of the type",
	"lease":                 "wait for the end of the lease, or have the worker that holds it say when it ends",
	"no_identity":           "an identity key on the operations that the results of their account carry",
	"stale_export":          "export the operations anew, and run again",
	"newer_version":         "a person decides; `when_overtaken` of the type closes them, or sends the newest version instead",
	"sibling_effect":        "a person decides which of the operations for the same thing is meant to stand",
	"on_hold":               "whoever set the hold releases it",
	"payload":               "a person decides: what was to be sent is gone, or goes before it could be sent",
	"risk":                  "a person decides: the type is irreversible or regulated",
	"proof_lifetime":        "a longer `proof_valid` of the type, or an earlier run",
	"state":                 "a transition under `states` that leads there, or the state of the operations put right",
	"class":                 "correct the rule under `policy`: it proposes what the verdict does not allow",
	"no_good_effect":        "a person says which effect is to stay; `keep_effect` of the results names it for later ones",
	"good_effect_differs":   "a person puts right the effect that is to stay, before any other is undone",
	"not_succeeded":         "run again when the provider says how the effect ended",
	"no_business_operation": "name under `compensation` of the type the business operation that undoes the effect",
	"not_settled":           "find out whose effect it is: one of its identity keys is another one",
	"no_remote_id":          "ask the provider for the id of the effect",
	"no_parameter":          "have the field filled that the business operation needs",
	"no_owner":              "name the owner under `unexpected` of the type",
	"partial_register":      "declare `whole_register: true` where the exports are the whole register; else a person decides",
	"known_before":          "a person decides: an earlier day knows the effect, or could not be asked",
	"several":               "clear what stands above first, and run again",
	"other":                 "look at the rows one by one",
	"more":                  "clear what stands above first, and run again",
}

// again are the obstacles after whose clearing the date is run again.
var again = []string{"missing_file", "cut_file", "copied_file", "reject", "doubtful_file", "not_covered", "unmapped_status", "unknown_time",
	"unreadable_value", "attempts", "duration", "no_policy", "stale_export", "not_succeeded", "several", "more"}

// holds finds what holds the rest.
func holds(ctx context.Context, db *duck.DB, in *Input, red *redactor) ([]Hold, error) {
	job := in.Bound.Job
	scale, fixed := amountScale(job)
	item := "i.value"
	if !fixed {
		item = fmt.Sprintf(`(CASE WHEN regexp_full_match(i.amount, '-?[0-9]{1,%d}(\.[0-9]{1,%d})?') THEN TRY_CAST(i.amount AS DECIMAL(38,%d)) END)`, 38-scale, scale, scale)
	}
	counted := "true"
	if len(job.Canaries) > 0 {
		counted = "b.o_rid IS NULL OR b.o_rid NOT IN (SELECT rid FROM canaries WHERE rid IS NOT NULL)"
	}
	q := sqlHolds.Render(duck.Slots{
		// What a status says is a value of the result; all other texts are ours.
		"what":       cutExpr("(CASE WHEN b.code = 'unmapped_status' THEN " + red.expr("status", "b.what") + " ELSE b.what END)"),
		"o_currency": currencyExpr(job, rules.Operations, "o"), "r_currency": currencyExpr(job, rules.Results, "r"),
		"o_value": valueExpr(job, rules.Operations, "o", scale), "r_value": valueExpr(job, rules.Results, "r", scale),
		"type": codeOf(job, "type", "i.type"), "item_value": item, "counted": counted, "limit": strconv.Itoa(maxHolds),
	})
	out, last := []Hold{}, int64(-1)
	err := each(ctx, db, q, func(rows *sql.Rows) error {
		var line, n, valued int64
		var code, currency string
		var no, o, r sql.NullInt64
		var what, amount sql.NullString
		if err := rows.Scan(&line, &code, &no, &what, &currency, &n, &valued, &amount, &o, &r); err != nil {
			return err
		}
		if line != last {
			h := Hold{Code: code, What: what.String, Amounts: []Money{}}
			example := in.rowRef(rules.Operations, o.Int64)
			if !o.Valid {
				example = in.rowRef(rules.Results, r.Int64)
			}
			in.place(&h, no, !o.Valid)
			in.clear(&h, example)
			out, last = append(out, h), line
		}
		h := &out[len(out)-1]
		h.Rows += n
		if amount.Valid && valued > 0 && !hidesMoney(job) { // a hold may have one row
			a, err := parseExact(amount.String)
			if err != nil {
				return err
			}
			h.Amounts = append(h.Amounts, Money{Currency: currency, Amount: amountText(a, currency), Items: valued})
		}
		return nil
	})
	return out, err
}

// place says where the obstacle stands. ofResult tells that the rows are results, which
// the files of the operations hold.
func (in *Input) place(h *Hold, no sql.NullInt64, ofResult bool) {
	switch {
	case !no.Valid:
	case h.Code == "stray":
		at := in.rowRef(rules.Results, no.Int64)
		h.Side, h.Source, h.File, h.Record = string(rules.Results), at.Source, at.File, at.Record
	default:
		side := rules.Results
		if ofResult {
			side = rules.Operations
		}
		if list := in.relation(side).Healings; no.Int64 < int64(len(list)) {
			x := list[no.Int64]
			h.Side, h.Source, h.File, h.What = string(side), x.Source, x.File, x.Reason
		}
	}
}

// clear says what clears the obstacle; example is one of the rows that it holds.
func (in *Input) clear(h *Hold, example RowRef) {
	h.Clears = clearing[h.Code]
	if slices.Contains(again, h.Code) && in.Run != "" {
		h.Command = fmt.Sprintf(in.Run, "")
		return
	}
	at := fmt.Sprintf("%s:%d", example.File, example.Record)
	if h.Code == "stray" {
		at = fmt.Sprintf("%s:%d", h.File, h.Record)
	}
	if plainID.MatchString(at) && in.Explain != "" {
		h.Command = in.Explain + " " + at
	}
}

// rowRef says where a staged row stands.
func (in *Input) rowRef(side rules.Side, rid int64) RowRef {
	at := RowRef{Record: rid & (1<<40 - 1)}
	i := slices.IndexFunc(in.relation(side).Files, func(f extract.File) bool { return int64(f.No) == rid>>40 })
	if i >= 0 {
		f := in.relation(side).Files[i]
		at.Source, at.File, at.SHA256 = f.Source, f.Name, f.SHA256
	}
	return at
}

// codeOf is codeExpr over another expression of the field's value.
func codeOf(job *rules.Job, name, expr string) string {
	return strings.ReplaceAll(codeExpr(job, name), "o."+duck.Ident("f_"+name), expr)
}

// holdText is a hold in one line.
func holdText(h Hold) string {
	parts := []string{h.Code}
	if h.File != "" {
		at := shown(h.File)
		if h.Record > 0 {
			at += fmt.Sprintf(" record %d", h.Record)
		}
		parts = append(parts, at)
	}
	if h.What != "" && !strings.Contains(h.What, h.File+" ") {
		parts = append(parts, shown(h.What))
	}
	text := strings.Join(parts, ", ") + fmt.Sprintf(": alone holds %s rows", grouped(strconv.FormatInt(h.Rows, 10)))
	switch h.Code {
	case "several", "other", "more":
		text = strings.Join(parts, ", ") + fmt.Sprintf(": %s rows", grouped(strconv.FormatInt(h.Rows, 10)))
	}
	if m := moneyText(h.Amounts, 3); m != "" {
		text += ", " + m
	}
	return text + ". " + h.Clears
}
