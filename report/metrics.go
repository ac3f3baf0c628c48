package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// MetricPrefix begins the name of every metric.
const MetricPrefix = "recon_batch_"

// Bounds of the series of one run: of one metric, and of all. What is over is left out,
// and the metric series_dropped says how many.
const (
	maxSeriesOfMetric = 200
	maxSeries         = 2000
	maxCurrencies     = 50 // of the amounts by currency of one thing
)

// Family is one metric, all of them gauges, with its samples in a fixed order.
type Family struct {
	Name    string // without the prefix; one of MetricList
	Samples []Sample
}

// Sample is one series of a family.
type Sample struct {
	Labels []string // name, value, name, value, …; without recon_job
	Value  string   // as in the text format of Prometheus: a decimal number or NaN
}

// Metric describes a metric.
type Metric struct {
	Name     string // without the prefix
	Help     string
	Labels   []string // beside recon_job
	Delivery bool     // only in what is delivered: it needs the clock, the machine or former runs
}

// MetricOf finds the description of a metric, nil where there is none.
func MetricOf(name string) *Metric {
	for i := range MetricList {
		if MetricList[i].Name == name {
			return &MetricList[i]
		}
	}
	return nil
}

// MetricsJob is the value of the label recon_job: the name of the job, with the series
// where a part of it was run, so that a pilot never hides the whole job.
func MetricsJob(s *Summary) string {
	if s.Series == "" {
		return s.Job
	}
	return s.Job + "@" + s.Series
}

// MetricsText prints families in the Prometheus text format, every series with the label
// recon_job. A family without samples is left out.
func MetricsText(job string, families []Family) string {
	var b strings.Builder
	for _, f := range families {
		if len(f.Samples) == 0 {
			continue
		}
		name := MetricPrefix + f.Name
		help := ""
		if m := MetricOf(f.Name); m != nil {
			help = m.Help
		}
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
		for _, x := range f.Samples {
			fmt.Fprintf(&b, "%s{recon_job=%s", name, label(job))
			for i := 0; i < len(x.Labels); i += 2 {
				fmt.Fprintf(&b, ",%s=%s", x.Labels[i], label(x.Labels[i+1]))
			}
			fmt.Fprintf(&b, "} %s\n", x.Value)
		}
	}
	return b.String()
}

// label quotes a label value of the text format: backslash, quote and line feed
// are escaped; hidden characters are spelled out first.
func label(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(LabelValue(s)) + `"`
}

// LabelValue is a text as it stands in a label: cut, and with hidden characters spelled out.
func LabelValue(s string) string { return shown(s) }

// familyList collects families within the bounds.
type familyList struct {
	list    []Family
	series  int
	dropped int
}

func (l *familyList) add(name string, samples ...Sample) {
	n := min(len(samples), maxSeriesOfMetric, maxSeries-l.series)
	l.dropped += len(samples) - n
	l.series += n
	l.list = append(l.list, Family{name, samples[:n]})
}

// PlainCurrency tells whether a text may be shown as a currency outside the run's folder:
// the field is a text where the job says so, and may hold anything.
func PlainCurrency(code string) bool {
	return len(code) <= 8 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// byCurrency are the samples of amounts that are listed by currency; those past the bound,
// and those whose currency is no code, are counted as dropped.
func (l *familyList) byCurrency(amounts []Money, labels ...string) []Sample {
	amounts = slices.Clone(amounts)
	all := len(amounts)
	amounts = slices.DeleteFunc(amounts, func(m Money) bool { return !PlainCurrency(m.Currency) })
	l.dropped += all - len(amounts)
	n := min(len(amounts), maxCurrencies)
	l.dropped += len(amounts) - n
	out := make([]Sample, 0, n)
	for _, m := range amounts[:n] {
		out = append(out, gauge(m.Amount, append(slices.Clone(labels), "currency", m.Currency)...))
	}
	return out
}

func gauge(value any, labels ...string) Sample { return Sample{labels, fmt.Sprint(value)} }

func flag01(v bool) int {
	if v {
		return 1
	}
	return 0
}

// ratio is n of d with six decimals, NaN where there is nothing to divide by: unknown is
// neither good nor bad.
func ratio(n, d int64) string {
	if d == 0 {
		return "NaN"
	}
	return bigRatio(n, d)
}

// known is a number, NaN where it is not known.
func known(v *int64) any {
	if v == nil {
		return "NaN"
	}
	return *v
}

// largest keeps the order of a list by count, then by name, so that what is dropped is
// what weighs least.
func largest[T any](list []T, weight func(T) int64, name func(T) string) []T {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b T) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(name(a), name(b)))
	})
	return out
}
