package rules

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// Known is what a source is known to hold. What else it holds is surfaced, and never
// taken for something else.
type Known struct {
	Columns []string            // others are reported; a name that ends in .* stands for all members below
	Values  map[string][]string // product field of type text → its texts; another one withdraws the coverage
}

// Effects says which records of a source are parts of one effect: a capture with the
// fee and the conversion that the provider writes in lines of their own. One record
// stands for the effect, and has the sums; what was added to it is taken from the
// parts, so that every total stays as it was. All records stay rows; record id and
// keys among By are the main record's alone.
type Effects struct {
	By       []string     // product fields that the records of one effect share
	Role     string       // product field of type text that tells the records apart
	Currency string       // product field with the currency of what is added up
	Main     []string     // roles of the record that stands for the effect
	Parts    []EffectPart // in order: one that adds nothing is also part of one before it
}

// EffectPart is one role of the other records.
type EffectPart struct {
	Role          string
	Add           []EffectSum // in declared order; empty: the record is only a part
	OtherCurrency string      // refuse (default), or trace: a part in another currency adds nothing
}

// EffectSum adds a field of the part to a field of the record that stands for the
// effect.
type EffectSum struct{ From, To string }

// Tie is an equation that every record must fulfil, after parts were added: Total =
// Σ Plus − Σ Minus. A null in Plus and Minus counts as zero; where Total or all
// of them are null, or a value is unreadable, there is nothing to check.
type Tie struct {
	Total string
	Plus  []string
	Minus []string
	Same  []string // checked only in records in which these fields have one text
}

// ZeroSum is a field whose values add up to zero over all records of a file, for
// each combination of the texts of Per.
type ZeroSum struct {
	Field string
	Per   []string
}

var knownShape = &shape{
	name: "known", doc: "What the source is known to hold.",
	keys: []key{
		{name: "columns", doc: "Columns; one that neither this list nor a field names is reported. A name that ends in * stands for all that begin so.", def: "any", value: listValue(textValue())},
		{name: "values", doc: "Product field of type text → its texts, such as the kinds of records. A record with another one withdraws the coverage of the source.", def: "any", value: mapValue(listValue(textValue()))},
	},
}

var effectsShape = &shape{
	name: "effects", doc: "Records of one file that are parts of one effect: one of them stands for it and has the sums, which are taken from the others. All stay rows: a scope rule says what the parts are. Record id and keys among `by` are the main record's alone.",
	keys: []key{
		{name: "by", doc: "Product fields that the records of one effect share.", required: true, value: listValue(patternValue(namePattern))},
		{name: "role", doc: "Product field of type text that tells the records apart.", required: true, value: patternValue(namePattern)},
		{name: "currency", doc: "Product field with the currency of what is added up.", def: "currency", value: patternValue(namePattern)},
		{name: "main", doc: "Roles of the record that stands for the effect; an effect with parts has one.", required: true, value: listValue(textValue())},
		{name: "parts", doc: "Roles of the other records. A part whose effect is not in the file stays as it is. Of parts that add nothing, such as the steps of a payment, the first in this order stands for the effect until there is a main record.", required: true, value: listValue(shapeValue(effectPartShape))},
	},
}

var effectPartShape = &shape{
	name: "effect_part", doc: "A role of records that are parts of an effect.",
	keys: []key{
		{name: "role", doc: "Text of the role.", required: true, value: textValue()},
		{name: "add", doc: "Decimal field of the part → decimal field of the main record that it is added to. The part's own becomes null.", def: "nothing: the record is only a part", value: mapValue(patternValue(namePattern))},
		{name: "other_currency", doc: "What a part does whose currency is not that of the main record: refuse the file, or trace: it adds nothing.", def: "refuse", value: enumValue("refuse", "trace")},
	},
}

