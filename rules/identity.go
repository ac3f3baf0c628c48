package rules

import (
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"
)

// Identity says which report a file is, whatever it is called. Files with one key are one
// report: with other content one of them is a revision of the other.
type Identity struct {
	Parts     []IdentityPart // in the order of identityParts, those that are declared
	MayRepeat bool           // a file of a later date may rightly hold again what one of an earlier date held
}

// IdentityPart is one part of the identity, and where its text is: exactly one of the
// places is set.
type IdentityPart struct {
	Name      string
	Text      Template // a constant, {date} and {file_date} filled in
	FileName  string   // a regular expression on the base name of the file, with one group
	At        Position // in the header, trailer or total line of the file
	Field     string   // product field that all records of the file have in common
	Statement string   // of the one bank statement in the file: account, number, id or until
}

// Parts of an identity.
const (
	PartProvider = "provider"
	PartAccount  = "account"
	PartReport   = "report"
	PartPeriod   = "period"
	PartSequence = "sequence" // a number that goes on from file to file, over all periods
	PartPart     = "part"     // a number from 1 within one report
	PartParts    = "parts"    // how many parts the report has
	PartRevision = "revision" // which of several files with one key is the latest
)

var identityParts = []string{PartProvider, PartAccount, PartReport, PartPeriod, PartSequence, PartPart, PartParts, PartRevision}

// Part finds a part by its name; nil where it is not declared.
func (i *Identity) Part(name string) *IdentityPart {
	if i == nil {
		return nil
	}
	if at := slices.IndexFunc(i.Parts, func(p IdentityPart) bool { return p.Name == name }); at >= 0 {
		return &i.Parts[at]
	}
	return nil
}

// OfOneDate tells whether each file of the source belongs to one period, so that a file of
// an earlier date is never rightly that of a later one.
func (i *Identity) OfOneDate() bool {
	return i != nil && !i.MayRepeat && (i.Part(PartPeriod) != nil || i.Part(PartSequence) != nil)
}

var statementParts = []string{"account", "number", "id", "until"}

var identityPartShape = &shape{
	name: "identity_part", doc: "Where a part of the identity of a file is: exactly one of the keys.",
	keys: []key{
		{name: "name", doc: "Regular expression (RE2) on the file's name without its folders, with one group, which is the part. A name that it does not fit refuses the file; of `revision` it is the first one.", value: schema{"type": "string"}},
		{name: "at", doc: "Where the file states it: header.N, trailer.N or total_line.N, as in controls; fields count from 1.", value: positionValue()},
		{name: "field", doc: "Product field that all records of the file have in common; a file without records has none and is refused.", value: patternValue(namePattern)},
		{name: "statement", doc: "What the one bank statement in the file says of itself: account, number, id or until.", value: enumValue(statementParts...)},
	},
}

var identityShape = &shape{
	name: "identity", doc: "Which report a file is, whatever it is called: docs/sources-registry.md.",
	keys: []key{
		identityKey(PartProvider, "Who made it."),
		identityKey(PartAccount, "The account that it is about."),
		identityKey(PartReport, "The kind of report."),
		identityKey(PartPeriod, "The time that it is about."),
		identityKey(PartSequence, "A whole number that goes on by one from file to file, over all periods. A number that is left out withdraws the coverage."),
		identityKey(PartPart, "A whole number from 1 within one report that comes in parts."),
		identityKey(PartParts, "How many parts the report has. A part that is missing withdraws the coverage."),
		identityKey(PartRevision, "Which of several files that are the same report is the latest: the greatest number, or the last text. Without it they are refused."),
		{name: "may_repeat", doc: "A file of a later date may rightly hold again what one of an earlier date held, such as a register that did not change.", def: "false", value: boolValue()},
	},
}

func identityKey(name, doc string) key {
	return key{name: name, doc: doc + " A text with {date} and {file_date}, or a mapping.", value: anyValue(textValue(), shapeValue(identityPartShape))}
}

