package report

import "context"

// writeMetrics writes what a single run knows in the Prometheus text format. No
// metric has a time of day: what needs the clock is added where it is delivered.
func writeMetrics(_ context.Context, d *Delivery) error {
	return d.write("metrics.prom", []byte(Metrics(d.Summary)))
}

// Metrics prints the summary as metrics with the prefix recon_batch_ and the
// label recon_job. Amounts become binary floats when they are scraped; they are
// for dashboards, never for books.
func Metrics(s *Summary) string { return MetricsText(MetricsJob(s), Families(s)) }
