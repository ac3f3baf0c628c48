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