// identity reads what tells the files of a source apart. It is called when all else of the
// source is known, but for its fields.
func (d *decoder) identity(o *object, s *Source) {
	c := o.sub("identity", identityShape)
	if c == nil {
		return
	}
	v := &Identity{MayRepeat: c.boolean("may_repeat", false)}
	for _, name := range identityParts {
		if n := c.node(name); n != nil {
			v.Parts = append(v.Parts, d.identityPart(c, s, name, n))
		}
	}
	numbers := []string{PartSequence, PartPart, PartParts}
	for _, p := range v.Parts {
		if p.Text != "" && slices.Contains(numbers, p.Name) {
			c.fail(p.Name, `name its place: {name: '_(\d+)\.csv$'}, {at: trailer.3}, {field: F} or {statement: number}`, "%s is a number of each file, not one text for all", c.at(p.Name))
		}
	}
	switch {
	case len(v.Parts) == 0 && !d.faulty(c.path):
		d.fail(c.path, "add `period: \"{date}\"`, or what else tells the reports apart", "%s names no part", c.path)
	case v.Part(PartParts) != nil && v.Part(PartPart) == nil:
		c.fail(PartParts, "add `part`", "%s: how many parts there are says nothing while no file says which it is", c.at(PartParts))
	case v.Part(PartPart) != nil && v.Part(PartParts) == nil && (s.Ready == nil || s.Ready.Manifest == nil && s.Ready.Marker == nil):
		c.fail(PartPart, "add `parts`, or by `ready` a manifest or a marker", "%s: nothing says how many parts there are, so that nobody would miss the last one", c.at(PartPart))
	case v.Part(PartRevision) != nil && len(v.Parts) == 1:
		c.fail(PartRevision, "add `period: \"{date}\"`, or what else tells the reports apart", "%s: revisions of what? No other part is declared", c.at(PartRevision))
	}
	s.Identity = v
}

func (d *decoder) identityPart(c *object, s *Source, name string, n *yaml.Node) IdentityPart {
	p := IdentityPart{Name: name}
	at := c.at(name)
	if n.Kind != yaml.MappingNode {
		text, _ := d.scalar(n, at)
		p.Text = Template(text)
		d.template(p.Text, at, s.Dates != nil)
		return p
	}
	o := d.object(n, identityPartShape, at)
	if o == nil {
		return p
	}
	places := 0
	for _, k := range identityPartShape.keys {
		if o.has(k.name) {
			places++
		}
	}
	if places != 1 {
		d.fail(at, "keep one of name, at, field and statement", "%s names %d places where one is needed", at, places)
		return p
	}
	if p.FileName = o.text("name", ""); p.FileName != "" {
		switch re, err := regexp.Compile(p.FileName); {
		case err != nil:
			o.fail("name", `such as '_(\d{8})\.csv$', in single quotes`, "%s is no regular expression: %v", o.at("name"), err)
		case re.NumSubexp() != 1:
			o.fail("name", "put what is the part in parentheses, and write (?:…) for all others", "%s has %d groups where one is needed", o.at("name"), re.NumSubexp())
		}
	}
	switch p.At = d.positionOf(o, "at"); p.At.In {
	case "":
	case InFile:
		o.fail("at", "take the part from the file itself", "%s: a control file is of all files of the source", o.at("at"))
	default:
		d.lineOf(o.at("at"), s, p.At.In, "parts of the identity")
	}
	p.Field = o.text("field", "")
	if o.has("statement") {
		p.Statement = choice(o, "statement", "", statementParts...)
		if !s.Format.Bank() {
			o.fail("statement", "take the part from elsewhere", "%s: a %s file holds no bank statement", o.at("statement"), s.Format)
		}
	}
	return p
}

// checkIdentity checks the fields that an identity names. They stand in outputs as they
// are, so that none is one that the job hides.
func (d *decoder) checkIdentity(job *Job, s Side, src *Source, path string) {
	if src.Identity == nil {
		return
	}
	for _, p := range src.Identity.Parts {
		at := join(join(join(path, "identity"), p.Name), "field")
		if p.Field == "" {
			continue
		}
		switch f, ok := d.fieldOf(job, s, p.Field, at); {
		case !ok:
		case job.Redact.Fields[p.Field] != "":
			d.fail(at, "take the part from elsewhere", "the field %s is hidden in outputs, where the identity of each file stands", p.Field)
		case f.Type == Timestamp || f.Type == Boolean || f.Type == Decimal:
			d.fail(at, "name a field of type text, integer, date or currency", "the field %s is %s, by which nobody knows a report", p.Field, f.Type)
		}
	}
}

func (t *tree) identity(v *Identity) {
	if v == nil {
		return
	}
	t.sub("identity", func(t *tree) {
		for _, p := range v.Parts {
			if p.Text != "" {
				t.text(p.Name, string(p.Text))
				continue
			}
			t.sub(p.Name, func(t *tree) {
				t.text("name", p.FileName)
				t.text("at", p.At.String())
				t.text("field", p.Field)
				t.text("statement", p.Statement)
			})
		}
		t.boolean("may_repeat", v.MayRepeat)
	})
}
