package rules

import (
	"path"
	"regexp"
	"strings"
)

// S3 is what an address s3://bucket/key does not say. The zero value of a text leaves it
// to the default chain of the AWS SDK: environment, profile, role of the machine.
type S3 struct {
	Endpoint      string // URL of a store other than AWS
	Region        string
	PathStyle     bool
	Checksums     S3Checksums
	Profile       string
	AccessKey     Secret // with SecretKey, in place of the chain
	SecretKey     Secret
	SessionToken  Secret
	CustomerKey   Secret // SSE-C: 32 bytes in base64
	AllowPrivate  bool   // private and loopback addresses may be dialled
	RequesterPays bool
	Owner         string // account that the bucket must belong to
	PartSize      int64  // bytes of one ranged request
	Parallel      int    // requests at once
	Most          int64  // bytes of all objects of one pull
	Encrypt       string // of outputs: AES256 or aws:kms; "" as the bucket says
	KMSKey        string // of outputs: the key of aws:kms; "" the one of the account
}

// S3Checksums says when the store is asked for the checksums that it keeps.
type S3Checksums string

// When checksums are asked for.
const (
	ChecksumsSupported S3Checksums = "when_supported"
	ChecksumsRequired  S3Checksums = "when_required"
)

// Defaults and bounds of s3.
const (
	s3PartSize = 8 << 20
	s3Parallel = 4
	s3Most     = 1 << 40

	// S3Spare are the parts that are held in memory beside those that are asked for: what
	// has come and waits to be written.
	S3Spare  = 2
	s3Memory = 256 << 20 // bytes of all parts in memory
)

var s3Shape = &shape{
	name: "s3", doc: "What an address s3://bucket/key does not say. Every object is read at one version, in parts at the same time, and its size and checksum are compared; docs/sources-s3.md tells what is refused.",
	keys: []key{
		{name: "endpoint", doc: "URL of a store other than AWS; http only with `allow_private`.", def: "AWS, or what its configuration names", value: schema{"type": "string"}},
		{name: "region", doc: "Region of the bucket.", def: "AWS_REGION or the profile; us-east-1 with an endpoint", value: schema{"type": "string"}},
		{name: "path_style", doc: "The bucket stands in the path of the URL, not in its host.", def: "true with an endpoint, else false", value: boolValue()},
		{name: "checksums", doc: "Whether the store is asked for the checksums that it keeps. Some stores do not know the question: when_required leaves it out.", def: "when_required with an endpoint, else when_supported", value: enumValue(ChecksumsSupported, ChecksumsRequired)},
		{name: "profile", doc: "Profile of the shared AWS configuration.", def: "AWS_PROFILE, or default", value: schema{"type": "string"}},
		{name: "access_key", doc: "Where the access key is, with `secret_key`.", def: "the default chain: environment, profile, web identity, container, instance", value: shapeValue(secretShape)},
		{name: "secret_key", doc: "Where the secret key is.", value: shapeValue(secretShape)},
		{name: "session_token", doc: "Where the token of temporary keys is.", def: "none", value: shapeValue(secretShape)},
		{name: "sse_customer_key", doc: "Where the key of objects is that are encrypted with a key of the customer (SSE-C): 32 bytes in base64.", def: "none", value: shapeValue(secretShape)},
		{name: "allow_private", doc: "Addresses of private networks and of this machine may be dialled.", def: "false", value: boolValue()},
		{name: "requester_pays", doc: "The requests are paid by whoever asks.", def: "false", value: boolValue()},
		{name: "expected_bucket_owner", doc: "Account that the bucket must belong to, 12 digits.", def: "any", value: patternValue(`^[0-9]{12}$`)},
		{name: "part_size", doc: "Bytes of one request, from 1 MiB. Parts in memory are those that are asked for at once and two more.", def: "8388608, 8 MiB", value: intValue(1 << 20)},
		{name: "parallel", doc: "Requests at once, 1 to 32.", def: "4", value: intValue(1)},
		{name: "max_bytes", doc: "How much one pull may bring.", def: "1099511627776, 1 TiB", value: intValue(1)},
	},
}

