package classify

import (
	"fmt"
	"slices"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// defaultTargets are the states that proposals lead to where the job does not say.
var defaultTargets = map[Queue]string{Confirm: "confirmed", Requeue: "retry_scheduled", Close: "not_applicable", Compensate: "compensated"}

// target is the local state that a proposal leads to, in the texts of the export; ""
// where the job's states have none.
func (c *classifier) target(q Queue) string {
	if len(c.job.States.Targets) > 0 {
		return c.job.States.Targets[string(q)]
	}
	return defaultTargets[q]
}

// legal is true where the local state may move to the target of the proposal; NULL or
// false where it is unknown. What is sent again has not ended, so a final state is no
// target of a requeue.
func (c *classifier) legal(q Queue) string {
	to := c.target(q)
	from := c.job.States.Transitions[to]
	if to == "" || len(from) == 0 || q == Requeue && slices.Contains(c.job.States.Final, to) {
		return "false"
	}
	return c.o.Raw("state", "VARCHAR") + " IN (" + literals(from) + ")"
}

// undoable is legal for a compensation: a job without states has nothing to move.
func (c *classifier) undoable() string {
	if !c.o.Has("state") {
		return "true"
	}
	return c.legal(Compensate)
}

func (c *classifier) final() string { return finalState(c.job.Job, c.o) }

func finalState(job *rules.Job, s match.ColumnSet) string {
	if len(job.States.Final) == 0 {
		return "false"
	}
	return s.Raw("state", "VARCHAR") + " IN (" + literals(job.States.Final) + ")"
}

// confirmed is true where the operation is held confirmed already: in the state that
// a confirmation leads to, or one that the job maps to it.
func (c *classifier) confirmed() string {
	texts := []string{c.target(Confirm)}
	for own, of := range c.job.States.Map {
		if of == "confirmed" || of == "succeeded" {
			texts = append(texts, own)
		}
	}
	slices.Sort(texts)
	return "coalesce(" + c.o.Raw("state", "VARCHAR") + " IN (" + literals(slices.Compact(texts)) + "), false)"
}

// nextState is the state that an item leads to, by its queue; NULL for one that moves
// nothing: a review, and an effect that belongs to no operation.
func (c *classifier) nextState(queue, operation string) string {
	s := "CASE WHEN " + operation + " IS NULL THEN NULL"
	for _, q := range Queues {
		if to := c.target(q); q != Review && to != "" {
			s += fmt.Sprintf(" WHEN %s = '%s' THEN %s", queue, q, duck.Literal(to))
		}
	}
	return "CAST(" + s + " END AS item_state)"
}

// stateNames are the values of the enum item_state.
func (c *classifier) stateNames() []string {
	var out []string
	for _, q := range Queues {
		if to := c.target(q); q != Review && to != "" {
			out = append(out, to)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hasPolicy is true where the job has a policy for the type of the operation. A job
// without any types has none to miss.
func (c *classifier) hasPolicy() string { return hasPolicy(c.job.Job, c.o) }

func hasPolicy(job *rules.Job, s match.ColumnSet) string {
	if _, rest := job.Types["*"]; rest || len(job.Types) == 0 {
		return "true"
	}
	return "coalesce(" + s.Raw("type", "VARCHAR") + " IN (" + literals(sortedTypes(job)) + "), false)"
}
