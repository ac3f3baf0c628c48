package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// exact looks for an object that is named exactly, and pins it.
func (p *pull) exact(ctx context.Context, o *object) (there bool, err error) {
	head, err := p.ask(ctx, o)
	if errors.Is(err, errNone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	o.etag, o.size = plainETag(head.ETag), aws.ToInt64(head.ContentLength)
	o.pin(head)
	return true, nil
}

// pinned asks for the version, checksums and encryption of an object that was listed.
func (p *pull) pinned(ctx context.Context, o *object) error {
	if o.head != nil {
		return nil
	}
	head, err := p.ask(ctx, o)
	const hint = "run again when the delivery has ended"
	switch {
	case errors.Is(err, errNone):
		return p.fail(fail.Input, hint, "%s was deleted after it was listed", p.st.at(o.key))
	case err != nil:
		return err
	case plainETag(head.ETag) != o.etag, aws.ToInt64(head.ContentLength) != o.size:
		return p.fail(fail.Input, hint, "%s was changed between the listing and the reading", p.st.at(o.key))
	}
	o.pin(head)
	return nil
}

// pin notes what the object is read by.
func (o *object) pin(head *s3.HeadObjectOutput) {
	o.head = head
	// The version "null" is overwritten where keeping versions is suspended.
	if o.version = aws.ToString(head.VersionId); o.version == "null" {
		o.version = ""
	}
	o.changed = aws.ToTime(head.LastModified)
}

// by is what the parts of the object are kept under.
func (o *object) by() string { return fmt.Sprintf("%s %d %s", o.etag, o.size, o.version) }

// errNone: there is no such object.
var errNone = errors.New("no such object")

// ask sends HEAD. Its answers say nothing but a status; where that is none of success the
// same is asked by GET, whose answer says more.
func (p *pull) ask(ctx context.Context, o *object) (*s3.HeadObjectOutput, error) {
	in := &s3.HeadObjectInput{
		Bucket: &p.st.bucket, Key: &o.key, ExpectedBucketOwner: p.st.owner, RequestPayer: p.st.payer,
		SSECustomerKey: p.st.customer, SSECustomerKeyMD5: p.st.customerMD5, SSECustomerAlgorithm: p.st.customerBy,
	}
	if p.st.sums {
		in.ChecksumMode = types.ChecksumModeEnabled
	}
	head, err := ask(ctx, p, request{op: "HeadObject", at: p.st.at(o.key), object: o}, func(ctx context.Context) (*s3.HeadObjectOutput, error) {
		out, err := p.st.api.HeadObject(ctx, in)
		if err == nil || !clientError(err) {
			return out, err
		}
		got, why := p.st.api.GetObject(ctx, &s3.GetObjectInput{
			Bucket: in.Bucket, Key: in.Key, ExpectedBucketOwner: in.ExpectedBucketOwner, RequestPayer: in.RequestPayer, Range: aws.String("bytes=0-0"),
			SSECustomerKey: in.SSECustomerKey, SSECustomerKeyMD5: in.SSECustomerKeyMD5, SSECustomerAlgorithm: in.SSECustomerAlgorithm,
		})
		var none *types.NoSuchKey
		switch {
		case why == nil: // it came in between, or HEAD is what is not allowed
			got.Body.Close()
			return nil, err
		case errors.As(why, &none):
			return nil, errNone
		}
		return nil, why
	})
	return head, err
}

// clientError tells whether the store refuses the request, rather than failing.
func clientError(err error) bool {
	r, ok := errors.AsType[*smithyhttp.ResponseError](err)
	return ok && r.HTTPStatusCode() >= 300 && r.HTTPStatusCode() < 500 && r.HTTPStatusCode() != http.StatusTooManyRequests
}

// refused tells whether the store says that something is not allowed.
func refused(err error) bool {
	r, ok := errors.AsType[*smithyhttp.ResponseError](err)
	return ok && r.HTTPStatusCode() == http.StatusForbidden
}

// object brings one object, and says by what it is known to be whole.
func (p *pull) object(ctx context.Context, o *object) (fetch.File, string, error) {
	if err := p.pinned(ctx, o); err != nil {
		return fetch.File{}, "", err
	}
	if f, proof, ok := p.done.Have(o.name, o.by()); ok {
		p.progress(o, f.Size)
		return f, proof, nil
	}
	var err error
	if o.sum, err = p.sumOf(ctx, o); err != nil {
		return fetch.File{}, "", err
	}
	first := ""
	for {
		f, proof, err := p.read(ctx, o, first)
		if again, ok := errors.AsType[*readAgain](err); ok && first == "" {
			first = again.digest
			p.say(fmt.Sprintf("%s does not fit its %s; it is read once more", p.st.at(o.key), o.sum.name))
			continue
		}
		if err != nil {
			return fetch.File{}, "", err
		}
		f.Address, f.Version = p.st.at(o.key), "ETag "+o.etag
		if !o.changed.IsZero() {
			f.Modified = o.changed.UTC().Format(time.RFC3339)
		}
		if o.version != "" {
			f.Version += ", VersionId " + o.version
		}
		return f, proof, p.done.Add(f, o.by(), proof)
	}
}

// readAgain: what was read does not fit, and may be read once more.
type readAgain struct{ digest string }

func (*readAgain) Error() string { return "what was read does not fit" }

// read downloads what is missing of one object and compares it. first is the SHA-256 of a
// reading before that did not fit; "" none.
func (p *pull) read(ctx context.Context, o *object, first string) (fetch.File, string, error) {
	var check io.Writer
	if o.sum != nil {
		o.sum.reset()
		check = o.sum
	}
	w, err := fetch.OpenPartial(p.r.Dir, o.name, o.by(), check)
	if err != nil {
		return fetch.File{}, "", err
	}
	defer w.Close()
	if w.Size() > o.size {
		w.Discard()
		return fetch.File{}, "", p.fail(fail.Input, "run again", "%s: more is stored than the object has", p.st.at(o.key))
	}
	if err := p.parts(ctx, o, w); err != nil {
		return fetch.File{}, "", err
	}
	proof := "size and ETag"
	switch {
	case o.sum == nil:
	case o.sum.fits(w.SHA256()):
		proof = o.sum.name
	case first == "":
		defer w.Discard()
		return fetch.File{}, "", &readAgain{w.SHA256()}
	case o.sum.certain || first != w.SHA256():
		defer w.Discard()
		return fetch.File{}, "", p.fail(fail.Input, "compare it with what was sent; if it is right there, upload it again", "%s was read twice and does not fit its %s", p.st.at(o.key), o.sum.name)
	default:
		proof = "two readings that are the same"
		p.note("%s was read twice with the same content, which does not fit its %s: the store makes it in another way", p.st.at(o.key), o.sum.name)
	}
	f, err := w.Commit()
	return f, proof, err
}

// parts reads what is missing, several parts at a time, and takes them in their order.
// The buffers are common to all objects, and given out in the order of the parts of one:
// the part that is to be written next always has one.
func (p *pull) parts(ctx context.Context, o *object, w *fetch.Partial) error {
	type part struct {
		buf  []byte
		err  error
		done chan struct{}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	next := make(chan *part, p.of.Parallel)
	running.Go(func() {
		defer close(next)
		for from := w.Size(); from < o.size; from += p.of.PartSize {
			buf, err := p.buffers.get(ctx, min(p.of.PartSize, o.size-from))
			if err != nil {
				return
			}
			t := &part{buf: buf, done: make(chan struct{})}
			running.Go(func() {
				defer close(t.done)
				p.slots <- struct{}{}
				defer func() { <-p.slots }()
				if t.err = p.part(ctx, o, from, t.buf); t.err == nil {
					t.err = w.Place(t.buf, from)
				}
			})
			next <- t
		}
	})
	var failed error
	for t := range next {
		<-t.done
		if failed == nil {
			if failed = t.err; failed == nil {
				failed = w.Append(t.buf)
			}
			if failed != nil {
				cancel() // the others end soon, and their buffers come back
			} else {
				p.progress(o, w.Size())
			}
		}
		p.buffers.put(t.buf)
	}
	switch {
	case failed != nil:
		return failed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case w.Size() != o.size:
		return fmt.Errorf("%s: %d bytes of %d", o.key, w.Size(), o.size) // not without one of the above
	}
	return nil
}

// part reads one part into its buffer. What came before an attempt broke off is kept.
func (p *pull) part(ctx context.Context, o *object, from int64, buf []byte) error {
	got := 0
	_, err := ask(ctx, p, request{op: "GetObject", at: p.st.at(o.key), object: o, gained: func() int64 { return int64(got) }}, func(ctx context.Context) (struct{}, error) {
		n, err := p.get(ctx, o, from+int64(got), buf[got:])
		got += n
		return struct{}{}, err
	})
	return err
}

// get sends one request for len(buf) bytes from an offset, and returns how many came.
func (p *pull) get(ctx context.Context, o *object, from int64, buf []byte) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(p.idle, func() { cancel(errIdle) })
	defer watch.Stop()
	in := &s3.GetObjectInput{
		Bucket: &p.st.bucket, Key: &o.key, IfMatch: aws.String(`"` + o.etag + `"`), Range: aws.String(fmt.Sprintf("bytes=%d-%d", from, from+int64(len(buf))-1)),
		ExpectedBucketOwner: p.st.owner, RequestPayer: p.st.payer,
		SSECustomerKey: p.st.customer, SSECustomerKeyMD5: p.st.customerMD5, SSECustomerAlgorithm: p.st.customerBy,
	}
	if o.version != "" && !o.withoutVersion.Load() {
		in.VersionId = &o.version
	}
	out, err := p.st.api.GetObject(ctx, in)
	if in.VersionId != nil && refused(err) {
		// Versions are a right of their own. The ETag alone names the content as well.
		in.VersionId = nil
		if out, err = p.st.api.GetObject(ctx, in); err == nil && !o.withoutVersion.Swap(true) {
			p.note("%s is read by its ETag alone: s3:GetObjectVersion is not allowed", p.st.at(o.key))
		}
	}
	if err != nil {
		return 0, idled(ctx, err)
	}
	defer out.Body.Close()
	if plainETag(out.ETag) != o.etag {
		return 0, errChanged
	}
	if err := fits(out, from, int64(len(buf)), o.size); err != nil {
		return 0, err
	}
	n := 0
	for n < len(buf) {
		if p.over() {
			return n, errOver
		}
		watch.Reset(p.idle)
		k, err := out.Body.Read(buf[n:min(len(buf), n+1<<20)])
		n += k
		switch {
		case n == len(buf):
		case errors.Is(err, io.EOF):
			return n, errShort
		case err != nil:
			return n, idled(ctx, err)
		}
	}
	return n, nil
}

// idled gives the reason why a context ended in place of its end.
func idled(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errIdle) {
		return errIdle
	}
	return err
}

// fits tells whether an answer is the part that was asked for, of an object of that size.
func fits(out *s3.GetObjectOutput, from, length, size int64) error {
	var a, b, total int64
	if n, err := fmt.Sscanf(aws.ToString(out.ContentRange), "bytes %d-%d/%d", &a, &b, &total); n == 3 && err == nil {
		switch {
		case total != size:
			return errChanged
		case a != from || b != from+length-1:
			return errRanges
		}
	} else if from != 0 || length != size {
		return errRanges // a whole object in place of its part
	}
	return nil
}

// buffers hands out the memory of the parts.
type buffers struct {
	size int64
	free chan []byte // nil entries are not made yet
}

func newBuffers(of *rules.S3) *buffers {
	b := &buffers{size: of.PartSize, free: make(chan []byte, of.Parallel+rules.S3Spare)}
	for range cap(b.free) {
		b.free <- nil
	}
	return b
}

func (b *buffers) get(ctx context.Context, n int64) ([]byte, error) {
	select {
	case buf := <-b.free:
		if int64(cap(buf)) < n {
			buf = make([]byte, n)
		}
		return buf[:n], nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (b *buffers) put(buf []byte) { b.free <- buf }

func sorted(list []string) []string { slices.Sort(list); return list }
