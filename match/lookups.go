package match

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// lookupBatch is the number of answers that one statement takes.
const lookupBatch = 1000

// lookups makes the relation lookup_answers of what services said about single operations:
// no INTEGER (index of Relation.Lookups), key VARCHAR, found BOOLEAN, until_us BIGINT (NULL:
// silence that proves nothing). A side without lookups has no such relation.
func lookups(ctx context.Context, db *duck.DB, res *extract.Relation) error {
	if len(res.Lookups) == 0 {
		return nil
	}
	if err := db.Exec(ctx, "CREATE OR REPLACE TABLE lookup_answers (no INTEGER, key VARCHAR, found BOOLEAN, until_us BIGINT)"); err != nil {
		return err
	}
	for no, l := range res.Lookups {
		for batch := range slices.Chunk(l.Answers, lookupBatch) {
			rows := make([]string, len(batch))
			for i, a := range batch {
				until := "NULL"
				if a.Until != nil {
					until = fmt.Sprint(*a.Until)
				}
				rows[i] = fmt.Sprintf("(%d, %s, %t, %s)", no, duck.Literal(a.Key), a.Found, until)
			}
			if err := db.Exec(ctx, "INSERT INTO lookup_answers VALUES "+strings.Join(rows, ", ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// Proved is a boolean over the operation (V26): it is covered, or a lookup that should know it
// was silent about it up to Due + skew; and nothing was found under a key of it that is linked to
// nothing. NULL as in [Covered]. It reads lookup_answers and links where there are lookups.
func Proved(job *rules.Bound, s ColumnSet, res *extract.Relation) string {
	if len(res.Lookups) == 0 {
		return Covered(job, s, res.Coverage)
	}
	heard := heard(s, res.Lookups)
	covered := coveredOr(job, s, res.Coverage, func(account string) string {
		return and(silent(job, s, res.Lookups, account), not(heard))
	})
	unexplained := and(heard, fmt.Sprintf("NOT EXISTS (SELECT 1 FROM links x WHERE x.o_rid = %s)", s.Column("rid")))
	return and(covered, not(unexplained))
}

// Silent is a boolean over the operation: the lookups of every account that has some and should
// know it were silent about it, so that their silence proves that it has no effect.
func Silent(job *rules.Bound, s ColumnSet, res *extract.Relation) string {
	accounts := map[string]bool{}
	for _, l := range res.Lookups {
		accounts[l.Source.Coverage.Account] = true
	}
	var all []string
	for _, a := range sortedKeys(accounts) {
		all = append(all, or([]string{not(Knows(s, res.Coverage, a)), silent(job, s, res.Lookups, a)}))
	}
	return and(append(all, not(heard(s, res.Lookups)))...)
}

// heard is true where some lookup found something under a key of the operation.
func heard(s ColumnSet, list []extract.Lookup) string {
	var found []string
	for no, l := range list {
		for _, f := range l.Source.Remote.Lookup.By {
			found = append(found, fmt.Sprintf("coalesce((SELECT bool_or(q.found) FROM lookup_answers q WHERE q.no = %d AND q.key = %s), false)", no, s.Raw(f, "VARCHAR")))
		}
	}
	return or(found)
}

// silent is true where the lookups of an account were asked about the operation and found
// nothing: under every identity key that it has, or under one whose silence is declared
// sufficient, up to Due + skew.
func silent(job *rules.Bound, s ColumnSet, list []extract.Lookup, account string) string {
	need := fmt.Sprintf("%s + %d", Due(job.Job, s), job.ClockSkew.Microseconds())
	under := func(no int, f string) string {
		l := list[no]
		if !slices.Contains(l.Source.Remote.Lookup.By, f) || l.Source.Coverage.Account != account {
			return "false"
		}
		guard := shouldKnow(s, extract.Interval{Types: l.Source.Coverage.Types, Knows: l.Source.Coverage.Knows}, false)
		switch l.Source.Coverage.Proves {
		case rules.FullLifecycle:
		case rules.SettledOnly:
			guard = and(guard, settlementIsEffect(job.Job, s))
		default:
			return "false"
		}
		return and(guard, usable(job.Job, s, f), fmt.Sprintf("coalesce((SELECT max(q.until_us) FROM lookup_answers q WHERE q.no = %d AND NOT q.found AND q.key = %s) >= %s, false)",
			no, s.Raw(f, "VARCHAR"), need))
	}
	var enough, every, any []string
	for no := range list {
		for _, f := range list[no].Source.Remote.Lookup.Sufficient {
			enough = append(enough, under(no, f))
		}
	}
	for i, p := range job.Match {
		if !p.Identity {
			continue
		}
		none := s.Column(key(i)) + " IS NULL"
		asked := []string{none}
		for no := range list {
			for _, part := range p.On {
				asked = append(asked, under(no, part.Operations))
			}
		}
		every, any = append(every, or(asked)), append(any, not(none))
	}
	return or(append(enough, and(append(every, or(any))...)))
}

// usable is true where a text of the operation is part of an identity key that it has: not one
// that is empty, or a placeholder (V2).
func usable(job *rules.Job, s ColumnSet, field string) string {
	var keys []string
	for i, p := range job.Match {
		if p.Identity && slices.ContainsFunc(p.On, func(k rules.KeyPart) bool { return k.Operations == field }) {
			keys = append(keys, s.Column(key(i))+" IS NOT NULL")
		}
	}
	return and(s.Raw(field, "VARCHAR")+" <> ''", or(keys))
}

// LookupKeys is, for each field that a lookup asks by, the text of the operation where it may be
// asked by, else NULL.
func LookupKeys(job *rules.Job, s ColumnSet, src *rules.Source) []string {
	out := make([]string, len(src.Remote.Lookup.By))
	for i, f := range src.Remote.Lookup.By {
		out[i] = fmt.Sprintf("CASE WHEN %s THEN %s END", usable(job, s, f), s.Raw(f, "VARCHAR"))
	}
	return out
}

// MayKnow is a boolean over the operation: the source may know it.
func MayKnow(s ColumnSet, src *rules.Source) string {
	return shouldKnow(s, extract.Interval{Types: src.Coverage.Types, Knows: src.Coverage.Knows}, true)
}

// lookupCopies marks the records of lookups that repeat what another record says (V4).
func (c *cascade) lookupCopies(n names, keys []string) error {
	var files []string
	for _, f := range c.relation(n.side).Files {
		if slices.ContainsFunc(c.relation(n.side).Lookups, func(l extract.Lookup) bool { return l.Source.Name == f.Source }) {
			files = append(files, fmt.Sprint(f.No))
		}
	}
	if len(files) == 0 {
		return nil
	}
	var same []string
	for _, col := range c.relation(n.side).Layout.Deciding() {
		same = append(same, fmt.Sprintf("x.%[1]s IS NOT DISTINCT FROM y.%[1]s", duck.Ident(col)))
	}
	for _, k := range keys {
		err := c.exec("lookup_copies", duck.Slots{
			"marks": n.marks, "contested": n.contested, "key": recordColumn(k), "files": strings.Join(files, ", "), "same": strings.Join(same, " AND ")})
		if err != nil {
			return err
		}
	}
	return nil
}