var tieShape = &shape{
	name: "tie", doc: "An equation that each record fulfils: total = sum of plus − sum of minus. A file in which it fails is refused. Null counts as zero in plus and minus; where the total or all of them are null there is nothing to check.",
	keys: []key{
		{name: "total", doc: "Decimal field.", required: true, value: patternValue(namePattern)},
		{name: "plus", doc: "Decimal fields that are added.", def: "none", value: listValue(patternValue(namePattern))},
		{name: "minus", doc: "Decimal fields that are taken away.", def: "none", value: listValue(patternValue(namePattern))},
		{name: "same", doc: "Fields of type text or currency: only records in which they are equal are checked, such as those without a conversion.", def: "every record", value: listValue(patternValue(namePattern))},
	},
}

var zeroSumShape = &shape{
	name: "zero_sum", doc: "A field whose sum over all records of a file is zero: payouts stand against what they pay out.",
	keys: []key{
		{name: "field", doc: "Decimal field.", required: true, value: patternValue(namePattern)},
		{name: "per", doc: "Product fields, such as the currency: the sum is zero for each combination of their texts.", def: "one sum for the file", value: listValue(patternValue(namePattern))},
	},
}

// proofs reads what a source holds and how its records add up.
func (d *decoder) proofs(o *object, s *Source) {
	if c := o.unlessNone("known", knownShape); c != nil {
		s.Known = &Known{Columns: c.texts("columns")}
		if n := c.node("values"); n != nil {
			s.Known.Values = map[string][]string{}
			d.free(n, c.at("values"), func(name string, _, v *yaml.Node, p string) { s.Known.Values[name] = d.texts(v, p) })
		}
	}
	if c := o.unlessNone("effects", effectsShape); c != nil {
		s.Effects = d.effects(c)
	}
	if e := s.Effects; e != nil && s.OnReject == RejectKeep && slices.ContainsFunc(e.Parts, func(p EffectPart) bool { return len(p.Add) > 0 }) {
		o.fail("effects", "leave `on_reject: keep` away", "a rejected record could be a part of an effect, whose sum would then be wrong")
	}
	o.objects("ties", tieShape, func(_ int, c *object) {
		t := Tie{Total: c.text("total", ""), Plus: c.texts("plus"), Minus: c.texts("minus"), Same: c.texts("same")}
		if len(t.Plus)+len(t.Minus) == 0 {
			d.fail(c.path, "add `plus: [amount]`", "%s: the total of what?", c.path)
		}
		s.Ties = append(s.Ties, t)
	})
	o.objects("zero_sums", zeroSumShape, func(_ int, c *object) {
		s.ZeroSums = append(s.ZeroSums, ZeroSum{Field: c.text("field", ""), Per: c.texts("per")})
	})
}

// unlessNone is a mapping that a job can take away from a preset by `none`.
func (o *object) unlessNone(name string, s *shape) *object {
	if n := o.node(name); n != nil && n.Kind == yaml.ScalarNode && n.Value == "none" {
		return nil
	}
	return o.sub(name, s)
}

func (d *decoder) effects(o *object) *Effects {
	e := &Effects{By: o.texts("by"), Role: o.text("role", ""), Currency: o.text("currency", "currency"), Main: o.texts("main")}
	seen := map[string]bool{}
	for _, m := range e.Main {
		seen[m] = true
	}
	o.objects("parts", effectPartShape, func(_ int, c *object) {
		p := EffectPart{Role: c.text("role", ""), OtherCurrency: choice(c, "other_currency", "refuse", "refuse", "trace")}
		if seen[p.Role] {
			c.fail("role", "give each record one role", "%s: the role %q is there twice", c.path, p.Role)
		}
		seen[p.Role] = true
		if n := c.node("add"); n != nil {
			d.free(n, c.at("add"), func(from string, _, v *yaml.Node, path string) {
				if to, ok := d.scalar(v, path); ok {
					p.Add = append(p.Add, EffectSum{From: from, To: to})
				}
			})
		}
		e.Parts = append(e.Parts, p)
	})
	return e
}

// fills tells whether parts of effects add to the field.
func (e *Effects) fills(field string) bool {
	if e == nil {
		return false
	}
	for i := range e.Parts {
		if slices.ContainsFunc(e.Parts[i].Add, func(a EffectSum) bool { return a.To == field }) {
			return true
		}
	}
	return false
}

