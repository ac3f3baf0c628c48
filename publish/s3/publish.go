// Package s3 sends the files of a run to a bucket, and brings them back.
//
//   - The store must keep conditions: what is written with If-None-Match or If-Match although
//     it does not hold must be refused, else two runs could both believe that theirs is the
//     current one.
//   - A file is written once. An object that is there already must have the same content, and
//     every object is compared with its file.
//   - What readers follow is small, and replaced on the condition that it is what the writer
//     has seen ([Target.Swap]).
//
// What is interrupted is made good by sending again. Which files belong together, and what
// readers follow, is decided by whoever calls.
package s3

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // by which stores compare what they were sent
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"golang.org/x/sync/errgroup"

	source "github.com/recon-batch/recon-batch/fetch/s3"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// Target is a place that runs are published at.
type Target struct{ b *source.Bucket }

// Open opens a target.
func Open(ctx context.Context, at source.Place) (*Target, error) {
	b, err := source.Open(ctx, at)
	return &Target{b}, err
}

const (
	mostObject = 5 << 30  // bytes that one request may bring
	mostText   = 64 << 20 // bytes of an object that is read whole, such as a manifest
	mark       = "sha256"
)

var (
	errHeld = errors.New("the condition does not hold")
	errNone = errors.New("there is none")
)

// key of a name below the place.
func (t *Target) key(name string) string { return path.Join(t.b.Folder(), name) }

// Conditions tells whether the store keeps conditions, by writing the same object twice.
// The error has class Usage where it does not.
func (t *Target) Conditions(ctx context.Context) error {
	key := t.key(".conditions")
	text := []byte("written by recon-batch to see whether the store keeps conditions\n")
	put := func(change func(*s3.PutObjectInput)) error {
		in := &s3.PutObjectInput{}
		change(in)
		_, err := t.put(ctx, key, text, in)
		return err
	}
	if err := put(func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String("*") }); err != nil && !errors.Is(err, errHeld) {
		return err
	}
	for name, change := range map[string]func(*s3.PutObjectInput){
		"If-None-Match": func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String("*") },
		"If-Match":      func(in *s3.PutObjectInput) { in.IfMatch = aws.String(`"00000000000000000000000000000000"`) },
	} {
		switch err := put(change); {
		case err == nil:
			return t.b.Fail(fail.Usage, "publish to a folder, or to a store that keeps conditions", "%s: the store ignores %s, so that two runs could be published over each other", t.b.At(key), name)
		case !errors.Is(err, errHeld):
			return err
		}
	}
	return nil
}

// File is one file of a run.
type File struct {
	Path   string // relative to its folder, with slashes
	Size   int64  // bytes
	SHA256 string // hexadecimal
}

// Send uploads files of dir under folder, several at a time, and compares them. A file that
// is there is not sent again. The error has class Conflict where an object has another
// content, and Integrity where a file is not what it should be.
func (t *Target) Send(ctx context.Context, dir, folder string, files []File) error {
	return t.each(ctx, files, func(ctx context.Context, f File) error {
		return t.upload(ctx, dir, t.key(path.Join(folder, f.Path)), f)
	})
}

// Bring downloads files of folder into dir, several at a time, and compares them. The
// error has class Integrity where an object is not what it should be, or is not there.
func (t *Target) Bring(ctx context.Context, folder, dir string, files []File, listed map[string]source.Object) error {
	return t.each(ctx, files, func(ctx context.Context, f File) error {
		name := path.Join(folder, f.Path)
		o, ok := listed[name]
		if !ok {
			return t.altered(name, "is missing")
		}
		return t.download(ctx, o, name, filepath.Join(dir, filepath.FromSlash(f.Path)), f)
	})
}

func (t *Target) each(ctx context.Context, files []File, do func(context.Context, File) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(t.b.Keys().Parallel)
	for _, f := range files {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return do(ctx, f)
		})
	}
	return g.Wait()
}

// List gives the objects whose names below the place begin with a prefix, by their names.
func (t *Target) List(ctx context.Context, prefix string) (map[string]source.Object, error) {
	list, err := t.b.List(ctx, t.b.Folder()+"/"+prefix)
	if err != nil {
		return nil, err
	}
	out := make(map[string]source.Object, len(list))
	for _, o := range list {
		out[strings.TrimPrefix(o.Key, t.b.Folder()+"/")] = o
	}
	return out, nil
}

