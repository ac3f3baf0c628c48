package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// on spoils the requests of a kind, from the first to the last of them (counted from 0).
func on(kind string, first, last int, do func(w http.ResponseWriter, r *http.Request, forward http.Handler)) fault {
	return func(w http.ResponseWriter, r *http.Request, n int, forward http.Handler) bool {
		if kindOf(r) != kind || n < first || n > last {
			return false
		}
		do(w, r, forward)
		return true
	}
}

const always = 1 << 30

// says answers with an error of S3.
func says(status int, code string, headers ...string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		answer(w, status, code, "said the store")
	}
}

// TestFaults: what goes wrong at the store or on the way ends in its class, leaves nothing
// half, and the next pull brings what an undisturbed one does.
func TestFaults(t *testing.T) {
	w := newWorld(t)
	content := func() map[string][]byte {
		return map[string][]byte{"a.csv": noise(5, 6<<20+1), "b.csv": noise(6, 100), "c.csv": {}}
	}
	upload := func() {
		for name, body := range content() {
			w.put("in/"+name, body, func(in *s3.PutObjectInput) { in.ChecksumAlgorithm = types.ChecksumAlgorithmCrc64nvme })
		}
	}
	put := func(key string, body []byte) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
			w.put(key, body)
			forward.ServeHTTP(rw, r)
		}
	}
	half := func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
		broken(rw, r, forward, 300<<10)
	}
	flipped := func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
		rec := taken(r, forward)
		body := rec.Body.Bytes()
		if len(body) > 7 {
			body[7] ^= 1
		}
		send(rw, rec, body)
	}
	for name, c := range map[string]struct {
		fault fault
		class fail.Class // OK: the pull goes on to its end
		says  string     // in the error and its remedy
		now   func() time.Time
	}{
		"429":                  {on("GET", 0, 3, says(429, "TooManyRequests", "Retry-After", "0")), fail.OK, "", nil},
		"500":                  {on("GET", 1, 4, says(500, "InternalError")), fail.OK, "", nil},
		"503":                  {on("GET", 0, 5, says(503, "SlowDown")), fail.OK, "", nil},
		"503 of the listing":   {on("LIST", 0, 2, says(503, "SlowDown")), fail.OK, "", nil},
		"503 of HEAD":          {on("HEAD", 0, 2, says(503, "")), fail.OK, "", nil},
		"503 without end":      {on("GET", 0, always, says(503, "SlowDown")), fail.Temporary, "503 SlowDown", nil},
		"503 of every listing": {on("LIST", 0, always, says(503, "SlowDown")), fail.Temporary, "503 SlowDown", nil},
		"503 of every HEAD":    {on("HEAD", 0, always, says(503, "")), fail.Temporary, "503", nil},
		"reset in mid-body":    {on("GET", 0, 8, half), fail.OK, "", nil},
		"every body is reset": {on("GET", 0, always, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
			broken(rw, r, forward, 10)
		}), fail.Temporary, "cannot be read", nil},
		"every body is cut after a while": {on("GET", 0, always, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
			broken(rw, r, forward, 100<<10)
		}), fail.OK, "", nil},
		"short body": {on("GET", 0, 2, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
			rec := taken(r, forward)
			rec.Header().Set("Content-Length", strconv.Itoa(rec.Body.Len()/2))
			send(rw, rec, rec.Body.Bytes()[:rec.Body.Len()/2])
		}), fail.OK, "", nil},
		"slow body": {on("GET", 0, 2, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
			rec := taken(r, forward)
			body := rec.Body.Bytes()
			for k, v := range rec.Header() {
				rw.Header()[k] = v
			}
			rw.WriteHeader(rec.Code)
			for len(body) > 0 {
				n := min(len(body), 50<<10)
				// A client that has gone is one of the cases: the pull itself says how it ended.
				_, _ = rw.Write(body[:n])
				_ = http.NewResponseController(rw).Flush()
				body = body[n:]
				time.Sleep(time.Millisecond)
			}
		}), fail.OK, "", nil},
		"wrong ETag": {on("GET", 2, 2, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
			rec := taken(r, forward)
			rec.Header().Set("Etag", `"00000000000000000000000000000000"`)
			send(rw, rec, rec.Body.Bytes())
		}), fail.Input, "was changed between the listing and the reading", nil},
		"part of another object": {on("GET", 2, 2, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
			rec := taken(r, forward)
			rec.Header().Set("Content-Range", "bytes 0-9/99")
			send(rw, rec, rec.Body.Bytes())
		}), fail.Input, "was changed between the listing and the reading", nil},
		"ranges are ignored": {on("GET", 0, always, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
			rec := taken(r, forward)
			rec.Header().Del("Content-Range")
			rec.Code = 200
			send(rw, rec, rec.Body.Bytes())
		}), fail.Usage, "cannot be read in parts", nil},
		"an empty one is changed before HEAD": {func(rw http.ResponseWriter, r *http.Request, _ int, f http.Handler) bool {
			if kindOf(r) == "HEAD" && strings.HasSuffix(r.URL.Path, "/c.csv") {
				w.put("in/c.csv", []byte("id\n"))
			}
			return false
		}, fail.Input, "in/c.csv was changed between the listing and the reading", nil},
		"changed before HEAD": {func(rw http.ResponseWriter, r *http.Request, _ int, f http.Handler) bool {
			if kindOf(r) == "HEAD" && strings.HasSuffix(r.URL.Path, "/a.csv") {
				w.put("in/a.csv", noise(7, 6<<20+1))
			}
			return false
		}, fail.Input, "in/a.csv was changed between the listing and the reading", nil},
		"changed in mid-read":       {on("GET", 3, 3, put("in/a.csv", noise(7, 6<<20+1))), fail.Input, "in/a.csv was changed", nil},
		"changed after it was read": {on("LIST", 1, 1, put("in/b.csv", noise(8, 99))), fail.Input, "in/b.csv was changed while it was pulled", nil},
		"another one comes":         {on("LIST", 1, 1, put("in/d.csv", noise(8, 99))), fail.Input, "in/d.csv appeared while the others were pulled", nil},
		"deleted before HEAD": {on("HEAD", 0, 0, func(rw http.ResponseWriter, r *http.Request, f http.Handler) {
			w.remove(strings.TrimPrefix(r.URL.Path, "/evidence/"))
			f.ServeHTTP(rw, r)
		}), fail.Input, "was deleted after it was listed", nil},
		"deleted in mid-read": {on("GET", 3, 3, func(rw http.ResponseWriter, r *http.Request, f http.Handler) {
			w.remove("in/a.csv")
			f.ServeHTTP(rw, r)
		}), fail.Input, "it was deleted after it was listed", nil},
		"deleted after it was read": {on("LIST", 1, 1, func(rw http.ResponseWriter, r *http.Request, f http.Handler) {
			w.remove("in/b.csv")
			f.ServeHTTP(rw, r)
		}), fail.Input, "in/b.csv was deleted while it was pulled", nil},
		"a byte is turned":           {on("GET", 3, 3, flipped), fail.OK, "", nil},
		"bytes are turned each time": {on("GET", 0, always, flipped), fail.Input, "was read twice and does not fit its checksum CRC64NVME", nil},
		"403 of a part":              {on("GET", 0, always, says(403, "AccessDenied")), fail.Usage, "allow s3:GetObject on arn:aws:s3:::evidence/in/", nil},
		"403 of the listing":         {on("LIST", 0, always, says(403, "AccessDenied")), fail.Usage, "allow s3:ListBucket on arn:aws:s3:::evidence", nil},
		"403 of HEAD, of GET too": {func(rw http.ResponseWriter, r *http.Request, n int, f http.Handler) bool {
			return kindOf(r) != "LIST" && on(kindOf(r), 0, always, says(403, "AccessDenied"))(rw, r, n, f)
		}, fail.Usage, "allow s3:GetObject", nil},
		"keys that are not known":  {on("LIST", 0, always, says(403, "InvalidAccessKeyId")), fail.Usage, "correct access key", nil},
		"another region":           {on("LIST", 0, always, says(301, "PermanentRedirect", "X-Amz-Bucket-Region", "eu-west-3")), fail.Usage, "write s3: {region: eu-west-3}", nil},
		"a redirect":               {on("GET", 0, always, says(307, "", "Location", "http://169.254.169.254/latest")), fail.Usage, "a redirect is not followed", nil},
		"an archived object":       {on("GET", 0, always, says(403, "InvalidObjectState")), fail.Input, "restore it", nil},
		"expired keys of the job":  {on("LIST", 0, always, says(400, "ExpiredToken")), fail.Usage, "put new keys", nil},
		"a clock that is off once": {on("LIST", 0, 0, says(403, "RequestTimeTooSkewed", "Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))), fail.OK, "", nil},
		"a clock that stays off":   {on("LIST", 0, always, says(403, "RequestTimeTooSkewed", "Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))), fail.Temporary, "set the clock of this machine", nil},
		"a listing that is cut":    {on("LIST", 0, 1, func(rw http.ResponseWriter, r *http.Request, f http.Handler) { broken(rw, r, f, 200) }), fail.OK, "", nil},
		"a page that is no listing": {on("LIST", 0, always, func(rw http.ResponseWriter, _ *http.Request, _ http.Handler) {
			fmt.Fprint(rw, "<html><body>Welcome<br></body>")
		}), fail.Temporary, "address of the S3 API", nil},
		"a listing without end": {on("LIST", 0, always, func(rw http.ResponseWriter, r *http.Request, f http.Handler) {
			fmt.Fprint(rw, `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken></ListBucketResult>`)
		}), fail.Input, "does not come to its end", nil},
		"a listing that repeats": {on("LIST", 0, always, func(rw http.ResponseWriter, r *http.Request, f http.Handler) {
			fmt.Fprint(rw, `<ListBucketResult><IsTruncated>false</IsTruncated>`+strings.Repeat(`<Contents><Key>in/a.csv</Key><ETag>"e"</ETag><Size>1</Size></Contents>`, 2)+`</ListBucketResult>`)
		}), fail.Input, "in/a.csv is listed twice", nil},
	} {
		t.Run(name, func(t *testing.T) {
			upload()
			if _, err := w.api.DeleteObject(context.Background(), &s3.DeleteObjectInput{Bucket: &w.bucket, Key: new("in/d.csv")}); err != nil {
				t.Fatal(err)
			}
			w.proxy.spoil(c.fault)
			defer w.proxy.spoil(nil)
			a := w.request("s3://evidence/in/*.csv", "checksums: when_supported", "parallel: 3")
			s, err := fetch.Pull(context.Background(), quick, a.Request)
			if fail.ClassOf(err) != c.class {
				t.Fatalf("class %d, want %d: %v", fail.ClassOf(err), c.class, err)
			}
			if err == nil {
				whole(t, a, s, content())
				if s.Retries == 0 && name != "slow body" && name != "a byte is turned" {
					t.Error("nothing was sent again")
				}
				return
			}
			e, _ := errors.AsType[*fail.Error](err)
			if text := e.Error() + " | " + e.Hint; !strings.Contains(text, c.says) || !strings.Contains(text, "the source results: ") || e.Hint == "" {
				t.Errorf("%s\nlacks %q", text, c.says)
			}
			if _, err := os.Stat(filepath.Join(a.Dir, fetch.SnapshotFile)); err == nil {
				t.Error("there is a snapshot")
			}
			sound := content()
			files, err := os.ReadDir(filepath.Join(a.Dir, fetch.FilesDir))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				got, err := os.ReadFile(filepath.Join(a.Dir, fetch.FilesDir, f.Name()))
				if err != nil || string(got) != string(sound[f.Name()]) {
					t.Errorf("%s has its name and is not whole", f.Name())
				}
			}
			w.proxy.spoil(nil)
			upload()
			if name == "another one comes" {
				sound["d.csv"] = noise(8, 99)
			}
			whole(t, a, pulled(t, a), sound)
		})
	}
}

// TestUntil: nothing is sent again after the time of the request, however long the store
// asks to wait.
func TestUntil(t *testing.T) {
	w := newWorld(t)
	w.put("in/a.csv", noise(9, 100))
	var n atomic.Int64
	w.proxy.spoil(on("GET", 0, always, func(rw http.ResponseWriter, r *http.Request, f http.Handler) {
		n.Add(1)
		says(503, "SlowDown", "Retry-After", "3600")(rw, r, f)
	}))
	a := w.request("s3://evidence/in/a.csv")
	a.Until = time.Now().Add(10 * time.Minute)
	_, err := fetch.Pull(context.Background(), quick, a.Request)
	if fail.ClassOf(err) != fail.Temporary || n.Load() != 1 {
		t.Errorf("%d requests: %v", n.Load(), err)
	}
	// Nor does a request without an end wait for an hour.
	n.Store(0)
	a.Until = time.Time{}
	if _, err = fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Temporary || n.Load() != 1 {
		t.Errorf("%d requests: %v", n.Load(), err)
	}
	// By the clock of the run: it stands, until the eighth attempt.
	now := time.Now()
	w.proxy.spoil(on("GET", 0, always, says(500, "InternalError")))
	a.Until = now.Add(time.Minute)
	a.Now = func() time.Time {
		if len(w.proxy.requests("GET")) < 8 {
			return now
		}
		return now.Add(time.Hour)
	}
	_, err = fetch.Pull(context.Background(), quick, a.Request)
	if got := len(w.proxy.requests("GET")); fail.ClassOf(err) != fail.Temporary || got != 8 {
		t.Errorf("%d requests: %v", got, err)
	}
}

// TestUntilInMidBody: an answer that takes longer than the run may is not waited for.
func TestUntilInMidBody(t *testing.T) {
	w := newWorld(t)
	body := noise(9, 100)
	w.put("in/a.csv", body)
	w.proxy.spoil(nil)
	a := w.request("s3://evidence/in/a.csv")
	now := time.Now()
	a.Until = now.Add(time.Minute)
	a.Now = func() time.Time {
		if len(w.proxy.requests("GET")) == 0 {
			return now
		}
		return now.Add(time.Hour)
	}
	if _, err := fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Temporary || !strings.Contains(err.Error(), "time of the run is over") {
		t.Error(err)
	}
}

// TestDigestThatIsNone: an ETag that is no digest of the content is found out by a second
// reading, which must bring the same bytes.
func TestDigestThatIsNone(t *testing.T) {
	w := newWorld(t)
	body := noise(12, 3<<20)
	w.put("in/a.csv", body)
	turn := func(by func() byte) fault {
		return on("GET", 0, always, func(rw http.ResponseWriter, r *http.Request, f http.Handler) {
			rec := taken(r, f)
			b := rec.Body.Bytes()
			b[9] ^= by()
			send(rw, rec, b)
		})
	}
	w.proxy.spoil(turn(func() byte { return 1 }))
	a := w.request("s3://evidence/in/a.csv")
	s := pulled(t, a)
	other := bytes.Clone(body)
	for i := range 3 {
		other[i<<20+9] ^= 1
	}
	whole(t, a, s, map[string][]byte{"a.csv": other})
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "read twice") || !strings.Contains(s.Proof, "two readings") || len(w.proxy.requests("GET")) != 6 {
		t.Errorf("%q, %s", s.Notes, s.Proof)
	}
	var n atomic.Uint32
	w.proxy.spoil(turn(func() byte { return byte(n.Add(1)) }))
	if _, err := fetch.Pull(context.Background(), quick, w.request("s3://evidence/in/a.csv").Request); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "was read twice and does not fit its MD5 in the ETag") {
		t.Error(err)
	}
}

// TestStalled: an answer in which nothing comes any more is given up, and what came of it
// is not asked for again.
func TestStalled(t *testing.T) {
	w := newWorld(t)
	body := noise(10, 1<<20)
	w.put("in/a.csv", body)
	ended := make(chan struct{})
	defer close(ended)
	w.proxy.spoil(on("GET", 0, 0, func(rw http.ResponseWriter, r *http.Request, f http.Handler) {
		rec := taken(r, f)
		for k, v := range rec.Header() {
			rw.Header()[k] = v
		}
		rw.WriteHeader(rec.Code)
		// The client may have gone by then, which the pull itself tells.
		_, _ = rw.Write(rec.Body.Bytes()[:200_000])
		_ = http.NewResponseController(rw).Flush()
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}))
	a := w.request("s3://evidence/in/a.csv")
	s, err := fetch.Pull(context.Background(), Puller{pause: time.Millisecond, idle: 500 * time.Millisecond}, a.Request)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, a, s, map[string][]byte{"a.csv": body})
	gets := w.proxy.requests("GET")
	if len(gets) < 2 || gets[len(gets)-1].span == gets[0].span {
		t.Errorf("asked for %+v", gets)
	}
}

