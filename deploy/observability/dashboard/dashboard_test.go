package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/recon-batch/recon-batch/internal/testprom"
	"github.com/recon-batch/recon-batch/report"
)

const folder = ".." // deploy/observability

var metricName = regexp.MustCompile(`recon_batch_[a-z0-9_]+`)

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestDashboardIsWhatTheProgramWrites, to the byte.
func TestDashboardIsWhatTheProgramWrites(t *testing.T) {
	text, err := Dashboard()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := Dashboard(); !bytes.Equal(text, again) {
		t.Error("it writes something else each time")
	}
	if !bytes.Equal(text, read(t, filepath.Join(folder, "dashboard.json"))) {
		t.Error("dashboard.json is not what the program writes: go run ./deploy/observability/dashboard > deploy/observability/dashboard.json")
	}
}

// TestDashboardShowsEveryMetric, and none that does not exist.
func TestDashboardShowsEveryMetric(t *testing.T) {
	shown := map[string]bool{}
	for _, s := range sections {
		for _, p := range s.panels {
			for _, q := range p.queries {
				for _, name := range metricName.FindAllString(q.expr, -1) {
					m := report.MetricOf(strings.TrimPrefix(name, report.MetricPrefix))
					if m == nil {
						t.Errorf("%s: there is no metric %s", p.title, name)
						continue
					}
					shown[m.Name] = true
					for _, l := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(q.legend, -1) {
						if l[1] != "recon_job" && !slices.Contains(m.Labels, l[1]) {
							t.Errorf("%s: %s has no label %s", p.title, name, l[1])
						}
					}
				}
			}
		}
	}
	for _, m := range report.MetricList {
		if !shown[m.Name] {
			t.Errorf("no panel shows %s", m.Name)
		}
	}
}

// TestPanelsLieBesideEachOther: ids are unique, nothing overlaps or leaves the page.
func TestPanelsLieBesideEachOther(t *testing.T) {
	var d struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
		}
	}
	if err := json.Unmarshal(read(t, filepath.Join(folder, "dashboard.json")), &d); err != nil {
		t.Fatal(err)
	}
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d %q at %+v", p.ID, p.Title, p.GridPos)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				c := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if cells[c] != "" {
					t.Fatalf("%s lies on %s", p.Title, cells[c])
				}
				cells[c] = p.Title
			}
		}
	}
	if len(d.Panels) < 30 {
		t.Errorf("only %d panels", len(d.Panels))
	}
}

// TestExpressionsParse has promtool read every expression of the dashboard, as a rule.
func TestExpressionsParse(t *testing.T) {
	rules := "groups:\n- name: panels\n  rules:\n"
	n := 0
	for _, s := range sections {
		for _, p := range s.panels {
			for _, q := range p.queries {
				n++
				rules += fmt.Sprintf("  - record: panel:%d\n    expr: %q\n", n, strings.ReplaceAll(q.expr, "$recon_job", ".+"))
			}
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "panels.yaml"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, ok := testprom.Promtool(t, dir, "", "check", "rules", "panels.yaml"); !ok || !strings.Contains(out, fmt.Sprintf("%d rules found", n)) {
		t.Errorf("promtool: %s", out)
	}
}

// alertRules are the rules as far as these tests look at them.
type alertRules struct {
	Groups []struct {
		Rules []struct {
			Alert       string
			Expr        string
			Labels      map[string]string
			Annotations map[string]string
		}
	}
}

func loadAlerts(t *testing.T) (a alertRules) {
	t.Helper()
	if err := yaml.Unmarshal(read(t, filepath.Join(folder, "alerts.yaml")), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAlerts: promtool tests the rules; every alert has a case that sets it off and one
// that does not, names metrics and labels that exist, and has its section in the guide.
func TestAlerts(t *testing.T) {
	if out, ok := testprom.Promtool(t, folder, "", "check", "rules", "--lint=all", "--lint-fatal", "alerts.yaml"); !ok {
		t.Errorf("promtool check rules: %s", out)
	}
	if out, ok := testprom.Promtool(t, folder, "", "test", "rules", "alerts_test.yaml"); !ok {
		t.Errorf("promtool test rules: %s", out)
	}
	var cases struct {
		Tests []struct {
			Alerts []struct {
				Name string `yaml:"alertname"`
				Exp  []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(read(t, filepath.Join(folder, "alerts_test.yaml")), &cases); err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, c := range cases.Tests {
		for _, a := range c.Alerts {
			if len(a.Exp) > 0 {
				fires[a.Name] = true
			} else {
				silent[a.Name] = true
			}
		}
	}
	guide := string(read(t, "../../../docs/observability.md"))
	seen := 0
	for _, g := range loadAlerts(t).Groups {
		for _, r := range g.Rules {
			seen++
			if !fires[r.Alert] || !silent[r.Alert] {
				t.Errorf("%s: a case that sets it off %t, one that does not %t", r.Alert, fires[r.Alert], silent[r.Alert])
			}
			if !slices.Contains([]string{"page", "ticket"}, r.Labels["severity"]) || r.Annotations["summary"] == "" ||
				r.Annotations["runbook"] != "docs/observability.md#"+strings.ToLower(r.Alert) || !strings.Contains(guide, "\n### "+r.Alert+"\n") {
				t.Errorf("%s: labels, summary, or its section in docs/observability.md", r.Alert)
			}
			for _, name := range metricName.FindAllString(r.Expr, -1) {
				if report.MetricOf(strings.TrimPrefix(name, report.MetricPrefix)) == nil {
					t.Errorf("%s: there is no metric %s", r.Alert, name)
				}
			}
		}
	}
	if seen < 12 {
		t.Errorf("only %d rules", seen)
	}
}

// TestGuideHasEveryMetric: docs/observability.md has a row for each metric, with its
// labels and what the list says of it, and no row of one that does not exist.
func TestGuideHasEveryMetric(t *testing.T) {
	text := string(read(t, "../../../docs/observability.md"))
	for _, m := range report.MetricList {
		where := "run"
		if m.Delivery {
			where = "delivery"
		}
		labels := "–"
		if len(m.Labels) > 0 {
			labels = "`" + strings.Join(m.Labels, "`, `") + "`"
		}
		if row := fmt.Sprintf("\n| `%s` | %s | %s | %s |\n", m.Name, labels, where, m.Help); !strings.Contains(text, row) {
			t.Errorf("no row%s", row)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|.*\\| (?:run|delivery) \\|").FindAllStringSubmatch(text, -1) {
		if report.MetricOf(row[1]) == nil {
			t.Errorf("there is no metric %s", row[1])
		}
	}
}
