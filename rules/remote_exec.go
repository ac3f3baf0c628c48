package rules

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Exec is a declared program whose standard output is the file, for systems that
// nobody foresaw.
type Exec struct {
	Command []Template        // the program and its arguments; no shell. {date} and {file_date} are filled in
	Env     map[string]Secret // what it is given beside PATH, HOME, LANG, TZ and TMPDIR
	Folder  string            // where it is started, relative to the job file
	Name    Template          // of the file; its ending says format and compression
	Timeout time.Duration
	Most    int64 // bytes of output
}

// Defaults and bounds of exec.
const (
	execTimeout = 10 * time.Minute
	execMost    = 10 << 30
)

var execShape = &shape{
	name: "exec", doc: "A program whose standard output is the file. It is started without a shell; an exit status other than 0, a time that is over or too much output refuses what it wrote.",
	keys: []key{
		{name: "command", doc: "The program and its arguments; {date} and {file_date} are filled in. A program without a slash is looked for in PATH, one with a slash is relative to `folder`.", required: true, value: listValue(textValue())},
		{name: "name", doc: "Name of the file in outputs. Its ending says format and compression.", def: "output", value: schema{"type": "string"}},
		{name: "env", doc: "What the program is given beside PATH, HOME, LANG, TZ and TMPDIR: names, and where the values are.", def: "nothing", value: mapValue(shapeValue(secretShape))},
		{name: "folder", doc: "The folder that it is started in, relative to the job file.", def: "the folder of the job file", value: schema{"type": "string"}},
		{name: "timeout", doc: "How long it may take.", def: "10m", value: durationValue()},
		{name: "max_bytes", doc: "How much it may write.", def: "10737418240, 10 GiB", value: intValue(1)},
	},
}

func (d *decoder) exec(o *object, s *Source) *Exec {
	e := &Exec{
		Folder: o.text("folder", ""), Name: Template(o.text("name", "output")), Timeout: o.duration("timeout", execTimeout),
		Most: o.integer("max_bytes", execMost, 1, 1<<50), Env: map[string]Secret{},
	}
	for i, text := range o.texts("command") {
		if d.template(Template(text), o.at("command"), s.Dates != nil) {
			e.Command = append(e.Command, Template(text))
		}
		if i == 0 && strings.TrimSpace(text) == "" {
			o.fail("command", "name the program first", "%s names no program", o.at("command"))
		}
	}
	if d.template(e.Name, o.at("name"), s.Dates != nil) && (strings.ContainsAny(string(e.Name), "/\\") || strings.HasPrefix(string(e.Name), ".")) {
		o.fail("name", "a name without slashes that does not begin with a dot, such as charges.csv", "%s: %q is not the name of a file", o.at("name"), string(e.Name))
	}
	if e.Timeout <= 0 {
		o.fail("timeout", "a time such as 10m", "%s leaves no time", o.at("timeout"))
	}
	if m := o.node("env"); m != nil {
		d.free(m, o.at("env"), func(name string, _, value *yaml.Node, path string) { e.Env[name] = d.secretOf(value, path) })
	}
	s.Path = e.Name
	return e
}

func (t *tree) exec(e *Exec) {
	t.sub(FromExec, func(t *tree) {
		command := make([]string, len(e.Command))
		for i, c := range e.Command {
			command[i] = string(c)
		}
		t.texts("command", command)
		t.text("name", string(e.Name))
		if len(e.Env) > 0 {
			t.sub("env", func(t *tree) {
				for _, name := range sortedKeys(e.Env) {
					t.secret(name, e.Env[name])
				}
			})
		}
		t.text("folder", e.Folder)
		t.duration("timeout", e.Timeout)
		t.integer("max_bytes", e.Most)
	})
}
