package doctor

import (
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/xmlstream"
)

// first bytes of files of banks, with the format that reads them.
var bankForms = []struct {
	form   *regexp.Regexp
	format string
	text   string
}{
	{regexp.MustCompile(`^01,[^,\r\n]*,[^,\r\n]*,[0-9]{6},[0-9]{0,4},`), "bai2", "BAI2, balance reporting"},
	{regexp.MustCompile(`^101[ 0-9][0-9]{9}[ 0-9][0-9]{9}[0-9]{6}`), "nacha", "Nacha ACH file"},
}

var (
	swiftStart = regexp.MustCompile(`(?m)^(\{1:[^\r\n]*)?:20:`)
	swiftLine  = regexp.MustCompile(`(?m)^:(25|28C?|60[FM]|61|34F|13D?):`)
	swift942   = regexp.MustCompile(`(?m)^:(34F|13D|90[DC]):`)
	edifact    = regexp.MustCompile(`^(UNA.{6}\s*)?UNB\+`)
	x12        = regexp.MustCompile(`^ISA[*|~^:]`)
)

// form tells the kind of a text file by its start.
func (l *look) form() error {
	text := strings.TrimLeft(l.text, " \t\r\n")
	if text == "" {
		return fail.New(fail.Input, "%s: the file has nothing but blanks", l.name).WithHint("ask its sender for the whole file")
	}
	head := text[:min(len(text), 8<<10)]
	for _, b := range bankForms {
		if b.form.MatchString(head) {
			l.bank(b.format, Fact, "its first record", b.text)
			return nil
		}
	}
	switch {
	case swiftStart.MatchString(head) && swiftLine.MatchString(head):
		if swift942.MatchString(head) {
			l.d.provisional = true
			l.bank("mt942", Likely, "its fields 34F, 13D, 90D or 90C", "MT942, interim transaction report of SWIFT")
		} else {
			l.bank("mt940", Likely, "its fields 20, 25, 28C and 60F", "MT940, customer statement of SWIFT")
		}
		return nil
	case strings.HasPrefix(head, "OFXHEADER:") || strings.Contains(head, "<OFX>"):
		return notRead(l, "OFX", "ask the bank for camt.053, MT940, BAI2 or CSV")
	case edifact.MatchString(head):
		return notRead(l, "EDIFACT", "ask for camt, or convert it to CSV")
	case x12.MatchString(head):
		return notRead(l, "ANSI X12", "ask for another format, or convert it to CSV")
	case text[0] == '<':
		return l.xml()
	case text[0] == '{' || text[0] == '[':
		if l.json(text) {
			return nil
		}
	}
	l.delimited()
	return nil
}

func notRead(l *look, what, remedy string) error {
	l.r.remark("form", Fact, "", "%s: not read", what)
	return fail.New(fail.Input, "%s: this is %s, which is not read", l.name, what).WithHint("%s", remedy)
}

func (l *look) bank(format string, sure Sure, why, text string) {
	l.d.format = format
	l.r.remark("form", sure, why, "%s", text)
	if l.d.encoding != "utf-8" && format != "camt" && format != "pain002" {
		l.d.parts.set("bank", pairs{{"encoding", l.d.encoding}})
	}
}

// json tells lines of objects from a document with an array of records.
func (l *look) json(text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if text[0] == '{' {
		var first map[string]any
		if err := d.Decode(&first); err == nil {
			rest := strings.TrimLeft(text[d.InputOffset():], " \t")
			line := strings.TrimLeft(rest, "\r\n")
			switch {
			case strings.HasPrefix(line, "{") && line != rest:
				l.d.format = "ndjson"
				l.r.remark("form", Fact, "a JSON object on each line", "NDJSON")
				return true
			case line == "" && strings.Count(strings.TrimSpace(text), "\n") == 0 && arrayPath(text) == "":
				l.d.format = "ndjson"
				l.r.remark("form", Unsure, "one object, and no array of objects in it", "NDJSON with one record")
				return true
			case line != "":
				return false
			}
		}
	}
	path := arrayPath(text)
	if path == "" && text[0] == '{' {
		return false
	}
	l.d.format = "json"
	if text[0] == '[' {
		l.r.remark("form", Fact, "it begins with [", "JSON, an array at the top")
		return true
	}
	l.r.remark("form", Likely, "the first array of objects", "JSON, records at %s", quoted(path))
	l.d.parts.set("json", pairs{{"path", path}})
	return true
}

