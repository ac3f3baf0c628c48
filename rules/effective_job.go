package rules

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

func (w *effective) root() *yaml.Node {
	j, t := w.job, w.tree("")
	t.integer("version", int64(j.Version))
	t.text("job", j.Name)
	t.text("timezone", j.Zone.String())
	t.text("as_of", string(j.AsOf))
	t.duration("clock_skew", j.ClockSkew)
	if p := j.Period; p != nil {
		t.sub("period", func(t *tree) {
			t.text("by", p.By)
			t.text("from", string(p.From))
			t.text("until", string(p.Until))
			t.text("reason", p.Reason)
		})
	}
	t.extends(j.Extends)
	t.text("mode", string(j.Mode))
	t.pilot(j.Pilot)
	t.boolean("may_be_empty", j.MayBeEmpty)
	if j.HintsOff {
		t.text("hints", "off")
	}
	t.sub("operations", func(t *tree) { t.side(&j.Operations) })
	t.sub("results", func(t *tree) { t.side(&j.Results) })
	t.list("match", len(j.Match), func(i int, t *tree) { t.pass(&j.Match[i]) })
	t.list("compare", len(j.Compare), func(i int, t *tree) { t.compare(&j.Compare[i]) })
	t.list("scope", len(j.Scope), func(i int, t *tree) {
		r := j.Scope[i]
		t.text("rule", r.Name)
		t.text("side", string(r.Side))
		t.text("when", r.When.Text)
		t.text("reason", r.Reason)
	})
	t.sub("types", func(t *tree) {
		for _, name := range sortedKeys(j.Types) {
			p := j.Types[name]
			t.sub(name, func(t *tree) { t.policy(&p) })
		}
	})
	t.calendars(j.Calendars)
	t.rules(j.PolicyRules)
	t.states(&j.States)
	t.limits(&j.Limits)
	t.releases(j.Releases)
	t.canaries(j.Canaries)
	t.list("gates", len(j.Gates), func(i int, t *tree) {
		t.text("gate", j.Gates[i].Name)
		t.text("fail_when", j.Gates[i].FailWhen)
	})
	t.sub("unattributed", func(t *tree) {
		t.declared("within", j.Unattributed.Within)
		t.texts("contradicts", j.Unattributed.Contradicts)
	})
	if len(j.Redact.Fields) > 0 || j.Redact.Key.Declared() || j.Redact.FreeTextOff || len(j.Redact.Exempt) > 0 {
		t.sub("redact", func(t *tree) {
			t.secret("key", j.Redact.Key)
			textMap(t, "fields", j.Redact.Fields)
			if j.Redact.FreeTextOff {
				t.text("free_text", "off")
			}
			t.texts("exempt", j.Redact.Exempt)
		})
	}
	t.sub("outputs", func(t *tree) {
		t.text("dir", j.Outputs.Dir)
		t.texts("formats", j.Outputs.Formats)
		t.text("rows", j.Outputs.Rows)
		t.boolean("confirm_ndjson", j.Outputs.ConfirmNDJSON)
		t.metricsSinks(j.Outputs.Metrics)
		t.target(j.Outputs.Target)
	})
	t.evidence(j.Evidence)
	t.notifications(j.Notify)
	return t.node
}

func (t *tree) side(s *SideSpec) {
	t.list("sources", len(s.Sources), func(i int, t *tree) { t.source(s, &s.Sources[i]) })
	t.sub("fields", func(t *tree) {
		for _, f := range s.Fields {
			if !slices.Contains(s.own, f.Name) {
				t.sub(f.Name, func(t *tree) { t.field(f) })
			}
		}
	})
	t.texts("transport_columns", s.TransportColumns)
	if s.Side == Operations && s.Profile != Register {
		t.text("profile", string(s.Profile))
	}
	if s.WholeRegister {
		t.boolean("whole_register", true)
	}
	t.texts("local_ref", s.LocalRef)
	if v := s.Survivor; v != nil {
		t.sub("survivor", func(t *tree) {
			t.text("by", v.By)
			t.text("latest", v.Latest)
		})
	}
	if k := s.KeepEffect; k != nil {
		t.sub("keep_effect", func(t *tree) {
			t.text("earliest", k.Earliest)
			t.texts("agrees", k.Agrees)
		})
	}
}

