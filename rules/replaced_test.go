package rules

import (
	"testing"

	"go.yaml.in/yaml/v4"
)

// TestEveryValueReplaced puts something else in the place of each value of two jobs:
// the loader refuses it with a place, or the effective form is the same job again.
func TestEveryValueReplaced(t *testing.T) {
	loads, refusals := 0, 0
	for _, path := range []string{"testdata/policy.yaml", "testdata/recovery.yaml"} {
		root := policyNodes(t, path)
		var walk func(n *yaml.Node)
		try := func(what string) {
			src, err := yaml.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			job, err := Parse(src, path)
			if err != nil {
				refusals++
				return
			}
			loads++
			again, err := Parse(job.Effective(), "effective.yaml")
			if err != nil {
				t.Errorf("%s: the effective form does not load: %v\n%s", what, err, src)
			} else if job.Digest() != again.Digest() {
				t.Errorf("%s: the effective form is another job\n%s", what, src)
			}
		}
		walk = func(n *yaml.Node) {
			was := *n
			for _, other := range []string{"[]", "{}", "~", "0", "[a, a]", "{a: b}"} {
				var doc yaml.Node
				if err := yaml.Unmarshal([]byte(other), &doc); err != nil {
					t.Fatal(err)
				}
				*n = *doc.Content[0]
				try(other + " for " + was.Value)
			}
			*n = was
			for i, c := range n.Content {
				if n.Kind != yaml.MappingNode || i%2 == 1 {
					walk(c)
				}
			}
			for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 { // without the key
				all := n.Content
				n.Content = append(append([]*yaml.Node(nil), all[:i]...), all[i+2:]...)
				try("without " + all[i].Value)
				n.Content = all
			}
		}
		for i := 0; i+1 < len(root.Content); i += 2 {
			switch root.Content[i].Value {
			case "results", "match", "compare": // not of the policy
			case "operations":
				for _, key := range []string{"profile", "whole_register", "local_ref"} {
					if n := lookup(root.Content[i+1], key); n != nil {
						walk(n)
					}
				}
			default:
				walk(root.Content[i+1])
			}
		}
	}
	if loads < 100 || refusals < 100 {
		t.Errorf("%d load and %d are refused", loads, refusals)
	}
}

// policyNodes are the nodes of a job with those of its policy files.
func policyNodes(t *testing.T, path string) *yaml.Node {
	t.Helper()
	job, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	d := newDecoder(job.Source, path)
	n := d.root(job.Source)
	merged, _ := d.extends(n)
	if len(d.errs) > 0 {
		t.Fatal(d.errs)
	}
	var bare func(n *yaml.Node)
	bare = func(n *yaml.Node) {
		n.LineComment = ""
		for _, c := range n.Content {
			bare(c)
		}
	}
	merged = without(merged, "extends")
	if c := lookup(merged, "calendars"); c != nil {
		setKey(merged, "calendars", overlay(c, mustNode(t, "{banking: {holidays_file: policies/holidays.txt}}")))
	}
	bare(merged)
	return merged
}

func mustNode(t *testing.T, text string) *yaml.Node {
	t.Helper()
	d := newDecoder([]byte(text), "")
	n := d.root([]byte(text))
	if n == nil {
		t.Fatal(d.errs)
	}
	return n
}
