package notify

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

func textfileOf(t *testing.T, dir string, e *Ending) string {
	t.Helper()
	e.Job.Outputs.Metrics = &rules.MetricsSinks{Textfile: dir}
	if notes := Deliver(t.Context(), e); len(notes) > 0 {
		t.Fatal(notes)
	}
	text, err := os.ReadFile(filepath.Join(dir, "recon_batch_card-charges.prom"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// has wants lines of the file, without the prefix; a line that begins with - must not be there.
func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		l, not := strings.CutPrefix(l, "-")
		if strings.Contains(text, "\nrecon_batch_"+l) == not {
			t.Errorf("%s (unwanted: %t) in\n%s", l, not, text)
		}
	}
}

// TestFailureKeepsSuccess: success, then failures of every kind, then read back.
func TestFailureKeepsSuccess(t *testing.T) {
	dir := t.TempDir()
	const success = `last_success_timestamp_seconds{recon_job="card-charges"} 1787285106`
	const date = `last_success_business_date_seconds{recon_job="card-charges"} 1787184000`
	has(t, textfileOf(t, dir, succeeded(t)), success, date, `last_exit_code{recon_job="card-charges"} 0`, `gate_failed{recon_job="card-charges",gate="nothing-absent"} 0`)

	e := refused(t)
	e.Ended = e.Ended.Add(time.Hour)
	has(t, textfileOf(t, dir, e), success, date, `last_exit_code{recon_job="card-charges"} 4`, `last_run_timestamp_seconds{recon_job="card-charges"} 1787288706`,
		`match_ratio{recon_job="card-charges"} 0.700000`, `business_date_seconds{recon_job="card-charges"} 1787184000`)

	e = ended(t) // the next date, with a failed gate
	e.BusinessDate, e.Summary.BusinessDate, e.Success, e.Ended = "2026-08-21", "2026-08-21", "", e.Ended.Add(24*time.Hour)
	e.Summary.Gates = e.Summary.Gates[:1]
	has(t, textfileOf(t, dir, e), success, date, `business_date_seconds{recon_job="card-charges"} 1787270400`, `gate_failed{recon_job="card-charges",gate="nothing-absent"} 1`,
		`-gate_failed{recon_job="card-charges",gate="rejects"}`)

	e = succeeded(t) // an older date, later
	e.BusinessDate, e.Summary.BusinessDate, e.Success, e.Newest, e.Ended = "2026-08-10", "2026-08-10", "2026-08-10", false, e.Ended.Add(48*time.Hour)
	has(t, textfileOf(t, dir, e), date, `last_success_timestamp_seconds{recon_job="card-charges"} 1787457906`, `business_date_seconds{recon_job="card-charges"} 1787270400`)
}

// TestTextfileDamaged: a file that somebody cut, or that holds metrics of others, is
// replaced, and what can be read of it is kept.
func TestTextfileDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "recon_batch_card-charges.prom")
	before := "recon_batch_last_success_timestamp_seconds{recon_job=\"card-charges\"} 17\nrecon_batch_last_success_business_date_seconds{recon_job=\"other\"} 99\n" +
		"node_load1 3\nrecon_batch_unheard_of{recon_job=\"card-charges\"} 1\nrecon_batch_match_ratio{recon_job=\"card-charges\"} not\nrecon_batch_match_rat"
	if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	text := textfileOf(t, dir, refused(t))
	has(t, text, `last_success_timestamp_seconds{recon_job="card-charges"} 17`, `-last_success_business_date_seconds`)
	if strings.Contains(text, "node_load1") || strings.Contains(text, "unheard_of") || strings.Contains(text, "other") || strings.Contains(text, "not\n") {
		t.Errorf("kept what is not ours:\n%s", text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the collector cannot read it: %v %v", info.Mode(), err)
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != filepath.Base(path) && !strings.HasPrefix(e.Name(), ".") {
			t.Errorf("left %s behind", e.Name())
		}
		if strings.Contains(e.Name(), ".tmp-") {
			t.Errorf("left %s behind", e.Name())
		}
	}
}

// TestTextfileIsNeverHalf: while runs of many dates end at once, a reader sees a whole
// file each time, and the latest business date stands.
func TestTextfileIsNeverHalf(t *testing.T) {
	dir := t.TempDir()
	textfileOf(t, dir, succeeded(t))
	var wg sync.WaitGroup
	var stop, read = make(chan bool), 0
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			text, err := os.ReadFile(filepath.Join(dir, "recon_batch_card-charges.prom"))
			if err != nil || !strings.HasSuffix(string(text), "\n") || !strings.Contains(string(text), "recon_batch_last_exit_code") {
				t.Errorf("half a file: %v %d bytes", err, len(text))
				return
			}
			read++
		}
	})
	var writers sync.WaitGroup
	for i := range 8 {
		e := succeeded(t)
		e.Success, e.Newest = time.Date(2026, 8, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), false
		e.Job.Outputs.Metrics = &rules.MetricsSinks{Textfile: dir}
		writers.Go(func() {
			if notes := Deliver(context.Background(), e); len(notes) > 0 {
				t.Error(notes)
			}
		})
	}
	writers.Wait()
	close(stop)
	wg.Wait()
	if read == 0 {
		t.Error("nothing was read")
	}
	has(t, textfileOf(t, dir, refused(t)), `last_success_business_date_seconds{recon_job="card-charges"} 1787184000`)
}

func TestTextfileWithoutAFolder(t *testing.T) {
	e := succeeded(t)
	e.Job.Outputs.Metrics = &rules.MetricsSinks{Textfile: "nowhere"}
	if notes := Deliver(t.Context(), e); len(notes) != 1 || notes[0] != "metrics to the textfile: not delivered: there is no such folder" {
		t.Errorf("notes %q", notes)
	}
	if e.ExitCode != fail.OK {
		t.Error("the exit code changed")
	}
}
