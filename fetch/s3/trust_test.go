package s3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// TestSecrets: what a store says of the keys, and it may say them all, reaches no file, no
// note and no error.
func TestSecrets(t *testing.T) {
	w := newWorld(t)
	w.put("in/a.csv", noise(40, 3<<20))
	// The token goes nowhere but into the headers: this server takes none.
	const access, secret, token, customer = "AKIACANARYACCESS", "canary/secret+of=the/test", "canary-token-of-the-test", "Y2FuYXJ5LWNhbmFyeS1jYW5hcnktY2FuYXJ5LTEyMzQ="
	keys := "access_key: {file: k/access}, secret_key: {file: k/secret}, session_token: {file: k/token}"
	said := fmt.Sprintf("no %s %s %s %s", access, secret, token, customer)
	canaries := []string{access, secret, token, customer, "canary-canary-canary"}
	for name, f := range map[string]fault{
		"listing refused": on("LIST", 0, always, saysText(403, "SignatureDoesNotMatch", said)),
		"listing expired": on("LIST", 0, always, saysText(400, "ExpiredToken", said)),
		"listing unknown": on("LIST", 0, always, saysText(400, "Strange"+secret, said)),
		"listing slow":    on("LIST", 0, always, saysText(503, "SlowDown", said)),
		"another region": on("LIST", 0, always, func(w http.ResponseWriter, r *http.Request, f http.Handler) {
			says(301, "PermanentRedirect", "X-Amz-Bucket-Region", secret)(w, r, f)
		}),
		"no answer at all": on("LIST", 0, always, func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }),
		"in the middle": func(rw http.ResponseWriter, r *http.Request, n int, f http.Handler) bool {
			switch kindOf(r) {
			case "LIST":
				fmt.Fprint(rw, `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>in/a.csv</Key><ETag>"e"</ETag><Size>3145728</Size></Contents></ListBucketResult>`)
			case "HEAD":
				rw.Header().Set("Etag", `"e"`)
				rw.Header().Set("Content-Length", "3145728")
			case "GET":
				if n > 0 {
					saysText(500, "InternalError", said)(rw, r, f)
					return true
				}
				rw.Header().Set("Etag", `"e"`)
				rw.Header().Set("Content-Range", "bytes 0-1048575/3145728")
				rw.WriteHeader(206)
				// The client gives up in the middle of what it did not ask for.
				_, _ = rw.Write(make([]byte, 1<<20))
			}
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := w.request("s3://evidence/in/*.csv", keys, "parallel: 1")
			a.Source().Remote.S3.CustomerKey.File = "k/customer"
			if err := os.Mkdir(filepath.Join(a.BaseDir, "k"), 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"access": access, "secret": secret, "token": token, "customer": customer} {
				if err := os.WriteFile(filepath.Join(a.BaseDir, "k", name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w.proxy.spoil(f)
			defer w.proxy.spoil(nil)
			_, err := fetch.Pull(context.Background(), quick, a.Request)
			if err == nil {
				t.Fatal("it went well")
			}
			e, ok := errors.AsType[*fail.Error](err)
			if !ok {
				t.Fatalf("%T: %v", err, err)
			}
			sent := w.proxy.requests("LIST")
			if len(sent) == 0 {
				t.Error("nothing was sent")
			}
			all := fmt.Sprintf("%+v\n%v\n%s\n%q\n%q", e, err, e.Hint, a.notes, quick.Check(context.Background(), a.Request))
			for err := error(e); err != nil; err = errors.Unwrap(err) {
				all += err.Error() + "\n"
			}
			err = filepath.WalkDir(a.Dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				all += path + "\n" + string(text)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range canaries {
				if strings.Contains(all, c) {
					t.Errorf("%q stands in what is written and said: %.2000q", c, all)
				}
			}
		})
	}
}

func saysText(status int, code, text string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { answer(w, status, code, text) }
}

// TestSnapshotHasNoSecret: nor does what a good pull leaves.
func TestSnapshotHasNoSecret(t *testing.T) {
	w := newWorld(t)
	w.put("in/a.csv", []byte("id\n"))
	a := w.request("s3://evidence/in/*.csv")
	text, err := json.Marshal(pulled(t, a))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(a.Dir, fetch.SnapshotFile))
	if err != nil || len(kept) == 0 {
		t.Fatal(err)
	}
	for _, c := range []string{w.server.AccessKey, w.server.SecretKey} {
		if bytes.Contains(text, []byte(c)) || bytes.Contains(kept, []byte(c)) {
			t.Errorf("%s stands in the snapshot", c)
		}
	}
}

// TestRequestDigest: the digest of the request tells requests apart, and says nothing of
// when or by whom they were made.
func TestRequestDigest(t *testing.T) {
	w := newWorld(t)
	w.put("in/a.csv", []byte("id\n"))
	one := pulled(t, w.request("s3://evidence/in/*.csv"))
	if two := pulled(t, w.request("s3://evidence/in/*.csv", "parallel: 2")); one.Request != two.Request {
		t.Error("the same request has two digests")
	}
	for _, other := range []*asked{w.request("s3://evidence/in/a*.csv"), w.request("s3://evidence/in/*.csv", "requester_pays: true"), w.request("s3://evidence/in/*.csv", "region: us-east-1", `expected_bucket_owner: "123456789012"`)} {
		p, err := quick.begin(context.Background(), other.Request)
		if err != nil {
			t.Fatal(err)
		}
		if p.digest() == one.Request {
			t.Errorf("%s has the digest of another request", other.Input.Path)
		}
	}
}

// TestAddresses: addresses of this machine and of its network are asked only where the job
// says so, those that give credentials never.
func TestAddresses(t *testing.T) {
	w := newWorld(t)
	w.put("in/a.csv", []byte("id\n"))
	a := w.request("s3://evidence/in/*.csv")
	a.Source().Remote.S3.AllowPrivate = false
	w.proxy.spoil(nil)
	_, err := fetch.Pull(context.Background(), quick, a.Request)
	e, _ := errors.AsType[*fail.Error](err)
	if fail.ClassOf(err) != fail.Usage || !strings.Contains(e.Hint, "s3: {allow_private: true}") || len(w.proxy.requests("LIST")) > 0 {
		t.Errorf("%v | %+v", err, e)
	}
	a = w.request("s3://evidence/in/*.csv")
	a.Source().Remote.S3.Endpoint = "http://169.254.169.254"
	if _, err := fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "never asked") {
		t.Errorf("%v", err)
	}
}

