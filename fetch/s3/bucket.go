package s3

import (
	"context"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Place is where in a bucket something is written, and how the bucket is asked.
type Place struct {
	Who     string // for errors, such as "the outputs"
	Address string // s3://bucket/folder
	Keys    *rules.S3
	BaseDir string           // folder of the job file: where secrets given by file begin
	Until   time.Time        // after this instant nothing is tried again; zero: no end
	Now     func() time.Time // nil: time.Now
	Note    func(format string, args ...any)
	Pause   time.Duration // the first wait is random below it; 0: 250 ms
}

// Bucket is a bucket for what writes to it: the client, and the rules by which requests
// are sent again and errors get their class, which are those of sources.
type Bucket struct{ p *pull }

// Open resolves the keys of a place. Nothing is sent.
func Open(ctx context.Context, at Place) (*Bucket, error) {
	if at.Now == nil {
		at.Now = time.Now
	}
	if at.Note == nil {
		at.Note = func(string, ...any) {}
	}
	u := Puller{pause: at.Pause}
	source := &rules.Source{Literal: true, Remote: &rules.Remote{Kind: rules.FromS3, S3: at.Keys}}
	p, err := u.beginAs(ctx, &fetch.Request{
		Input: &rules.Input{Source: source, Path: at.Address}, BaseDir: at.BaseDir, Until: at.Until, Now: at.Now, Note: at.Note,
		Progress: func(string, int64, int64) {},
	}, at.Who)
	if err != nil {
		return nil, err
	}
	return &Bucket{p}, nil
}

// Client of the bucket. Requests are sent by [Ask].
func (b *Bucket) Client() *s3.Client { return b.p.st.api }

// Name of the bucket.
func (b *Bucket) Name() string { return b.p.st.bucket }

// Folder is the key of the place, without a slash at its end.
func (b *Bucket) Folder() string { return b.p.st.key }

// At is the address of an object.
func (b *Bucket) At(key string) string { return b.p.st.at(key) }

// Checksums tells whether the store knows checksums.
func (b *Bucket) Checksums() bool { return b.p.st.sums }

// Keys are what the job says about the bucket.
func (b *Bucket) Keys() *rules.S3 { return b.p.of }

// Fail makes an error of the place.
func (b *Bucket) Fail(class fail.Class, hint, format string, args ...any) *fail.Error {
	return b.p.fail(class, hint, format, args...)
}

// Final is an error of a request that [Ask] gives back as it is: neither judged, nor sent
// again.
type Final struct{ Err error }

func (f *Final) Error() string { return f.Err.Error() }
func (f *Final) Unwrap() error { return f.Err }

// Ask sends a request to the bucket until it is answered, or cannot be. op is its name in
// the API, key the object that it is about.
func Ask[T any](ctx context.Context, b *Bucket, op, key string, send func(context.Context) (T, error)) (T, error) {
	return ask(ctx, b.p, request{op: op, at: b.At(key)}, send)
}

// Upload is [Ask] for requests with a body of so many bytes, which may take long: an
// attempt ends when it is slower than 64 KiB a second.
func Upload[T any](ctx context.Context, b *Bucket, key string, size int64, send func(context.Context) (T, error)) (T, error) {
	most := 2*b.p.idle + time.Duration(size>>16)*time.Second
	return ask(ctx, b.p, request{op: "PutObject", at: b.At(key), gained: func() int64 { return 0 }}, func(ctx context.Context) (T, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, most, errIdle)
		defer cancel()
		out, err := send(ctx)
		return out, idled(ctx, err)
	})
}

// Object is one object of a bucket.
type Object struct {
	Key  string
	Size int64
	ETag string // without quotes
}

// List gives all objects whose keys begin with a prefix, in no order.
func (b *Bucket) List(ctx context.Context, prefix string) ([]Object, error) {
	var out []Object
	err := b.p.pages(ctx, b.At(prefix), prefix, false, func(key string, e *types.Object) error {
		out = append(out, Object{Key: key, Size: aws.ToInt64(e.Size), ETag: plainETag(e.ETag)})
		return nil
	})
	return out, err
}

// Reader reads an object as it was listed, from its beginning. What is not of that ETag
// and size is an error of class Input.
func (b *Bucket) Reader(ctx context.Context, o Object) io.Reader {
	return b.p.reader(ctx, &object{key: o.Key, size: o.Size, etag: o.ETag})
}

func (p *pull) reader(ctx context.Context, o *object) *reader { return &reader{ctx: ctx, p: p, o: o} }

// reader reads an object part after part.
type reader struct {
	ctx  context.Context
	p    *pull
	o    *object
	from int64 // what was asked for so far
	buf  []byte
	left []byte // of it: not yet read
}

func (r *reader) Read(b []byte) (int, error) {
	if len(r.left) == 0 {
		n := min(r.p.of.PartSize, r.o.size-r.from)
		if n == 0 {
			return 0, io.EOF
		}
		if r.buf == nil {
			r.buf = make([]byte, n)
		}
		if err := r.p.part(r.ctx, r.o, r.from, r.buf[:n]); err != nil {
			return 0, err
		}
		r.from, r.left = r.from+n, r.buf[:n]
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}
