package report

import "context"

// writeNDJSON writes one JSON object a line for each item of the queues. The
// confirm queue may be large and is written only where the job asks for it.
func writeNDJSON(ctx context.Context, d *Delivery) error {
	if err := d.queuesDir(); err != nil {
		return err
	}
	for _, q := range d.Summary.Queues {
		if !q.Written || (q.Queue == "confirm" && !d.In.Bound.Outputs.ConfirmNDJSON) {
			continue
		}
		if err := d.copy(ctx, queueRows(q), "queues/"+q.Queue+".ndjson", "(FORMAT json)"); err != nil {
			return err
		}
	}
	return nil
}
