package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/api"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// styles of the provider, each as a job declares it; AT is its address.
var styles = map[string]string{
	"offset":        `{url: AT/offset, records: data.items, pagination: {style: offset, size: 10}}`,
	"offset total":  `{url: AT/offset, records: data.items, count: meta.count, total: meta.total, pagination: {style: offset, size: 10, stop: short}}`,
	"offset stable": `{url: AT/offset, records: data.items, total: meta.total, pagination: {style: offset, size: 10, stop: total, stable: true}}`,
	"page":          `{url: AT/page, records: data.items, pagination: {style: page, size: 10, more: meta.more}}`,
	"page total":    `{url: AT/page, records: data.items, total: meta.total, pagination: {style: page, size: 10}}`,
	"cursor":        `{url: AT/cursor, records: data.items, pagination: {style: cursor, size: 10, next: meta.next}}`,
	"cursor total":  `{url: AT/cursor, records: data.items, total: meta.total, pagination: {style: cursor, size: 10, next: meta.next, more: meta.more}}`,
	"last":          `{url: AT/last, records: data.items, pagination: {style: cursor, at: after, size: 10, last: id, more: meta.more}}`,
	"last empty":    `{url: AT/last, records: data.items, pagination: {style: cursor, at: after, size: 10, last: id}}`,
	"link":          `{url: AT/link, records: data.items, total: "header:X-Total-Count", pagination: {style: link, size: 10}}`,
	"link ends":     `{url: AT/link, records: data.items, pagination: {style: link, size: 10}}`,
	"slices":        `{url: AT/cursor, query: {from: "{from}", until: "{until}"}, records: data.items, window: {from: "{date}T00:00", until: "{date+1}T00:00", form: unix, step: 6h}, pagination: {style: cursor, size: 10, next: meta.next}}`,
	"one":           `{url: AT/one, records: data.items, total: meta.total}`,
}

const settings = `allow_private: true, requests: {rate: 1000000/s, attempts: 3, timeout: 1m}, `

// declared makes the job of one source.
func declared(t testing.TB, source string) *rules.Job {
	t.Helper()
	job, err := rules.Parse([]byte(`
job: test
operations: {path: o.csv, fields: {operation_id: id}}
results:
  sources:
    - {name: psp, `+source+`}
  fields: {operation_id: id, at: {column: at, type: integer}}
  survivor: {by: operation_id, latest: at}
match: [{pass: operation_id, on: [operation_id]}]
`), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// request of a source in a fresh folder; at replaces AT.
func request(t testing.TB, source, at string) *fetch.Request {
	t.Helper()
	if !strings.Contains(source, "allow_private") {
		source = "{" + settings + strings.TrimPrefix(source, "{")
	}
	return requestOf(t, declared(t, "api: "+strings.ReplaceAll(source, "AT/", at+"/")))
}

// requestOf the one source of a job, in a fresh folder.
func requestOf(t testing.TB, job *rules.Job) *fetch.Request {
	t.Helper()
	bound, err := job.Bind("2026-11-29", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &fetch.Request{
		Job: bound, Side: rules.Results, Input: &bound.Inputs[rules.Results][0], Dir: t.TempDir(), BaseDir: t.TempDir(),
		Until: time.Now().Add(time.Minute), Now: time.Now, Note: t.Logf, Progress: func(string, int64, int64) {},
	}
}

func pull(r *fetch.Request) (*fetch.Snapshot, error) {
	return fetch.Pull(context.Background(), api.Puller{Pause: time.Millisecond}, r)
}

// content of a page as it came.
func content(t testing.TB, r *fetch.Request, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.Dir, fetch.FilesDir, name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".zst") {
		return text
	}
	z, err := zstd.NewReader(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err = io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// rowsOf reads the records of a snapshot, in order.
func rowsOf(t testing.TB, r *fetch.Request, s *fetch.Snapshot) []row {
	t.Helper()
	var out []row
	for _, f := range s.Files {
		var page struct{ Data struct{ Items []row } }
		if err := json.Unmarshal(content(t, r, f.Name), &page); err != nil {
			t.Fatal(err)
		}
		if int64(len(page.Data.Items)) != f.Records {
			t.Errorf("%s has %d records, the snapshot says %d", f.Name, len(page.Data.Items), f.Records)
		}
		out = append(out, page.Data.Items...)
	}
	return out
}

// files of a snapshot with their digests, as text.
func files(s *fetch.Snapshot) string {
	var b strings.Builder
	for _, f := range s.Files {
		fmt.Fprintln(&b, f.Name, f.Size, f.SHA256, f.Records)
	}
	return b.String()
}

func want(t testing.TB, err error, class fail.Class, holds string) {
	t.Helper()
	e, ok := errors.AsType[*fail.Error](err)
	if !ok || e.Class != class || !strings.Contains(e.Error(), holds) || e.Hint == "" || !strings.Contains(e.Error(), "psp") {
		t.Errorf("error %v (class %d), want class %d with %q and a hint", err, fail.ClassOf(err), class, holds)
	}
}

// unstaged fails where a pull that failed left a snapshot.
func unstaged(t testing.TB, r *fetch.Request) {
	t.Helper()
	if s, err := fetch.ReadSnapshot(r.Dir); s != nil || err != nil {
		t.Errorf("a snapshot is there: %v %v", s, err)
	}
	if left, _ := filepath.Glob(filepath.Join(r.Dir, ".part-*")); len(left) > 0 {
		t.Errorf("temporary files are left: %q", left)
	}
}
