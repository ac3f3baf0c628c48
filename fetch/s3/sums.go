package s3

import (
	"bytes"
	"context"
	"crypto/md5"  //nolint:gosec // what stores keep
	"crypto/sha1" //nolint:gosec // what stores keep
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"strconv"
	"strings"

	"crypto/sha256"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// sum is what the bytes of an object are compared with: a checksum that the store keeps,
// or an ETag that is a digest. It is written in order, and may be compared once.
type sum struct {
	name    string
	want    []byte
	certain bool // what does not fit is damaged; false: the store may make it in another way

	own  func() hash.Hash // nil: the SHA-256 of the file is it
	h    hash.Hash
	part int64 // bytes of the parts that it is made of; 0: of the whole
	left int64 // bytes until the part ends
	all  hash.Hash
	n    int // parts that have ended
	of   int // parts that there are
}

var (
	nvme       = crc64.MakeTable(0x9a6c9329ac4bc9b5) // CRC-64/NVME, reversed
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// algorithms are those that stores keep, the strongest that costs little first.
var algorithms = []struct {
	name string
	of   func(*s3.HeadObjectOutput) *string
	make func() hash.Hash
}{
	{"SHA256", func(h *s3.HeadObjectOutput) *string { return h.ChecksumSHA256 }, sha256.New},
	{"CRC64NVME", func(h *s3.HeadObjectOutput) *string { return h.ChecksumCRC64NVME }, func() hash.Hash { return crc64.New(nvme) }},
	{"CRC32C", func(h *s3.HeadObjectOutput) *string { return h.ChecksumCRC32C }, func() hash.Hash { return crc32.New(castagnoli) }},
	{"CRC32", func(h *s3.HeadObjectOutput) *string { return h.ChecksumCRC32 }, func() hash.Hash { return crc32.NewIEEE() }},
	{"SHA512", func(h *s3.HeadObjectOutput) *string { return h.ChecksumSHA512 }, sha512.New},
	{"SHA1", func(h *s3.HeadObjectOutput) *string { return h.ChecksumSHA1 }, sha1.New},
	{"MD5", func(h *s3.HeadObjectOutput) *string { return h.ChecksumMD5 }, md5.New},
}

// sumOf finds what an object is compared with; nil where the store keeps nothing that says
// something about its bytes.
func (p *pull) sumOf(ctx context.Context, o *object) (*sum, error) {
	for _, a := range algorithms {
		text := aws.ToString(a.of(o.head))
		if text == "" {
			continue
		}
		value, parts, composite := strings.Cut(text, "-")
		want, err := base64.StdEncoding.DecodeString(value)
		if err != nil || len(want) != a.make().Size() {
			continue
		}
		s := &sum{name: "checksum " + a.name, want: want, certain: true, own: a.make}
		if !composite && o.head.ChecksumType != types.ChecksumTypeComposite {
			if a.name == "SHA256" {
				s.own = nil
			}
			return s, nil
		}
		if s.of, err = strconv.Atoi(parts); err != nil {
			continue
		}
		s.name, s.certain = s.name+" of parts", false
		if s.part = p.partSize(ctx, o, s.of); s.part > 0 {
			return s, nil
		}
	}
	return p.etagSum(ctx, o), nil
}

// etagSum takes the ETag for an MD5 where it may be one: not of what is encrypted with a
// key that is not the store's own.
func (p *pull) etagSum(ctx context.Context, o *object) *sum {
	if strings.HasPrefix(string(o.head.ServerSideEncryption), "aws:kms") || p.st.customer != nil || o.head.SSECustomerAlgorithm != nil {
		return nil
	}
	value, parts, composite := strings.Cut(o.etag, "-")
	want, err := hex.DecodeString(value)
	if err != nil || len(want) != md5.Size {
		return nil
	}
	s := &sum{name: "MD5 in the ETag", want: want, certain: p.st.endpoint == "", own: md5.New}
	if composite {
		if s.of, err = strconv.Atoi(parts); err != nil {
			return nil
		}
		s.name, s.certain = "MD5 of parts in the ETag", false
		if s.part = p.partSize(ctx, o, s.of); s.part == 0 {
			return nil
		}
	}
	return s
}

// partSize asks for the size of the first part that an object was uploaded in; 0 where it
// does not fit the number of parts, so that they are not all of one size.
func (p *pull) partSize(ctx context.Context, o *object, parts int) int64 {
	if parts == 1 {
		return max(o.size, 1)
	}
	in := &s3.HeadObjectInput{
		Bucket: &p.st.bucket, Key: &o.key, IfMatch: aws.String(`"` + o.etag + `"`), PartNumber: aws.Int32(1),
		ExpectedBucketOwner: p.st.owner, RequestPayer: p.st.payer,
		SSECustomerKey: p.st.customer, SSECustomerKeyMD5: p.st.customerMD5, SSECustomerAlgorithm: p.st.customerBy,
	}
	if o.version != "" {
		in.VersionId = &o.version
	}
	// Not worth a second attempt: without it the object is compared by size and ETag alone.
	head, err := p.st.api.HeadObject(ctx, in)
	if err != nil {
		return 0
	}
	size := aws.ToInt64(head.ContentLength)
	if size <= 0 || (o.size+size-1)/size != int64(parts) {
		return 0
	}
	return size
}

// reset begins anew.
func (s *sum) reset() {
	s.n, s.left = 0, s.part
	if s.own != nil {
		s.h, s.all = s.own(), s.own()
	}
}

// Write takes the next bytes of the object.
func (s *sum) Write(b []byte) (int, error) {
	n := len(b)
	for s.own != nil && len(b) > 0 {
		k := len(b)
		if s.part > 0 {
			k = int(min(int64(k), s.left))
		}
		s.h.Write(b[:k])
		if s.left -= int64(k); s.part > 0 && s.left == 0 {
			s.end()
		}
		b = b[k:]
	}
	return n, nil
}

// end ends a part.
func (s *sum) end() {
	s.all.Write(s.h.Sum(nil))
	s.h.Reset()
	s.n++
	s.left = s.part
}

// fits compares, with the SHA-256 of the file for objects that are compared by it.
func (s *sum) fits(sha string) bool {
	switch {
	case s.own == nil:
		return hex.EncodeToString(s.want) == sha
	case s.part == 0:
		return bytes.Equal(s.h.Sum(nil), s.want)
	}
	if s.left != s.part || s.n == 0 {
		s.end()
	}
	return s.n == s.of && bytes.Equal(s.all.Sum(nil), s.want)
}
