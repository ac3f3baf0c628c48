package s3

import (
	"context"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// object is one object that was listed, and later pinned.
type object struct {
	key     string
	name    string // of the file
	etag    string // without quotes
	size    int64
	version string // "" where the bucket keeps none, or where its version may be overwritten
	changed time.Time
	head    *s3.HeadObjectOutput
	sum     *sum // what its bytes are compared with

	withoutVersion atomic.Bool // its version may not be named in a request
}

// list gives the objects that the address names.
func (p *pull) list(ctx context.Context) ([]*object, error) {
	return p.find(ctx, p.st.key, p.r.Source().Literal)
}

// find gives the objects that a pattern of keys, or one key, names, in the order of their
// keys. None is no error.
func (p *pull) find(ctx context.Context, pattern string, literal bool) ([]*object, error) {
	if literal || !hasPattern(pattern) {
		o := &object{key: pattern, name: path.Base(pattern)}
		there, err := p.exact(ctx, o)
		if err != nil || !there {
			return nil, err
		}
		return []*object{o}, p.named(o)
	}
	prefix, base, delimiter := splitPattern(pattern)
	var out []*object
	seen := map[string]bool{}
	err := p.pages(ctx, p.st.at(pattern), prefix, delimiter, func(key string, e *types.Object) error {
		o, err := p.listed(pattern, key, e, base)
		if o == nil || err != nil {
			return err
		}
		if seen[key] {
			return p.fail(fail.Input, unreliable, "%s is listed twice", p.st.at(key))
		}
		seen[key] = true
		if out = append(out, o); len(out) > mostObjects {
			return p.fail(fail.Input, "name them more closely, or make several sources of them", "%s names more than %d objects", p.st.at(pattern), mostObjects)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b *object) int { return strings.Compare(a.key, b.key) })
	return out, nil
}

const unreliable = "run again; if it stays so, the listing of the store cannot be relied upon"

// pages calls each for every object whose key begins with a prefix, over all pages of the
// listing; with flat for those in no folder below it alone. at is how people call what is
// listed.
func (p *pull) pages(ctx context.Context, at, prefix string, flat bool, each func(key string, e *types.Object) error) error {
	in := &s3.ListObjectsV2Input{
		Bucket: &p.st.bucket, EncodingType: types.EncodingTypeUrl, ExpectedBucketOwner: p.st.owner, RequestPayer: p.st.payer,
	}
	if prefix != "" {
		in.Prefix = &prefix
	}
	if flat {
		in.Delimiter = aws.String("/") // what lies deeper is not named
	}
	tokens := map[string]bool{}
	for {
		page, err := ask(ctx, p, request{op: "ListObjectsV2", at: at}, func(ctx context.Context) (*s3.ListObjectsV2Output, error) {
			return p.st.api.ListObjectsV2(ctx, in)
		})
		if err != nil {
			return err
		}
		for i := range page.Contents {
			e := &page.Contents[i]
			key := aws.ToString(e.Key)
			if page.EncodingType == types.EncodingTypeUrl {
				if key, err = url.QueryUnescape(key); err != nil {
					return p.fail(fail.Input, "report it to whoever runs the store", "the listing of %s has a name that is not encoded as it says", at)
				}
			}
			if err := each(key, e); err != nil {
				return err
			}
		}
		if !aws.ToBool(page.IsTruncated) {
			return nil
		}
		next := aws.ToString(page.NextContinuationToken)
		if next == "" || tokens[next] {
			return p.fail(fail.Input, unreliable, "the listing of %s does not come to its end", at)
		}
		tokens[next] = true
		in.ContinuationToken = &next
	}
}

// listed reads one entry of the listing; nil where the pattern does not name it.
func (p *pull) listed(pattern, key string, e *types.Object, base string) (*object, error) {
	ok, err := path.Match(pattern, key)
	if err != nil {
		return nil, p.fail(fail.Usage, "write path: {exact: …} for a name that holds a bracket", "%s is no pattern", p.st.at(pattern))
	}
	if !ok {
		return nil, nil
	}
	o := &object{key: key, name: strings.TrimPrefix(key, base), etag: plainETag(e.ETag), size: aws.ToInt64(e.Size), changed: aws.ToTime(e.LastModified)}
	if strings.HasSuffix(key, "/") {
		if o.size == 0 {
			return nil, nil // a mark that consoles make for a folder
		}
		return nil, p.fail(fail.Input, "rename it, or name the others more closely", "%s has the name of a folder and holds %d bytes", p.st.at(key), o.size)
	}
	return o, p.named(o)
}

// named refuses an object whose key cannot be the name of a file, or that has no ETag.
func (p *pull) named(o *object) error {
	bad := path.Clean(o.name) != o.name || strings.HasPrefix(o.name, "/") || o.name == ".." || o.name == "." || strings.HasPrefix(o.name, "../")
	for _, part := range strings.Split(o.name, "/") {
		bad = bad || len(part) > 255
	}
	if bad || strings.ContainsFunc(o.name, unicode.IsControl) || strings.ToValidUTF8(o.name, "") != o.name {
		return p.fail(fail.Input, "rename it, or name the others more closely", "the key %q cannot be the name of a file", p.st.at(o.key))
	}
	if o.etag == "" {
		return p.fail(fail.Input, "without one it cannot be told whether two parts are of one content", "%s has no ETag", p.st.at(o.key))
	}
	return nil
}

// hasPattern tells whether a key holds a pattern character of path.Match.
func hasPattern(key string) bool { return strings.ContainsAny(key, "*?[") }

// splitPattern gives what is fixed at the beginning of a pattern, the folder in which the
// names of the files begin, and whether the pattern names nothing deeper than one folder.
func splitPattern(key string) (prefix, base string, flat bool) {
	i := strings.IndexAny(key, `*?[\`)
	if i < 0 {
		i = len(key)
	}
	prefix = key[:i]
	base = key[:strings.LastIndexByte(prefix, '/')+1]
	return prefix, base, !strings.Contains(key[i:], "/")
}

// plainETag is an ETag without quotes. A weak one is none: it does not name bytes.
func plainETag(e *string) string {
	t := aws.ToString(e)
	if strings.HasPrefix(t, "W/") {
		return ""
	}
	return strings.Trim(t, `"`)
}
