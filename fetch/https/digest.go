package https

import (
	"bytes"
	"crypto/md5"  //nolint:gosec // what servers state
	"crypto/sha1" //nolint:gosec // what servers state
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"net/http"
	"strings"
)

// digest is one that the server states. It is written in order, and may be compared once.
type digest struct {
	name string // of header and algorithm
	want []byte
	h    hash.Hash
}

var algorithms = map[string]func() hash.Hash{"sha-256": sha256.New, "sha-512": sha512.New, "sha": sha1.New, "md5": md5.New}

// representation reads the digests of the file: Repr-Digest (RFC 9530), and Digest (RFC 3230),
// which it replaced.
func representation(h http.Header) []digest {
	return append(structured(h, "Repr-Digest"), plain(h, "Digest")...)
}

// content reads the digests of the body of an answer.
func content(h http.Header) []digest {
	out := structured(h, "Content-Digest")
	if b, err := base64.StdEncoding.DecodeString(h.Get("Content-Md5")); err == nil && len(b) == md5.Size {
		out = append(out, digest{"Content-MD5", b, md5.New()})
	}
	return out
}

// structured reads a dictionary of byte sequences: sha-256=:base64:, sha-512=:base64:
func structured(h http.Header, name string) []digest {
	return read(name, h.Values(name), func(v string) (string, bool) {
		v, _, _ = strings.Cut(v, ";") // parameters say nothing to us
		inner, ok := strings.CutPrefix(strings.TrimSpace(v), ":")
		inner, end := strings.CutSuffix(inner, ":")
		return inner, ok && end
	})
}

// plain reads a list: SHA-256=base64,MD5=base64
func plain(h http.Header, name string) []digest {
	return read(name, h.Values(name), func(v string) (string, bool) { return strings.TrimSpace(v), true })
}

// read reads digests by algorithm. What is not known, or is none, is left out: a server may
// state what it likes.
func read(name string, lines []string, value func(string) (string, bool)) []digest {
	var out []digest
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			algorithm, text, ok := strings.Cut(strings.TrimSpace(item), "=")
			algorithm = strings.ToLower(algorithm)
			text, sound := value(text)
			if algorithms[algorithm] == nil || !ok || !sound {
				continue
			}
			h := algorithms[algorithm]()
			if want, err := base64.StdEncoding.DecodeString(text); err == nil && len(want) == h.Size() {
				out = append(out, digest{name + " " + algorithm, want, h})
			}
		}
	}
	return out
}

// digests are those that a file is compared with.
type digests []digest

// Write implements io.Writer. It never fails.
func (d digests) Write(b []byte) (int, error) {
	for _, one := range d {
		one.h.Write(b)
	}
	return len(b), nil
}

// fits names the digests that fit, and the one that does not; "" none.
func (d digests) fits() (good []string, bad string) {
	for _, one := range d {
		if !bytes.Equal(one.h.Sum(nil), one.want) {
			return nil, one.name
		}
		good = append(good, one.name)
	}
	return good, ""
}
