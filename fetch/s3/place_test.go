package s3

import (
	"io"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// TestStore: a bucket is listed over all pages, and read as it was listed.
func TestStore(t *testing.T) {
	w := newWorld(t)
	for _, key := range []string{"docs/b.pdf", "docs/a.pdf", "docs/deep/c.pdf", "docs/readme.txt", "other/a.pdf", "docs/a.pdf.done"} {
		w.put(key, []byte("of "+key))
	}
	a := w.request("s3://evidence/docs/*.pdf")
	st, pattern, err := fetch.Storer(quick).Store(t.Context(), a.Request)
	if err != nil || pattern != "docs/*.pdf" {
		t.Fatal(pattern, err)
	}
	defer st.Close()
	names := func(pattern string, literal bool) (out []fetch.Entry, text string) {
		t.Helper()
		list, err := st.List(t.Context(), pattern, literal)
		if err != nil {
			t.Fatal(err)
		}
		var n []string
		for _, e := range list {
			if e.Modified.IsZero() || e.Version == "" {
				t.Errorf("%+v", e)
			}
			n = append(n, e.Name)
		}
		return list, strings.Join(n, " ")
	}
	list, text := names(pattern, false)
	if text != "docs/a.pdf docs/b.pdf" {
		t.Errorf("listed %s", text)
	}
	for pattern, want := range map[string]string{"docs/a.pdf.done": "docs/a.pdf.done", "docs/none": "", "none/*": "", "*/a.pdf": "docs/a.pdf other/a.pdf"} {
		if _, text := names(pattern, false); text != want {
			t.Errorf("%s: listed %q, want %q", pattern, text, want)
		}
	}
	again, _ := names(pattern, false)
	for i := range list {
		if !list[i].Same(again[i]) {
			t.Errorf("%+v and %+v", list[i], again[i])
		}
	}
	read := func(e fetch.Entry) (string, error) {
		t.Helper()
		f, err := st.Open(t.Context(), e)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(f)
		if closed := f.Close(); closed != nil {
			t.Fatal(closed)
		}
		return string(text), err
	}
	if text, err := read(list[1]); text != "of docs/b.pdf" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	w.put("docs/b.pdf", []byte("other bytes.."))
	if _, err := read(list[1]); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "docs/b.pdf was changed") {
		t.Errorf("%v", err)
	}
}