var (
	s3Bucket = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$`)
	s3Owner  = regexp.MustCompile(`^[0-9]{12}$`)
)

// SplitS3 cuts an address s3://bucket/key. The key may be a pattern, the bucket not. The
// key is taken as it stands: nothing of it is decoded.
func SplitS3(address string) (bucket, key string, ok bool) {
	rest, is := strings.CutPrefix(address, "s3://")
	bucket, key, slash := strings.Cut(rest, "/")
	return bucket, key, is && slash && s3Bucket.MatchString(bucket) && key != "" && !strings.HasSuffix(key, "/")
}

// s3Address checks an address as far as it is known before its dates are filled in.
func (d *decoder) s3Address(o *object, s *Source) {
	at := o.at("path")
	text, err := s.Path.fill(probeDate, probeDate)
	if err != nil {
		return // told already
	}
	_, key, ok := SplitS3(text)
	if !ok {
		d.fail(at, "write s3://bucket/folder/name.csv; the name of a bucket has 3 to 63 letters, digits, points and hyphens, and no pattern", "%q is no address of objects", string(s.Path))
	} else if _, err := path.Match(key, ""); err != nil && !s.Literal {
		d.fail(at, "write path: {exact: …} for a name that holds a bracket", "%q is no pattern", key)
	}
}

func (d *decoder) s3(o *object, s *Source) { s.Remote.S3 = d.s3Store(o) }

// s3Store reads what is said of a store, of which outputs have other keys than sources.
func (d *decoder) s3Store(o *object) *S3 {
	v := &S3{Checksums: ChecksumsSupported, PartSize: s3PartSize, Parallel: s3Parallel, Most: s3Most}
	if o == nil {
		return v
	}
	knows := func(name string) bool { return o.shape.key(name) != nil }
	v.Endpoint = strings.TrimRight(o.text("endpoint", ""), "/")
	v.Region, v.Profile = o.text("region", ""), o.text("profile", "")
	if v.Endpoint != "" {
		v.PathStyle, v.Checksums = true, ChecksumsRequired
	}
	v.PathStyle = o.boolean("path_style", v.PathStyle)
	v.Checksums = choice(o, "checksums", v.Checksums, ChecksumsSupported, ChecksumsRequired)
	for name, to := range map[string]*Secret{
		"access_key": &v.AccessKey, "secret_key": &v.SecretKey, "session_token": &v.SessionToken, "sse_customer_key": &v.CustomerKey,
	} {
		if knows(name) && o.has(name) {
			*to = d.secretOf(o.node(name), o.at(name))
		}
	}
	v.AllowPrivate = o.boolean("allow_private", false)
	v.Parallel = int(o.integer("parallel", s3Parallel, 1, 32))
	if o.shape == s3Shape {
		v.RequesterPays = o.boolean("requester_pays", false)
		v.PartSize = o.integer("part_size", s3PartSize, 1<<20, s3Memory)
		v.Most = o.integer("max_bytes", s3Most, 1, 1<<50)
	} else {
		v.Encrypt, v.KMSKey = choice(o, "sse", "", "AES256", "aws:kms"), o.text("kms_key", "")
	}
	if v.Owner = o.text("expected_bucket_owner", ""); v.Owner != "" && !s3Owner.MatchString(v.Owner) {
		o.fail("expected_bucket_owner", `the 12 digits of an account, in quotes: "012345678901"`, "%s: %q is no account", o.at("expected_bucket_owner"), v.Owner)
	}
	d.s3Fits(o, v)
	return v
}

// s3Fits refuses what contradicts itself.
func (d *decoder) s3Fits(o *object, v *S3) {
	if v.Endpoint != "" {
		u, err := CheckURL(v.Endpoint, false)
		switch {
		case err != nil:
			o.fail("endpoint", "https://host or https://host:port", "%s: %s", o.at("endpoint"), err)
		case u.RawQuery != "" || u.Fragment != "":
			o.fail("endpoint", "https://host or https://host:port", "%s: an endpoint has no query", o.at("endpoint"))
		case u.Scheme == "http" && v.CustomerKey.Declared():
			o.fail("endpoint", "use https", "%s: the key of the customer would be sent over http", o.at("endpoint"))
		case u.Scheme == "http" && !v.AllowPrivate:
			o.fail("endpoint", "use https, or say `allow_private: true` for a store in a network of your own", "%s: over http anybody on the way can change what is read", o.at("endpoint"))
		}
	}
	switch {
	case o.has("access_key") != o.has("secret_key"):
		o.fail(s3Given(o, "access_key", "secret_key"), "write both, or leave both to the default chain", "%s has one of access_key and secret_key", o.path)
	case o.has("session_token") && !o.has("access_key"):
		o.fail("session_token", "add access_key and secret_key, or leave all to the default chain", "%s has a session_token without keys", o.path)
	case o.has("profile") && o.has("access_key"):
		o.fail("profile", "keep one of the two", "%s has keys and a profile that gives keys", o.path)
	}
	if need := v.PartSize * int64(v.Parallel+S3Spare); need > s3Memory && o.shape == s3Shape {
		o.fail(s3Given(o, "part_size", "parallel"), "make part_size or parallel smaller", "%s: %d parts of %d bytes in memory are more than %d bytes", o.path, v.Parallel+S3Spare, v.PartSize, s3Memory)
	}
}

// s3Given is the first of the keys that is there.
func s3Given(o *object, names ...string) string {
	for _, n := range names {
		if o.has(n) {
			return n
		}
	}
	return names[0]
}

func (t *tree) s3(s *Source) {
	v := s.Remote.S3
	t.address(s)
	t.sub(FromS3, func(t *tree) { t.s3Store(v, s3Shape) })
}

// s3Store writes what is said of a store: the keys that a shape has.
func (t *tree) s3Store(v *S3, of *shape) {
	t.text("endpoint", v.Endpoint)
	t.text("region", v.Region)
	t.boolean("path_style", v.PathStyle)
	t.text("checksums", string(v.Checksums))
	t.text("profile", v.Profile)
	t.secret("access_key", v.AccessKey)
	t.secret("secret_key", v.SecretKey)
	t.secret("session_token", v.SessionToken)
	t.secret("sse_customer_key", v.CustomerKey)
	t.boolean("allow_private", v.AllowPrivate)
	if of == s3Shape {
		t.boolean("requester_pays", v.RequesterPays)
	}
	t.text("expected_bucket_owner", v.Owner)
	if of == s3Shape {
		t.integer("part_size", v.PartSize)
	}
	t.integer("parallel", int64(v.Parallel))
	if of == s3Shape {
		t.integer("max_bytes", v.Most)
	}
	t.text("sse", v.Encrypt)
	t.text("kms_key", v.KMSKey)
}