func (t *tree) source(side *SideSpec, s *Source) {
	t.text("name", s.Name)
	if s.Preset != nil {
		t.presetUse(s.Preset)
	}
	if s.Remote != nil {
		t.remote(s)
	} else {
		t.address(s)
	}
	if s.Dates != nil {
		t.sub("dates", func(t *tree) {
			t.text("from", string(s.Dates.From))
			t.text("until", string(s.Dates.Until))
		})
	}
	t.text("need", string(s.Need))
	t.ready(s.Ready)
	t.text("on_reject", string(s.OnReject))
	t.text("format", string(s.Format))
	if s.Compression == CompressionAuto {
		t.text("compression", "auto")
	} else {
		t.text("compression", string(s.Compression))
	}
	if s.Format == FormatCSV || s.Format == FormatTyped {
		t.sub("csv", func(t *tree) { t.csv(&s.CSV, s.Format == FormatTyped) })
	}
	if s.JSON.Path != "" {
		t.sub("json", func(t *tree) {
			t.text("path", s.JSON.Path)
			t.texts("trailer", s.JSON.Trailer)
		})
	}
	t.containers(s)
	t.coverage(&s.Coverage)
	t.integer("minimum_records", s.MinimumRecords)
	if c := s.Controls; c != nil {
		t.sub("controls", func(t *tree) { t.controls(c) })
	}
	t.signature(s.Signature)
	t.proofs(s)
	if p := s.Pages; p != nil {
		t.sub("pages", func(t *tree) {
			t.text("column", p.Column)
			t.text("on_overlap", p.OnOverlap)
		})
	}
	t.sub("stated_total", func(t *tree) {
		for _, k := range sortedKeys(s.StatedDistinct) {
			t.integer(k, s.StatedDistinct[k])
		}
	})
	t.identity(s.Identity)
	t.sub("fields", func(t *tree) {
		for i, f := range s.Fields {
			switch own := slices.Contains(side.own, f.Name); {
			case f.Absent() && !own:
				t.sub(f.Name, func(t *tree) { t.boolean("absent", true) })
			case f.Absent():
			case own || !sameField(f, side.Fields[i]):
				t.sub(f.Name, func(t *tree) { t.field(f) })
			}
		}
	})
}

// csv writes a dialect; one of a record-typed file says nothing of its lines.
func (t *tree) csv(c *CSV, typed bool) {
	t.text("delimiter", string(c.Delimiter))
	if c.Quote == 0 {
		t.text("quote", "none")
	} else {
		t.text("quote", string(c.Quote))
	}
	t.text("encoding", c.Encoding)
	switch {
	case typed:
	case c.Header.FirstField != "":
		t.sub("header", func(t *tree) { t.text("first_field", c.Header.FirstField) })
	case c.Header.None:
		t.text("header", "none")
	default:
		t.text("header", "first_line")
	}
	t.texts("columns", c.Columns)
	t.text("header_names", c.HeaderNames)
	t.text("decimal", string(rune(c.Decimal)))
	if c.Group == 0 {
		t.text("group", "none")
	} else {
		t.text("group", string(rune(c.Group)))
	}
	t.rows(c.Rows)
	t.sub("ends_before", func(t *tree) { t.text("first_field", c.EndsBefore) })
	t.sub("skip_lines", func(t *tree) { t.text("starts_with", c.SkipLines) })
	t.text("empty_text", c.EmptyText)
	t.texts("null_words", c.NullWords)
	if c.OpenEnd { // one more key than jobs had before
		t.boolean("open_end", true)
	}
}

func (t *tree) coverage(c *Coverage) {
	if !c.Declared {
		// Not the same as `coverage: complete`, which the user would have said.
		if n := len(t.node.Content); t.w.comments && n > 0 {
			t.node.Content[n-2].HeadComment = "# coverage is not declared by any source of this side: it counts as complete"
		}
		return
	}
	t.sub("coverage", func(t *tree) {
		t.boolean("complete", c.Complete)
		t.text("proves", string(c.Proves))
		t.texts("types", c.Types)
		t.text("account", c.Account)
		if c.Knows != nil {
			t.text("knows", c.Knows.Text)
		}
		t.text("from", string(c.From))
		t.text("until", string(c.Until))
		t.watermark(c.Through)
		t.declared("lag", c.Lag)
	})
}