// TestKeysAreRenewed: keys that have become too old are read again, those of the job from
// their files, those of the machine from the chain.
func TestKeysAreRenewed(t *testing.T) {
	w := newWorld(t)
	body := noise(11, 3<<20)
	w.put("in/a.csv", body)
	a := w.request("s3://evidence/in/*.csv", "access_key: {file: access}, secret_key: {env: TEST_SECRET}")
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(a.BaseDir, "access"), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("AKIAOLDANDGONE")
	w.proxy.spoil(func(rw http.ResponseWriter, r *http.Request, n int, f http.Handler) bool {
		if !strings.Contains(r.Header.Get("Authorization"), "AKIAOLDANDGONE") {
			return false
		}
		write(w.server.AccessKey)
		says(400, "ExpiredToken")(rw, r, f)
		return true
	})
	s, err := fetch.Pull(context.Background(), quick, a.Request)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, a, s, map[string][]byte{"a.csv": body})

	t.Setenv("AWS_ACCESS_KEY_ID", w.server.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", w.server.SecretKey)
	w.proxy.spoil(nil)
	a = w.request("s3://evidence/in/*.csv", "chain: true")
	whole(t, a, pulled(t, a), map[string][]byte{"a.csv": body})
	w.proxy.spoil(on("LIST", 0, always, says(400, "ExpiredToken")))
	a = w.request("s3://evidence/in/*.csv", "chain: true")
	if _, err = fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Temporary {
		t.Error(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	w.proxy.spoil(nil)
	_, err = fetch.Pull(context.Background(), quick, a.Request)
	if fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "there are no credentials") || len(w.proxy.requests("LIST")) > 0 {
		t.Error(err)
	}
}