// TestOpen: what the job and this machine say about the store.
func TestOpen(t *testing.T) {
	w := newWorld(t)
	open := func(a *asked) (*pull, error) { return quick.begin(context.Background(), a.Request) }
	a := w.request("s3://evidence/in/*.csv")
	a.Source().Remote.S3.Endpoint = ""
	if _, err := open(a); fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "region") {
		t.Errorf("%v", err)
	}
	t.Setenv("AWS_REGION", "eu-west-1")
	p, err := open(a)
	if err != nil || p.st.endpoint != "" || p.st.region != "eu-west-1" {
		t.Fatalf("%v %+v", err, p)
	}
	t.Setenv("AWS_ENDPOINT_URL_S3", "https://store.example")
	a.Source().Remote.S3.PathStyle = false
	a.Source().Remote.S3.Checksums = "when_supported"
	if p, err = open(a); err != nil || p.st.endpoint != "https://store.example" || p.st.sums || !p.st.api.Options().UsePathStyle {
		t.Fatalf("%v %+v", err, p)
	}
	a = w.request("s3://evidence/in/*.csv", "profile: nowhere", "chain: true")
	if _, err := open(a); fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v", err)
	}
	t.Setenv("TEST_SECRET", "")
	if _, err := open(w.request("s3://evidence/in/*.csv")); fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "TEST_SECRET is not set") {
		t.Errorf("%v", err)
	}
}

// TestCheck: reachability, keys and rights are told before a night depends on them.
func TestCheck(t *testing.T) {
	w := newWorld(t)
	a := w.request("s3://evidence/in/*.csv")
	if problems := quick.Check(context.Background(), a.Request); problems != nil {
		t.Errorf("no object yet: %q", problems)
	}
	w.put("in/a.csv", noise(41, 3<<20))
	w.put("in/b.csv", noise(41, 3<<20))
	w.proxy.spoil(nil)
	if problems := quick.Check(context.Background(), a.Request); problems != nil {
		t.Errorf("%q", problems)
	}
	if gets := w.proxy.requests("GET"); len(gets) != 1 || gets[0].span != "bytes=0-0" {
		t.Errorf("it reads %+v", gets)
	}
	for name, c := range map[string]struct {
		fault fault
		says  string
	}{
		"list": {on("LIST", 0, always, says(403, "AccessDenied")), "s3:ListBucket"},
		"get":  {on("GET", 0, always, says(403, "AccessDenied")), "s3:GetObject"},
		"down": {on("LIST", 0, always, says(503, "SlowDown")), "later"},
	} {
		w.proxy.spoil(c.fault)
		if problems := quick.Check(context.Background(), a.Request); len(problems) != 1 || !strings.Contains(problems[0], c.says) {
			t.Errorf("%s: %q", name, problems)
		}
		if n := len(w.proxy.requests("LIST")); n > 3 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
	left, err := os.ReadDir(a.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("a check leaves %v %v", left, err)
	}
}

// TestTooMuch: what is more than the job or the disk takes is refused before it is asked for.
func TestTooMuch(t *testing.T) {
	w := newWorld(t)
	w.put("in/a.csv", noise(42, 600))
	w.put("in/b.csv", noise(42, 600))
	w.proxy.spoil(nil)
	_, err := fetch.Pull(context.Background(), quick, w.request("s3://evidence/in/*.csv", "max_bytes: 1199").Request)
	if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "1200 bytes in 2 objects") || len(w.proxy.requests("GET")) > 0 {
		t.Errorf("%v", err)
	}
	a := w.request("s3://evidence/in/*.csv", "max_bytes: 1200")
	if _, err = fetch.Pull(context.Background(), quick, a.Request); err != nil {
		t.Error(err)
	}
	w.proxy.spoil(on("LIST", 0, always, func(rw http.ResponseWriter, _ *http.Request, _ http.Handler) {
		fmt.Fprint(rw, `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>in/a.csv</Key><ETag>"e"</ETag><Size>900000000000000</Size></Contents></ListBucketResult>`)
	}))
	_, err = fetch.Pull(context.Background(), quick, w.request("s3://evidence/in/*.csv", "max_bytes: 1000000000000000").Request)
	if fail.ClassOf(err) != fail.Resources || len(w.proxy.requests("HEAD")) > 0 {
		t.Errorf("%v", err)
	}
}

// TestClean: what a store says cannot move the cursor of a terminal or turn the text around.
func TestClean(t *testing.T) {
	if got := (&store{}).clean("a\x1b[31mb\u202ec\u2066d\ne\xff\u0085f"); got != "a [31mb c d e f" {
		t.Errorf("%q", got)
	}
}
