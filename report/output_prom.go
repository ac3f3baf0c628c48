package report

import (
	"context"
	"fmt"
	"math/big"
	"sort"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// maxCurrencies bounds the series by currency of one metric; the rest is left
// out, and the metric series_dropped says how many.
const maxCurrencies = 50

// writeMetrics writes what a single run knows in the Prometheus text format. No
// metric has a time of day: the sink that delivers the file adds when the run
// ended.
func writeMetrics(_ context.Context, d *Delivery) error {
	return d.write("metrics.prom", []byte(Metrics(d.Summary)))
}

// Metrics prints the summary as metrics with the prefix recon_batch_ and the
// label recon_job. Amounts become binary floats when they are scraped; they are
// for dashboards, never for books.
func Metrics(s *Summary) string {
	var b strings.Builder
	dropped := 0
	family := func(name, help string, samples ...sample) {
		if len(samples) == 0 {
			return
		}
		fmt.Fprintf(&b, "# HELP recon_batch_%s %s\n# TYPE recon_batch_%s gauge\n", name, help, name)
		for _, x := range samples {
			fmt.Fprintf(&b, "recon_batch_%s{recon_job=%s", name, label(s.Job))
			for i := 0; i < len(x.labels); i += 2 {
				fmt.Fprintf(&b, ",%s=%s", x.labels[i], label(x.labels[i+1]))
			}
			fmt.Fprintf(&b, "} %s\n", x.value)
		}
	}
	var rows, amounts, queueItems, queueAmounts, ages, gates, info []sample
	for _, side := range s.Sides {
		for _, src := range side.Sources {
			rows = append(rows, sample{fmt.Sprint(src.Classified), []string{"side", side.Side, "source", src.Name}})
		}
	}
	family("source_rows", "Rows of a source that were classified.", rows...)
	rows = nil
	for _, side := range s.Sides {
		sums := map[[2]string]*big.Rat{}
		for _, class := range classOrder {
			var n int64
			for _, c := range side.Counts {
				if !c.InPeriod || c.Class != class {
					continue
				}
				n += c.Rows
				if r, err := parseExact(c.Amount); err == nil {
					k := [2]string{class, c.Currency}
					if sums[k] == nil {
						sums[k] = new(big.Rat)
					}
					sums[k].Add(sums[k], r)
				}
			}
			rows = append(rows, sample{fmt.Sprint(n), []string{"side", side.Side, "class", class}})
		}
		keys := make([][2]string, 0, len(sums))
		for k := range sums {
			keys = append(keys, k)
		}
		sort.Slice(keys, func(i, j int) bool { return keys[i][0]+"\x00"+keys[i][1] < keys[j][0]+"\x00"+keys[j][1] })
		if len(keys) > maxCurrencies*len(classOrder) {
			dropped += len(keys) - maxCurrencies*len(classOrder)
			keys = keys[:maxCurrencies*len(classOrder)]
		}
		for _, k := range keys {
			amounts = append(amounts, sample{amountText(sums[k], k[1]), []string{"side", side.Side, "class", k[0], "currency", k[1]}})
		}
	}
	family("classified_rows", "Rows in the period by verdict class.", rows...)
	family("classified_amount", "Amounts in the period by verdict class, in units of the currency.", amounts...)
	if of := s.Sides[0].InPeriod; of > 0 {
		n, _ := s.classRows("correct")
		ratio := big.NewRat(n, of).FloatString(6)
		family("match_ratio", "Correct operations as a share of the operations in the period.", sample{ratio, nil})
	}
	for _, q := range s.Queues {
		queueItems = append(queueItems, sample{fmt.Sprint(q.Items), []string{"queue", q.Queue}})
		for i, m := range q.Amounts {
			if i == maxCurrencies {
				dropped += len(q.Amounts) - i
				break
			}
			queueAmounts = append(queueAmounts, sample{m.Amount, []string{"queue", q.Queue, "currency", m.Currency}})
		}
		if q.OldestSecs != nil {
			ages = append(ages, sample{fmt.Sprint(*q.OldestSecs), []string{"queue", q.Queue}})
		}
	}
	family("open_cases", "Items that the run proposes, by queue.", queueItems...)
	family("open_case_amount", "Amounts of the items by queue.", queueAmounts...)
	family("oldest_open_case_age_seconds", "Age of the oldest item at the reference time, by queue.", ages...)
	for _, g := range s.Gates {
		v := "0"
		if g.Failed {
			v = "1"
		}
		gates = append(gates, sample{v, []string{"gate", g.Name}})
	}
	family("gate_failed", "1 where the gate failed.", gates...)
	family("rejected_rows", "Records that could not be read.",
		sample{fmt.Sprint(s.Sides[0].Rejected), []string{"side", string(rules.Operations)}},
		sample{fmt.Sprint(s.Sides[1].Rejected), []string{"side", string(rules.Results)}})
	withheld := "0"
	if s.Outcome.Withheld {
		withheld = "1"
	}
	family("acting_queues_withheld", "1 where confirm, requeue, compensate and close were not written.", sample{withheld, nil})
	family("exit_code", "Exit status of the run.", sample{fmt.Sprint(s.Outcome.ExitCode), nil})
	if day, err := time.Parse(time.DateOnly, s.BusinessDate); err == nil {
		if s.Outcome.ExitCode == 0 {
			family("last_success_business_date_seconds", "Business date of the run as midnight UTC in seconds since the epoch.", sample{fmt.Sprint(day.Unix()), nil})
		}
	}
	for _, v := range s.Versions {
		info = append(info, sample{"1", []string{"component", v.Name, "version", v.Version}})
	}
	family("build_info", "Versions that made this run.", info...)
	family("series_dropped", "Series left out for their number.", sample{fmt.Sprint(dropped), nil})
	return b.String()
}

type sample struct {
	value  string
	labels []string // name, value, name, value, …
}

// label quotes a label value of the text format: backslash, quote and line feed
// are escaped; hidden characters are spelled out first.
func label(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(shown(s)) + `"`
}
