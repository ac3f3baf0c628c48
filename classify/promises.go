package classify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/hole"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// Promises asserts rules 2 to 5 of design §3 on the relations that Run left; every
// production run calls it before anything is written. It asks the rows and the items
// themselves, not the steps that judged them, so that a fault in one of those does
// not hide itself:
//
//   - absence needs proof: no result carries a key of an absent operation, its
//     deadline is over, it is covered, no stray could be it, and a file that was not
//     read whole has withdrawn its time; the same for unexpected results;
//   - ambiguous is never requeued: every acting proposal stands on its one class,
//     no check of the guard refuses it, and nothing is acted on twice; what is sent
//     again ends before its key does; nothing on hold is sent or undone; an effect is
//     left of every operation; what is closed as overtaken has a newer version; and no
//     absent operation is lost;
//   - a row is linked once; a group has one verdict, and adds up where it is correct;
//   - determinism: every item has an id of its own, by which the queues are ordered.
//
// A breach is fail.Integrity. Conservation, rule 1, is asserted by package report.
func Promises(ctx context.Context, db *duck.DB, job *rules.Bound, ops, res *extract.Relation) error {
	c := &classifier{ctx: ctx, db: db, job: job, ops: ops, res: res,
		o: match.Columns(job.Job, ops.Layout, "o"), r: match.Columns(job.Job, res.Layout, "r")}
	for _, f := range []func() error{c.wholeFiles, c.provenAbsences, c.provenSurprises, c.proposals, c.linkedOnce, c.ownIDs} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// promise runs a statement that counts breaches of a rule of design §3.
func (c *classifier) promise(rule int, what, name string, s duck.Slots) error {
	var n int64
	if err := c.db.Scan(c.ctx, duck.MustParse(sqlFiles, "sql/"+name+".sql").Render(s), &n); err != nil {
		return err
	}
	return broken(rule, n, what)
}

func broken(rule int, n int64, what string) error {
	if n == 0 {
		return nil
	}
	return fail.New(fail.Integrity, "rule %d of verdicts does not hold: %d %s", rule, n, what).
		WithHint("this is a bug: nothing was published; keep the inputs and the job file, and report it with these counts")
}

// provenAbsences is rule 2 for absent operations.
func (c *classifier) provenAbsences() error {
	var absent int64
	if err := c.db.Scan(c.ctx, "SELECT count(*) FROM verdicts_o WHERE class = 'absent'", &absent); err != nil || absent == 0 {
		return err
	}
	for _, i := range c.identity() {
		what := "results carry the " + c.job.Match[i].Name + " of an operation that is absent"
		if err := c.promise(2, what, "promise_carried", duck.Slots{"h": fmt.Sprintf("h%d", i), "g": fmt.Sprintf("g%d", i)}); err != nil {
			return err
		}
	}
	return c.promise(2, "operations are absent without proof: not due, not covered, held by a worker, or perhaps the cause of a result without identity", "promise_proven", duck.Slots{
		"lease":      "coalesce(" + c.o.Late("lease_until") + " > " + c.asOf() + ", false)",
		"has_window": match.HasWindow(c.job.Job, c.o),
		"due":        match.Due(c.job.Job, c.o),
		"as_of":      c.asOf(),
		"covered":    match.Proved(c.job, c.o, c.res)})
}

// provenSurprises is rule 2 for unexpected results.
func (c *classifier) provenSurprises() error {
	var unexpected int64
	if err := c.db.Scan(c.ctx, "SELECT count(*) FROM verdicts_r WHERE class = 'unexpected'", &unexpected); err != nil || unexpected == 0 {
		return err
	}
	for _, i := range c.identity() {
		what := "operations carry the " + c.job.Match[i].Name + " of a result that nobody asked for"
		if err := c.promise(2, what, "promise_asked", duck.Slots{"h": fmt.Sprintf("h%d", i), "g": fmt.Sprintf("g%d", i)}); err != nil {
			return err
		}
	}
	return c.promise(2, "results are unexpected although the operations export need not show their operation", "promise_shown",
		duck.Slots{"covered": match.CoveredResult(c.job, c.r, c.ops.Coverage)})
}

// wholeFiles is rule 2 for the inputs: a file that was read in part, or not at all
// although it was there, has withdrawn the time that its source declares.
func (c *classifier) wholeFiles() error {
	for _, rel := range []*extract.Relation{c.ops, c.res} {
		for _, f := range rel.Files {
			if f.Status != extract.FileRefused && f.Rejected == 0 {
				continue
			}
			for _, iv := range rel.Coverage {
				if strings.Contains(", "+iv.Source+", ", ", "+f.Source+", ") && declared(c.job.Spec(rel.Side), f.Source) && len(iv.Withdrawn) == 0 && (iv.Complete || iv.From < iv.Until) {
					return broken(2, 1, "file was not read whole, and its time counts as covered: "+f.Name+" of the source "+f.Source)
				}
			}
		}
	}
	return nil
}

// declared tells whether a source says that it covers any time.
func declared(spec *rules.SideSpec, source string) bool {
	for _, s := range spec.Sources {
		if s.Name == source {
			return s.Coverage.Complete || s.Coverage.From != "" && s.Coverage.Until != ""
		}
	}
	return false
}

// proposals is rule 3, and what follows from it for whoever acts.
func (c *classifier) proposals() error {
	if hole.Bare() {
		return nil
	}
	for _, p := range []struct{ what, name string }{
		{"proposals to act stand on another class than the guard allows, or on a refused check", "promise_acting"},
		{"rows are to be acted on more than once", "promise_acting_once"},
		{"items would send again under no idempotency key, or under that of another item", "promise_keys"},
	} {
		if err := c.promise(3, p.what, p.name, nil); err != nil {
			return err
		}
	}
	return c.guarded()
}

// guarded asks the items themselves for what the guard has promised of them.
func (c *classifier) guarded() error {
	if slices.Contains(c.job.States.Final, c.target(Requeue)) {
		if err := c.promise(3, "items would send again what has ended then", "promise_final", nil); err != nil {
			return err
		}
	}
	firstUse := c.o.Instant("created_at")
	if c.o.Has("first_attempt_at") {
		firstUse = "coalesce(" + c.o.Instant("first_attempt_at") + ", " + firstUse + ")"
	}
	if err := c.promise(3, "items would send again without a time that lies before the end of their key", "promise_times", duck.Slots{
		"as_of": c.asOf(), "first_use": firstUse, "ttl": c.policy(func(p rules.TypePolicy) string { return duration(p.KeyTTL) }, duration(0))}); err != nil {
		return err
	}
	if unheld := c.unheld(); unheld != "" {
		if err := c.promise(3, "items would send again or undo what is on hold", "promise_barred", duck.Slots{"unheld": unheld}); err != nil {
			return err
		}
	}
	if err := c.promise(3, "operations would be left without an effect, or without the one to keep", "promise_undone", duck.Slots{"status": c.status()}); err != nil {
		return err
	}
	if v := c.orderedVersion(); v != "" && c.o.Has("entity") {
		s := match.Columns(c.job.Job, c.ops.Layout, "s")
		if err := c.promise(3, "operations are closed as overtaken without a newer version", "promise_overtaken",
			duck.Slots{"type_o": c.o.Raw("type", "VARCHAR"), "type_s": s.Raw("type", "VARCHAR"), "version": v}); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(c.job.PolicyRules, func(r rules.PolicyRule) bool { return r.Propose == string(None) }) {
		return nil
	}
	planted := ""
	if len(c.job.Canaries) > 0 {
		planted = " AND v.rid NOT IN (SELECT rid FROM canaries WHERE rid IS NOT NULL)"
	}
	return c.promise(3, "absent operations have no item", "promise_dropped", duck.Slots{"planted": planted})
}

// linkedOnce is rule 4.
func (c *classifier) linkedOnce() error {
	business, grouped := "false", "false"
	for i, p := range c.job.Match {
		switch {
		case p.Group != nil:
			grouped += fmt.Sprintf(" OR pass = %d", i)
		case !p.Identity:
			business += fmt.Sprintf(" OR pass = %d", i)
		}
	}
	for _, p := range []struct {
		what, name string
		slots      duck.Slots
	}{
		{"results are linked to more than one operation", "promise_result_once", duck.Slots{"grouped": grouped}},
		{"operations are linked twice by a business key, or under two links", "promise_operation_once", duck.Slots{"business": business}},
		{"links are of rows that were decided as plain pairs", "promise_residual", nil},
	} {
		if err := c.promise(4, p.what, p.name, p.slots); err != nil {
			return err
		}
	}
	return c.groupsTie(grouped)
}

// groupsTie is V16: a group has one verdict, and what counts as correct adds up.
func (c *classifier) groupsTie(grouped string) error {
	if !c.hasGroups() {
		return nil
	}
	if err := c.promise(4, "groups have members with several verdicts, or on one side only", "promise_group_whole", duck.Slots{"grouped": grouped}); err != nil {
		return err
	}
	scale, err := c.groupScale()
	if err != nil {
		return err
	}
	for i, p := range c.job.Match {
		if p.Group == nil {
			continue
		}
		x := func(side rules.Side) match.ColumnSet { return match.Columns(c.job.Job, c.relation(side).Layout, "x") }
		err := c.promise(4, "groups of the pass "+p.Name+" count as correct, though their amounts do not add up", "promise_group_sum", duck.Slots{
			"value_o": groupValue(x(rules.Operations), p.Group.Terms(rules.Operations), scale),
			"value_r": groupValue(x(rules.Results), p.Group.Terms(rules.Results), scale),
			"type":    groupType(scale), "same": groupSame(i, p.Group), "pass": fmt.Sprint(i), "within": withinGroup(p.Group)})
		if err != nil {
			return err
		}
	}
	return nil
}

// ownIDs is rule 5 for the queues: their order is that of the ids, so no two items
// may share one.
func (c *classifier) ownIDs() error {
	return c.promise(5, "queue items share their id with another one", "promise_ids", nil)
}
