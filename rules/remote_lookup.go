package rules

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v4"
)

// Lookup is a service that is asked about single operations after the bulk match: one GET
// for each key, whose answer holds what the service has under it.
type Lookup struct {
	Web
	URL        Template            // with {key}, where the query has none
	Query      map[string][]string // templates, with {key}
	Headers    map[string]Template
	By         []string // fields of the operations whose texts are the keys, asked one after the other until one finds something
	Sufficient []string // those of By whose silence is enough, whatever other identity keys an operation has
	Records    string   // path of the array of records in an answer; "" the answer is the array
	One        bool     // the answer is the record itself
	Key        []string // paths in a record, one of which has to hold the key
	Absent     []int64  // statuses that say that there is none, such as 404
	Known      string   // a key that the service has a record of; unless it is found, no silence counts
	Exact      bool     // the service answers from its books
	Lag        time.Duration
	Ask        []string // reasons of the verdicts that are asked about
	Limits     LookupLimits
}

// LookupLimits bound what one run asks.
type LookupLimits struct {
	Operations  int64
	AnswerBytes int64
	Time        time.Duration
}

// FoundFile is the name of the file of a lookup that is read: the records of all answers.
const FoundFile = "found.ndjson"

// lookupReasons are the reasons of ambiguous and absent operations that a lookup may be about;
// lookupDefault those that it is about unless the job says otherwise.
var (
	lookupDefault = []string{"coverage_incomplete", "outcome_unknown", "unattributed_result", "several_candidates"}
	lookupReasons = append(slices.Clone(lookupDefault), "keys_disagree", "counterpart_not_unique", "unmapped_status", "no_result", "failed_at_provider")
)

// IsLookup tells whether the source is asked about single operations.
func (s *Source) IsLookup() bool { return s.Remote != nil && s.Remote.Kind == FromLookup }

// Lookups are the sources of the results that are asked about single operations.
func (j *Job) Lookups() []*Source {
	var out []*Source
	for i := range j.Results.Sources {
		if s := &j.Results.Sources[i]; s.IsLookup() {
			out = append(out, s)
		}
	}
	return out
}

// Proves tells whether the silence of the service can prove anything.
func (l *Lookup) Proves() bool { return l.Exact || l.Lag > 0 }

var lookupShape = &shape{
	name: "lookup", doc: "A service over HTTP that is asked about single operations: after the match of everything else, by GET, about those that are undecided.",
	keys: append([]key{
		{name: "url", doc: "Its address, https. {key} is the key of the operation; {date} is filled in as well, here, in query and headers.", required: true, value: textValue()},
		{name: "query", doc: "Parameters: name → text, or a list of texts, with {key}.", def: "none", value: mapValue(anyValue(textValue(), listValue(textValue())))},
		{name: "headers", doc: "Headers. Secrets go to `auth`.", def: "Accept: application/json", value: mapValue(textValue())},
		{name: "by", doc: "Text fields of the operations, parts of identity keys, whose texts the service is asked by: one after the other, until one finds something.", required: true, value: listValue(patternValue(namePattern))},
		{name: "sufficient", doc: "Those of `by` whose silence is enough. Without it, the service has to be silent under every identity key that the operation has.", def: "none", value: listValue(patternValue(namePattern))},
		{name: "records", doc: "Dotted path of the array of records in an answer.", def: "the answer is the array", value: patternValue(jsonPathPattern)},
		{name: "one", doc: "The answer is the record itself.", def: "false", value: boolValue()},
		{name: "key", doc: "Dotted paths in a record, one of which has to hold the key that was asked by: an answer about something else is none.", required: true, value: listValue(patternValue(jsonPathPattern))},
		{name: "absent", doc: "Statuses that say that there is none, such as 404.", def: "none: an empty array says it", value: listValue(intValue(204))},
		{name: "known", doc: "A key that the service has a record of. It is asked for first, and unless it is found no silence counts. Required with `absent`, since a wrong address says 404 as well.", def: "none", value: textValue()},
		{name: "exact", doc: "The service answers from its books: what it does not find is not there.", def: "false", value: boolValue()},
		{name: "lag", doc: "How far the answers may lag behind. Silence covers an operation up to the time of the request less this. A service that is neither exact nor says its lag proves nothing by its silence.", def: "0s", value: durationValue()},
		{name: "ask", doc: "Reasons of the verdicts that are asked about.", def: "coverage_incomplete, outcome_unknown, unattributed_result, several_candidates", value: listValue(enumValue(lookupReasons...))},
		{name: "limits", doc: "Bounds of what one run asks.", value: shapeValue(lookupLimitsShape)},
	}, webKeys()...),
}

