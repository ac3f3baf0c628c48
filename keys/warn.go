package keys

import (
	"context"
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/rules"
)

// placeholderWords are written where there is no value, in lower case.
var placeholderWords = []string{
	"n/a", "na", "n.a.", "none", "null", "nil", "nan", "undefined", "unknown", "unbekannt", "inconnu", "empty", "blank", "missing",
	"not available", "not applicable", "tbd", "tba", "test", "dummy", "default", "#n/a", "(null)", "<null>",
}

// warnings says what a person should know of the keys. Of keys of several fields each
// field was looked at.
func (m *measuring) warnings(ctx context.Context, list []Key) ([]Warning, error) {
	out := []Warning{}
	for i := range list {
		k := &list[i]
		if w := k.oneSided(); w != nil {
			out = append(out, *w)
		}
		// What repeats by nature is no id: its values are not looked at.
		if len(k.of.parts) != 1 || k.Group || k.Common == 0 || !k.Identity && !k.of.id {
			continue
		}
		for s, side := range rules.Sides {
			found, err := m.placeholders(ctx, k, s)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
			if of := k.side(s); len(found) == 0 && of.Most >= 10 && 20*of.Most >= of.Filled {
				w, err := m.hotValue(ctx, k, s)
				if err != nil {
					return nil, err
				}
				out = append(out, w)
			} else if len(found) == 0 && of.Unique < of.Filled && 10*of.Unique >= 9*of.Filled {
				out = append(out, Warning{CodeNearUnique, k.Name, side, fmt.Sprintf(
					"of %d %s with a key, %d share it with another row of their side: as an identity key that is ambiguous/several_candidates, or several effects of one operation (V10, V11)",
					of.Filled, side, of.Filled-of.Unique)})
			}
			if len(found) > 0 {
				continue // what repeats is no value
			}
			scoped, err := m.scopes(ctx, k, s)
			if err != nil {
				return nil, err
			}
			out = append(out, scoped...)
		}
	}
	return out, nil
}

func (k *Key) side(s int) Side {
	if s == 0 {
		return k.Operations
	}
	return k.Results
}

// oneSided: most rows of one side have the key, and next to none of the other.
func (k *Key) oneSided() *Warning {
	for s, side := range rules.Sides {
		has, lacks := k.side(s), k.side(1-s)
		if lacks.Rows > 0 && has.Rows > 0 && 2*has.Filled >= has.Rows && 100*lacks.Filled < lacks.Rows {
			return &Warning{CodeOneSide, k.Name, side, fmt.Sprintf("%d of %d %s have it, but only %d of %d %s: it cannot link the rest",
				has.Filled, has.Rows, side, lacks.Filled, lacks.Rows, side.Other())}
		}
	}
	return nil
}

// fieldOf is the field that a key of one field has on a side.
func (m *measuring) fieldOf(k *Key, s int) rules.Field {
	p := k.of.parts[0]
	if s == 0 {
		return *m.job.Operations.Field(p.Operations)
	}
	return *m.job.Results.Field(p.Results)
}

// placeholders finds words that stand in more than one row for "no value".
func (m *measuring) placeholders(ctx context.Context, k *Key, s int) ([]Warning, error) {
	words := make([]string, len(placeholderWords))
	for i, w := range placeholderWords {
		words[i] = duck.Literal(w)
	}
	side := rules.Sides[s]
	rows, err := m.db.Query(ctx, statement("placeholders").Render(duck.Slots{"k": k.of.columns[s][0], "side": string(side), "words": strings.Join(words, ", ")}))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Warning
	for rows.Next() {
		var text string
		var n int64
		if err := rows.Scan(&text, &n); err != nil {
			return nil, err
		}
		f := m.fieldOf(k, s)
		out = append(out, Warning{CodePlaceholder, k.Name, side, fmt.Sprintf(
			"%q stands in %d of %d %s and makes the key look filled; `placeholders` of the field %s takes it for empty",
			pipeline.Visible(m.job, rules.Field{Name: f.Name}, text), n, k.side(s).Filled, side, f.Name)})
	}
	return out, rows.Err()
}

