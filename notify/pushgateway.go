package notify

import (
	"context"
	"net/url"

	"github.com/recon-batch/recon-batch/report"
)

// pushgateway POSTs the metrics of the ending under the group {job="recon-batch",
// recon_job=<series>}: the gateway replaces those names and keeps the others. There is
// no label instance: the numbers are those of the job, wherever it ran.
func (c *courier) pushgateway(ctx context.Context) error {
	e := c.ending.Job.Outputs.Metrics.Pushgateway
	u, err := c.address(e, false)
	if err != nil {
		return err
	}
	u = u.JoinPath("metrics", "job", "recon-batch", "recon_job", url.PathEscape(c.ending.Series))
	text := report.MetricsText(c.ending.Series, c.ending.Families())
	_, err = c.post(ctx, e, u, "text/plain; version=0.0.4; charset=utf-8", []byte(text), nil)
	return err
}