var lookupLimitsShape = &shape{
	name: "lookup_limits", doc: "Bounds of what one run asks. Operations beyond them stay undecided, and are counted.",
	keys: []key{
		{name: "operations", doc: "Operations, those first that were due first.", def: "1000", value: intValue(1)},
		{name: "time", doc: "Time of all questions.", def: "10m", value: durationValue()},
		{name: "answer_bytes", doc: "Bytes of one answer.", def: "1048576, 1 MiB", value: intValue(1)},
	},
}

func (d *decoder) lookup(o *object, s *Source) *Lookup {
	known := []string{"key"}
	l := &Lookup{
		Web: d.web(o), URL: Template(o.text("url", "")), Query: d.webQuery(o, false, known), Headers: d.webHeaders(o, false, nil),
		By: o.texts("by"), Sufficient: o.texts("sufficient"), Records: d.memberPath(o, "records", jsonPathPattern), One: o.boolean("one", false),
		Key: o.texts("key"), Known: o.text("known", ""), Exact: o.boolean("exact", false), Lag: o.duration("lag", 0), Ask: o.texts("ask"),
	}
	s.Path = FoundFile
	d.apiURL(o.at("url"), l.URL, false, known, l.Private)
	asked := l.URL.holds("key")
	for _, list := range l.Query {
		for _, text := range list {
			asked = asked || Template(text).holds("key")
		}
	}
	if !asked {
		d.fail(o.path, `put {key} where the key goes: "https://host/charges/{key}", or query: {reference: "{key}"}`, "%s asks the same whatever the operation", o.path)
	}
	if o.has("absent") {
		for i, n := range d.items(o.node("absent"), o.at("absent")) {
			p := index(o.at("absent"), i)
			text, _ := d.scalar(n, p)
			status, ok := map[string]int64{"404": 404, "410": 410, "204": 204}[text]
			if !ok {
				d.fail(p, "404, 410 or 204; any other status says that the service could not answer", "%s: %q is no status that says that there is none", p, text)
				continue
			}
			l.Absent = append(l.Absent, status)
		}
		if l.Known == "" {
			o.fail("absent", "add `known:`, a key that the service has a record of", "%s: a wrong address says the same, and nothing tells it apart", o.at("absent"))
		}
	}
	if l.One && o.has("records") {
		o.fail("one", "keep one of the two", "%s: the answer is one record, and `records` names an array in it", o.at("one"))
	}
	if l.One && len(l.Absent) == 0 {
		o.fail("one", "add `absent: [404]`", "%s: an answer that is the record says by its status that there is none", o.at("one"))
	}
	for _, f := range l.Sufficient {
		if !slices.Contains(l.By, f) {
			o.fail("sufficient", "one of `by`", "%s: nobody asks by %s", o.at("sufficient"), f)
		}
	}
	for _, r := range l.Ask {
		if !slices.Contains(lookupReasons, r) {
			o.fail("ask", didYouMean(r, lookupReasons), "%s: %q is no reason that is asked about", o.at("ask"), r)
		}
	}
	if len(l.Ask) == 0 {
		l.Ask = slices.Clone(lookupDefault)
	}
	c := o.sub("limits", lookupLimitsShape)
	l.Limits = LookupLimits{Operations: c.integer("operations", 1000, 1, 1_000_000), AnswerBytes: c.integer("answer_bytes", 1<<20, 1, 1<<30), Time: c.duration("time", 10*time.Minute)}
	if l.Limits.Time <= 0 {
		c.fail("time", "a time such as 10m", "%s leaves no time", c.at("time"))
	}
	return l
}

// holds tells whether a placeholder that is known when a request is made is in the text.
func (t Template) holds(name string) bool {
	found := false
	t.marked(func(n string) (string, bool) { found = found || n == name; return "", false })
	return found
}

// lookupForm refuses keys of a source that say what a file is, or what it covers: a lookup
// is known by its answers.
func (d *decoder) lookupForm(o *object, s *Source, side Side) {
	if !s.IsLookup() {
		return
	}
	if side != Results {
		d.fail(o.path, "declare it under results", "a lookup asks a provider about our operations; it is a source of the results")
	}
	for _, k := range []string{"dates", "json", "controls", "pages", "stated_total", "effects", "identity", "ready", "signature"} {
		if o.has(k) {
			o.fail(k, "remove it", "%s means nothing for a lookup", o.at(k))
		}
	}
	if s.MinimumRecords > 0 {
		o.fail("minimum_records", "remove it", "%s: that nothing is found is an answer", o.at("minimum_records"))
	}
	if s.Format != FormatNDJSON || s.OnReject != RejectFail || s.Compression == CompressionZip {
		d.fail(o.path, "leave `format`, `compression` and `on_reject` out", "%s: what a lookup gives is read as records of JSON, all of them or none", o.path)
	}
}