// At is the address of a name below the place.
func (t *Target) At(name string) string { return t.b.At(t.key(name)) }

// Fail makes an error of the target.
func (t *Target) Fail(class fail.Class, hint, format string, args ...any) *fail.Error {
	return t.b.Fail(class, hint, format, args...)
}

// Read reads a small object and its version; nil and "" where there is none.
func (t *Target) Read(ctx context.Context, name string) (text []byte, version string, err error) {
	text, version, err = t.get(ctx, t.key(name))
	if errors.Is(err, errNone) {
		return nil, "", nil
	}
	return text, version, err
}

// Swap writes a small object, which must still be of the version that [Target.Read] gave,
// and returns its new version. The error has class Conflict where it is another one by now.
func (t *Target) Swap(ctx context.Context, name string, text []byte, version string) (string, error) {
	in := &s3.PutObjectInput{IfMatch: aws.String(`"` + version + `"`), ContentType: aws.String("application/json")}
	if version == "" {
		in.IfMatch, in.IfNoneMatch = nil, aws.String("*")
	}
	out, err := t.put(ctx, t.key(name), text, in)
	if err == nil {
		return strings.Trim(aws.ToString(out.ETag), `"`), nil
	}
	if !errors.Is(err, errHeld) {
		return "", err
	}
	// An attempt whose answer was lost may have written it.
	there, now, err := t.Read(ctx, name)
	switch {
	case err != nil:
		return "", err
	case there != nil && bytes.Equal(there, text):
		return now, nil
	}
	return "", t.b.Fail(fail.Conflict, "run again: what was published since counts as the former run", "%s was written by another run since this one began", t.At(name))
}

// upload writes one file, unless it is there, and compares what is there with it.
func (t *Target) upload(ctx context.Context, dir, key string, of File) error {
	file := filepath.Join(dir, filepath.FromSlash(of.Path))
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return t.b.Fail(fail.Integrity, "send the run from a machine that has all of it, or restore it from a backup", "%s is not here", file)
	}
	if err != nil {
		return fail.Disk(err, "%s cannot be published", file)
	}
	defer f.Close()
	sha, sum := sha256.New(), md5.New()
	size, err := io.Copy(io.MultiWriter(sha, sum), f)
	if err != nil {
		return fail.Disk(err, "%s cannot be published", file)
	}
	if size > mostObject {
		return t.b.Fail(fail.Usage, "write fewer formats, or publish to a folder", "%s has %d bytes, and an object that is written at once has at most %d", file, size, int64(mostObject))
	}
	digest, plain := hex.EncodeToString(sha.Sum(nil)), hex.EncodeToString(sum.Sum(nil))
	if size != of.Size || digest != of.SHA256 {
		return t.b.Fail(fail.Integrity, "look at the run with recon-batch verify, and restore it from a backup", "%s is not what was published", file)
	}
	_, err = source.Upload(ctx, t.b, key, size, func(ctx context.Context) (*s3.PutObjectOutput, error) {
		in := &s3.PutObjectInput{
			Body: io.NewSectionReader(f, 0, size), ContentLength: &size, ContentMD5: aws.String(base64.StdEncoding.EncodeToString(sum.Sum(nil))),
			IfNoneMatch: aws.String("*"), Metadata: map[string]string{mark: digest},
		}
		if t.b.Checksums() {
			in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(sha.Sum(nil)))
		}
		return t.send(ctx, key, in)
	})
	if err != nil && !errors.Is(err, errHeld) {
		return err
	}
	head, err := source.Ask(ctx, t.b, "HeadObject", key, func(ctx context.Context) (*s3.HeadObjectOutput, error) {
		in := &s3.HeadObjectInput{Bucket: aws.String(t.b.Name()), Key: &key}
		if t.b.Checksums() {
			in.ChecksumMode = types.ChecksumModeEnabled
		}
		return t.b.Client().HeadObject(ctx, in)
	})
	if err != nil {
		return err
	}
	etag := strings.Trim(aws.ToString(head.ETag), `"`)
	good := aws.ToInt64(head.ContentLength) == size && head.Metadata[mark] == digest
	if s := aws.ToString(head.ChecksumSHA256); s != "" {
		good = good && s == base64.StdEncoding.EncodeToString(sha.Sum(nil))
	} else if !strings.HasPrefix(string(head.ServerSideEncryption), "aws:kms") && len(etag) == len(plain) && !strings.Contains(etag, "-") {
		good = good && etag == plain
	}
	if !good {
		return t.b.Fail(fail.Conflict, "the folder of a run is written once: remove what is there, or publish elsewhere", "%s has another content than %s", t.b.At(key), filepath.Base(file))
	}
	return nil
}

