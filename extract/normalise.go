package extract

import (
	"bytes"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/recon-batch/recon-batch/rules"
)

// normaliser applies declared steps, in their order, for matching and comparing
// only: outputs keep the text as found. Texts that a step does not change are
// returned as they are, without a copy. Safe for concurrent use.
type normaliser struct {
	steps []func([]byte) []byte
}

func newNormaliser(lists ...[]rules.Normalise) *normaliser {
	n := &normaliser{}
	for _, steps := range lists {
		for _, s := range steps {
			if f := normaliseStep(s); f != nil {
				n.steps = append(n.steps, f)
			}
		}
	}
	return n
}

// apply returns the normalised text. The result may share memory with b.
func (n *normaliser) apply(b []byte) []byte {
	for _, f := range n.steps {
		b = f(b)
	}
	return b
}

func (n *normaliser) none() bool { return n == nil || len(n.steps) == 0 }

func normaliseStep(s rules.Normalise) func([]byte) []byte {
	switch s {
	case rules.NormTrim:
		return func(b []byte) []byte { return bytes.Trim(b, " \t") }
	case rules.NormTrimUnicode:
		return bytes.TrimSpace // every rune with the property White_Space
	case rules.NormRemoveZeroWidth:
		return removeZeroWidth
	case rules.NormNFC:
		return func(b []byte) []byte {
			if norm.NFC.IsNormal(b) {
				return b
			}
			return norm.NFC.Bytes(b)
		}
	case rules.NormIgnoreCase:
		return foldCase
	case rules.NormLineEnds:
		return lineEnds
	case rules.NormUUID:
		return canonicalUUID
	}
	if prefix, ok := strings.CutPrefix(string(s), "strip_prefix:"); ok {
		p := []byte(prefix)
		return func(b []byte) []byte { return bytes.TrimPrefix(b, p) }
	}
	return nil
}

// removeZeroWidth removes U+200B to U+200D, U+2060 and U+FEFF.
func removeZeroWidth(b []byte) []byte {
	if isASCII(b) {
		return b
	}
	return bytes.Map(func(r rune) rune {
		if r >= 0x200B && r <= 0x200D || r == 0x2060 || r == 0xFEFF {
			return -1
		}
		return r
	}, b)
}

// foldCase is simple case folding (Unicode CaseFolding.txt, status C and S): one
// rune for one rune, so that no text changes its length in letters.
func foldCase(b []byte) []byte {
	if !isASCII(b) {
		return bytes.Map(simpleFold, b)
	}
	if !bytes.ContainsAny(b, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return b
	}
	return bytes.ToLower(b)
}

// simpleFold maps a rune to the one that stands for its whole case orbit: the
// lower case of the orbit's smallest member. A rune without another case stands for
// itself; so does U+0130, which has a folding in Turkish only.
func simpleFold(r rune) rune {
	if unicode.SimpleFold(r) == r {
		return r
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return unicode.ToLower(least)
}

// lineEnds turns CRLF and CR into LF.
func lineEnds(b []byte) []byte {
	if bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
}

// canonicalUUID writes a UUID (RFC 9562) as 32 lower-case digits with hyphens,
// whatever its case, braces and hyphens; a text that is none stays as it is.
func canonicalUUID(b []byte) []byte {
	t := b
	if len(t) > 2 && t[0] == '{' && t[len(t)-1] == '}' {
		t = t[1 : len(t)-1]
	}
	var hex [32]byte
	n := 0
	for i, c := range t {
		switch {
		case c == '-':
			// Hyphens stand in their places or not at all.
			if len(t) != 36 || i != 8 && i != 13 && i != 18 && i != 23 {
				return b
			}
			continue
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f':
		case c >= 'A' && c <= 'F':
			c += 'a' - 'A'
		default:
			return b
		}
		if n == len(hex) {
			return b
		}
		hex[n] = c
		n++
	}
	if n != len(hex) {
		return b
	}
	out := make([]byte, 0, 36)
	for i, c := range hex {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			out = append(out, '-')
		}
		out = append(out, c)
	}
	return out
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