// checkProofs: the fields that the proofs of a source name exist, with their types.
func (d *decoder) checkProofs(job *Job, s Side, src *Source, path string) {
	spec := job.Spec(s)
	typed := func(name, p string, types ...FieldType) {
		f, ok := d.fieldOf(job, s, name, p)
		for _, t := range types {
			if !ok || f.Type == t {
				return
			}
		}
		d.fail(p, "declare `type: "+string(types[0])+"`", "the field %s is %s, it must be %s", name, f.Type, types[0])
	}
	for _, f := range src.Fields {
		if f.SumOfParts && !src.Effects.fills(f.Name) {
			d.fail(join(join(string(s), "fields"), f.Name), "add it to `effects`: `parts: [{role: fee, add: {amount: "+f.Name+"}}]`", "nothing fills the field %s of the source %s", f.Name, src.Name)
		}
	}
	if k := src.Known; k != nil {
		for _, name := range sortedKeys(k.Values) {
			typed(name, join(join(path, "known.values"), name), Text)
		}
	}
	if e := src.Effects; e != nil {
		at := join(path, "effects")
		typed(e.Role, join(at, "role"), Text)
		for i, name := range e.By {
			d.fieldOf(job, s, name, index(join(at, "by"), i))
		}
		for i := range e.Parts {
			for _, a := range e.Parts[i].Add {
				p := join(join(index(join(at, "parts"), i), "add"), a.From)
				typed(a.From, p, Decimal)
				typed(a.To, p, Decimal)
			}
		}
		if spec.Field(e.Currency) == nil {
			d.fail(at, "declare it, or name another one: `currency: fee_currency`", "%s adds amounts up, and the %s declare no field %s", at, s, e.Currency)
		}
	}
	for i, t := range src.Ties {
		at := index(join(path, "ties"), i)
		typed(t.Total, join(at, "total"), Decimal)
		for j, name := range t.Plus {
			typed(name, index(join(at, "plus"), j), Decimal)
		}
		for j, name := range t.Minus {
			typed(name, index(join(at, "minus"), j), Decimal)
		}
		for j, name := range t.Same {
			typed(name, index(join(at, "same"), j), Text, Currency)
		}
	}
	for i, z := range src.ZeroSums {
		at := index(join(path, "zero_sums"), i)
		typed(z.Field, join(at, "field"), Decimal)
		for j, name := range z.Per {
			typed(name, index(join(at, "per"), j), Text, Currency)
		}
	}
}

// proofs writes what a source holds and how its records add up.
func (t *tree) proofs(s *Source) {
	if k := s.Known; k != nil {
		t.sub("known", func(t *tree) {
			t.texts("columns", k.Columns)
			t.sub("values", func(t *tree) {
				for _, name := range sortedKeys(k.Values) {
					t.texts(name, k.Values[name])
				}
			})
		})
	}
	if e := s.Effects; e != nil {
		t.sub("effects", func(t *tree) {
			t.texts("by", e.By)
			t.text("role", e.Role)
			t.text("currency", e.Currency)
			t.texts("main", e.Main)
			t.list("parts", len(e.Parts), func(i int, t *tree) {
				p := e.Parts[i]
				t.text("role", p.Role)
				t.sub("add", func(t *tree) {
					for _, a := range p.Add {
						t.text(a.From, a.To)
					}
				})
				t.text("other_currency", p.OtherCurrency)
			})
		})
	}
	t.list("ties", len(s.Ties), func(i int, t *tree) {
		t.text("total", s.Ties[i].Total)
		t.texts("plus", s.Ties[i].Plus)
		t.texts("minus", s.Ties[i].Minus)
		t.texts("same", s.Ties[i].Same)
	})
	t.list("zero_sums", len(s.ZeroSums), func(i int, t *tree) {
		t.text("field", s.ZeroSums[i].Field)
		t.texts("per", s.ZeroSums[i].Per)
	})
}
