package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/secret"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// newManifest says what the run is made of; conclude adds what it found.
func (r *run) newManifest(inputs []Input, coverage []Coverage) *Manifest {
	return &Manifest{
		SchemaVersion: ManifestSchema, Job: r.bound.Name, BusinessDate: r.bound.Date,
		ReferenceTime: r.bound.AsOfTime.UTC().Format(time.RFC3339Nano), Mode: r.bound.Mode, Series: seriesOf(r.Job), JobDigest: r.bound.Digest(),
		Overrides: r.overrides(), Versions: Versions{Program: Program, Semantics: Semantics, Go: runtime.Version()},
		Inputs: inputs, Coverage: coverage,
	}
}

func (m *Manifest) conclude(s *report.Summary) {
	m.Counts, m.ContentDigest = countsOf(s), s.ContentDigest
	m.Outcome = Outcome{ExitCode: s.Exit(), Gates: []Check{}, Limits: []Check{}}
	for _, g := range s.Gates {
		m.Outcome.Gates = append(m.Outcome.Gates, Check{Name: g.Name, Rule: g.FailWhen, Measured: g.Value, Passed: !g.Failed})
	}
	for _, l := range s.Limits {
		name := l.Queue + " " + l.Kind
		if l.Currency != "" {
			name += " " + l.Currency
		}
		m.Outcome.Limits = append(m.Outcome.Limits, Check{Name: name, Rule: l.Limit, Measured: l.Value, Passed: !l.Exceeded, Lifted: l.Lifted})
	}
	if s.Outcome.Withheld {
		m.Outcome.Withheld, m.Outcome.Queues = strings.Join(s.Outcome.Reasons, "; "), s.Outcome.WithheldQueues
	}
}

// countsOf adds up the rows of each verdict over the currencies, in the order of
// the summary.
func countsOf(s *report.Summary) []Count {
	out := []Count{}
	index := map[Count]int{}
	for _, side := range s.Sides {
		for _, c := range side.Counts {
			k := Count{Side: rules.Side(side.Side), InPeriod: c.InPeriod, Class: c.Class, Reason: c.Reason}
			i, ok := index[k]
			if !ok {
				i = len(out)
				index[k] = i
				out = append(out, k)
			}
			out[i].Rows += c.Rows
		}
	}
	return out
}

// roleOf says what a file of a run is for.
func roleOf(path string) string {
	switch {
	case path == "operations.parquet", path == "results.parquet":
		return "verdicts"
	case path == "exceptions.parquet":
		return "exceptions"
	case path == keysName:
		return "keys"
	case path == report.OpenFile:
		return "open items"
	case path == "links.parquet":
		return "links"
	case path == "rejects.parquet":
		return "rejects"
	case path == "metrics.prom":
		return "metrics"
	case path == effectiveName:
		return "job"
	case path == "queues/review.ndjson", path == "queues/review.parquet":
		return "queue for people"
	case path == withdrawnParquet, path == withdrawnNDJSON:
		return "withdrawn items"
	case strings.HasPrefix(path, "queues/"):
		return "acting queue"
	case strings.HasPrefix(path, "people/"):
		return "queue as people read it"
	case path == "report.junit.xml", path == "report.sarif":
		return "checks"
	case strings.HasPrefix(path, "report."):
		return "report"
	}
	return "other"
}

// redactKey reads the key of tokens from the place that the job names, nil where
// it names none. The key itself reaches no message.
func redactKey(job *rules.Job, base string) ([]byte, error) {
	switch of := job.Redact.Key; {
	case of.File != "":
		path := of.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, path)
		}
		key, err := os.ReadFile(path)
		if err != nil {
			return nil, fail.Wrap(fail.Usage, err, "redact.key cannot be read").WithHint("make the file, with at least 16 bytes that nobody can guess")
		}
		return checkKey([]byte(strings.TrimRight(string(key), "\r\n")), displayPath(path))
	case of.Env != "":
		return checkKey([]byte(os.Getenv(of.Env)), "the environment variable "+of.Env)
	case of.Exec != "":
		key, err := secret.Text(of, base, "redact.key")
		if err != nil {
			return nil, fail.Wrap(fail.Usage, err, "redact.key").WithHint("start it by hand; it has to write the key and to end with 0")
		}
		return checkKey([]byte(key), "what "+of.Command()[0]+" writes")
	}
	return nil, nil
}

func checkKey(key []byte, where string) ([]byte, error) {
	if len(key) < 16 {
		return nil, fail.New(fail.Usage, "redact.key: %s holds %d bytes, a key has at least 16", where, len(key)).
			WithHint("for example: head -c 32 /dev/urandom | base64 > redact.key")
	}
	return key, nil
}

func (r *run) note(format string, args ...any) {
	r.res.Notes = append(r.res.Notes, fmt.Sprintf(format, args...))
}

// plural writes a number with its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func itoa(n int) string { return strconv.Itoa(n) }

// shellQuote writes a text so that it can be pasted into a shell (POSIX, quoting
// with apostrophes).
func shellQuote(text string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-/=+:,@%", c)
	}
	if text != "" && strings.IndexFunc(text, func(c rune) bool { return !plain(c) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
