package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// check finds the faults that concern several parts of the job.
func (d *decoder) check(job *Job) {
	if len(job.Operations.Sources) == 0 || len(job.Results.Sources) == 0 {
		return // a side could not be read; what refers to it would all be wrong
	}
	for _, s := range Sides {
		d.checkSide(job, s)
	}
	d.checkPeriod(job)
	d.checkAmounts(job)
	for i := range job.Match {
		d.checkPass(job, i)
	}
	d.checkPolicies(job)
	d.checkPilot(job)
	d.checkUnattributed(job)
	d.checkRedact(job)
}

// checkRedact refuses names of fields that no side has: what they should hide would stay
// in the clear.
func (d *decoder) checkRedact(job *Job) {
	known := append(fieldNames(job.Operations.Fields), fieldNames(job.Results.Fields)...)
	for i, name := range job.Redact.Exempt {
		if p := index("redact.exempt", i); !slices.Contains(known, name) {
			d.fail(p, didYouMean(name, known), "neither side declares the field %q", name)
		} else if how := job.Redact.Fields[name]; how != "" {
			d.fail(p, "keep one of the two", "the field %s is exempt from a search, and hidden as a whole: %s", name, how)
		}
	}
	for _, name := range sortedKeys(job.Redact.Fields) {
		if name == "currency" {
			d.fail("redact.fields.currency", "leave it out: a currency is nobody's personal data", "the totals of a report are by currency, which cannot be hidden")
			continue
		}
		if job.Operations.Field(name) == nil && job.Results.Field(name) == nil {
			d.fail("redact.fields."+name, didYouMean(name, known), "neither side declares the field %q", name)
		}
	}
}

// knownTypes are the types of fields that the engine reads by their names. An
// amount of another type would be in no total, no statement and no limit.
var knownTypes = map[Side]map[string]FieldType{
	Operations: {
		"attempts": Integer, "last_attempt_at": Timestamp, "first_attempt_at": Timestamp, "first_failed_at": Timestamp,
		"lease_until": Timestamp, "exported_at": Timestamp, "amount": Decimal,
		"next_attempt_at": Timestamp, "last_failed_at": Timestamp, "payload_expires_at": Timestamp, "resolved_at": Timestamp, "replayed_at": Timestamp,
		"error_code": Text, "lease_holder": Text, "evidence": Text, "closing_reason": Text, "remote_id": Text, "replaces": Text,
		"payload_ref": Text, "content_fingerprint": Text,
	},
	Results: {"amount": Decimal},
}

func (d *decoder) checkSide(job *Job, s Side) {
	spec := job.Spec(s)
	path := join(string(s), "fields")
	for _, f := range spec.Fields {
		p := join(path, f.Name)
		if t := knownTypes[s][f.Name]; t != "" && f.Type != t && !d.faulty(join(p, "type")) {
			d.fail(p, "add `type: "+string(t)+"`", "the field %s of the %s is %s, it must be %s", f.Name, s, f.Type, t)
		}
		if s == Operations && f.Name == "hold" && f.Type != Text && f.Type != Boolean && !d.faulty(join(p, "type")) {
			d.fail(p, "remove the type, or add `type: boolean`", "the field hold of the operations is %s, it must be text or boolean", f.Type)
		}
		d.checkUnits(job, s, &f, p)
	}
	for i, name := range spec.LocalRef {
		p := join(string(s), "local_ref")
		if _, ok := d.places[index(p, i)]; ok {
			p = index(p, i)
		}
		d.fieldOf(job, s, name, p)
	}
	for i, src := range spec.Sources {
		d.checkControls(job, s, &src, index(join(string(s), "sources"), i))
		d.checkThrough(job, s, &src, index(join(string(s), "sources"), i))
		d.checkProofs(job, s, &src, index(join(string(s), "sources"), i))
		d.checkIdentity(job, s, &src, index(join(string(s), "sources"), i))
		d.checkSQL(&src, index(join(string(s), "sources"), i))
		if src.IsLookup() && s == Results {
			d.checkLookup(job, &src, index(join(string(s), "sources"), i))
		}
	}
	d.checkSurvivor(job, s)
	if k := spec.KeepEffect; k != nil {
		if k.Earliest != "" {
			d.ordered(job, s, k.Earliest, "results.keep_effect.earliest")
		}
		for i, name := range k.Agrees {
			if !slices.ContainsFunc(job.Compare, func(c Compare) bool { return c.Name == name }) {
				p := index("results.keep_effect.agrees", i)
				d.fail(p, didYouMean(name, compareNames(job.Compare)), "%q is no compared field", name)
			}
		}
	}
}

// checkUnits: the field that units and decimals go by holds a currency.
func (d *decoder) checkUnits(job *Job, s Side, f *Field, path string) {
	for key, name := range map[string]string{"minor_units_of": f.MinorUnitsOf, "major_units_of": f.MajorUnitsOf} {
		if name == "" {
			continue
		}
		if c, ok := d.fieldOf(job, s, name, join(path, key)); ok && c.Type != Currency && c.Type != Text {
			d.fail(join(path, key), "name the field with the currency", "%s is %s, it holds no currency", c.Name, c.Type)
		}
	}
}