func (m *measuring) hotValue(ctx context.Context, k *Key, s int) (Warning, error) {
	side, of := rules.Sides[s], k.side(s)
	var text string
	if err := m.db.Scan(ctx, statement("most").Render(duck.Slots{"k": k.of.columns[s][0], "side": string(side)}), &text); err != nil {
		return Warning{}, err
	}
	f := m.fieldOf(k, s)
	return Warning{CodeHotValue, k.Name, side, fmt.Sprintf("one value, %q, stands in %d of %d %s with a key: is it one?",
		pipeline.Visible(m.job, rules.Field{Name: f.Name}, text), of.Most, of.Filled, side)}, nil
}

// scope is what could tell rows with one key apart.
type scope struct {
	name, remedy string
	column       [2]string // "": not on this side
}

func (m *measuring) scopeColumns() []scope {
	var out []scope
	for _, name := range []string{"account", "currency", "type"} {
		o, r := m.job.Operations.Field(name), m.job.Results.Field(name)
		if o != nil && r != nil {
			c := duck.Ident("f_" + name)
			out = append(out, scope{"`" + name + "`", "add `" + name + "` to the key", [2]string{c, c}})
		}
	}
	account := scope{name: "account", remedy: "give the sources a field `account: {constant: …}`, and add it to the key"}
	day := scope{name: "day of created_at", remedy: "it needs the period in the key, or `within: {created_at: …}` instead of an identity key"}
	for s, side := range rules.Sides {
		account.column[s] = m.accountColumn(s)
		if f := m.job.Spec(side).Field("created_at"); f != nil {
			switch day.column[s] = "f_created_at"; f.Type {
			case rules.Timestamp:
				day.column[s] = "f_created_at // 86400000000"
			case rules.Date:
			default:
				day.column[s] = ""
			}
		}
	}
	return append(out, account, day)
}

// accountColumn gives the account of a row by its file; "" where the side has one only.
func (m *measuring) accountColumn(s int) string {
	accounts, names := map[string]string{}, map[string]bool{}
	for _, src := range m.job.Spec(rules.Sides[s]).Sources {
		accounts[src.Name] = src.Coverage.Account
		names[src.Coverage.Account] = true
	}
	if len(names) < 2 {
		return ""
	}
	text := "CASE rid // " + fmt.Sprint(extract.RowID(1, 0))
	for _, f := range m.reading.Rels[s].Files {
		text += fmt.Sprintf(" WHEN %d THEN %s", f.No, duck.Literal(accounts[f.Source]))
	}
	return text + " END"
}

// scopes finds what the repeated values of a key repeat across: rows that share a key are
// told apart by it in nine of ten cases. Of several the first is named.
func (m *measuring) scopes(ctx context.Context, k *Key, s int) ([]Warning, error) {
	side, of := rules.Sides[s], k.side(s)
	shared := of.Filled - of.Unique
	if shared == 0 || 2*of.Distinct < of.Filled {
		return nil, nil
	}
	for _, x := range m.scopeColumns() {
		if x.column[s] == "" || x.name == "`"+m.fieldOf(k, s).Name+"`" {
			continue
		}
		var apart int64
		q := statement("scoped").Render(duck.Slots{"k": k.of.columns[s][0], "scope": x.column[s], "side": string(side)})
		if err := m.db.Scan(ctx, q, &apart); err != nil {
			return nil, err
		}
		if 10*apart >= 9*shared {
			return []Warning{{CodeScope, k.Name, side, fmt.Sprintf("it repeats: %d %s share their value, and %d of them differ in %s; %s",
				shared, side, apart, x.name, x.remedy)}}, nil
		}
	}
	return nil, nil
}
