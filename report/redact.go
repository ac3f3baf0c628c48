package report

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Ways to redact a field.
const (
	redactToken = "token" // keyed, equal values stay equal: they still join
	redactMask  = "mask"  // the last four characters stay
	redactDrop  = "drop"  // nothing stays
)

// tokenDigits is how many hexadecimal digits of the HMAC a token keeps: 128 bits.
const tokenDigits = 32

// redactor renders the SQL that hides declared personal fields before a value
// leaves the engine.
type redactor struct {
	fields map[string]string
	free   freeText
}

// newRedactor loads the key into the engine. The key is bound, never part of a
// statement's text; it is prepared as the two pads of HMAC (RFC 2104 §2) with
// SHA-256, so that the engine only hashes.
func newRedactor(ctx context.Context, db *duck.DB, job *rules.Job, key []byte) (*redactor, error) {
	needKey := false
	for name, how := range job.Redact.Fields {
		switch how {
		case redactToken:
			needKey = true
		case redactMask, redactDrop:
		default:
			return nil, fail.New(fail.Usage, "field %s is to be redacted by %q, which is not known", name, how).
				WithHint("use token, mask or drop")
		}
	}
	if needKey && len(key) < 16 {
		return nil, fail.New(fail.Usage, "the redaction key has %d bytes, tokens need at least 16", len(key)).
			WithHint("make one with: openssl rand -hex 32 > redact.key")
	}
	if needKey {
		inner, outer := hmacPads(key)
		if err := db.Exec(ctx, "CREATE OR REPLACE TABLE report_key (inner_pad BLOB, outer_pad BLOB)"); err != nil {
			return nil, err
		}
		if err := db.Exec(ctx, "INSERT INTO report_key VALUES (?, ?)", inner, outer); err != nil {
			return nil, err
		}
	}
	return &redactor{fields: job.Redact.Fields, free: newFreeText(job)}, nil
}

// dropped tells whether the field has no column at all in wide outputs.
func (r *redactor) dropped(field string) bool { return r.fields[field] == redactDrop }

// redacted tells whether the field is hidden in any way.
func (r *redactor) redacted(field string) bool { return r.fields[field] != "" }

// expr wraps a VARCHAR expression that gives the value of a product field. Null
// stays null.
func (r *redactor) expr(field, sql string) string {
	switch r.fields[field] {
	case redactToken:
		return fmt.Sprintf(`(CASE WHEN (%[1]s) IS NULL THEN NULL ELSE 'tok_' || left(sha256((SELECT outer_pad FROM report_key) || unhex(sha256((SELECT inner_pad FROM report_key) || encode(%[1]s)))), %[2]d) END)`, sql, tokenDigits)
	case redactMask:
		return fmt.Sprintf(`(CASE WHEN (%[1]s) IS NULL THEN NULL WHEN length(%[1]s) < 8 THEN '****' ELSE '****' || right(%[1]s, 4) END)`, sql)
	case redactDrop:
		return "CAST(NULL AS VARCHAR)"
	default:
		return sql
	}
}

// list names what is hidden, in the order of names.
func (r *redactor) list() []Redacted {
	out := make([]Redacted, 0, len(r.fields))
	for name, how := range r.fields {
		out = append(out, Redacted{Field: name, How: how})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Field < out[j].Field })
	return out
}

// fieldText renders the text of a product field of a staged row with the given
// alias: the value as canonical text, or the text as found where it is
// unreadable or ambiguous. Instants are RFC 3339 in UTC.
func fieldText(alias string, f rules.Field) string {
	text := canonicalText(alias+"."+duck.Ident("f_"+f.Name), f)
	if f.Type == rules.Text {
		return text
	}
	return "coalesce(" + alias + "." + duck.Ident("raw_"+f.Name) + ", " + text + ")"
}

// canonicalText renders a staged value as text.
func canonicalText(value string, f rules.Field) string {
	switch f.Type {
	case rules.Text:
		return value
	case rules.Timestamp:
		return instantText(value)
	default:
		return "CAST(" + value + " AS VARCHAR)"
	}
}

// instantText renders microseconds since the epoch as RFC 3339 in UTC, with a
// fraction only where there is one.
func instantText(us string) string {
	return strings.ReplaceAll(`(CASE WHEN $ % 1000000 = 0 THEN strftime(make_timestamp($), '%Y-%m-%dT%H:%M:%SZ') ELSE strftime(make_timestamp($), '%Y-%m-%dT%H:%M:%S.%fZ') END)`, "$", us)
}