// lookupCoverage reads whose silence an empty answer is; times are those of the answers.
func (d *decoder) lookupCoverage(v *object, c *Coverage) {
	for _, k := range []string{"complete", "from", "until", "through", "lag", "controls"} {
		if v.has(k) && (k != "complete" || c.Complete) {
			v.fail(k, "remove it; `lookup.lag` says how far answers may lag behind", "%s: a lookup covers the operations that it is asked about, up to the time of the request", v.at(k))
		}
	}
	c.Complete, c.From, c.Until, c.Lag = false, "", "", 0
}

// checkLookup: what a lookup asks by are keys, its records are told apart from those of other
// sources, and it stands in an account of its own only where that is said.
func (d *decoder) checkLookup(job *Job, src *Source, path string) {
	l := src.Remote.Lookup
	p := join(path, FromLookup)
	for _, name := range l.By {
		at := join(p, "by")
		f := job.Operations.Field(name)
		switch {
		case f == nil:
			d.fail(at, didYouMean(name, fieldNames(job.Operations.Fields)), "the operations have no field %q to ask by", name)
			continue
		case f.Type != Text:
			d.fail(at, "ask by a field of type text", "the field %s of the operations is %s, and no key as it is found", name, f.Type)
			continue
		}
		passes := 0
		for _, pass := range job.Match {
			i := slices.IndexFunc(pass.On, func(k KeyPart) bool { return k.Operations == name })
			if !pass.Identity || i < 0 {
				continue
			}
			passes++
			if fr := job.Results.Field(pass.On[i].Results); l.Proves() && !slices.Contains(l.Sufficient, name) && (len(f.Normalise) > 0 || fr != nil && len(fr.Normalise) > 0) {
				d.fail(at, "if the service finds whatever these steps make equal, say so: `sufficient: ["+name+"]`",
					"the field %s is normalised for matching, and the service is asked by its text as it is found; its silence would prove nothing about other spellings", name)
			}
		}
		if passes == 0 {
			d.fail(at, "ask by a field of a pass with `identity: true`", "%s is part of no identity key, so that an answer about it would link nothing", name)
		}
	}
	if l.Proves() && l.Known == "" {
		d.warn(p, "add `known:`, a key that the service has a record of", "%s: nothing tells the silence of the service from that of a wrong address or parameter", p)
	}
	if job.Results.Survivor == nil {
		d.fail(p, "add `survivor: {by: remote_id, latest: updated_at}` to the side", "%s asks for effects that other sources hold as well, and nothing says which record of them stands", p)
	}
	if account := src.Coverage.Account; account == "" && slices.ContainsFunc(job.Results.Sources, func(s Source) bool { return s.Coverage.Account != "" }) {
		d.fail(p, "add `coverage: {account: …}` to the source: the account of the files of the same provider", "%s belongs to no account, and other sources do; one effect would count twice", path)
	}
	if f := src.Field("remote_id"); f != nil && (f.Constant != "" || f.Optional) {
		d.fail(p, "name the member of the record that holds it", "%s: records need a remote_id of their own, by which the same effect in another source is known", path)
	}
}

// Field of the source by its name; nil where it has none.
func (s *Source) Field(name string) *Field {
	if i := slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == name }); i >= 0 {
		return &s.Fields[i]
	}
	return nil
}

func (t *tree) lookup(l *Lookup) {
	t.sub(FromLookup, func(t *tree) {
		t.text("url", string(l.URL))
		t.sub("query", func(t *tree) {
			for _, k := range sortedKeys(l.Query) {
				t.flow(k, l.Query[k])
			}
		})
		textMap(t, "headers", l.Headers)
		t.texts("by", l.By)
		t.texts("sufficient", l.Sufficient)
		t.text("records", l.Records)
		t.boolean("one", l.One)
		t.texts("key", l.Key)
		if len(l.Absent) > 0 {
			absent := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
			for _, s := range l.Absent {
				absent.Content = append(absent.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: itoa(int(s))})
			}
			t.set("absent", absent)
		}
		t.text("known", l.Known)
		t.boolean("exact", l.Exact)
		t.duration("lag", l.Lag)
		t.texts("ask", l.Ask)
		t.sub("limits", func(t *tree) {
			t.integer("operations", l.Limits.Operations)
			t.duration("time", l.Limits.Time)
			t.integer("answer_bytes", l.Limits.AnswerBytes)
		})
		t.web(&l.Web)
	})
}
