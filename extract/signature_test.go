package extract

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

func mac(h func() hash.Hash, key, text string) []byte {
	m := hmac.New(h, []byte(key))
	m.Write([]byte(text))
	return m.Sum(nil)
}

func inHex(key, text string) string { return hex.EncodeToString(mac(sha256.New, key, text)) }

// call is one call of a webhook, as it was written down.
func call(members ...string) string {
	m := map[string]string{}
	for i := 0; i < len(members); i += 2 {
		m[members[i]] = members[i+1]
	}
	b, _ := json.Marshal(m)
	return string(b) + "\n"
}

// webhook declares a dump of webhook calls; the key is in the file key, the one before in
// the file old.
const webhook = `name: hooks
path: hooks.ndjson
on_reject: keep
coverage: {proves: presence-only, from: "{date}T00:00", until: "{date+1}T00:00"}
fields:
  operation_id: {column: raw, json_path: reference}
  amount: {column: raw, json_path: amount}
  currency: {column: raw, json_path: currency}
  created_at: {absent: true}
signature: {SIGNATURE, body: raw, secrets: [{file: key}, {file: old}]}
`

// A record counts only where one of the keys has signed it, whole: the published forms of
// signatures, and every way to have none.
func TestSignatures(t *testing.T) {
	const (
		body  = `{"reference":"a","amount":"1.00","currency":"EUR"}`
		other = `{"reference":"a","amount":"9.00","currency":"EUR"}`
		key   = "whsec_dGhlIGtleSBvZiB0aGUgdGVzdCE="
		old   = "the one before"
	)
	standard := "the key of the test!" // what key holds, behind whsec_, in base64
	both := func(signed, text string) string { return call("raw", text, "sig", signed) }
	for _, c := range []struct {
		name, signature string
		good            []string
		bad             map[string]string // record → what is said of it
	}{
		{"hmac", "value: sig", []string{both(inHex(key, body), body), both(inHex(old, body), body), both(strings.ToUpper(inHex(key, body)), body)}, map[string]string{
			both(inHex(key, body), other): badSignature, both(inHex("another", body), body): badSignature, both("", body): "the record has no signature",
			call("raw", body): "the record has no signature", both("xyz", body): badSignature, both(inHex(key, body)[:62], body): badSignature,
			`{"raw":{"reference":"a"},"sig":"` + inHex(key, body) + "\"}\n": "", // an object is none of the declared texts
		}},
		{"github's form", `value: sig, prefix: "sha256="`, []string{both("sha256="+inHex(key, body), body)}, map[string]string{both(inHex(key, body), body): badSignature}},
		{"with a time", `value: sig, signed: "v0:{at}:{body}", prefix: "v0="`, []string{call("raw", body, "at", "17", "sig", "v0="+inHex(key, "v0:17:"+body))}, map[string]string{
			call("raw", body, "at", "18", "sig", "v0="+inHex(key, "v0:17:"+body)): badSignature,
			call("raw", body, "sig", "v0="+inHex(key, "v0::"+body)):               "a column that is signed with the body is empty",
		}},
		{"base64 of sha512", "value: sig, hash: sha512, encoding: base64", []string{both(base64.StdEncoding.EncodeToString(mac(sha512.New, key, body)), body)}, map[string]string{both(inHex(key, body), body): badSignature}},
		{"body in base64", "value: sig, body_in: base64", nil, map[string]string{both(inHex(key, body), "?"): "the body is no base64"}},
		{"stripe", "scheme: stripe, value: sig", []string{
			both("t=17,v1="+inHex(key, "17."+body), body), both("t=17,v1="+inHex("x", "17."+body)+",v1="+inHex(old, "17."+body)+",v0=00", body),
		}, map[string]string{
			both("t=18,v1="+inHex(key, "17."+body), body):      badSignature,
			both("t=17,v0="+inHex(key, "17."+body), body):      "the signature has no t or no v1",
			both("v1="+inHex(key, "."+body), body):             "the signature has no t or no v1",
			both("t=17,t=18,v1="+inHex(key, "17."+body), body): badSignature,
		}},
		{"standard webhooks", "scheme: standard-webhooks, value: webhook-signature", []string{
			call("raw", body, "webhook-id", "m1", "webhook-timestamp", "17", "webhook-signature", "v1a,zz v1,"+base64.StdEncoding.EncodeToString(mac(sha256.New, standard, "m1.17."+body))),
		}, map[string]string{
			call("raw", body, "webhook-id", "m2", "webhook-timestamp", "17", "webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac(sha256.New, standard, "m1.17."+body))): badSignature,
			call("raw", body, "webhook-timestamp", "17", "webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac(sha256.New, standard, ".17."+body))):                       "a column that is signed with the body is empty",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("key", key+"\n")
			w.write("old", old)
			want := map[int64]string{}
			text, n := strings.Join(c.good, ""), int64(len(c.good))
			for record, why := range c.bad {
				n++
				text, want[n] = text+record, why
			}
			w.write("hooks.ndjson", text)
			declared(t, w, strings.Replace(webhook, "SIGNATURE", c.signature, 1))
			for _, run := range []string{"parsed", "cached"} {
				rel, rows := w.mustLoad(rules.Results)
				if len(rows) != len(c.good) || len(rel.Rejects) != len(c.bad) || rel.Files[0].Records != n || len(rel.Files[0].SignedWith) != 16 {
					t.Fatalf("%s: %d rows, rejects %+v, %+v", run, len(rows), rel.Rejects, rel.Files[0])
				}
				for _, r := range rel.Rejects {
					if why, ok := want[r.Record]; !ok || !strings.Contains(r.Reason, why) || len(r.Raw) == 0 {
						t.Errorf("%s: %+v, want %q", run, r, why)
					}
				}
			}
		})
	}
}

// Other keys judge anew what is staged; without on_reject: keep a bad signature refuses the
// file; a key that is not there is no good signature either; and no key is in what is staged.
func TestSignatureKeys(t *testing.T) {
	const canary = "whsec-canary-5d1c8a"
	body := `{"reference":"a","amount":"1.00","currency":"EUR"}`
	w := newWorld(t)
	w.write("key", canary)
	w.write("old", canary+"-old")
	w.write("hooks.ndjson", call("raw", body, "sig", inHex(canary, body)))
	source := strings.Replace(webhook, "SIGNATURE", "value: sig", 1)
	declared(t, w, source)
	first, rows := w.mustLoad(rules.Results)
	if len(rows) != 1 || len(first.Rejects) != 0 {
		t.Fatalf("%+v", first)
	}
	w.write("key", "another")
	second, rows := w.mustLoad(rules.Results)
	if len(rows) != 0 || len(second.Rejects) != 1 || second.Files[0].SignedWith == first.Files[0].SignedWith {
		t.Fatalf("by other keys: %d rows, %+v", len(rows), second.Files[0])
	}
	declared(t, w, strings.Replace(source, "on_reject: keep\n", "", 1))
	if _, _, err := w.load(rules.Results); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "record 1 (line 1), column sig: "+badSignature) {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(w.dir, "key")); err != nil {
		t.Fatal(err)
	}
	declared(t, w, source)
	if _, _, err := w.load(rules.Results); fail.ClassOf(err) != fail.Usage || !strings.Contains(fmt.Sprint(err), "signature.secrets[0] of the source hooks") {
		t.Errorf("without the key: %v", err)
	}
	// What a run checked and staged is read again without the keys.
	pins := []Pinned{{Source: "hooks", Path: "hooks.ndjson", SHA256: first.Files[0].SHA256, SignedWith: first.Files[0].SignedWith}}
	rel, err := Load(t.Context(), w.db, w.job, rules.Results, Options{StageDir: w.stage, BaseDir: w.dir, Secret: w.secret, Pinned: pins})
	if err != nil || rel.Records != 1 || len(rel.Rejects) != 0 {
		t.Errorf("pinned: %v, %+v", err, rel)
	}
	searched := 0
	err = filepath.WalkDir(w.stage, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		searched++
		text, err := os.ReadFile(path)
		if strings.Contains(path+string(text), "canary") {
			t.Errorf("a key is in %s", path)
		}
		return err
	})
	if err != nil || searched < 4 {
		t.Errorf("%d files, %v", searched, err)
	}
}