// download writes one object to a file that is not there yet, and compares it.
func (t *Target) download(ctx context.Context, o source.Object, name, file string, of File) (err error) {
	if o.Size != of.Size {
		return t.altered(name, "has another size")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fail.Disk(err, "%s cannot be written", file)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fail.Disk(err, "%s cannot be written", file)
	}
	sha := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sha), t.b.Reader(ctx, o))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fail.Disk(err, "%s cannot be written", file)
	}
	if hex.EncodeToString(sha.Sum(nil)) != of.SHA256 {
		return t.altered(name, "is not what was published")
	}
	return nil
}

func (t *Target) altered(name, what string) error {
	return t.b.Fail(fail.Integrity, "restore it from a version before, or from a machine that has the run", "%s %s", t.At(name), what)
}

// put writes a small object. The error is errHeld where its condition does not hold.
func (t *Target) put(ctx context.Context, key string, text []byte, in *s3.PutObjectInput) (*s3.PutObjectOutput, error) {
	return source.Upload(ctx, t.b, key, int64(len(text)), func(ctx context.Context) (*s3.PutObjectOutput, error) {
		one := *in
		one.Body = bytes.NewReader(text)
		return t.send(ctx, key, &one)
	})
}

// send sends one attempt to write.
func (t *Target) send(ctx context.Context, key string, in *s3.PutObjectInput) (*s3.PutObjectOutput, error) {
	in.Bucket, in.Key = aws.String(t.b.Name()), &key
	keys := t.b.Keys()
	if o := keys.Owner; o != "" {
		in.ExpectedBucketOwner = &o
	}
	in.ServerSideEncryption = types.ServerSideEncryption(keys.Encrypt)
	if k := keys.KMSKey; k != "" {
		in.SSEKMSKeyId = &k
	}
	out, err := t.b.Client().PutObject(ctx, in)
	switch status(err) {
	case http.StatusPreconditionFailed:
		return nil, &source.Final{Err: errHeld}
	case http.StatusNotFound:
		if in.IfMatch != nil && isObject(err) {
			return nil, &source.Final{Err: errHeld} // what it should match is gone
		}
	case http.StatusConflict:
		return nil, errors.New("another request writes the same object") // sent again
	}
	return out, err
}

// get reads a small object and its version. The error is errNone where there is none.
func (t *Target) get(ctx context.Context, key string) (text []byte, version string, err error) {
	text, err = source.Ask(ctx, t.b, "GetObject", key, func(ctx context.Context) ([]byte, error) {
		out, err := t.b.Client().GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(t.b.Name()), Key: &key})
		if status(err) == http.StatusNotFound && isObject(err) {
			return nil, &source.Final{Err: errNone}
		}
		if err != nil {
			return nil, err
		}
		defer out.Body.Close()
		version = strings.Trim(aws.ToString(out.ETag), `"`)
		text, err := io.ReadAll(io.LimitReader(out.Body, mostText+1))
		if len(text) > mostText {
			err = &source.Final{Err: t.b.Fail(fail.Integrity, "it is not of this program; remove it, or publish elsewhere", "%s has more than %d bytes", t.b.At(key), mostText)}
		}
		return text, err
	})
	return text, version, err
}

// status of an answer; 0 where there was none, or a good one.
func status(err error) int {
	if r, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return r.HTTPStatusCode()
	}
	return 0
}

// isObject tells of a 404 whether it is the object that is not there, and not the bucket, or
// the user, as some stores say.
func isObject(err error) bool {
	a, ok := errors.AsType[smithy.APIError](err)
	return !ok || slices.Contains([]string{"NoSuchKey", "NoSuchVersion", "NotFound"}, a.ErrorCode())
}
