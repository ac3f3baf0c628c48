package naive_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/match/naive"
	"github.com/recon-batch/recon-batch/rules"
)

// maxShown is the number of disagreements after which a shard compares no more.
const maxShown = 10

// TestEngineAgreesWithOracle runs the oracle and the DuckDB engine on the worlds of
// many seeds and compares class, reason, pass, partners, fields and `once` of every
// row, and the proposal for every operation and surplus effect. Each of the two
// ways of the engine takes every other world.
//
// It proves as well that these worlds show every class and reason on each side
// where it occurs, every proposal and refusal, and every ordered pair of passes.
//
// RECON_SEED=n looks at one world, RECON_NIGHTLY=n at n of them, -short at a few.
func TestEngineAgreesWithOracle(t *testing.T) {
	first, count := seeds(t)
	shards := uint64(min(runtime.GOMAXPROCS(0), int(min(count, 4))))
	seen := make([]map[string]int, shards)
	t.Run("worlds", func(t *testing.T) { // returns when all shards are done
		for i := range shards {
			seen[i] = map[string]int{}
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				agree(t, first+i, first+count, shards, seen[i])
			})
		}
	})
	if count < normalSeeds {
		return
	}
	all := map[string]int{}
	for _, m := range seen {
		for name, n := range m {
			all[name] += n
		}
	}
	for _, m := range missing(all) {
		t.Errorf("never reached: %s", m)
	}
}

// TestEngineAgreesWithOracleOnOldDisagreements looks at worlds beyond the normal run
// on which the two once differed: a source that covers no time at all (1069, 1558,
// 2380), an operation with two results that differ in other fields (2078), and one whose
// fee row supersedes another (672).
func TestEngineAgreesWithOracleOnOldDisagreements(t *testing.T) {
	for _, seed := range []uint64{1069, 1558, 2380, 2078, 672} {
		agree(t, seed, seed+1, 1, map[string]int{})
	}
}

// agree compares the two on every step-th world from first on, and notes what the
// oracle said.
func agree(t *testing.T, first, end, step uint64, seen map[string]int) {
	s := newScratch(t)
	bad := 0
	for seed := first; seed < end; seed += step {
		l := s.load(t, seed)
		want, err := naive.Run(l.input)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		reached(seen, l, want)
		ways := []match.Way{match.Fingerprints, match.Residual}
		if end-first > 1 {
			ways = ways[seed/step%2:][:1]
		}
		if bad >= maxShown {
			ways = nil // enough to look at; what the worlds reach is still counted
		}
		for _, way := range ways {
			got, err := s.engine(t, l, way)
			if err != nil {
				t.Fatalf("seed %d, way %d: %v\n%s", seed, way, err, l.text())
			}
			if diff := difference(l, want, got); diff != "" {
				bad++
				t.Errorf("seed %d, way %d (RECON_SEED=%d shows this world alone):\n%s\n%s", seed, way, seed, diff, l.text())
			}
		}
		if err := os.RemoveAll(l.dir); err != nil {
			t.Fatal(err)
		}
	}
}

// engine runs match and classify on a world and reads what they left.
func (s *scratch) engine(t *testing.T, l loaded, way match.Way) (*naive.Outcome, error) {
	t.Helper()
	defer s.clear(t)
	if err := s.formerKeys(t, l); err != nil {
		return nil, err
	}
	m, err := match.Run(t.Context(), s.db, l.job, l.relations[0], l.relations[1], match.Options{Way: way})
	if err != nil {
		return nil, err
	}
	if _, err := classify.Run(t.Context(), s.db, l.job, l.relations[0], l.relations[1], m); err != nil {
		return nil, err
	}
	if err := classify.Promises(t.Context(), s.db, l.job, l.relations[0], l.relations[1]); err != nil {
		return nil, err
	}
	out := &naive.Outcome{Proposals: map[int64]naive.Proposal{}, Surplus: map[int64]naive.Proposal{}}
	if out.Operations, err = s.verdicts(t, l, rules.Operations); err != nil {
		return nil, err
	}
	if out.Results, err = s.verdicts(t, l, rules.Results); err != nil {
		return nil, err
	}
	return out, s.proposals(t, out)
}

// formerKeys makes the relation of what former runs know, where somebody has asked them.
func (s *scratch) formerKeys(t *testing.T, l loaded) error {
	t.Helper()
	if l.input.FormerKeys == nil {
		return nil
	}
	if err := s.db.Exec(t.Context(), "CREATE TABLE "+classify.FormerKeys+" (pass INTEGER, key VARCHAR)"); err != nil {
		return err
	}
	for pass, keys := range l.input.FormerKeys {
		for _, k := range keys {
			if err := s.db.Exec(t.Context(), fmt.Sprintf("INSERT INTO %s VALUES (%d, %s)", classify.FormerKeys, pass, duck.Literal(k))); err != nil {
				return err
			}
		}
	}
	return nil
}

