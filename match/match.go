package match

import (
	"context"
	"embed"
	"fmt"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// Outcome is what matching leaves: relations in the scratch database (see the
// package comment) and their counts.
type Outcome struct {
	Operations, Results                 int64 // staged rows of each side
	ResidualOperations, ResidualResults int64
	PlainPairs                          int64   // pairs decided by fingerprint alone
	PlainPass                           int     // index of the pass that links plain pairs; -1 where there are none
	LinksByPass                         []int64 // residual links, by index of Job.Match; of a pass by groups the groups
	RepeatedInSettled                   []KeyFinding
}

// KeyFinding counts a key that repeats among settled pairs (V12 d): a finding
// about the key, no verdict.
type KeyFinding struct {
	Pass   string
	Values int64
}

// Way is how the engine gets to its verdicts. They are the same either way; a test
// proves it.
type Way int

const (
	Auto         Way = iota // by the number of rows
	Fingerprints            // plain pairs apart
	Residual                // every row through the rules one by one
)

// Options of the engine.
type Options struct {
	Way Way
}

// smallSide is the number of rows of both sides up to which the plain way costs
// more statements than it saves rows.
const smallSide = 20_000

// Run links what the keys can prove. A breach of conservation is fail.Integrity.
func Run(ctx context.Context, db *duck.DB, job *rules.Bound, ops, res *extract.Relation, opt Options) (*Outcome, error) {
	c := &cascade{ctx: ctx, db: db, job: job, ops: ops, res: res, opt: opt}
	for _, step := range []func() error{
		c.views, c.calendars, c.residual, c.begin, c.records, c.scope, c.passes, c.findings, c.linkSimple,
	} {
		if c.err = step(); c.err != nil {
			return nil, c.err
		}
	}
	return c.outcome()
}

// cascade is one run of the engine: a straight line of steps over the scratch
// database, each a few statements.
type cascade struct {
	ctx      context.Context
	db       *duck.DB
	job      *rules.Bound
	ops, res *extract.Relation
	opt      Options
	err      error
	simple   bool // some links are in simple_links

	out      Outcome
	findingN []KeyFinding
}

// exec renders a template and runs it.
func (c *cascade) exec(name string, s duck.Slots) error {
	return c.db.Exec(c.ctx, template(name).Render(s))
}

func template(name string) *duck.Template {
	return duck.MustParse(sqlFiles, "sql/"+name+".sql")
}

// relation returns the extraction of a side.
func (c *cascade) relation(s rules.Side) *extract.Relation {
	if s == rules.Operations {
		return c.ops
	}
	return c.res
}

// identity lists the indexes of the identity passes.
func (c *cascade) identity() []int {
	var out []int
	for i, p := range c.job.Match {
		if p.Identity {
			out = append(out, i)
		}
	}
	return out
}

// names of the tables of one side.
type names struct {
	side      rules.Side
	view      string // all staged rows
	residual  string
	contested string // those of them whose links the passes find
	marks     string
	free      string
	rids      string // row ids of the residual rows, while they are gathered
	link      string // column of links
	bit       string // of a node in edges: 2*rid + bit
}

var (
	left  = names{rules.Operations, "operations", "res_o", "contested_o", "marks_o", "free_o", "rids_o", "o_rid", "0"}
	right = names{rules.Results, "results", "res_r", "contested_r", "marks_r", "free_r", "rids_r", "r_rid", "1"}
	both  = []names{left, right}
)

func other(n names) names {
	if n.side == rules.Operations {
		return right
	}
	return left
}

func key(i int) string { return fmt.Sprintf("k%d", i) }

// outcome counts, and checks that nothing was lost: what is not residual must be
// as many operations as results.
func (c *cascade) outcome() (*Outcome, error) {
	o := c.out
	err := c.db.Scan(c.ctx, `SELECT (SELECT count(*) FROM operations), (SELECT count(*) FROM results),
		(SELECT count(*) FROM res_o), (SELECT count(*) FROM res_r)`,
		&o.Operations, &o.Results, &o.ResidualOperations, &o.ResidualResults)
	if err != nil {
		return nil, err
	}
	o.PlainPairs = o.Operations - o.ResidualOperations
	if n := o.Results - o.ResidualResults; n != o.PlainPairs {
		return nil, fail.New(fail.Integrity, "matching lost rows: %d operations are plain, but %d results", o.PlainPairs, n).
			WithHint("this is a bug; nothing was published")
	}
	if o.Operations != c.ops.Records || o.Results != c.res.Records {
		return nil, fail.New(fail.Integrity, "staged rows are not all there: %d of %d operations, %d of %d results",
			o.Operations, c.ops.Records, o.Results, c.res.Records).
			WithHint("the staged files may be damaged: remove the stage folder and run again")
	}
	o.LinksByPass = make([]int64, len(c.job.Match))
	rows, err := c.db.Query(c.ctx, "SELECT pass, count(*) FROM (SELECT pass FROM links UNION ALL SELECT pass FROM groups) GROUP BY pass")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p int
		var n int64
		if err := rows.Scan(&p, &n); err != nil {
			return nil, err
		}
		o.LinksByPass[p] = n
	}
	o.RepeatedInSettled = c.findingN
	return &o, rows.Err()
}
