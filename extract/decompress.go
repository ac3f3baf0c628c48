package extract

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// ratioFloor is the number of decompressed bytes below which the ratio is not
// judged: short texts of one repeated line compress well.
const ratioFloor = 16 << 20

// zstdWindow is the largest zstd window accepted, in bytes; it is memory that the
// file makes us hold. 128 MiB is what `zstd --long=27` writes.
const zstdWindow = 128 << 20

// content is the decompressed byte stream of one file. It ends with io.EOF only
// when the compressed stream is whole, checksums included, nothing follows it,
// and every byte as found has been read and hashed.
type content struct {
	name  string
	raw   *hashedReader
	r     io.Reader // decompressed
	sum   hash.Hash // of r; nil without compression
	read  int64     // bytes of r
	kind  string    // "gzip", "zstd", "" for none
	lim   Limits
	close func()
	err   error // sticky
}

// compressionOf follows the declaration, or else the file name's ending.
func compressionOf(declared rules.Compression, name string) rules.Compression {
	if declared != rules.CompressionAuto {
		return declared
	}
	switch lower := strings.ToLower(name); {
	case strings.HasSuffix(lower, ".gz"):
		return rules.CompressionGzip
	case strings.HasSuffix(lower, ".zst"):
		return rules.CompressionZstd
	case strings.HasSuffix(lower, ".zip"):
		return rules.CompressionZip
	default:
		return rules.CompressionNone
	}
}

func openContent(f io.Reader, declared rules.Compression, name string, lim Limits) (*content, error) {
	c := &content{name: name, raw: &hashedReader{r: f, sum: sha256.New()}, lim: lim, close: func() {}}
	switch comp := compressionOf(declared, name); comp {
	case rules.CompressionNone:
		c.r = c.raw
		return c, nil
	case rules.CompressionGzip:
		c.kind = "gzip"
		z, err := gzip.NewReader(bufio.NewReaderSize(c.raw, 128<<10))
		if err != nil {
			return nil, c.broken(err)
		}
		c.r = z
	case rules.CompressionZstd:
		c.kind = "zstd"
		z, err := zstd.NewReader(c.raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, c.broken(err)
		}
		c.r, c.close = z, z.Close
	default:
		return nil, fail.New(fail.Usage, "%s: the compression %q is not known", name, comp).
			WithHint("write compression: none, gzip, zstd or zip")
	}
	c.sum = sha256.New()
	return c, nil
}

// Read gives decompressed bytes; every error but io.EOF is a *fail.Error.
func (c *content) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	c.read += int64(n)
	if c.sum != nil {
		c.sum.Write(p[:n])
	}
	switch {
	case c.read > c.lim.ContentBytes:
		err = overLimit(c.name, "bytes of content", c.lim.ContentBytes)
	case c.kind != "" && c.read > ratioFloor && c.read/c.lim.Ratio > c.raw.read:
		err = overLimit(c.name, "bytes of content for each compressed byte", c.lim.Ratio)
	case err == io.EOF:
		err = c.end()
	case err != nil:
		err = c.broken(err)
	}
	c.err = err
	return n, err
}

// end reads what the decompressor left of the file and returns io.EOF.
func (c *content) end() error {
	if c.kind == "" {
		return io.EOF
	}
	if _, err := io.Copy(io.Discard, c.raw); err != nil {
		return c.broken(err)
	}
	if c.raw.read == 0 {
		return cutFile(c.name, "the file is empty, where a %s stream was declared", c.kind)
	}
	return io.EOF
}

// broken words an error of the file or of its decompressor.
func (c *content) broken(err error) error {
	if e, ok := errors.AsType[*fail.Error](err); ok {
		return e
	}
	if c.raw.err != nil {
		return fail.Wrap(fail.Input, c.raw.err, "%s: cannot be read after %d bytes", c.name, c.raw.read)
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return cutFile(c.name, "the %s stream ends after %d bytes, before its end mark", c.kind, c.raw.read)
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zstd.ErrCRCMismatch):
		return badFile(c.name, "the %s checksum does not fit the content: the file is corrupt", c.kind).
			WithHint("fetch the file again")
	case (errors.Is(err, gzip.ErrHeader) || errors.Is(err, zstd.ErrMagicMismatch)) && c.read == 0:
		return badFile(c.name, "the file is no %s stream", c.kind).
			WithHint("fetch the file again, or correct compression: in the job file")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrMagicMismatch):
		return badFile(c.name, "bytes that are no %s data follow the %s stream", c.kind, c.kind).
			WithHint("fetch the file again; two files may have been written over each other")
	default:
		e := fail.Wrap(fail.Input, err, "%s: the %s stream is corrupt", c.name, c.kind)
		return e.WithHint("fetch the file again")
	}
}

func (c *content) digests() Digests {
	d := Digests{Size: c.raw.read}
	c.raw.sum.Sum(d.Raw[:0])
	if c.sum == nil {
		d.Content = d.Raw
	} else {
		c.sum.Sum(d.Content[:0])
	}
	return d
}

// Close lets go of the decompressor.
func (c *content) Close() error {
	c.close()
	c.close = func() {}
	if c.err == nil {
		c.err = fail.New(fail.Internal, "%s: read after close", c.name)
	}
	return nil
}

// hashedReader counts and hashes what passes.
type hashedReader struct {
	r    io.Reader
	sum  hash.Hash
	read int64
	err  error // of r, io.EOF apart
}

func (h *hashedReader) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.read += int64(n)
	h.sum.Write(p[:n])
	if err != nil && err != io.EOF {
		h.err = err
	}
	return n, err
}
