package main

// query is one expression of a panel, with what stands beside its line.
type query struct{ expr, legend string }

// panel is one part of the dashboard. Units are those of Grafana.
type panel struct {
	title, about string
	kind         string // stat, timeseries, table
	unit         string
	width        int    // of 24
	red          string // stat: "above" or "below" a bound is red
	bound        float64
	queries      []query
}

// section is a row of panels under a title.
type section struct {
	title  string
	panels []panel
}

func one(expr, legend string) []query { return []query{{expr, legend}} }

// of is a metric of the chosen jobs, with further matchers.
func of(name string, more ...string) string {
	m := `{recon_job=~"$recon_job"`
	for _, x := range more {
		m += "," + x
	}
	return "recon_batch_" + name + m + "}"
}

var sections = []section{
	{"Does the day close?", []panel{
		{title: "Closes", about: "1: no row in the period of the newest business date needs work.", kind: "stat", width: 3, red: "below", bound: 1, queries: one(of("day_closes"), "{{recon_job}}")},
		{title: "Business date", about: "The newest published one.", kind: "stat", unit: "dateTimeAsIso", width: 4, queries: one(of("business_date_seconds")+" * 1000", "{{recon_job}}")},
		{title: "Exit status, last run", about: "Published or not, of whatever date.", kind: "stat", width: 3, red: "above", bound: 1, queries: one(of("last_exit_code"), "{{recon_job}}")},
		{title: "Exit status of the date", kind: "stat", width: 3, red: "above", bound: 1, queries: one(of("exit_code"), "{{recon_job}}")},
		{title: "Since the last success", about: "Of any date, by the clock.", kind: "stat", unit: "s", width: 3, red: "above", bound: 2 * 86400, queries: one("time() - "+of("last_success_timestamp_seconds"), "{{recon_job}}")},
		{title: "Newest date that succeeded", kind: "stat", unit: "dateTimeAsIso", width: 4, queries: one(of("last_success_business_date_seconds")+" * 1000", "{{recon_job}}")},
		{title: "Since the last run", kind: "stat", unit: "s", width: 4, queries: one("time() - "+of("last_run_timestamp_seconds"), "{{recon_job}}")},
		{title: "Gates and limits", about: "1: failed or exceeded.", kind: "timeseries", width: 8, queries: []query{{of("gate_failed"), "gate {{gate}}"}, {of("limit_exceeded"), "limit {{limit}}"}}},
		{title: "Withheld queues, canaries", kind: "timeseries", width: 8, queries: []query{{of("acting_queues_withheld"), "withheld"}, {"1 - " + of("queue_written"), "{{queue}} withheld"}, {of("canaries_failed"), "canaries failed"}, {of("canaries"), "canaries"}}},
		{title: "Differences", about: "Rows in the period that are not correct, not_applicable or not_due.", kind: "timeseries", width: 8, queries: []query{{of("difference_rows"), "{{recon_job}}"}, {of("once_not_proven_rows"), "not proven to exist once"}}},
	}},
	{"Verdicts", []panel{
		{title: "Rows by class", kind: "timeseries", width: 12, queries: one(of("classified_rows"), "{{side}} {{class}}")},
		{title: "Amounts that are not correct", about: "Binary floats: for the eye, never for books.", kind: "timeseries", width: 12, queries: one(of("classified_amount", `class!="correct"`), "{{side}} {{class}} {{currency}}")},
		{title: "Match ratio", kind: "timeseries", unit: "percentunit", width: 8, queries: []query{{of("match_ratio"), "this run"}, {of("match_ratio_median"), "median of 14 runs"}, {of("divergence_ratio"), "divergent"}}},
		{title: "Reasons against their median", kind: "timeseries", width: 8, queries: []query{{of("reason_rows"), "{{side}} {{class}}/{{reason}}"}, {of("reason_rows_median"), "median {{side}} {{class}}/{{reason}}"}}},
		{title: "Duplicates", kind: "timeseries", width: 8, queries: one(of("duplicate_rows"), "{{side}}")},
	}},
	{"Queues", []panel{
		{title: "Depth of review", kind: "stat", width: 4, queries: one(of("manual_review_items"), "{{recon_job}}")},
		{title: "Open items", kind: "timeseries", width: 10, queries: one(of("open_cases", `queue!="confirm"`), "{{queue}}")},
		{title: "Age of the oldest item", kind: "timeseries", unit: "s", width: 10, queries: []query{{of("oldest_open_case_age_seconds", `queue!="confirm"`), "{{queue}}"}, {of("oldest_pending_age_seconds"), "oldest operation that is not settled"}}},
		{title: "Open items by age", kind: "table", width: 24, queries: one(of("open_cases_by_age", `queue!="confirm"`)+" > 0", "")},
		{title: "Open amounts", kind: "timeseries", width: 8, queries: one(of("open_case_amount", `queue!="confirm"`), "{{queue}} {{currency}}")},
		{title: "Nobody acts", about: "Runs in a row that wrote the queue with the same oldest item; runs in a row in which it grew; items for observation, and deferred.", kind: "timeseries", width: 16,
			queries: []query{{of("unconsumed_runs"), "{{queue}} not consumed"}, {of("open_cases_rises", `queue!="confirm"`), "{{queue}} rises"}, {of("observe_only_cases"), "{{queue}} observe only"}, {of("deferred_cases"), "{{queue}} deferred"}}},
	}},
	{"Work", []panel{
		{title: "Success after retry", kind: "stat", unit: "percentunit", width: 4, queries: one(of("retry_success_ratio"), "{{recon_job}}")},
		{title: "Mean attempts", kind: "stat", width: 4, queries: one(of("attempts_mean"), "{{recon_job}}")},
		{title: "Replayed by hand and failed again", kind: "stat", width: 4, red: "above", bound: 1, queries: one(of("manual_replays_failed"), "{{recon_job}}")},
		{title: "Attempted, retried, resolved", kind: "timeseries", width: 12, queries: []query{{of("attempted_operations"), "attempted"}, {of("retried_operations"), "retried"}, {of("resolved_operations"), "resolved"}}},
		{title: "Retries by cause", kind: "timeseries", width: 8, queries: one(of("retries"), "{{cause}}")},
		{title: "Time to confirmation", kind: "timeseries", unit: "s", width: 8, queries: one(of("confirmation_seconds"), "{{type}} p{{percentile}}")},
		{title: "Time to resolution", kind: "timeseries", unit: "s", width: 8, queries: []query{{of("resolution_median_seconds"), "median"}, {of("resolution_longest_seconds"), "longest"}}},
		{title: "Failures by workflow, step and reason", kind: "table", width: 24, queries: one("sort_desc("+of("failures")+")", "")},
	}},
	{"Inputs", []panel{
		{title: "Rows of sources", kind: "timeseries", width: 12, queries: []query{{of("source_rows"), "{{side}} {{source}}"}, {of("source_rows_weekday_median"), "median of the weekday {{source}}"}}},
		{title: "Rejects and missing files", kind: "timeseries", width: 12, queries: []query{{of("rejected_rows"), "{{side}} rejected"}, {of("missing_files"), "{{side}} files missing"}}},
		{title: "Coverage", about: "Time that is proven; complete accounts are not drawn.", kind: "timeseries", unit: "s", width: 12, queries: one(of("coverage_seconds")+" < Inf", "{{side}} {{account}}")},
		{title: "Gaps", kind: "timeseries", unit: "s", width: 12, queries: []query{{of("coverage_gap_seconds"), "{{side}} {{account}}"}, {of("coverage_gaps"), "{{side}} {{account}}: how many"}}},
	}},
	{"Program", []panel{
		{title: "Duration", kind: "timeseries", unit: "s", width: 8, queries: []query{{of("run_duration_seconds"), "all"}, {of("stage_duration_seconds"), "{{stage}}"}}},
		{title: "Memory, spill, disk", kind: "timeseries", unit: "bytes", width: 8, queries: []query{{of("peak_rss_bytes"), "peak memory"}, {of("spill_bytes"), "spilled"}, {of("disk_free_bytes"), "free disk"}, {of("disk_size_bytes"), "disk"}}},
		{title: "Rows by stage", kind: "timeseries", width: 8, queries: one(of("stage_rows"), "{{stage}}")},
		{title: "Versions", kind: "table", width: 16, queries: one(of("build_info"), "")},
		{title: "Former runs, series left out", kind: "stat", width: 8, queries: []query{{of("former_runs"), "former runs"}, {of("series_dropped"), "series left out"}}},
	}},
}