// ordered checks that a field of the side is declared and has an order in which
// "latest" and "earliest" mean something.
func (d *decoder) ordered(job *Job, s Side, name, path string) {
	f, ok := d.fieldOf(job, s, name, path)
	if ok && f.Type != Integer && f.Type != Timestamp && f.Type != Date && f.Type != Decimal {
		d.fail(path, "declare it as integer, timestamp or date", "the field %s is %s, which has no earlier and later", f.Name, f.Type)
	}
}

// checkSurvivor: records are folded by what identifies them among themselves
// (V5): the remote id of results and the operation id of operations where they
// are declared, else an identity field.
func (d *decoder) checkSurvivor(job *Job, s Side) {
	spec := job.Spec(s)
	if spec.Survivor == nil {
		return
	}
	path := join(string(s), "survivor")
	id := "operation_id"
	if s == Results {
		id = "remote_id"
	}
	by := spec.Survivor.By
	if f, ok := d.fieldOf(job, s, by, join(path, "by")); ok && f != nil {
		switch {
		case spec.Field(id) != nil && by != id:
			d.fail(join(path, "by"), "write `by: "+id+"`, or leave the field "+id+" out", "the %s declare %s, so that records are folded by it and not by %s", s, id, by)
		case spec.Field(id) == nil && !identityField(job, s, by):
			d.fail(join(path, "by"), "name the field of an identity pass", "%s identifies no record: it is the only part of no identity pass", by)
		}
	}
	d.ordered(job, s, spec.Survivor.Latest, join(path, "latest"))
}

func identityField(job *Job, s Side, name string) bool {
	return slices.ContainsFunc(job.Match, func(p Pass) bool {
		return p.Identity && len(p.On) == 1 && p.On[0].field(s) == name
	})
}

func (k KeyPart) field(s Side) string {
	if s == Operations {
		return k.Operations
	}
	return k.Results
}

func (d *decoder) checkPeriod(job *Job) {
	p := job.Period
	if p == nil {
		return
	}
	fo, fr, ok := d.fieldPair(job, p.By, p.By, "period.by")
	if !ok {
		return
	}
	if fo.Type != fr.Type || fo.Type != Timestamp && fo.Type != Date {
		d.fail("period.by", "declare it as timestamp, or as date, on both sides", "%s is %s in the operations and %s in the results", p.By, fo.Type, fr.Type)
		return
	}
	if fo.Type != Date {
		return
	}
	for name, t := range map[string]Template{"from": p.From, "until": p.Until} {
		if text, err := t.fill(probeDate, ""); err == nil && !isDay(text) {
			d.fail("period."+name, "write a day: {date}", "%s is a date, so that the period needs whole days", p.By)
		}
	}
}

// checkAmounts: amounts compare only in one currency (V22). Where both sides
// declare the currency of a compared amount, it has to be compared as well, or
// 10.00 EUR would equal 10.00 USD.
func (d *decoder) checkAmounts(job *Job) {
	compared := func(operations, results string) bool {
		return slices.ContainsFunc(job.Compare, func(c Compare) bool {
			return c.Operations == operations && c.Results == results ||
				operations == results && slices.Contains(c.Fields, operations)
		})
	}
	if slices.ContainsFunc(d.errs, func(e Error) bool { return strings.HasPrefix(e.Path, "compare") }) {
		return // the comparison at fault may be the one that is missed
	}
	for i, c := range job.Compare {
		pairs := [][2]string{{c.Operations, c.Results}}
		for _, f := range c.Fields {
			pairs = append(pairs, [2]string{f, f})
		}
		for _, p := range pairs {
			fo, fr := job.Operations.Field(p[0]), job.Results.Field(p[1])
			if fo == nil || fr == nil {
				continue
			}
			co, cr := currencyOf(fo), currencyOf(fr)
			if co == "" && cr == "" {
				continue // no amount
			}
			co, cr = cmp.Or(co, "currency"), cmp.Or(cr, "currency")
			if job.Operations.Field(co) == nil || job.Results.Field(cr) == nil || compared(co, cr) {
				continue
			}
			hint := "add `- {field: " + co + "}` to compare"
			if co != cr {
				hint = "add `- {operations: " + co + ", results: " + cr + "}` to compare"
			}
			d.fail(index("compare", i), hint, "%s is compared, but not its currency: amounts compare only in one currency (V22)", p[0])
			return
		}
	}
}

// currencyOf names the field with the currency of an amount, "" for a field that
// is none.
func currencyOf(f *Field) string {
	switch {
	case !numeric(f.Type):
		return ""
	case f.MinorUnitsOf != "" || f.MajorUnitsOf != "":
		return cmp.Or(f.MinorUnitsOf, f.MajorUnitsOf)
	case f.Name == "amount":
		return "currency"
	}
	return ""
}

func (d *decoder) checkPass(job *Job, i int) {
	p := &job.Match[i]
	path := index("match", i)
	if p.Group != nil {
		d.checkParts(job, p.On, join(path, "group"))
		d.checkGroup(job, i)
		return
	}
	d.checkParts(job, p.On, join(path, "on"))
	d.checkWithin(job, p, join(path, "within"))
}