func (t *tree) field(f Field) {
	t.whence(f)
	t.text("type", string(f.Type))
	t.normalise(f.Normalise)
	if f.Scale >= 0 {
		t.integer("scale", int64(f.Scale))
	}
	if f.DecimalMark != 0 {
		t.text("decimal", string(rune(f.DecimalMark)))
	}
	if f.GroupMark != 0 {
		t.text("group", string(rune(f.GroupMark)))
	}
	t.texts("notation", f.Notation)
	if s := f.SignFrom; s != nil {
		t.sub("sign_from", func(t *tree) {
			t.text("column", s.Column)
			t.texts("positive", s.Positive)
			t.texts("negative", s.Negative)
		})
	}
	t.units(f)
	if f.Type == Date || f.Type == Timestamp {
		layouts := []string{"iso"}
		if len(f.Layouts) > 0 {
			layouts = slices.Clone(f.Layouts)
			for i, l := range layouts {
				if l == "" {
					layouts[i] = "iso"
				}
			}
		}
		t.texts("layout", layouts)
	}
	if f.Zone != nil {
		t.text("zone", f.Zone.String())
	}
	if z := f.ZoneFrom; z != nil {
		t.sub("zone_from", func(t *tree) {
			t.text("column", z.Column)
			textMap(t, "zones", z.Zones)
		})
	}
	textMap(t, "map", f.Map)
	t.texts("placeholders", f.Placeholders)
	if f.NumericCells != NumericUnusable {
		t.sub("numeric_cells", func(t *tree) { t.text("from_15_digits", string(f.NumericCells)) })
	}
}

func (t *tree) normalise(steps []Normalise) {
	if len(steps) == 0 {
		return
	}
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, s := range steps {
		if prefix, ok := strings.CutPrefix(string(s), "strip_prefix:"); ok {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{textNode("strip_prefix"), textNode(prefix)}})
		} else {
			n.Content = append(n.Content, textNode(string(s)))
		}
	}
	t.set("normalise", n)
}

func (t *tree) pass(p *Pass) {
	t.text("pass", p.Name)
	if p.Group != nil {
		t.parts("group", p.On)
		t.group(p.Group)
		return
	}
	t.parts("on", p.On)
	t.boolean("identity", p.Identity)
	t.sub("within", func(t *tree) {
		for _, w := range p.Within {
			t.duration(w.Field, w.Max)
		}
	})
	t.boolean("suggest", p.Suggest)
}

func (t *tree) parts(key string, parts []KeyPart) {
	t.list(key, len(parts), func(i int, t *tree) {
		k := parts[i]
		t.text("operations", k.Operations)
		t.text("results", k.Results)
		t.boolean("nullable", k.Nullable)
	})
}

func (t *tree) group(g *Group) {
	t.parts("same", g.Same)
	o, r := equationText(g.Operations), equationText(g.Results)
	if f := g.Fields(); len(f) == 1 && o == r && !g.Operations[0].Minus {
		t.text("sum", f[0])
	} else {
		t.sub("equation", func(t *tree) {
			t.text("operations", o)
			t.text("results", r)
		})
	}
	t.sub("count", func(t *tree) {
		t.text("operations", g.Count.Operations)
		t.text("results", g.Count.Results)
	})
	t.sub("tolerance", func(t *tree) {
		t.text("absolute", g.Absolute)
		textMap(t, "absolute", g.AbsoluteBy)
		t.text("relative", g.Relative)
	})
}

func (t *tree) compare(c *Compare) {
	t.text("field", c.Name)
	t.text("operations", c.Operations)
	if c.Results != c.Name || c.Operations != "" {
		t.text("results", c.Results)
	}
	t.text("as", string(c.As))
	if c.Absolute != "" || c.Relative != "" {
		t.sub("tolerance", func(t *tree) {
			if c.Absolute != "" && c.As == AsInstant {
				t.text("absolute", microseconds(c.Absolute))
			} else {
				t.text("absolute", c.Absolute)
			}
			t.text("relative", c.Relative)
		})
	}
	if r := c.Round; r != nil {
		t.sub("round", func(t *tree) {
			t.integer("places", int64(r.Places))
			t.text("halves", r.Halves)
		})
	}
	t.normalise(c.Normalise)
	textMap(t, "map", c.Map)
	t.text("expect", string(c.Expect))
	t.text("scheme", string(c.Scheme))
	t.texts("fields", c.Fields)
	t.text("only_if_equal", c.OnlyIfEqual)
}
