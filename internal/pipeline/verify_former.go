package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

const reportName = "report.json"

// reportOf reads report.json of a run, which must have the digest that the manifest
// names.
func reportOf(dir string, m *Manifest) (*report.Summary, error) {
	text, err := os.ReadFile(filepath.Join(dir, reportName))
	if err != nil {
		return nil, fail.Wrap(fail.Integrity, err, "report.json of run %s cannot be read", m.RunID)
	}
	i := slices.IndexFunc(m.Outputs, func(o OutputDigest) bool { return o.Path == reportName })
	if i < 0 || sha256Hex(text) != m.Outputs[i].SHA256 {
		return nil, fail.New(fail.Integrity, "report.json of run %s of %s is not what was published", m.RunID, m.BusinessDate).
			WithHint("look at it with recon-batch verify %s, and restore it from a backup", shellQuote(displayPath(dir)))
	}
	s := new(report.Summary)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fail.Wrap(fail.Integrity, err, "report.json is damaged")
	}
	if len(s.Sides) != len(rules.Sides) {
		return nil, fail.New(fail.Integrity, "report.json has %d sides", len(s.Sides))
	}
	return s, nil
}

// former checks what the report says of former runs against those runs themselves,
// where they still lie beside this one with the digest that the manifest names.
func (v *checker) former() error {
	s, m := v.summary, v.Manifest
	var wrong []string
	if !slices.Equal(s.Overrides, m.Overrides) {
		wrong = append(wrong, fmt.Sprintf("the report says that the command line changed %q, the manifest says %q", s.Overrides, m.Overrides))
	}
	if s.Staged != m.Staged || s.Series != m.Series {
		wrong = append(wrong, "report and manifest say different things of series and stages")
	}
	wrong = append(wrong, sameFiles(s, m)...)
	var baseline []report.PastRun
	var seen []report.Seen
	var trend []report.TrendPoint
	missing := 0
	out := outOfRun(v.dir)
	for _, f := range m.Former {
		if f.BusinessDate >= m.BusinessDate {
			wrong = append(wrong, fmt.Sprintf("the run %s/%s is not of an earlier business date", f.BusinessDate, f.RunID))
		}
		p := &published{ref: f}
		dir := filepath.Join(out, folderOf(m.Job, f.Series), f.BusinessDate, f.RunID)
		former, sum, err := ReadManifest(dir)
		if err != nil || !filepath.IsLocal(filepath.Join(f.BusinessDate, f.RunID)) || sum != f.ManifestSHA256 {
			missing++
			continue
		}
		wrong = append(wrong, v.knew(f, former)...)
		if !slices.Contains(f.For, "baseline") && !slices.Contains(f.For, "seen") && !slices.Contains(f.For, forTrend) {
			continue
		}
		if p.summary, err = reportOf(dir, former); err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		if slices.Contains(f.For, "baseline") {
			baseline = append(baseline, report.PastOf(p.summary))
		}
		if slices.Contains(f.For, forTrend) {
			trend = append(trend, report.TrendOf(p.summary))
		}
		if slices.Contains(f.For, "seen") {
			seen = report.MergeSeen(seen, report.SeenAfter(p.summary))
		}
	}
	did := plural(int64(len(m.Former)), "former run", "former runs") + " that this one read"
	if missing > 0 {
		did += fmt.Sprintf("; %d of them are not beside it any more, so that their numbers were not compared", missing)
	} else {
		if !(len(baseline) == 0 && len(s.Baseline) == 0) && !reflect.DeepEqual(baseline, s.Baseline) {
			wrong = append(wrong, "the report compares with other numbers than the former runs have")
		}
		slices.SortStableFunc(trend, func(a, b report.TrendPoint) int { return strings.Compare(b.BusinessDate, a.BusinessDate) })
		wrong = append(wrong, sameTrend(s, trend)...)
		if !slices.Equal(seen, s.SeenBefore) {
			wrong = append(wrong, fmt.Sprintf("former runs published %v, the report says %v", seen, s.SeenBefore))
		}
	}
	v.add("former", did, wrong)
	return nil
}

// canaries checks that the planted operations of the job are those of the report, that
// they came out as the report says, and that none is in an acting queue.
func (v *checker) canaries() error {
	if v.job == nil || len(v.job.Canaries) == 0 && len(v.summary.Canaries) == 0 {
		return nil
	}
	var wrong, ids []string
	aside := int64(0)
	for _, a := range v.summary.Aside {
		aside += a.Rows
	}
	same := slices.EqualFunc(v.job.Canaries, v.summary.Canaries, func(c rules.Canary, s report.Canary) bool {
		return c.OperationID == s.OperationID && c.Expect == s.Expect && s.OK == (s.Class != "" && s.Class == c.Expect)
	})
	if !same {
		wrong = append(wrong, "the canaries of the report are not those of the job")
	}
	records := int64(0)
	for _, c := range v.summary.Canaries {
		ids = append(ids, duck.Literal(c.OperationID))
		records += c.Records
	}
	if aside > records {
		wrong = append(wrong, fmt.Sprintf("%d rows are set aside, the canaries have %d", aside, records))
	}
	if len(ids) == 0 {
		ids = append(ids, "NULL")
	}
	hidden := slices.ContainsFunc(v.summary.Redacted, func(r report.Redacted) bool { return r.Field == "operation_id" })
	if !hidden {
		var err error
		if wrong, err = v.none(wrong, "planted operations are in an acting queue", "canaries", duck.Slots{"ids": strings.Join(ids, ", ")}); err != nil {
			return err
		}
	}
	v.add("canaries", plural(int64(len(v.summary.Canaries)), "planted operation", "planted operations")+", in no acting queue", wrong)
	return nil
}
