package s3

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/recon-batch/recon-batch/fetch/web"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// Errors of what came, beside those of the store.
var (
	errChanged = errors.New("the store answers with another content than the one that was listed")
	errShort   = errors.New("the answer ended before it was whole")
	errIdle    = errors.New("nothing came in time")
	errRanges  = errors.New("the store does not answer with the part that was asked for")
	errOver    = errors.New("the time of the run is over")
)

const later = "start the run again later; what is stored is not asked for again"

// judge gives an error its class and remedy, and tells whether the request is sent again.
func (p *pull) judge(rq request, err error) verdict {
	if e, ok := errors.AsType[*fail.Error](err); ok {
		return verdict{err: e}
	}
	no := func(class fail.Class, hint, format string, args ...any) verdict {
		return verdict{err: p.fail(class, hint, format, args...)}
	}
	if n, ok := errors.AsType[*noKeys](err); ok {
		return p.withoutKeys(n)
	}
	if what, hint, ok := web.Refusal(err); ok {
		return no(fail.Usage, strings.Replace(hint, "`allow_private: true`", "`s3: {allow_private: true}`", 1), "%s: %s", rq.at, what)
	}
	switch {
	case errors.Is(err, errChanged):
		return no(fail.Input, "run again when the delivery has ended", "%s was changed between the listing and the reading", rq.at)
	case errors.Is(err, errRanges):
		return no(fail.Usage, "this store cannot be read in parts; copy the objects by its own means and name them by their path", "%s: %s", rq.at, err)
	case errors.Is(err, errOver):
		return no(fail.Temporary, later, "%s: %s", rq.at, err)
	}
	status, header := 0, http.Header{}
	if r, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && r.Response != nil && r.Response.Response != nil {
		status, header = r.HTTPStatusCode(), r.Response.Header
	}
	code, said := "", ""
	if a, ok := errors.AsType[smithy.APIError](err); ok {
		code, said = a.ErrorCode(), a.ErrorMessage()
	}
	if status == 0 && code == "" {
		return p.network(rq, err)
	}
	v := p.answer(rq, code, said, status, header)
	if v.again {
		v.after = web.RetryAfter(header.Get("Retry-After"), p.r.Now())
	}
	return v
}

// answer judges what the store says. The codes are those of S3's API reference; an answer
// to HEAD has none, and is judged by its status.
func (p *pull) answer(rq request, code, said string, status int, header http.Header) verdict {
	text := fmt.Sprintf("%s: the store answers %d %s", rq.at, status, code)
	if said != "" && said != code {
		text += ": " + strings.TrimSuffix(p.cut(said), ".")
	}
	as := func(class fail.Class, hint string, args ...any) verdict {
		return verdict{err: p.fail(class, fmt.Sprintf(hint, args...), "%s", text)}
	}
	region := header.Get("X-Amz-Bucket-Region")
	switch code {
	case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidToken", "RequestExpired":
		// Keys of the job do not get younger by waiting; those of the chain may.
		v := as(fail.Usage, "put new keys where s3.access_key, s3.secret_key and s3.session_token are")
		if !p.st.own {
			v = as(fail.Temporary, "renew the credentials of this machine, or wait until their service has done it")
		}
		v.expired = true
		return v
	case "RequestTimeTooSkewed":
		// The SDK has noted the time of the answer and signs the next request by it.
		v := as(fail.Temporary, "set the clock of this machine; it differs from that of the store by %s", skew(p.r.Now(), header))
		v.again, v.few = true, true
		return v
	case "AccessDenied", "AllAccessDisabled", "AccountProblem", "Forbidden":
		return as(fail.Usage, "%s", p.right(rq, said))
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidSecurity", "AuthFailure", "UnrecognizedClientException", "XAdminUserNotFound":
		return as(fail.Usage, "correct access key and secret key; where a store of your own is meant, see s3.endpoint and s3.region")
	case "NoSuchBucket":
		return as(fail.Usage, "correct the name of the bucket, its region or the endpoint")
	case "InvalidBucketName":
		return as(fail.Usage, "correct the name of the bucket in the path")
	case "NoSuchKey", "NoSuchVersion", "MethodNotAllowed":
		return as(fail.Input, "it was deleted after it was listed; run again when the delivery has ended")
	case "InvalidObjectState":
		return as(fail.Input, "the object is in an archive: restore it (aws s3api restore-object) and run again")
	case "PreconditionFailed", "InvalidRange":
		return verdict{err: p.fail(fail.Input, "run again when the delivery has ended", "%s was changed between the listing and the reading", rq.at)}
	case "PermanentRedirect", "TemporaryRedirect", "Redirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "MovedPermanently":
		if region != "" {
			return as(fail.Usage, "the bucket is in another region: write s3: {region: %s}", p.st.clean(region))
		}
		return as(fail.Usage, "correct s3.region or s3.endpoint")
	case "NotImplemented":
		return as(fail.Usage, "the store does not know the request; try s3: {checksums: when_required}")
	case "SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout", "Busy", "OperationAborted", "Throttling", "ThrottlingException", "TooManyRequests", "RequestLimitExceeded", "BandwidthLimitExceeded":
		v := as(fail.Temporary, "%s", later)
		v.again = true
		return v
	}
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= 500 && status != http.StatusNotImplemented:
		v := as(fail.Temporary, "%s", later)
		v.again = true
		return v
	case status >= 200 && status < 300:
		v := as(fail.Temporary, "see whether s3.endpoint is the address of the S3 API; %s", later)
		v.again = true // an answer that was cut cannot be told from one that is none
		return v
	case status == http.StatusNotFound:
		return as(fail.Input, "it was deleted after it was listed; run again when the delivery has ended")
	case status == http.StatusPreconditionFailed:
		return verdict{err: p.fail(fail.Input, "run again when the delivery has ended", "%s was changed between the listing and the reading", rq.at)}
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return as(fail.Usage, "%s", p.right(rq, said))
	case status >= 300 && status < 400:
		if region != "" {
			return as(fail.Usage, "the bucket is in another region: write s3: {region: %s}", p.st.clean(region))
		}
		return as(fail.Usage, "correct s3.region or s3.endpoint; a redirect is not followed")
	case strings.Contains(strings.ToLower(said), "server side encryption"):
		return as(fail.Usage, "the object is encrypted with a key of the customer: see s3.sse_customer_key")
	}
	return as(fail.Usage, "see the keys under s3 in the job file; a store other than AWS may need path_style: true and checksums: when_required")
}

