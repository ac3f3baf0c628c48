package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testproxy"
	"github.com/recon-batch/recon-batch/internal/testversity"
)

// TestBucketCommands: what the commands say of a job whose runs go to a bucket, and that none
// of them says or writes its keys.
func TestBucketCommands(t *testing.T) {
	server := testversity.Start(t)
	proxy := testproxy.New(t, server.Endpoint)
	server.Env(t, "RUNS_ACCESS", "RUNS_SECRET")
	api := server.Client()
	name := "runs"
	if _, err := api.CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/world")); err != nil {
		t.Fatal(err)
	}
	job := filepath.Join(dir, "job.yaml")
	text, err := os.ReadFile(job)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var said strings.Builder
	do := func(want fail.Class, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		if got := Do(append([]string{"recon-batch"}, args...), nil, &out, &errs, os.Environ()); got != int(want) {
			t.Fatalf("%v ended with %d, want %d: %s%s", args, got, want, out.String(), errs.String())
		}
		said.WriteString(out.String() + errs.String())
		return out.String(), errs.String()
	}
	wants := func(text string, all ...string) {
		t.Helper()
		for _, w := range all {
			if !strings.Contains(text, w) {
				t.Errorf("%q is not in\n%s", w, text)
			}
		}
	}

	_, errs := do(fail.Usage, "publish", "--business-date", "2026-11-29", "job.yaml")
	wants(errs, "the job shop sends its runs nowhere", `outputs: {publish: "s3://bucket/prefix"}`)
	to := fmt.Sprintf(`outputs: {dir: out, publish: "s3://runs/recon", s3: {endpoint: %q, allow_private: true, access_key: {env: RUNS_ACCESS}, secret_key: {env: RUNS_SECRET}}}`, proxy.URL)
	if err := os.WriteFile(job, []byte(strings.Replace(string(text), "outputs: {dir: out}", to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	do(fail.OK, "validate", "--connect", "--business-date", "2026-11-29", "job.yaml")
	_, errs = do(fail.Usage, "publish", "--business-date", "2026-11-29", "job.yaml")
	wants(errs, "shop has no published run for 2026-11-29")

	_, errs = do(fail.OK, "run", "--business-date", "2026-11-29", "--dry-run", "job.yaml")
	wants(errs, "a dry run brings no former runs from s3://runs/recon")
	proxy.Rule(func(_ int, r *http.Request) testproxy.Fault {
		if r.Method == "PUT" {
			return testproxy.Fault{Status: 503}
		}
		return testproxy.Fault{}
	})
	_, errs = do(fail.Temporary, "run", "--business-date", "2026-11-29", "--give-up-after", "3s", "job.yaml")
	wants(errs, "is published in out/shop/2026-11-29/", "and not in the bucket: ", "recon-batch publish --business-date 2026-11-29 job.yaml")
	proxy.Rule(nil)
	out, _ := do(fail.OK, "publish", "--business-date", "2026-11-29", "job.yaml")
	wants(out, "s3://runs/recon/shop/2026-11-29/current: run ", ", 1 run sent (")
	out, _ = do(fail.OK, "publish", "--business-date", "2026-11-29", "job.yaml")
	wants(out, ", already there\n")
	out, _ = do(fail.OK, "run", "--business-date", "2026-11-29", "job.yaml")
	wants(out, "already complete", "bucket  s3://runs/recon/shop/2026-11-29/current: run ", ", already there")
	out, _ = do(fail.OK, "run", "--business-date", "2026-11-30", "--output", "json", "job.yaml")
	var doc runDocument
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Sent == nil || doc.Sent.Runs != 1 || doc.Sent.RunID != doc.RunID || len(doc.Sent.Pointers) != 1 {
		t.Errorf("%v: %+v", err, doc.Sent)
	}
	out, _ = do(fail.OK, "publish", "--business-date", "2026-11-30", "--output", "json", "job.yaml")
	wants(out, `"current": "s3://runs/recon/shop/2026-11-30/current"`, `"runs": 0`)

	// On an empty disk, with what was brought said aloud.
	if err := os.RemoveAll("out"); err != nil {
		t.Fatal(err)
	}
	out, errs = do(fail.OK, "run", "--business-date", "2026-11-30", "job.yaml")
	wants(errs, "brought from s3://runs/recon/shop/: ", " of 2 runs, ")
	wants(out, "already complete")
	do(fail.OK, "verify", "out/shop/2026-11-30/current")
	do(fail.OK, "runs", "list", "job.yaml")

	texts := []string{said.String()}
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(p)
		texts = append(texts, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if strings.Contains(text, server.AccessKey) || strings.Contains(text, server.SecretKey) {
			t.Errorf("a key of the bucket is in %.300q", text)
		}
	}
}