// checkParts: the parts of a key can be equal.
func (d *decoder) checkParts(job *Job, parts []KeyPart, path string) {
	for j, k := range parts {
		at := index(path, j)
		fo, fr, ok := d.fieldPair(job, k.Operations, k.Results, at)
		if !ok {
			continue
		}
		if fo.Type != fr.Type && !(numeric(fo.Type) && numeric(fr.Type)) {
			d.fail(at, "declare the same `type` on both sides", "%s of the operations is %s and %s of the results is %s, so that the keys would never be equal", fo.Name, fo.Type, fr.Name, fr.Type)
		}
		if !slices.Equal(withoutPrefixes(fo.Normalise), withoutPrefixes(fr.Normalise)) {
			d.warn(at, "normalise both sides alike", "%s of the operations and %s of the results are normalised differently", fo.Name, fr.Name)
		}
		if fr.Map != nil {
			d.fail(at, "use another field", "the status of the results has a map; it is no key")
		}
	}
}

// withoutPrefixes leaves out the steps that one side alone may well need.
func withoutPrefixes(steps []Normalise) []Normalise {
	return slices.DeleteFunc(slices.Clone(steps), func(n Normalise) bool { return strings.HasPrefix(string(n), "strip_prefix:") })
}

func (d *decoder) checkWithin(job *Job, p *Pass, path string) {
	for _, w := range p.Within {
		at := join(path, w.Field)
		fo, fr, ok := d.fieldPair(job, w.Field, w.Field, at)
		if !ok {
			continue
		}
		if fo.Type != fr.Type || fo.Type != Timestamp && fo.Type != Date {
			d.fail(at, "declare it as timestamp, or as date, on both sides", "%s is %s in the operations and %s in the results, which has no time between", w.Field, fo.Type, fr.Type)
			continue
		}
		const day = 24 * time.Hour
		if fo.Type == Date && w.Max%day != 0 {
			d.fail(at, "write whole days: 2d", "%s is a date; %s is no number of days", w.Field, formatDuration(w.Max))
		}
	}
}

func (d *decoder) checkPolicies(job *Job) {
	for _, name := range sortedKeys(job.Types) {
		p := job.Types[name]
		path := join("types", name)
		if p.HasWindow {
			f := job.Operations.Field("created_at")
			if f == nil || f.Type != Timestamp {
				d.fail(join(path, "window"), "add `created_at: {column: …, type: timestamp}` to operations.fields", "the window of %s needs the field created_at of the operations, of type timestamp", name)
			}
		}
		for i, field := range p.OncePer {
			d.fieldOf(job, Operations, field, index(join(path, "once_per"), i))
		}
		d.checkActing(job, name, p, path)
		if p.Approvals != nil && (job.Operations.Field("amount") == nil || job.Operations.Field("currency") == nil) {
			d.fail(join(path, "approvals"), "declare the fields amount and currency of the operations", "approvals of %s depend on an amount and its currency, which the operations do not declare", name)
		}
	}
	if len(job.Types) > 0 && job.Operations.Field("type") == nil && !onlyDefault(job.Types) {
		d.fail("types", "add `type: column` to operations.fields, or write one policy under \"*\"", "policies by type need the field type of the operations")
	}
	d.checkCoverageTypes(job)
	for _, queue := range sortedKeys(job.Limits.BlastRadius) {
		if len(job.Limits.BlastRadius[queue].Amount) > 0 && (job.Operations.Field("amount") == nil || job.Operations.Field("currency") == nil) {
			d.fail(join("limits.blast_radius", queue)+".amount", "declare the fields amount and currency of the operations", "a limit of an amount needs amount and currency, which the operations do not declare")
		}
	}
}

func onlyDefault(types map[string]TypePolicy) bool {
	_, ok := types["*"]
	return ok && len(types) == 1
}

// checkCoverageTypes warns of a type that a source should know but no policy
// names; it is likely misspelt.
func (d *decoder) checkCoverageTypes(job *Job) {
	if _, ok := job.Types["*"]; ok || len(job.Types) == 0 {
		return
	}
	for _, s := range Sides {
		for i, src := range job.Spec(s).Sources {
			for j, t := range src.Coverage.Types {
				if _, ok := job.Types[t]; !ok {
					p := index(fmt.Sprintf("%s.sources[%d].coverage.types", s, i), j)
					d.warn(p, didYouMean(t, sortedKeys(job.Types)), "no policy names the type %q", t)
				}
			}
		}
	}
}

func (d *decoder) checkUnattributed(job *Job) {
	for i, name := range job.Unattributed.Contradicts {
		p := index("unattributed.contradicts", i)
		d.fieldPair(job, name, name, p)
	}
	if job.Unattributed.Within > 0 {
		for _, s := range Sides {
			if f := job.Spec(s).Field("created_at"); f == nil || f.Type != Timestamp {
				d.fail("unattributed.within", "add `created_at: {column: …, type: timestamp}`", "it needs the field created_at of the %s, of type timestamp", s)
			}
		}
	}
}
