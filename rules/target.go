package rules

import (
	"regexp"
	"slices"
	"strings"
)

// Target is the bucket that the runs of a job are sent to.
type Target struct {
	Address string // s3://bucket/prefix
	S3      *S3
}

// targetShape has the keys of s3 that mean something where a store is written to.
var targetShape = &shape{
	name: "s3_outputs", doc: "What the address of the bucket does not say; as `s3` of a source where the key has the same name.",
	keys: append(keysOfShape(s3Shape, "endpoint", "region", "path_style", "checksums", "profile", "access_key", "secret_key", "session_token", "allow_private", "expected_bucket_owner"),
		key{name: "parallel", doc: "Files that are sent at once, 1 to 32.", def: "4", value: intValue(1)},
		key{name: "sse", doc: "How the store encrypts what it keeps: AES256, or aws:kms.", def: "as the bucket says", value: enumValue("AES256", "aws:kms")},
		key{name: "kms_key", doc: "The key of aws:kms: its id or ARN.", def: "that of the account", value: schema{"type": "string"}},
	),
}

// keysOfShape gives some of the keys of a shape, in its order.
func keysOfShape(s *shape, names ...string) []key {
	return slices.DeleteFunc(slices.Clone(s.keys), func(k key) bool { return !slices.Contains(names, k.name) })
}

// targetPrefix is what may stand after the bucket: it becomes part of addresses that people
// and programs copy.
var targetPrefix = regexp.MustCompile(`^[A-Za-z0-9!_.*'()=-]+(?:/[A-Za-z0-9!_.*'()=-]+)*$`)

// target reads where runs are sent to; nil: nowhere.
func (d *decoder) target(o *object) *Target {
	if !o.has("publish") {
		if o.has("s3") {
			o.fail("s3", "add publish: s3://bucket/prefix, or remove the key", "%s says how a bucket is asked, and none is named", o.at("s3"))
		}
		return nil
	}
	x := &Target{Address: strings.TrimSuffix(o.text("publish", ""), "/")}
	_, prefix, ok := SplitS3(x.Address)
	if !ok || !targetPrefix.MatchString(prefix) || slices.ContainsFunc(strings.Split(prefix, "/"), func(p string) bool { return p == "." || p == ".." }) {
		o.fail("publish", "write s3://bucket/prefix; runs are kept below it, as PREFIX/JOB/DATE/RUN/", "%s: %q is no place in a bucket", o.at("publish"), x.Address)
	}
	c := o.sub("s3", targetShape)
	x.S3 = d.s3Store(c)
	if x.S3.KMSKey != "" && x.S3.Encrypt != "aws:kms" {
		c.fail("kms_key", "add sse: aws:kms, or remove the key", "%s is the key of an encryption that is not asked for", c.at("kms_key"))
	}
	return x
}

func (t *tree) target(x *Target) {
	if x == nil {
		return
	}
	t.text("publish", x.Address)
	t.sub("s3", func(t *tree) { t.s3Store(x.S3, targetShape) })
}
