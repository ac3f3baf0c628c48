package s3

import (
	"context"
	"crypto/md5" //nolint:gosec // the protocol wants it of the customer's key
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"

	"github.com/recon-batch/recon-batch/fetch/web"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/secret"
	"github.com/recon-batch/recon-batch/rules"
)

// store is a bucket, and how it is asked.
type store struct {
	api      *s3.Client
	bucket   string
	key      string // a pattern or an exact key
	endpoint string // "" AWS
	region   string
	owner    *string
	payer    types.RequestPayer
	sums     bool // the store is asked for checksums
	secrets  web.Secrets

	customer, customerMD5, customerBy *string // SSE-C

	mu    sync.Mutex
	creds aws.CredentialsProvider
	own   bool // the keys are those of the job file
}

// open resolves what the job says about the store. Nothing is sent to it.
func (p *pull) open(ctx context.Context) (*store, error) {
	of, r := p.of, p.r
	st := &store{region: of.Region, own: of.AccessKey.Declared()}
	p.st = st
	var ok bool
	if st.bucket, st.key, ok = rules.SplitS3(r.Input.Path); !ok {
		return nil, p.fail(fail.Usage, "write s3://bucket/folder/name.csv", "%s is no address of objects", r.Input.Path)
	}
	if of.Owner != "" {
		st.owner = &of.Owner
	}
	if of.RequesterPays {
		st.payer = types.RequestPayerRequester
	}
	if err := p.customerKey(); err != nil {
		return nil, err
	}
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if of.Region != "" {
		options = append(options, config.WithRegion(of.Region))
	}
	if of.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(of.Profile))
	}
	if st.own {
		keys := &keys{of: of, base: r.BaseDir, who: p.who, secrets: &st.secrets}
		if _, err := keys.Retrieve(ctx); err != nil {
			return nil, err
		}
		options = append(options, config.WithCredentialsProvider(aws.NewCredentialsCache(keys)))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, p.fail(fail.Usage, "see the AWS configuration of this machine, and s3.profile", "the AWS configuration cannot be used: %s", err)
	}
	st.creds, st.region = cfg.Credentials, cfg.Region
	st.api = s3.NewFromConfig(cfg, func(o *s3.Options) {
		if of.Endpoint != "" {
			o.BaseEndpoint = &of.Endpoint
		}
		st.endpoint = aws.ToString(o.BaseEndpoint) // AWS_ENDPOINT_URL_S3 included
		st.sums = of.Checksums == rules.ChecksumsSupported
		o.UsePathStyle = of.PathStyle
		if of.Endpoint == "" && st.endpoint != "" {
			// The job could not know that it is another store; its defaults hold here too.
			o.UsePathStyle, st.sums = true, false
		}
		if st.region == "" && st.endpoint != "" {
			st.region = "us-east-1"
		}
		o.Region, o.HTTPClient, o.Retryer = st.region, p.client(cfg), aws.NopRetryer{}
		// Checksums of objects are asked for and compared here: the SDK would compare those
		// of whole answers alone, and every answer is a part.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		o.DisableLogOutputChecksumValidationSkipped = true
	})
	if st.region == "" {
		return nil, p.fail(fail.Usage, "write s3: {region: …}, or set AWS_REGION", "the region of the bucket %s is not known", st.bucket)
	}
	return st, nil
}

// customerKey reads the key of SSE-C.
func (p *pull) customerKey() error {
	if !p.of.CustomerKey.Declared() {
		return nil
	}
	text, err := secret.Text(p.of.CustomerKey, p.r.BaseDir, "s3.sse_customer_key")
	if err != nil {
		return fail.Wrap(fail.Usage, err, "%s", p.who).WithHint("set it, or correct the job file")
	}
	p.st.secrets.Add(text)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != 32 {
		return fail.New(fail.Usage, "%s: s3.sse_customer_key is not 32 bytes in base64", p.who).
			WithHint("make one with: openssl rand -base64 32")
	}
	p.st.secrets.Add(string(raw))
	sum := md5.Sum(raw)
	p.st.customer, p.st.customerMD5, p.st.customerBy = &text, aws.String(base64.StdEncoding.EncodeToString(sum[:])), aws.String("AES256")
	return nil
}

// client sends the requests to the store. Those to the services that give credentials
// keep the client of the SDK: they go to addresses that evidence must not come from.
func (p *pull) client(cfg aws.Config) *http.Client {
	t := awshttp.NewBuildableClient().GetTransport()
	if b, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		t = b.GetTransport() // with the authorities of AWS_CA_BUNDLE
	}
	t.DialContext = web.Dial(p.of.AllowPrivate, !strings.HasPrefix(p.st.endpoint, "http://"))
	t.DisableCompression = true
	t.MaxIdleConnsPerHost = p.of.Parallel + 1
	t.ResponseHeaderTimeout = p.idle
	t.ReadBufferSize = 256 << 10
	return &http.Client{
		Transport: &counter{p: p, next: t},
		// A signature is for one host. What a store redirects to is named in the error.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// counter counts what is sent.
type counter struct {
	p    *pull
	next http.RoundTripper
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.p.mu.Lock()
	c.p.sent++
	c.p.mu.Unlock()
	return c.next.RoundTrip(r)
}

// keys are those of the job file. They are read again when the store says that they are
// too old: whoever brings new ones replaces the file.
type keys struct {
	of      *rules.S3
	base    string // folder of the job file
	who     string
	secrets *web.Secrets
}

func (k *keys) Retrieve(context.Context) (aws.Credentials, error) {
	c := aws.Credentials{Source: "job file"}
	for _, of := range []struct {
		from rules.Secret
		name string
		to   *string
	}{{k.of.AccessKey, "s3.access_key", &c.AccessKeyID}, {k.of.SecretKey, "s3.secret_key", &c.SecretAccessKey}, {k.of.SessionToken, "s3.session_token", &c.SessionToken}} {
		text, err := secret.Text(of.from, k.base, of.name)
		if err != nil {
			return c, fail.Wrap(fail.Usage, err, "%s", k.who).WithHint("set it, or correct the job file")
		}
		k.secrets.Add(text)
		*of.to = text
	}
	return c, nil
}

var errSameKeys = errors.New("the keys are the same as before")

// renew asks for new credentials after the store said that those of before are too old.
func (st *store) renew(ctx context.Context, before aws.Credentials) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	now, err := st.creds.Retrieve(ctx)
	if err == nil && !same(now, before) {
		return nil // another request has renewed them
	}
	if c, ok := st.creds.(*aws.CredentialsCache); ok {
		c.Invalidate()
	}
	if now, err = st.creds.Retrieve(ctx); err != nil {
		return err
	}
	if same(now, before) {
		return errSameKeys
	}
	return nil
}

func same(a, b aws.Credentials) bool {
	return a.AccessKeyID == b.AccessKeyID && a.SecretAccessKey == b.SecretAccessKey && a.SessionToken == b.SessionToken
}

// keep notes the secrets of the chain, so that they reach no text.
func (st *store) keep(ctx context.Context) (aws.Credentials, error) {
	c, err := st.creds.Retrieve(ctx)
	if err == nil {
		st.secrets.Add(c.SecretAccessKey, c.SessionToken)
	}
	return c, err
}

// at is the address of an object.
func (st *store) at(key string) string { return "s3://" + st.bucket + "/" + key }

// clean makes a text of others fit for an error: no secrets, no control characters.
func (st *store) clean(text string) string {
	return st.secrets.Clean(text)
}
