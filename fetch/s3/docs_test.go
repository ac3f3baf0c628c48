package s3

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/rules"
)

// TestGuide: the job of docs/sources-s3.md is pulled as it stands there, but for the
// address of the store.
func TestGuide(t *testing.T) {
	w := newWorld(t)
	text, err := os.ReadFile("../../docs/sources-s3.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("the guide has no job")
	}
	const endpoint = "endpoint: https://store.example:9000"
	src := string(block[1])
	if !strings.Contains(src, endpoint) {
		t.Fatal("the guide has another endpoint")
	}
	if job, err := rules.Parse([]byte(src), "job.yaml"); err != nil || len(job.Warnings) > 0 {
		t.Fatal(err, job)
	}
	src = strings.Replace(src, endpoint, "endpoint: "+w.proxy.URL+"\n    allow_private: true", 1)
	job, err := rules.Parse([]byte(src), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bound, err := job.Bind("2026-08-20", nil)
	if err != nil {
		t.Fatal(err)
	}
	// The first source takes its store and its keys from the machine.
	t.Setenv("AWS_ENDPOINT_URL_S3", w.proxy.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", w.server.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", w.server.SecretKey)
	t.Setenv("PSP_ACCESS_KEY", w.server.AccessKey)
	base := t.TempDir()
	if err := os.Mkdir(filepath.Join(base, "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "secrets", "psp.key"), []byte(w.server.SecretKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bound.Inputs[rules.Operations][0].Source.Remote.S3.AllowPrivate = true
	bound.Inputs[rules.Operations][0].Source.Remote.S3.Region = "us-east-1"
	for side, c := range map[rules.Side]struct{ bucket, key, name string }{
		rules.Operations: {"exports", "charges/2026-08-20/part-1.csv.gz", "part-1.csv.gz"},
		rules.Results:    {"psp-evidence", "settled_2026-08-20.csv", "settled_2026-08-20.csv"},
	} {
		if _, err := w.api.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &c.bucket}); err != nil {
			t.Fatal(err)
		}
		w.bucket = c.bucket
		body := noise(50, 1000)
		w.put(c.key, body)
		a := &asked{Request: &fetch.Request{
			Job: bound, Side: side, Input: &bound.Inputs[side][0], Dir: t.TempDir(), BaseDir: base, Now: time.Now,
			Note: t.Logf, Progress: func(string, int64, int64) {},
		}}
		whole(t, a, pulled(t, a), map[string][]byte{c.name: body})
	}
}