// right names what the caller must be allowed to do.
func (p *pull) right(rq request, said string) string {
	of := "arn:aws:s3:::" + p.st.bucket
	text := "allow s3:ListBucket on " + of
	if rq.op == "PutObject" {
		text = "allow s3:PutObject on " + of + "/" + strings.TrimPrefix(rq.at, "s3://"+p.st.bucket+"/")
	} else if rq.op != "ListObjectsV2" {
		text = "allow s3:GetObject on " + of + "/" + strings.TrimPrefix(rq.at, "s3://"+p.st.bucket+"/")
		if rq.object != nil && rq.object.version != "" {
			text = "allow s3:GetObject and s3:GetObjectVersion on " + of + "/" + rq.object.key
		}
		if strings.Contains(said, "kms") || strings.Contains(said, "KMS") || rq.object != nil && rq.object.head != nil && strings.HasPrefix(string(rq.object.head.ServerSideEncryption), "aws:kms") {
			text += ", and kms:Decrypt on the key that encrypts it"
		}
		text += "; without s3:ListBucket an object that is not there is refused in the same way"
	}
	if p.of.Owner != "" {
		text += "; the bucket must belong to the account " + p.of.Owner
	}
	return p.st.clean(text)
}

// withoutKeys judges an error of whoever gives the credentials.
func (p *pull) withoutKeys(n *noKeys) verdict {
	if e, ok := errors.AsType[*fail.Error](n.err); ok {
		return verdict{err: e}
	}
	text := p.cut(n.Error())
	r, answered := errors.AsType[*awshttp.ResponseError](n.err)
	var broken net.Error
	if answered && (r.HTTPStatusCode() >= 500 || r.HTTPStatusCode() == http.StatusTooManyRequests) || !answered && errors.As(n.err, &broken) && !strings.Contains(text, "no EC2 IMDS role found") {
		return verdict{again: true, few: true, err: p.fail(fail.Temporary, later, "the service that gives the credentials does not answer: %s", text)}
	}
	return verdict{err: p.fail(fail.Usage, "name keys in the job file (s3: {access_key: {env: …}, secret_key: {env: …}}), or give this machine credentials: AWS_ACCESS_KEY_ID, a profile, a role", "there are no credentials: %s", text)}
}

// network judges an error without an answer.
func (p *pull) network(rq request, err error) verdict {
	var cert *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var dns *net.DNSError
	text := p.cut(innermost(err))
	switch {
	case errors.As(err, &cert), errors.As(err, &authority), errors.As(err, &host):
		return verdict{err: p.fail(fail.Usage, "name the authority that signed its certificate in AWS_CA_BUNDLE, correct the endpoint, or write path_style: true", "%s: the store does not prove who it is: %s", rq.at, text)}
	case errors.As(err, &dns) && dns.IsNotFound:
		return verdict{again: true, few: true, err: p.fail(fail.Temporary, "see whether endpoint, region and the name of the bucket are right; a store whose host names do not hold the bucket needs path_style: true", "%s: there is no host %s", rq.at, dns.Name)}
	}
	if s, ok := errors.AsType[*smithy.SerializationError](err); ok {
		return verdict{err: p.fail(fail.Usage, "see the path and the keys under s3 in the job file", "%s cannot be asked for: %s", rq.at, p.cut(s.Err.Error()))}
	}
	return verdict{again: true, err: p.fail(fail.Temporary, later, "%s cannot be read: %s", rq.at, text)}
}

// innermost is the text of the cause. What the SDK says around it names request ids and
// attempts.
func innermost(err error) string {
	for {
		if o, ok := errors.AsType[*net.OpError](err); ok {
			return o.Error()
		}
		in := errors.Unwrap(err)
		if in == nil {
			return err.Error()
		}
		err = in
	}
}

// cut is the beginning of what others say, without secrets.
func (p *pull) cut(text string) string { return p.st.secrets.Cut(text) }

// skew is how far the clocks are apart.
func skew(now time.Time, header http.Header) string {
	t, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return "more than the store allows"
	}
	return now.Sub(t).Abs().Round(time.Second).String()
}
