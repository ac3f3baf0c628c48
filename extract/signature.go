package extract

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// signedReader makes rejects of records whose signature is missing or not good: such a
// record was not sent by whom it says, and is proof of nothing.
type signedReader struct {
	fileReader
	check *signatureCheck
}

func (s *signedReader) Head() []string       { return headOf(s.fileReader) }
func (s *signedReader) Trailers() [][]string { return trailersOf(s.fileReader) }
func (s *signedReader) OpenEnd() bool        { return openEndOf(s.fileReader) }

func (s *signedReader) Next() (*Record, error) {
	rec, err := s.fileReader.Next()
	if err != nil {
		return nil, err
	}
	if why := s.check.fault(rec); why != "" {
		return nil, &RecordError{No: rec.No, Line: rec.Line, Column: s.check.g.Value, Reason: why, Raw: rawOf(rec)}
	}
	return rec, nil
}

// rawOf is what a reject keeps of a record that was cut already.
func rawOf(rec *Record) []byte {
	if rec.whole != nil {
		return clip(rec.whole)
	}
	var b bytes.Buffer
	for i := range rec.Cells {
		if i > 0 {
			b.WriteByte('\t')
		}
		b.Write(rec.Cells[i].Text)
		if b.Len() > maxRaw {
			break
		}
	}
	return clip(b.Bytes())
}

// signatureCheck checks signatures by a set of keys. One belongs to one goroutine.
type signatureCheck struct {
	g       *rules.Signature
	keys    [][]byte
	hashes  []hash.Hash // keyed, by keys
	texts   []string    // of what is signed: literal parts
	columns []cellRef   // between them; the body is at -2
	body    cellRef
	value   cellRef
	buf     []byte
	sum     []byte
}

// bodyColumn stands in columns for the body.
const bodyColumn = -2

func newSignatureCheck(g *rules.Signature, keys [][]byte, header []string) *signatureCheck {
	c := &signatureCheck{g: g, keys: keys, body: refTo(header, g.Body, 0), value: refTo(header, g.Value, 0)}
	newHash := sha256.New
	if g.Hash == "sha512" {
		newHash = sha512.New
	}
	for _, k := range keys {
		c.hashes = append(c.hashes, hmac.New(newHash, k))
	}
	var columns []string
	switch g.Scheme {
	case rules.SchemeStandard:
		c.texts, columns = []string{"", ".", ".", ""}, []string{g.ID, g.Time, "body"}
	case rules.SchemeHMAC:
		c.texts, columns = g.Parts()
	}
	for _, name := range columns {
		ref := cellRef{at: bodyColumn}
		if name != "body" {
			ref = refTo(header, name, 0)
		}
		c.columns = append(c.columns, ref)
	}
	return c
}

// fault says why the signature of a record is not good, "" where it is.
func (c *signatureCheck) fault(rec *Record) string {
	raw := rawRecord{cells: rec.Cells, extra: rec.Extra}
	value := c.value.of(&raw)
	if value.Kind != CellText || len(value.Text) == 0 {
		return "the record has no signature"
	}
	cell := c.body.of(&raw)
	if cell.Kind != CellText && cell.Kind != CellNull {
		return "the body is no text: it has to be kept byte for byte as it came"
	}
	body := cell.Text
	if c.g.BodyIn == "base64" {
		var err error
		if body, err = base64.StdEncoding.AppendDecode(nil, body); err != nil {
			return "the body is no base64"
		}
	}
	if c.g.Scheme == rules.SchemeStripe {
		return c.stripe(string(value.Text), body)
	}
	c.buf = append(c.buf[:0], c.texts[0]...)
	for i := range c.columns {
		ref := &c.columns[i]
		part := body
		if ref.at != bodyColumn {
			cell := ref.of(&raw)
			if cell.Kind == CellNull || len(cell.Text) == 0 {
				return "a column that is signed with the body is empty"
			}
			part = cell.Text
		}
		c.buf = append(append(c.buf, part...), c.texts[i+1]...)
	}
	text := string(value.Text)
	if c.g.Scheme == rules.SchemeStandard {
		for _, one := range strings.Fields(text) {
			if sig, ok := strings.CutPrefix(one, "v1,"); ok && c.good(sig, "base64") {
				return ""
			}
		}
		return badSignature
	}
	text, ok := strings.CutPrefix(text, c.g.Prefix)
	if !ok || !c.good(text, c.g.Encoding) {
		return badSignature
	}
	return ""
}

const badSignature = "the signature is not good"

// stripe checks a header t=TIME,v1=HEX,v1=HEX over "TIME.BODY".
func (c *signatureCheck) stripe(header string, body []byte) string {
	at, found := "", false
	var list []string
	for _, part := range strings.Split(header, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case name == "t" && found:
			return badSignature // two times: either could be meant
		case name == "t":
			at, found = text, true
		case name == "v1":
			list = append(list, text)
		}
	}
	if !found || len(list) == 0 {
		return "the signature has no t or no v1"
	}
	c.buf = append(append(append(c.buf[:0], at...), '.'), body...)
	for _, sig := range list {
		if c.good(sig, "hex") {
			return ""
		}
	}
	return badSignature
}

// good tells whether any of the keys made the signature of what is in buf. Every key is
// tried, and what they make is compared in constant time.
func (c *signatureCheck) good(text, encoding string) bool {
	var sig []byte
	var err error
	if encoding == "base64" {
		sig, err = base64.StdEncoding.DecodeString(text)
	} else {
		sig, err = hex.DecodeString(text)
	}
	if err != nil {
		return false
	}
	ok := false
	for _, h := range c.hashes {
		h.Reset()
		h.Write(c.buf)
		c.sum = h.Sum(c.sum[:0])
		ok = hmac.Equal(c.sum, sig) || ok
	}
	return ok
}

// signatureKeys reads the keys of a source whose records are signed.
func signatureKeys(g *rules.Signature, read func(rules.Secret, string) (string, error), source string) ([][]byte, error) {
	if read == nil {
		return nil, fail.New(fail.Internal, "nothing reads the keys of the source %s", source)
	}
	var out [][]byte
	for i, s := range g.Secrets {
		text, err := read(s, fmt.Sprintf("signature.secrets[%d] of the source %s", i, source))
		if err != nil {
			return nil, fail.Wrap(fail.Usage, err, "the signatures of the source %s cannot be checked", source).
				WithHint("set the variable, or put the file in its place")
		}
		key := []byte(text)
		if coded, ok := strings.CutPrefix(text, "whsec_"); ok && g.Scheme == rules.SchemeStandard {
			if key, err = base64.StdEncoding.DecodeString(coded); err != nil {
				return nil, fail.New(fail.Usage, "signature.secrets[%d] of the source %s is no base64 behind whsec_", i, source).
					WithHint("take the secret as the sender shows it")
			}
		}
		out = append(out, key)
	}
	return out, nil
}

// keysName names a set of keys without telling them: sixteen hexadecimal digits that
// follow from all of them by HMAC. Rows whose signatures were checked by other keys are
// other rows.
func keysName(keys [][]byte) string {
	h := sha256.New()
	for _, k := range keys {
		m := hmac.New(sha256.New, k)
		m.Write([]byte("recon-batch: name of a signature key"))
		h.Write(m.Sum(nil))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
