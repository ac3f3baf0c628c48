// Package s3 publishes the folder of a run in a bucket: all of it, then the one pointer
// that readers follow, or nothing that a reader sees.
//
//  1. the store must keep conditions: what is written with If-None-Match or If-Match
//     although it does not hold must be refused, else two runs could both believe that
//     theirs is the current one;
//  2. every file is uploaded under the folder of the run, which is written once: an object
//     that is there already must have the same content;
//  3. every object is compared with its file;
//  4. the pointer is written, on the condition that it is the one that the run has seen.
//
// An interrupted publication is made good by publishing again; until its last step nobody
// follows it.
package s3

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // by which stores compare what they were sent
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
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

// PointerSchema is the version of the pointer.
const PointerSchema = 1

// Pointer is the object that readers follow.
type Pointer struct {
	SchemaVersion int    `json:"schema_version"`
	RunID         string `json:"run_id"`
	Folder        string `json:"folder"` // key of the folder of the run, with a slash at its end
}

// Target is a place that runs are published at.
type Target struct{ b *source.Bucket }

// Open opens a target.
func Open(ctx context.Context, at source.Place) (*Target, error) {
	b, err := source.Open(ctx, at)
	return &Target{b}, err
}

const (
	mostObject = 5 << 30 // bytes that one request may bring
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

// Current gives the pointer and the version of it that the next one replaces; "" and nil
// where there is none.
func (t *Target) Current(ctx context.Context, name string) (*Pointer, string, error) {
	text, version, err := t.get(ctx, t.key(name))
	if errors.Is(err, errNone) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	p := &Pointer{}
	if err := json.Unmarshal(text, p); err != nil || p.SchemaVersion != PointerSchema {
		return nil, "", t.b.Fail(fail.Input, "restore it from a version before, or remove it", "%s is no pointer of this version of the program", t.b.At(t.key(name)))
	}
	return p, version, nil
}

// Publish uploads the files of dir under folder, compares them, and writes the pointer
// name, which must still be of the version that [Target.Current] gave when the run began.
// The error has class Conflict where another run was published since, and where an
// object of the folder has another content.
func (t *Target) Publish(ctx context.Context, dir, folder, runID, name, version string) error {
	if err := t.Conditions(ctx); err != nil {
		return err
	}
	files, err := filesOf(dir)
	if err != nil {
		return err
	}
	g, some := errgroup.WithContext(ctx)
	g.SetLimit(t.b.Keys().Parallel)
	for _, f := range files {
		g.Go(func() error {
			return t.upload(some, filepath.Join(dir, f), t.key(path.Join(folder, filepath.ToSlash(f))))
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	text, err := json.Marshal(Pointer{PointerSchema, runID, t.key(folder) + "/"})
	if err != nil {
		return err
	}
	text = append(text, '\n')
	in := &s3.PutObjectInput{IfMatch: aws.String(`"` + version + `"`), ContentType: aws.String("application/json")}
	if version == "" {
		in.IfMatch, in.IfNoneMatch = nil, aws.String("*")
	}
	if _, err = t.put(ctx, t.key(name), text, in); !errors.Is(err, errHeld) {
		return err
	}
	// An attempt whose answer was lost may have written it.
	there, _, err := t.get(ctx, t.key(name))
	switch {
	case err == nil && bytes.Equal(there, text):
		return nil
	case err != nil && !errors.Is(err, errNone):
		return err
	}
	return t.b.Fail(fail.Conflict, "run again: the run that was published since counts as the former one", "%s was written by another run since this one began", t.b.At(t.key(name)))
}

// filesOf lists the files of a folder, relative to it.
func filesOf(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if !e.Type().IsRegular() {
			return fail.New(fail.Usage, "%s is no file and cannot be published", p).WithHint("remove it from the folder of the run")
		}
		name, err := filepath.Rel(dir, p)
		out = append(out, name)
		return err
	})
	return out, fail.Disk(err, "the folder of the run cannot be read")
}

// upload writes one file, unless it is there, and compares what is there with it.
func (t *Target) upload(ctx context.Context, file, key string) error {
	f, err := os.Open(file)
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
	if o := t.b.Keys().Owner; o != "" {
		in.ExpectedBucketOwner = &o
	}
	out, err := t.b.Client().PutObject(ctx, in)
	switch status(err) {
	case http.StatusPreconditionFailed:
		return nil, &source.Final{Err: errHeld}
	case http.StatusNotFound:
		if in.IfMatch != nil && !isBucket(err) {
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
		if status(err) == http.StatusNotFound && !isBucket(err) {
			return nil, &source.Final{Err: errNone}
		}
		if err != nil {
			return nil, err
		}
		defer out.Body.Close()
		version = strings.Trim(aws.ToString(out.ETag), `"`)
		return io.ReadAll(io.LimitReader(out.Body, 1<<20))
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

// isBucket tells whether it is the bucket that is not there.
func isBucket(err error) bool {
	a, ok := errors.AsType[smithy.APIError](err)
	return ok && a.ErrorCode() == "NoSuchBucket"
}