// clear drops everything that a run left in the scratch database.
func (s *scratch) clear(t *testing.T) {
	t.Helper()
	var drops []string
	for _, q := range []string{
		"SELECT 'VIEW', view_name FROM duckdb_views() WHERE NOT internal",
		"SELECT 'TABLE', table_name FROM duckdb_tables() WHERE NOT internal",
		"SELECT 'TYPE', type_name FROM duckdb_types() WHERE NOT internal",
	} {
		err := s.each(t, q, func(rows *sql.Rows) error {
			var kind, name string
			err := rows.Scan(&kind, &name)
			drops = append(drops, "DROP "+kind+" IF EXISTS "+duck.Ident(name))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range drops {
		if err := s.db.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *scratch) each(t *testing.T, query string, read func(*sql.Rows) error) error {
	t.Helper()
	rows, err := s.db.Query(t.Context(), query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// verdicts reads the verdict of every row of a side.
func (s *scratch) verdicts(t *testing.T, l loaded, side rules.Side) (map[int64]naive.Verdict, error) {
	t.Helper()
	table, candidates := "verdicts_o", "0"
	if side == rules.Results {
		table, candidates = "verdicts_r", "coalesce(v.candidates, 0)"
	}
	q := fmt.Sprintf(`SELECT s.rid, CAST(s.class AS VARCHAR), CAST(s.reason AS VARCHAR), CAST(s.pass AS VARCHAR), s.once, v.fields, v.set_id, %s,
		(SELECT string_agg(CAST(p.rid AS VARCHAR), ';' ORDER BY p.rid) FROM rows_%s p WHERE p.link = s.link)
		FROM rows_%s s LEFT JOIN %s v ON v.rid = s.rid`, candidates, side.Other(), side, table)
	out := map[int64]naive.Verdict{}
	err := s.each(t, q, func(rows *sql.Rows) error {
		var rid int64
		var v naive.Verdict
		var class string
		var pass, once, fields, partners sql.NullString
		var set sql.NullInt64
		if err := rows.Scan(&rid, &class, &v.Reason, &pass, &once, &fields, &set, &v.Candidates, &partners); err != nil {
			return err
		}
		v.Class, v.SetID = naive.Class(class), set.Int64
		v.Pass = slices.IndexFunc(l.job.Match, func(p rules.Pass) bool { return pass.Valid && p.Name == pass.String })
		if once.Valid {
			proven := once.String == "proven"
			v.Once = &proven
		}
		if fields.String != "" {
			v.Fields = strings.Split(fields.String, ";")
		}
		for _, p := range strings.Fields(strings.ReplaceAll(partners.String, ";", " ")) {
			var id int64
			if _, err := fmt.Sscan(p, &id); err != nil {
				return err
			}
			v.Partners = append(v.Partners, id)
		}
		if _, twice := out[rid]; twice {
			return fmt.Errorf("%s row %d has two verdicts", side, rid)
		}
		out[rid] = v
		return nil
	})
	return out, err
}

// proposals reads the queue items. An operation without an item needs nothing; one
// of an unresolved set is in the item of the set.
func (s *scratch) proposals(t *testing.T, out *naive.Outcome) error {
	t.Helper()
	sets, groups, groupOf := map[int64]naive.Proposal{}, map[int64]naive.Proposal{}, map[int64]int64{}
	err := s.each(t, "SELECT rid, grp FROM group_rows WHERE side = 'operations'", func(rows *sql.Rows) error {
		var rid, group int64
		err := rows.Scan(&rid, &group)
		groupOf[rid] = group
		return err
	})
	if err != nil {
		return err
	}
	err = s.each(t, `SELECT o_rid, r_rid, set_id, queue, refused, reason, coalesce(CASE WHEN rule_no IS NOT NULL THEN CAST(rule AS VARCHAR) END, ''),
		coalesce(release, ''), coalesce(CAST(next_state AS VARCHAR), ''), coalesce(parameters, '') FROM items_wide`, func(rows *sql.Rows) error {
		var o, r, set sql.NullInt64
		var queue, reason string
		var refused sql.NullString
		var p naive.Proposal
		if err := rows.Scan(&o, &r, &set, &queue, &refused, &reason, &p.Rule, &p.Release, &p.Next, &p.Parameters); err != nil {
			return err
		}
		p.Queue = naive.Queue(queue)
		if refused.String != "" {
			p.Refused = strings.Split(refused.String, ";")
		}
		if group, ok := groupOf[o.Int64]; ok && o.Valid && out.Operations[o.Int64].Class != naive.Correct {
			if _, twice := groups[group]; twice {
				return fmt.Errorf("two items for the group of operation %d", o.Int64)
			}
			groups[group] = p
		}
		to, id := out.Proposals, o.Int64
		switch {
		case set.Valid:
			to, id = sets, set.Int64
		case reason == "surplus_effect", reason == "no_operation":
			to, id = out.Surplus, r.Int64
		case !o.Valid:
			return nil
		}
		if _, twice := to[id]; twice {
			return fmt.Errorf("two items for operation %d, result %d, set %d", o.Int64, r.Int64, set.Int64)
		}
		to[id] = p
		return nil
	})
	for id, v := range out.Operations {
		if _, ok := out.Proposals[id]; !ok {
			out.Proposals[id] = naive.Proposal{Queue: naive.None}
			if p, ok := sets[v.SetID]; ok && (v.Class == naive.AmbiguousC || v.Class == naive.Duplicate) {
				out.Proposals[id] = p
			}
			if group, ok := groupOf[id]; ok && v.Class != naive.Correct {
				if p, ok := groups[group]; ok {
					out.Proposals[id] = p
				}
			}
		}
	}
	return err
}

// sets shows which rows are undecided together, whatever the numbers of the sets.
func sets(o *naive.Outcome) string {
	members := map[int64][]string{}
	for side, rows := range map[string]map[int64]naive.Verdict{"o": o.Operations, "r": o.Results} {
		for id, v := range rows {
			if v.SetID != 0 && (v.Class == naive.AmbiguousC || v.Class == naive.Duplicate) {
				members[v.SetID] = append(members[v.SetID], fmt.Sprint(side, id))
			}
		}
	}
	var out []string
	for _, m := range members {
		if slices.Sort(m); len(m) > 1 { // a row alone is in a set of its own or in none
			out = append(out, strings.Join(m, "+"))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// difference lists the rows on which the two disagree, "" where they agree.
func difference(l loaded, want, got *naive.Outcome) string {
	var b strings.Builder
	for i, side := range []struct {
		name      string
		want, got map[int64]naive.Verdict
	}{{"operation", want.Operations, got.Operations}, {"result", want.Results, got.Results}} {
		for _, id := range ids(side.want, side.got) {
			w, g := show(l, side.want, id), show(l, side.got, id)
			if w != g {
				fmt.Fprintf(&b, "%s %s:\n  oracle %s\n  engine %s\n", side.name, place(l, i, id), w, g)
			}
		}
	}
	if w, g := sets(want), sets(got); w != g {
		fmt.Fprintf(&b, "unresolved sets:\n  oracle %s\n  engine %s\n", w, g)
	}
	for _, p := range []struct {
		name      string
		side      int
		want, got map[int64]naive.Proposal
	}{{"proposal for operation", 0, want.Proposals, got.Proposals}, {"proposal for result", 1, want.Surplus, got.Surplus}} {
		for _, id := range ids(p.want, p.got) {
			// surplus effects have the items of such an operation
			if p.side == 0 && want.Operations[id].Reason == "duplicate_effect" {
				continue
			}
			w, g := showProposal(p.want[id]), showProposal(p.got[id])
			if w != g {
				fmt.Fprintf(&b, "%s %s:\n  oracle %s\n  engine %s\n", p.name, place(l, p.side, id), w, g)
			}
		}
	}
	return b.String()
}

func ids[V any](a, b map[int64]V) []int64 {
	all := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.SortFunc(all, cmp.Compare[int64])
	return slices.Compact(all)
}

// place names a row as file and record.
func place(l loaded, side int, id int64) string {
	return fmt.Sprintf("%s:%d", l.relations[side].Files[id>>40].Name, id&(1<<40-1))
}

func show(l loaded, rows map[int64]naive.Verdict, id int64) string {
	v, ok := rows[id]
	if !ok {
		return "no verdict"
	}
	pass, once := "-", ""
	if v.Pass >= 0 {
		pass = l.job.Match[v.Pass].Name
	}
	if v.Once != nil {
		once = fmt.Sprintf(" once=%t", *v.Once)
	}
	return fmt.Sprintf("%s/%s pass=%s partners=%v fields=%v candidates=%d%s", v.Class, v.Reason, pass, v.Partners, v.Fields, v.Candidates, once)
}

func showProposal(p naive.Proposal) string {
	return fmt.Sprintf("%s %v rule %q release %q next %q %s", p.Queue, slices.Sorted(slices.Values(p.Refused)), p.Rule, p.Release, p.Next, p.Parameters)
}
