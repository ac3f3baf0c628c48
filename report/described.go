package report

import (
	"context"
	"database/sql"
	"slices"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// Described is what the job says of the effect of one type of operation (`describe:`),
// for a type that has items.
type Described struct {
	Type       string `json:"type"` // as the policy is named; "*" for all types without one of their own
	Effect     string `json:"effect"`
	Truth      string `json:"truth"`
	ClosesWhen string `json:"closes_when"`
	Items      int64  `json:"items"` // in all queues
}

var sqlDescribed = parseSQL("described")

// described lists what the job says of the effects that items are about, in the order of
// the types. Types of which it says nothing are left out.
func described(ctx context.Context, db *duck.DB, job *rules.Job) ([]Described, error) {
	out := []Described{}
	says := false
	for _, p := range job.Types {
		says = says || p.Describe != (rules.Describe{})
	}
	if !says {
		return out, nil
	}
	at := map[string]int{}
	err := each(ctx, db, sqlDescribed.Render(nil), func(rows *sql.Rows) error {
		var name string
		var items int64
		if err := rows.Scan(&name, &items); err != nil {
			return err
		}
		p, _ := job.Policy(name)
		if p.Describe == (rules.Describe{}) {
			return nil
		}
		if _, own := job.Types[name]; !own {
			name = "*"
		}
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Described{Type: name, Effect: p.Describe.Effect, Truth: p.Describe.Truth, ClosesWhen: p.Describe.ClosesWhen})
		}
		out[i].Items += items
		return nil
	})
	slices.SortFunc(out, func(a, b Described) int {
		if a.Type < b.Type {
			return -1
		}
		return 1
	})
	return out, err
}

// describedText is one type in a line.
func describedText(d Described) string {
	text := d.Type + ":"
	for _, part := range []struct{ before, text string }{{" ", d.Effect}, {"; the truth is ", d.Truth}, {"; closes when: ", d.ClosesWhen}} {
		if part.text != "" {
			text += part.before + shown(part.text)
		}
	}
	return text
}