// arrayPath is the dotted path of the first array of objects, not inside another
// array; "" where the start of the text has none.
func arrayPath(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	var names []string // of the open objects
	var walk func() (string, bool)
	walk = func() (string, bool) {
		tok, err := d.Token()
		if err != nil {
			return "", false
		}
		switch tok {
		case json.Delim('['):
			if !d.More() {
				_, err := d.Token()
				return "", err == nil
			}
			if next := strings.TrimLeft(text[d.InputOffset():], " \t\r\n"); strings.HasPrefix(next, "{") && len(names) > 0 {
				return strings.Join(names, "."), false
			}
			for d.More() { // an array of something else is passed
				var skip json.RawMessage
				if d.Decode(&skip) != nil {
					return "", false
				}
			}
			_, err := d.Token()
			return "", err == nil
		case json.Delim('{'):
			if len(names) > 8 {
				return "", false
			}
			for d.More() {
				key, err := d.Token()
				name, ok := key.(string)
				if err != nil || !ok {
					return "", false
				}
				names = append(names, name)
				if found, more := walk(); found != "" || !more {
					return found, false
				}
				names = names[:len(names)-1]
			}
			_, err := d.Token()
			return "", err == nil
		}
		return "", true
	}
	found, _ := walk()
	return found
}

var isoMessage = regexp.MustCompile(`(camt\.05[234]|pain\.002)\.001\.[0-9]{2}`)

// xml tells messages of ISO 20022, and finds what repeats in any other document.
func (l *look) xml() error {
	l.d.encoding = "utf-8" // the document declares its own
	head := l.text[:min(len(l.text), 16<<10)]
	root, paths, fault := xmlPaths(l.bytes.head)
	message := isoMessage.FindString(head)
	for _, m := range []struct{ root, format, text string }{
		{"BkToCstmrStmt", "camt", "camt.053, statement of ISO 20022"},
		{"BkToCstmrDbtCdtNtfctn", "camt", "camt.054, notification of ISO 20022"},
		{"BkToCstmrAcctRpt", "camt", "camt.052, report of ISO 20022"},
		{"CstmrPmtStsRpt", "pain002", "pain.002, payment status report of ISO 20022"},
	} {
		if slices.ContainsFunc(paths, func(p xmlPath) bool {
			return p.path == "Document/"+m.root || strings.HasSuffix(p.path, "/Document/"+m.root)
		}) ||
			strings.Contains(head, m.root+">") {
			l.d.provisional = m.root == "BkToCstmrAcctRpt"
			if message != "" {
				m.text += " (" + message + ")"
			}
			l.bank(m.format, Fact, "the element "+m.root, m.text)
			return nil
		}
	}
	if fault != nil && root == "" {
		return fail.Wrap(fail.Input, fault, "%s: the XML cannot be read", l.name).WithHint("have it sent again, or look at its first lines")
	}
	best := -1
	for i, p := range paths {
		if p.count > 1 && p.nested && (best < 0 || p.count*(1+p.members) > paths[best].count*(1+paths[best].members)) {
			best = i
		}
	}
	l.d.format = "xml"
	if best < 0 {
		l.r.remark("form", Unsure, "no element with others in it is there twice", "XML, root %s", quoted(root))
		return fail.New(fail.Input, "%s: no element repeats, so that it is not clear what the records are", l.name).
			WithHint("name the element by xml: {path: …}")
	}
	l.r.remark("form", Likely, "the element that repeats most, with others in it", "XML, records are %s", quoted(paths[best].path))
	l.d.parts.set("xml", pairs{{"path", paths[best].path}})
	return nil
}

type xmlPath struct {
	path    string
	count   int64
	nested  bool  // it has elements in it
	members int64 // different paths right below
}

// xmlPaths counts the elements of a sample by path.
func xmlPaths(sample []byte) (root string, out []xmlPath, err error) {
	x, err := xmlstream.New(strings.NewReader(string(sample)), xmlstream.Options{MaxPart: 4 << 20, MaxDepth: 64})
	if err != nil {
		return "", nil, err
	}
	index := map[string]int{}
	var at []string
	for len(out) < 10_000 {
		x.Mark()
		tok, err := x.Next()
		if err == io.EOF {
			return root, out, nil
		}
		if err != nil {
			return root, out, err
		}
		switch tok.Kind {
		case xmlstream.Start:
			parent := strings.Join(at, "/")
			at = append(at, string(tok.Name))
			path := strings.Join(at, "/")
			if root == "" {
				root = path
			}
			i, ok := index[path]
			if !ok {
				i = len(out)
				index[path] = i
				out = append(out, xmlPath{path: path})
				if p, ok := index[parent]; ok {
					out[p].nested = true
					out[p].members++
				}
			}
			out[i].count++
		case xmlstream.End:
			at = at[:len(at)-1]
		}
	}
	return root, out, nil
}
