package pipeline

import (
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/report"
)

// describe says of each proposal what the policy of its type says of the effect: what
// it is, whose records decide, and what proof closes the item. The type is the one that
// the item has, also where outputs do not show it.
func (x *explainer) describe(list []Proposal) error {
	for i := range list {
		p := &list[i]
		var kind string
		if err := x.db.Scan(x.ctx, explainSQL("item_type").Render(duck.Slots{"item": duck.Literal(p.Item)}), &kind); err != nil {
			return err
		}
		policy, _ := x.b.Policy(kind)
		p.Effect, p.Truth = policy.Describe.Effect, policy.Describe.Truth
		p.ClosesWhen = report.ClosesWhen(policy, p.Queue)
	}
	return nil
}

// paced tells of requeues that the retry budget lets go later when they could go.
func (x *explainer) paced(list []Proposal) error {
	if x.b.Limits.RetryRows == 0 && len(x.b.Limits.RetryBy) == 0 {
		return nil
	}
	for i := range list {
		var own *int64
		if err := x.db.Scan(x.ctx, explainSQL("turn").Render(duck.Slots{"item": duck.Literal(list[i].Item)}), &own); err != nil {
			return err
		}
		if own != nil {
			list[i].Paced = instant(*own)
		}
	}
	return nil
}
