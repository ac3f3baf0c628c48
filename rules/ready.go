package rules

import (
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Ready says by what the files of a source are known to be whole before anything of them
// is read. All that is declared must hold. Paths are of the place where the files are: of
// a local source as its path is, of a bucket keys, of a server paths on it.
type Ready struct {
	Manifest  *ReadyManifest
	Marker    *ReadyMarker
	Temporary []string      // names of files that are being written: each a text with one *
	Stable    time.Duration // 0: not asked
}

// ReadyManifest is a file that lists the files of a delivery.
type ReadyManifest struct {
	Path     Template // exact name
	Form     ManifestForm
	Files    string // json: dotted path of the array of files, "" the top
	Name     string // field of the name, in json a dotted path, in csv a column
	Size     string // of the bytes; "" not stated
	SHA256   string
	MD5      string
	Records  string
	Folder   Template // where the listed names begin; "" the folder of the manifest
	Extra    string   // what a file of the source does that is not listed: ExtraRefuse, ExtraIgnore
	Previous *ReadyPrevious
}

// ReadyPrevious is the manifest that a manifest follows.
type ReadyPrevious struct {
	Path   Template // where it is; "" as Name says
	Name   string   // field with its name, in the folder of the manifest; "" not stated
	SHA256 string   // field with its digest; "" not stated
}

// ReadyMarker is a file that is written last.
type ReadyMarker struct {
	Path    Template // exact name
	Content Template // text that it has, apart from blanks around it; "" any
	Holds   string   // what its text states: HoldsRecords, HoldsFiles, HoldsSHA256; "" nothing
}

// ManifestForm is how a manifest is written.
type ManifestForm string

// Forms of manifests.
const (
	ManifestJSON ManifestForm = "json"
	ManifestCSV  ManifestForm = "csv"
	ManifestSums ManifestForm = "sums" // as sha256sum and md5sum write it
)

// What a file of the source does that its manifest does not list.
const (
	ExtraRefuse = "refuse"
	ExtraIgnore = "ignore"
)

// What the text of a marker states.
const (
	HoldsRecords = "records" // data records of all files of the source
	HoldsFiles   = "files"   // how many they are
	HoldsSHA256  = "sha256"  // of the one file
)

// TemporaryNames are those of programs that rename a file when it is whole.
var TemporaryNames = []string{"*.tmp", "*.part", "*.partial", "*.filepart", ".*"}

// ReadyPaths are the paths of [Ready] with their dates filled in.
type ReadyPaths struct {
	Manifest, Folder, Previous, Marker, Content string
}

// Judged is what was found by the ready rules of an input. Nothing in it depends on when
// it was found, so that it can stand in a manifest.
type Judged struct {
	Missing  string       `json:"missing,omitempty"`  // why it is not ready; then it is read as missing
	Proof    string       `json:"proof,omitempty"`    // by what it is known to be whole, one sentence
	Files    []JudgedFile `json:"files,omitempty"`    // that are read, and no others
	Unlisted []string     `json:"unlisted,omitempty"` // files that the manifest does not list, and that are not read
	Gap      string       `json:"gap,omitempty"`      // why more is missing than a file; then nothing is proved
	Records  *int64       `json:"records,omitempty"`  // of all files together, as the marker states it

	Dir string `json:"-"` // of a local source: below which the files lie
}

// JudgedFile is one file that was found to be ready.
type JudgedFile struct {
	Name     string    `json:"name"` // of a local source: below Dir, with slashes; else of the place
	Size     int64     `json:"size"`
	SHA256   string    `json:"sha256,omitempty"`  // as it is stated, hexadecimal; "" it is not
	MD5      string    `json:"md5,omitempty"`     //
	Records  *int64    `json:"records,omitempty"` //
	Modified time.Time `json:"-"`                 // as it was seen; zero: not known
}

// Of finds a file by its name; nil where it is not among those that were judged.
func (j *Judged) Of(name string) *JudgedFile {
	if j == nil {
		return nil
	}
	if i := slices.IndexFunc(j.Files, func(f JudgedFile) bool { return f.Name == name }); i >= 0 {
		return &j.Files[i]
	}
	return nil
}

var readyShape = &shape{
	name: "ready", doc: "By what the files are known to be whole before anything is read; all that is declared must hold, else the source is missing (need). docs/sources-arrival.md tells which rule to trust.",
	keys: []key{
		{name: "manifest", doc: "A file that lists the files of the delivery.", def: "none", value: shapeValue(manifestShape)},
		{name: "marker", doc: "A file that is written last: its exact name, or a mapping.", def: "none", value: anyValue(schema{"type": "string"}, shapeValue(markerShape))},
		{name: "renamed", doc: "Files are renamed when they are whole: while one of the source has a name as *.tmp, *.part, *.partial, *.filepart or .*, it is not ready.", def: "false", value: boolValue()},
		{name: "temporary", doc: "In the place of `renamed`: the names that files have until they are whole, each with one *, which stands for the name of the file or its beginning.", def: "none", value: listValue(patternValue(temporaryPattern))},
		{name: "stable", doc: "Size and time of change have been the same for so long, at two looks at least.", def: "not asked", value: durationValue()},
	},
}

const temporaryPattern = `^[^*?\[\]/]*\*[^*?\[\]/]*$`

var manifestShape = &shape{
	name: "ready_manifest", doc: "A manifest. Every file of the source that it lists must be there as it says.",
	keys: []key{
		{name: "path", doc: "Its exact name, in the place of the files; with {date} and {file_date}.", required: true, value: schema{"type": "string"}},
		{name: "form", doc: "How it is written; sums is what sha256sum and md5sum write.", def: "by the ending of its name: .json, .csv, .sha256, .md5", value: enumValue(ManifestJSON, ManifestCSV, ManifestSums)},
		{name: "files", doc: "Form json: dotted path of the array of files.", def: "the top", value: schema{"type": "string"}},
		{name: "name", doc: "Field of the name: in json a dotted path, in csv a column.", def: "in json the entry itself, which is then a text", value: textValue()},
		{name: "size", doc: "Field of the size in bytes.", def: "not stated", value: textValue()},
		{name: "sha256", doc: "Field of the SHA-256, hexadecimal.", def: "not stated", value: textValue()},
		{name: "md5", doc: "Field of the MD5, hexadecimal. It tells a cut file, not a forged one.", def: "not stated", value: textValue()},
		{name: "records", doc: "Field of the number of data records, rejects included.", def: "not stated", value: textValue()},
		{name: "folder", doc: "Where the listed names begin.", def: "the folder of the manifest", value: schema{"type": "string"}},
		{name: "extra", doc: "A file of the source that is not listed: refuse, then it is not ready; or ignore, then it is named in the report and not read.", def: "refuse", value: enumValue(ExtraRefuse, ExtraIgnore)},
		{name: "previous", doc: "The manifest that it follows. Where that is not there, the coverage of the source is withdrawn.", def: "none", value: shapeValue(previousShape)},
	},
}

var previousShape = &shape{
	name: "ready_previous", doc: "The manifest before. A name or digest that is stated as null or empty says that there is none.",
	keys: []key{
		{name: "path", doc: "Where it is: manifest_{date-1}.json.", value: schema{"type": "string"}},
		{name: "name", doc: "Form json: dotted path of its name, in the folder of the manifest.", value: textValue()},
		{name: "sha256", doc: "Form json: dotted path of its SHA-256.", def: "not stated", value: textValue()},
	},
}

var markerShape = &shape{
	name: "ready_marker", doc: "A file that is written last.",
	keys: []key{
		{name: "path", doc: "Its exact name, in the place of the files; with {date} and {file_date}.", required: true, value: schema{"type": "string"}},
		{name: "content", doc: "The text that it has, apart from blanks around it; with {date} and {file_date}.", def: "any", value: textValue()},
		{name: "holds", doc: "What its text states of the source: records, their number, rejects included; files, how many they are; or sha256, of its one file.", def: "nothing", value: enumValue(HoldsRecords, HoldsFiles, HoldsSHA256)},
	},
}

// ready reads by what a source is known to be whole. Path and kind of the source are known.
func (d *decoder) ready(o *object, s *Source) {
	c := o.sub("ready", readyShape)
	if c == nil {
		return
	}
	if s.Remote != nil && !s.Remote.Places() {
		o.fail("ready", "remove it: "+s.Remote.Kind+" proves by itself that what it brings is whole, or brings nothing", "%s: a source that is pulled by %s has no files to look at before", c.path, s.Remote.Kind)
		return
	}
	r := &Ready{Manifest: d.readyManifest(c, s), Marker: d.readyMarker(c, s), Stable: c.duration("stable", 0)}
	if c.boolean("renamed", false) {
		r.Temporary = TemporaryNames
	}
	if c.has("temporary") {
		if r.Temporary != nil {
			c.fail("temporary", "keep one of the two", "%s says renamed, and the temporary names as well", c.path)
		}
		r.Temporary = c.texts("temporary")
		for i, name := range r.Temporary {
			if strings.Count(name, "*") != 1 || strings.ContainsAny(name, "?[]/") || name == "*" {
				d.fail(index(c.at("temporary"), i), "*.tmp, .* or upload-*: one * for the name, and no folder", "%s: %q is no form of a temporary name", c.at("temporary"), name)
			}
		}
	}
	if r.Temporary != nil && s.Literal && strings.ContainsAny(path.Dir(string(s.Path)), `*?[\`) {
		c.fail(s3Given(c, "temporary", "renamed"), "rename the folder", "%s: temporary names cannot be looked for in a folder whose name holds * ? [", c.path)
	}
	if c.has("stable") && r.Stable <= 0 {
		c.fail("stable", "a time as 2m", "%s is no time", c.at("stable"))
	}
	if !c.has("manifest") && !c.has("marker") && r.Temporary == nil && !c.has("stable") {
		d.fail(c.path, "declare manifest, marker, renamed, temporary or stable", "%s has no rule", c.path)
	}
	s.Ready = r
}

// placePath reads the exact name of a file in the place of a source.
func (d *decoder) placePath(o *object, name string, s *Source) Template {
	t := Template(o.text(name, ""))
	if t == "" || !d.template(t, o.at(name), s.Dates != nil) {
		return ""
	}
	if addressSchemes.MatchString(string(t)) {
		o.fail(name, "write the name alone, as it is in the place of the source", "%s: %q is an address", o.at(name), string(t))
	}
	if s.Dates != nil && !t.uses("file_date") {
		o.fail(name, "put {file_date} where the day is in the name", "%s is the same for every day of the source", o.at(name))
	}
	return t
}

func (d *decoder) readyManifest(c *object, s *Source) *ReadyManifest {
	o := c.sub("manifest", manifestShape)
	if o == nil {
		return nil
	}
	m := &ReadyManifest{
		Path: d.placePath(o, "path", s), Files: o.text("files", ""), Name: o.text("name", ""), Size: o.text("size", ""),
		SHA256: o.text("sha256", ""), MD5: o.text("md5", ""), Records: o.text("records", ""),
		Extra: choice(o, "extra", ExtraRefuse, ExtraRefuse, ExtraIgnore),
	}
	if o.has("folder") {
		m.Folder = Template(o.text("folder", ""))
		d.template(m.Folder, o.at("folder"), s.Dates != nil)
	}
	m.Form = choice(o, "form", "", ManifestJSON, ManifestCSV, ManifestSums)
	if m.Form == "" && !o.has("form") {
		m.Form = manifestEndings[strings.ToLower(path.Ext(string(m.Path)))]
		if m.Form == "" && m.Path != "" {
			o.fail("path", "add `form: json` (or csv, sums)", "%s: the name of the manifest does not tell its form", o.path)
		}
	}
	switch m.Form {
	case ManifestSums:
		for _, name := range []string{"files", "name", "size", "sha256", "md5", "records"} {
			if o.has(name) {
				o.fail(name, "remove it: each line has digest and name", "%s says nothing about a manifest of the form sums", o.at(name))
			}
		}
	case ManifestCSV:
		if o.has("files") {
			o.fail("files", "remove it: each line is a file", "%s says nothing about a manifest of the form csv", o.at("files"))
		}
		if m.Name == "" {
			d.fail(o.path, "add `name:` with the column of the names", "%s does not say where the names of the files are", o.path)
		}
	case ManifestJSON:
		if m.Name == "" && (m.Size != "" || m.SHA256 != "" || m.MD5 != "" || m.Records != "") {
			d.fail(o.path, "add `name:` with the field of the name", "%s does not say where the names of the files are", o.path)
		}
	}
	m.Previous = d.readyPrevious(o, m, s)
	return m
}

var manifestEndings = map[string]ManifestForm{
	".json": ManifestJSON, ".csv": ManifestCSV, ".sha256": ManifestSums, ".sha256sum": ManifestSums, ".md5": ManifestSums, ".md5sum": ManifestSums,
}

func (d *decoder) readyPrevious(m *object, of *ReadyManifest, s *Source) *ReadyPrevious {
	o := m.sub("previous", previousShape)
	if o == nil {
		return nil
	}
	p := &ReadyPrevious{Name: o.text("name", ""), SHA256: o.text("sha256", "")}
	if o.has("path") {
		p.Path = d.placePath(o, "path", s)
	}
	switch {
	case o.has("path") == o.has("name"):
		d.fail(o.path, "add `path: manifest_{date-1}.json`, or `name:` with the field that has its name", "%s needs one of path and name", o.path)
	case of.Form != ManifestJSON && of.Form != "" && (p.Name != "" || p.SHA256 != ""):
		o.fail(s3Given(o, "name", "sha256"), "name it by its path", "%s: only a manifest in JSON has fields of its own", o.path)
	}
	return p
}

func (d *decoder) readyMarker(c *object, s *Source) *ReadyMarker {
	n := c.node("marker")
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return &ReadyMarker{Path: d.placePath(c, "marker", s)}
	}
	o := d.object(n, markerShape, c.at("marker"))
	if o == nil {
		return nil
	}
	m := &ReadyMarker{Path: d.placePath(o, "path", s), Content: Template(o.text("content", "")), Holds: choice(o, "holds", "", HoldsRecords, HoldsFiles, HoldsSHA256)}
	if m.Content != "" {
		d.template(m.Content, o.at("content"), s.Dates != nil)
		if m.Holds != "" {
			o.fail("content", "keep one of the two", "%s has content and holds", o.path)
		}
	}
	return m
}

// ready writes by what a source is known to be whole.
func (t *tree) ready(r *Ready) {
	if r == nil {
		return
	}
	t.sub("ready", func(t *tree) {
		if m := r.Manifest; m != nil {
			t.sub("manifest", func(t *tree) {
				t.text("path", string(m.Path))
				t.text("form", string(m.Form))
				t.text("files", m.Files)
				t.text("name", m.Name)
				t.text("size", m.Size)
				t.text("sha256", m.SHA256)
				t.text("md5", m.MD5)
				t.text("records", m.Records)
				t.text("folder", string(m.Folder))
				t.text("extra", m.Extra)
				if p := m.Previous; p != nil {
					t.sub("previous", func(t *tree) {
						t.text("path", string(p.Path))
						t.text("name", p.Name)
						t.text("sha256", p.SHA256)
					})
				}
			})
		}
		if m := r.Marker; m != nil {
			t.sub("marker", func(t *tree) {
				t.text("path", string(m.Path))
				t.text("content", string(m.Content))
				t.text("holds", m.Holds)
			})
		}
		t.texts("temporary", r.Temporary)
		t.declared("stable", r.Stable)
	})
}

// paths fills in the dates.
func (r *Ready) paths(date, fileDate string) (*ReadyPaths, error) {
	if r == nil {
		return nil, nil
	}
	p := &ReadyPaths{}
	var m ReadyManifest
	var marker ReadyMarker
	var previous ReadyPrevious
	if r.Manifest != nil {
		m = *r.Manifest
	}
	if m.Previous != nil {
		previous = *m.Previous
	}
	if r.Marker != nil {
		marker = *r.Marker
	}
	for _, x := range []struct {
		from Template
		to   *string
	}{{m.Path, &p.Manifest}, {m.Folder, &p.Folder}, {previous.Path, &p.Previous}, {marker.Path, &p.Marker}, {marker.Content, &p.Content}} {
		var err error
		if *x.to, err = x.from.fill(date, fileDate); err != nil {
			return nil, err
		}
	}
	if p.Folder == "" && p.Manifest != "" {
		p.Folder = path.Dir(p.Manifest)
	}
	return p, nil
}
