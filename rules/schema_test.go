package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	if err := c.AddResource("recon.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("recon.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// goodFiles are all job files that load: examples, the template, the corpus.
func goodFiles(t *testing.T) map[string][]byte {
	out := map[string][]byte{"template.yaml": InitTemplate()}
	for _, pattern := range []string{"testdata/*.yaml", "../fixtures/cases/*/job*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Parse(src, f); err == nil {
				out[f] = src
			}
		}
	}
	if len(out) < 50 {
		t.Fatalf("only %d job files load", len(out))
	}
	return out
}

func validate(t *testing.T, s *jsonschema.Schema, name string, src []byte) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s.Validate(v)
}

// TestSchemaAcceptsEveryJob: what the loader takes, editors must not mark, the
// effective form included.
func TestSchemaAcceptsEveryJob(t *testing.T) {
	s := compiledSchema(t)
	for name, src := range goodFiles(t) {
		if err := validate(t, s, name, src); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		job, err := Parse(src, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, name+" (effective)", job.Effective()); err != nil {
			t.Errorf("%s, effective: %v\n%s", name, err, job.Effective())
		}
	}
}

func TestSchemaRefusesUnknownKeys(t *testing.T) {
	s := compiledSchema(t)
	src := bytes.Replace(InitTemplate(), []byte("timezone:"), []byte("timezome:"), 1)
	if err := validate(t, s, "template", src); err == nil {
		t.Error("an unknown key passes the schema")
	}
}

// TestLoaderUsesEveryKey: the loader looks at each key of the vocabulary, so
// that the schema offers none that would be ignored.
func TestLoaderUsesEveryKey(t *testing.T) {
	used := map[string]bool{}
	for name, src := range goodFiles(t) {
		d := newDecoder(src, name)
		d.job(src)
		for k := range d.used {
			used[k] = true
		}
	}
	for _, s := range shapes {
		for _, k := range s.keys {
			if !used[s.name+"."+k.name] {
				t.Errorf("the loader never looks at %s.%s in the examples", s.name, k.name)
			}
		}
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range shapes {
		if s.doc == "" || seen[s.name] {
			t.Errorf("the shape %s has no description, or its name is taken", s.name)
		}
		seen[s.name] = true
		for _, k := range s.keys {
			if !strings.HasSuffix(k.doc, ".") {
				t.Errorf("%s.%s: %q is no sentence", s.name, k.name, k.doc)
			}
			if k.required && k.def != "" {
				t.Errorf("%s.%s is required and has a default", s.name, k.name)
			}
		}
	}
}

// TestReferenceHasEveryKey: REFERENCE.md has a section for each shape, and in it
// a row for each key, with the description and default of the schema.
func TestReferenceHasEveryKey(t *testing.T) {
	text, err := os.ReadFile("REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, s := range strings.Split("\n"+string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(s, "\n")
		sections[strings.Trim(title, "`")] = body
	}
	for _, s := range shapes {
		body, ok := sections[s.name]
		if !ok {
			t.Errorf("REFERENCE.md has no section %q", s.name)
			continue
		}
		for _, k := range s.keys {
			row := "| `" + k.name + "` |"
			i := strings.Index(body, row)
			if i < 0 {
				t.Errorf("REFERENCE.md, %s: no row for %s", s.name, k.name)
				continue
			}
			line, _, _ := strings.Cut(body[i:], "\n")
			if !strings.Contains(line, cell(k.doc)) || !strings.Contains(line, cell(k.def)) {
				t.Errorf("REFERENCE.md, %s.%s: the row does not say what the schema says", s.name, k.name)
			}
			for _, v := range enumsOf(t, k.value) {
				if !regexp.MustCompile(`(^|[^a-z0-9_-])` + regexp.QuoteMeta(v) + `($|[^a-z0-9_-])`).MatchString(line) {
					t.Errorf("REFERENCE.md, %s.%s: the row does not name the value %s", s.name, k.name, v)
				}
			}
			cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
			if len(cells) != 6 {
				t.Errorf("REFERENCE.md, %s.%s: the row has %d cells", s.name, k.name, len(cells))
				continue
			}
			example := strings.ReplaceAll(strings.Trim(strings.TrimSpace(cells[4]), "`"), "\x00", "|")
			if err := validExample(t, s, k.name, example); err != nil {
				t.Errorf("REFERENCE.md, %s: the example %s: %v", s.name, example, err)
			}
		}
	}
}

// enumsOf lists the texts that a key takes by its own schema, not those of other shapes.
func enumsOf(t *testing.T, s schema) []string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	var out []string
	var walk func(any)
	walk = func(n any) {
		switch n := n.(type) {
		case []any:
			for _, v := range n {
				walk(v)
			}
		case map[string]any:
			for name, v := range n {
				if list, ok := v.([]any); ok && name == "enum" {
					for _, v := range list {
						if text, ok := v.(string); ok {
							out = append(out, text)
						}
					}
					continue
				}
				walk(v)
			}
		}
	}
	walk(tree)
	return out
}

// validExample checks an example, a mapping with the one key, by the schema of
// its shape without the keys that are required beside it.
func validExample(t *testing.T, s *shape, name, example string) error {
	t.Helper()
	var v map[string]any
	if err := yaml.Unmarshal([]byte(example), &v); err != nil {
		return err
	}
	if _, ok := v[name]; !ok || len(v) != 1 {
		return fmt.Errorf("it is not about %s", name)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	root := doc.(map[string]any)
	target := root
	if s != jobShape {
		target = root["definitions"].(map[string]any)[s.name].(map[string]any)
		root["allOf"] = []any{map[string]any{"$ref": "#/definitions/" + s.name}}
		for _, word := range []string{"type", "properties", "additionalProperties", "required"} {
			delete(root, word)
		}
	}
	delete(target, "required")
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	if err := c.AddResource("example.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("example.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(v)
}

// cell is a text as it stands in a table of Markdown.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
