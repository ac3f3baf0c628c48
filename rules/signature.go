package rules

import (
	"regexp"
	"slices"
	"strings"
)

// Schemes of signatures.
const (
	SchemeHMAC     = "hmac"              // of a declared text, with a declared hash
	SchemeStripe   = "stripe"            // t=…,v1=… over "t.body"
	SchemeStandard = "standard-webhooks" // v1,… over "id.timestamp.body"
)

// Signature says how the records of a source are signed: each holds the body as it came,
// the signature, and what else was signed.
type Signature struct {
	Scheme   string
	Body     string   // column with the body, byte for byte as it came
	Value    string   // column with the signature
	Signed   string   // of hmac: what is signed; {body} and {COLUMN} stand for the columns
	ID       string   // of standard-webhooks: column with the id of the message
	Time     string   // of standard-webhooks: column with its time
	Hash     string   // of hmac: sha256, sha512
	Encoding string   // of hmac: hex, base64
	Prefix   string   // of hmac: stands before the signature, as sha256=
	BodyIn   string   // how the column holds the body: text, base64
	Secrets  []Secret // any of them may have signed: the new one and the old one while they are exchanged
}

var signatureShape = &shape{
	name: "signature", doc: "How each record is signed. A signature that is missing or not good makes the record a reject (on_reject).",
	keys: []key{
		{name: "scheme", doc: "hmac; stripe: `t=…,v1=…`; standard-webhooks: `v1,…`.", def: "hmac", value: enumValue(SchemeHMAC, SchemeStripe, SchemeStandard)},
		{name: "body", doc: "Column with the body, byte for byte as it came.", required: true, value: textValue()},
		{name: "value", doc: "Column with the signature, or with the header that holds it.", required: true, value: textValue()},
		{name: "signed", doc: "Of hmac: what is signed; {body} and {COLUMN} stand for columns, as \"{sent_at}.{body}\".", def: "\"{body}\"", value: schema{"type": "string"}},
		{name: "id", doc: "Of standard-webhooks: column with the header webhook-id.", def: "webhook-id", value: textValue()},
		{name: "time", doc: "Of standard-webhooks: column with the header webhook-timestamp.", def: "webhook-timestamp", value: textValue()},
		{name: "hash", doc: "Of hmac: its hash.", def: "sha256", value: enumValue("sha256", "sha512")},
		{name: "encoding", doc: "Of hmac: how the signature is written.", def: "hex", value: enumValue("hex", "base64")},
		{name: "prefix", doc: "Of hmac: what stands before the signature, as sha256=.", def: "nothing", value: schema{"type": "string"}},
		{name: "body_in", doc: "How the column holds the body: text, or base64 of its bytes.", def: "text", value: enumValue("text", "base64")},
		{name: "secrets", doc: "The keys, any of which may have signed: the new one and the old one while they are exchanged.", required: true, value: schema{"type": "array", "minItems": 1, "items": shapeValue(secretShape)}},
	},
}

var signedPart = regexp.MustCompile(`\{([^{}]+)\}`)

// Parts cuts what is signed into literal texts and columns, in turn: it begins and ends
// with a literal one, which may be empty. The column of the body is "body".
func (s *Signature) Parts() (texts, columns []string) {
	at := 0
	for _, m := range signedPart.FindAllStringSubmatchIndex(s.Signed, -1) {
		texts, columns = append(texts, s.Signed[at:m[0]]), append(columns, s.Signed[m[2]:m[3]])
		at = m[1]
	}
	return append(texts, s.Signed[at:]), columns
}

// Columns are the columns that the signature needs.
func (s *Signature) Columns() []string {
	out := []string{s.Body, s.Value}
	switch s.Scheme {
	case SchemeStandard:
		out = append(out, s.ID, s.Time)
	case SchemeHMAC:
		_, columns := s.Parts()
		for _, c := range columns {
			if c != "body" {
				out = append(out, c)
			}
		}
	}
	return out
}

func (d *decoder) signature(o *object, s *Source) {
	c := o.sub("signature", signatureShape)
	if c == nil {
		return
	}
	g := &Signature{
		Scheme: choice(c, "scheme", SchemeHMAC, SchemeHMAC, SchemeStripe, SchemeStandard),
		Body:   c.text("body", ""), Value: c.text("value", ""), BodyIn: choice(c, "body_in", "text", "text", "base64"),
	}
	s.Signature = g
	of := map[string][]string{SchemeHMAC: {"signed", "hash", "encoding", "prefix"}, SchemeStandard: {"id", "time"}}
	for scheme, keys := range of {
		for _, k := range keys {
			if c.has(k) && scheme != g.Scheme {
				c.fail(k, "remove it, or write `scheme: "+scheme+"`", "%s: the scheme %s says that itself", c.at(k), g.Scheme)
			}
		}
	}
	switch g.Scheme {
	case SchemeHMAC:
		g.Signed, g.Hash = c.text("signed", "{body}"), choice(c, "hash", "sha256", "sha256", "sha512")
		g.Encoding, g.Prefix = choice(c, "encoding", "hex", "hex", "base64"), c.text("prefix", "")
		_, columns := g.Parts()
		switch {
		case strings.ContainsAny(signedPart.ReplaceAllString(g.Signed, ""), "{}"):
			c.fail("signed", `signed: "{sent_at}.{body}"`, "%s: a brace stands alone", c.at("signed"))
		case !slices.Contains(columns, "body"):
			c.fail("signed", `signed: "{sent_at}.{body}"`, "%s: the body is not signed", c.at("signed"))
		}
	case SchemeStandard:
		g.ID, g.Time = c.text("id", "webhook-id"), c.text("time", "webhook-timestamp")
	}
	if n := c.node("secrets"); n != nil {
		for i, v := range d.items(n, c.at("secrets")) {
			g.Secrets = append(g.Secrets, d.secretOf(v, index(c.at("secrets"), i)))
		}
	}
	switch s.Format {
	case FormatCSV, FormatJSON, FormatNDJSON, "":
	default:
		c.fail("body", "write the calls as they came into an ndjson or csv file", "a record of a %s file holds no body as it came", s.Format)
	}
}

func (t *tree) signature(g *Signature) {
	if g == nil {
		return
	}
	t.sub("signature", func(t *tree) {
		t.text("scheme", g.Scheme)
		t.text("body", g.Body)
		t.text("value", g.Value)
		t.text("signed", g.Signed)
		t.text("id", g.ID)
		t.text("time", g.Time)
		t.text("hash", g.Hash)
		t.text("encoding", g.Encoding)
		t.text("prefix", g.Prefix)
		t.text("body_in", g.BodyIn)
		t.list("secrets", len(g.Secrets), func(i int, t *tree) {
			t.text("file", g.Secrets[i].File)
			t.text("env", g.Secrets[i].Env)
		})
	})
}
