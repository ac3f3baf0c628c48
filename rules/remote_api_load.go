package rules

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

func (d *decoder) api(o *object, s *Source) *API {
	a := &API{
		Web: d.web(o), URL: Template(o.text("url", "")), Method: choice(o, "method", "GET", "GET", "POST"), Safe: o.boolean("safe", false),
		Name:    Template(o.text("name", "page.json")),
		Records: d.memberPath(o, "records", jsonPathPattern), Count: d.memberPath(o, "count", scalarPathPattern),
		Total: d.memberPath(o, "total", scalarPathPattern), Through: d.memberPath(o, "through", scalarPathPattern),
	}
	days := s.Dates != nil
	if c := o.sub("window", apiWindowShape); c != nil {
		a.Window = d.apiWindow(c, days)
	}
	known := []string{}
	if a.Window != nil {
		known = []string{"from", "until"}
	}
	d.apiURL(o.at("url"), a.URL, days, known, a.Private)
	a.Query, a.Headers = d.webQuery(o, days, known), d.webHeaders(o, days, known)
	if n := o.node("body"); n != nil {
		a.Body = d.jsonBody(n, o.at("body"), days, known)
		if a.Method != "POST" {
			o.fail("body", "add `method: POST`", "%s: a GET has no body", o.at("body"))
		}
	}
	if o.has("safe") && a.Method != "POST" {
		o.fail("safe", "remove it", "%s: a GET may always be sent again", o.at("safe"))
	}
	a.Limits = d.apiLimits(o.sub("limits", apiLimitsShape))
	a.Pagination = d.pagination(o, a)
	if c := o.sub("report", apiReportShape); c != nil {
		a.Report = d.apiReport(c, a, days, known)
		for _, k := range []string{"pagination", "records", "count", "total", "through"} {
			if o.has(k) {
				o.fail(k, "remove it", "%s: a report is one file, not pages", o.at(k))
			}
		}
		if a.Window != nil && a.Window.Step != "" {
			d.fail(join(join(o.path, "window"), "step"), "remove it", "a report is asked for at once")
		}
	}
	d.apiName(o, a, s)
	s.Path, s.JSON.Path = a.Name, a.Records
	return a
}

func (d *decoder) memberPath(o *object, name, pattern string) string {
	text := o.text(name, "")
	if text != "" && !regexp.MustCompile(pattern).MatchString(text) {
		o.fail(name, "members joined by points, such as data.items", "%s: %q is no path", o.at(name), text)
		return ""
	}
	return text
}

// apiName checks the name of the files, and whether it is the source that says how they
// are compressed.
func (d *decoder) apiName(o *object, a *API, s *Source) {
	if !d.template(a.Name, o.at("name"), s.Dates != nil) {
		return
	}
	base := string(a.Name)
	switch {
	case strings.ContainsAny(base, "/\\") || strings.HasPrefix(base, "."):
		o.fail("name", "a name without slashes that does not begin with a dot, such as charges.json", "%s: %q is not the name of a file", o.at("name"), base)
	case a.Report != nil:
	case formatEndings[strings.ToLower(path.Ext(base))] != FormatJSON:
		o.fail("name", "a name such as charges.json; pages are compressed here", "%s: pages are JSON, and %q does not end so", o.at("name"), base)
	}
}

// webTemplate checks a text with placeholders of dates and of those that are known when
// the request is made.
func (d *decoder) webTemplate(p string, t Template, fileDate bool, known []string) bool {
	marked, _ := t.marked(func(name string) (string, bool) { return "", slices.Contains(known, name) })
	for _, name := range []string{"from", "until", "id", "key"} {
		if strings.Contains(strings.ReplaceAll(string(marked), "{{", ""), "{"+name+"}") {
			hint := "add `window: {from: …, until: …}`"
			if name == "id" || name == "key" {
				hint = "remove it"
			}
			d.fail(p, hint, "%s: {%s} is not known here", p, name)
			return false
		}
	}
	return d.template(marked, p, fileDate)
}

// apiURL checks an address with placeholders.
func (d *decoder) apiURL(p string, t Template, fileDate bool, known []string, private bool) {
	if t == "" || !d.webTemplate(p, t, fileDate, known) {
		return
	}
	extra := map[string]string{}
	for _, k := range known {
		extra[k] = "x"
	}
	text, err := t.FillWith(probeDate, probeDate, extra)
	if err != nil {
		d.fail(p, "https://host/path", "%s: %s", p, err)
		return
	}
	d.webURL(p, text, private)
	host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(string(t), "https://"), "http://"), "/")
	if strings.ContainsAny(host, "{}?") {
		d.fail(p, "name one host; parameters go to `query`", "%s: its host is not fixed", p)
	}
}

// jsonBody reads a JSON document, written as one or as YAML, and gives it in one form.
func (d *decoder) jsonBody(n *yaml.Node, p string, fileDate bool, known []string) string {
	var v any
	if n.Kind == yaml.ScalarNode {
		dec := json.NewDecoder(strings.NewReader(n.Value))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil || dec.More() {
			d.failAt(at(n), p, `a mapping, or a text such as '{"status": "settled"}'`, "%s is no JSON document", p)
			return ""
		}
	} else {
		v = jsonOf(n)
	}
	if _, ok := v.(map[string]any); !ok {
		d.failAt(at(n), p, `a mapping, or a text such as '{"status": "settled"}'`, "%s is no JSON object", p)
		return ""
	}
	_ = eachText(v, func(text string) (string, error) {
		d.webTemplate(p, Template(text), fileDate, known)
		return text, nil
	})
	return jsonText(v)
}

// jsonOf turns YAML into what JSON can say.
func jsonOf(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = jsonOf(n.Content[i+1])
		}
		return out
	case yaml.SequenceNode:
		out := []any{}
		for _, c := range n.Content {
			out = append(out, jsonOf(c))
		}
		return out
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
	}
	return n.Value
}

// jsonText writes a value in one form: members sorted.
func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// eachText replaces the texts of a value, those in it included, but not names of members.
func eachText(v any, change func(string) (string, error)) error {
	switch v := v.(type) {
	case map[string]any:
		for k, c := range v {
			if text, ok := c.(string); ok {
				text, err := change(text)
				if err != nil {
					return err
				}
				v[k] = text
			} else if err := eachText(c, change); err != nil {
				return err
			}
		}
	case []any:
		for i, c := range v {
			if text, ok := c.(string); ok {
				text, err := change(text)
				if err != nil {
					return err
				}
				v[i] = text
			} else if err := eachText(c, change); err != nil {
				return err
			}
		}
	}
	return nil
}

// FillBody gives the body of a request as a tree of JSON; nil where there is none.
func (a *API) FillBody(date, fileDate string, extra map[string]string) (map[string]any, error) {
	if a.Body == "" {
		return nil, nil
	}
	dec := json.NewDecoder(strings.NewReader(a.Body))
	dec.UseNumber()
	v := map[string]any{}
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return v, eachText(v, func(text string) (string, error) { return Template(text).FillWith(date, fileDate, extra) })
}

func (d *decoder) apiWindow(c *object, days bool) *APIWindow {
	w := &APIWindow{
		From: d.instantTemplate(c, "from", "", days), Until: d.instantTemplate(c, "until", "", days), Form: c.text("form", "rfc3339"),
		Included: choice(c, "end", "excluded", "excluded", "included") == "included", Settle: c.duration("settle", 0), Overlap: c.duration("overlap", 0),
	}
	if c.has("zone") {
		w.Zone = d.zoneNamed(c.text("zone", "UTC"), c.at("zone"))
	}
	if c.has("step") {
		if v := c.duration("step", time.Hour); v < time.Minute {
			c.fail("step", "a time such as 1h or 1d", "%s: a slice has at least a minute", c.at("step"))
		} else {
			w.Step = c.text("step", "")
		}
	}
	if w.WholeDays() {
		if days, _ := w.step(); w.Step != "" && days == 0 {
			c.fail("step", "whole days, such as 1d", "%s: times are written as days, and the slices are not whole days", c.at("step"))
		}
		if w.Overlap%(24*time.Hour) != 0 {
			c.fail("overlap", "whole days, such as 1d", "%s: times are written as days, and the overlap is not whole days", c.at("overlap"))
		}
	}
	if probe := time.Date(2024, 6, 15, 1, 2, 3, 0, time.UTC); w.Stamp(probe, time.UTC, false) == w.Stamp(probe.AddDate(0, 0, 1), time.UTC, false) {
		c.fail("form", "rfc3339, rfc3339_utc, unix, unix_ms, date, or a layout such as 20060102", "%s: %q is no layout of a time", c.at("form"), w.Form)
	}
	return w
}

// checkOverlap refuses a window that asks for records again where nothing says which of
// two versions of a record stands (V5).
func (d *decoder) checkOverlap(spec *SideSpec, paths []string) {
	for i, s := range spec.Sources {
		if s.Remote == nil || s.Remote.API == nil || s.Remote.API.Window == nil || s.Remote.API.Window.Overlap == 0 || spec.Survivor != nil {
			continue
		}
		d.fail(join(join(join(paths[i], "api"), "window"), "overlap"), "add `survivor: {by: remote_id, latest: updated_at}` to the side, or leave the overlap out",
			"%s asks for records again that an earlier window gave, and nothing says which version stands", join(paths[i], "api.window.overlap"))
	}
}

func (d *decoder) pagination(o *object, a *API) APIPages {
	g := APIPages{Style: PageNone, In: "query"}
	c := o.sub("pagination", paginationShape)
	if c == nil {
		return g
	}
	g.Style = choice(c, "style", PageNone, PageOffset, PageNumber, PageCursor, PageLink, PageNone)
	if g.Style == PageLink || g.Style == PageNone {
		for _, k := range []string{"at", "first", "in", "next", "next_is", "last", "more", "stop"} {
			if c.has(k) {
				c.fail(k, "remove it", "%s means nothing with `style: %s`", c.at(k), g.Style)
			}
		}
	}
	byNumber := g.Style == PageOffset || g.Style == PageNumber
	g.In = choice(c, "in", "query", "query", "body")
	if g.In == "body" && a.Method != "POST" {
		c.fail("in", "add `method: POST`", "%s: a GET has no body", c.at("in"))
	}
	g.Next, g.Last, g.More = d.memberPath(c, "next", scalarPathPattern), d.memberPath(c, "last", jsonPathPattern), d.memberPath(c, "more", scalarPathPattern)
	g.IsURL = choice(c, "next_is", "cursor", "cursor", "url") == "url"
	g.Stable = c.boolean("stable", false)
	if byNumber || c.has("size") || c.has("limit") {
		g.Limit, g.Size = c.text("limit", "limit"), c.integer("size", 100, 1, 1_000_000)
	}
	switch g.Style {
	case PageOffset:
		g.At, g.First = c.text("at", "offset"), c.integer("first", 0, 0, 1<<31)
	case PageNumber:
		g.At, g.First = c.text("at", "page"), c.integer("first", 1, 0, 1<<31)
	case PageCursor:
		g.At = c.text("at", "cursor")
		if (g.Next == "") == (g.Last == "") {
			d.fail(c.path, "`next: meta.next_cursor`, or `last: id` for the value of the last record", "%s: a cursor comes from `next` or from `last`, one of them", c.path)
		}
		if c.has("first") {
			c.fail("first", "remove it; the first page is asked for without a cursor", "%s means nothing with `style: cursor`", c.at("first"))
		}
	}
	if byNumber && (g.Next != "" || g.Last != "") {
		d.fail(c.path, "remove it, or write `style: cursor`", "%s: pages are counted, and a next one is named as well", c.path)
	}
	if g.IsURL && g.Next == "" {
		c.fail("next_is", "name it: `next: links.next`", "%s, but nothing says where it is", c.at("next_is"))
	}
	d.stop(c, &g, a)
	return g
}

// stop reads what says that a page is the last one, and refuses what cannot.
func (d *decoder) stop(c *object, g *APIPages, a *API) {
	def := StopEmpty
	switch {
	case g.Style == PageNone:
		return
	case g.Style == PageLink:
		g.Stop = StopNoNext
		return
	case g.More != "":
		def = StopMore
	case g.Next != "":
		def = StopNoNext
	}
	g.Stop = choice(c, "stop", def, StopEmpty, StopShort, StopMore, StopTotal, StopNoNext)
	switch {
	case g.Stop == StopMore && g.More == "":
		c.fail("stop", "add `more: has_more`", "%s, but nothing says where it is", c.at("stop"))
	case g.Stop == StopNoNext && g.Next == "":
		c.fail("stop", "add `next: meta.next_cursor`", "%s, but no next page is named", c.at("stop"))
	case g.Stop == StopTotal && a.Total == "":
		c.fail("stop", "add `total: meta.total`", "%s, but nothing says where it is", c.at("stop"))
	case g.Stop == StopShort && (a.Total == "" || g.Size == 0):
		c.fail("stop", "leave `stop` out, so that an empty page is asked for; or add `total` and `size`", "%s: a service may give fewer records than it is asked for, and without a total nobody would see it", c.at("stop"))
	}
}

func (d *decoder) apiReport(c *object, a *API, days bool, known []string) *APIReport {
	r := &APIReport{
		ID: d.memberPath(c, "id", scalarPathPattern), Poll: Template(c.text("poll", "")), Status: d.memberPath(c, "status", scalarPathPattern),
		Done: c.texts("done"), Failed: c.texts("failed"), Every: c.duration("every", 10*time.Second), Download: d.memberPath(c, "download", scalarPathPattern),
		Content: Template(c.text("content", "")), Bytes: d.memberPath(c, "bytes", scalarPathPattern), SHA256: d.memberPath(c, "sha256", scalarPathPattern),
	}
	known = append(slices.Clone(known), "id")
	d.apiURL(c.at("poll"), r.Poll, days, known, a.Private)
	d.apiURL(c.at("content"), r.Content, days, known, a.Private)
	if (r.Download == "") == (r.Content == "") {
		d.fail(c.path, "`download: data.url`, or `content: https://…/{id}`", "%s: the address of the report is said by an answer or here, one of them", c.path)
	}
	for _, f := range r.Failed {
		if slices.Contains(r.Done, f) {
			c.fail("failed", "keep one of the two", "%s: %q is among `done` too", c.at("failed"), f)
		}
	}
	if r.Every <= 0 {
		c.fail("every", "a time such as 10s", "%s leaves no time", c.at("every"))
	}
	return r
}

func (d *decoder) apiLimits(c *object) APILimits {
	l := APILimits{
		Pages: c.integer("pages", apiPages, 1, 1_000_000), Rows: c.integer("rows", apiRows, 1, 1<<40), PageBytes: c.integer("page_bytes", apiPageBytes, 1, 1<<40),
		Bytes: c.integer("bytes", apiBytes, 1, 1<<50), Time: c.duration("time", time.Hour), Passes: c.integer("passes", 3, 1, 100),
	}
	if l.Time <= 0 {
		c.fail("time", "a time such as 1h", "%s leaves no time", c.at("time"))
	}
	return l
}

func (t *tree) api(a *API) {
	t.sub(FromAPI, func(t *tree) {
		t.text("url", string(a.URL))
		t.text("method", a.Method)
		if a.Method == "POST" {
			t.boolean("safe", a.Safe)
		}
		t.sub("query", func(t *tree) {
			for _, k := range sortedKeys(a.Query) {
				t.flow(k, a.Query[k])
			}
		})
		textMap(t, "headers", a.Headers)
		t.text("body", a.Body)
		t.text("name", string(a.Name))
		if w := a.Window; w != nil {
			t.sub("window", func(t *tree) { t.apiWindow(w) })
		}
		if a.Report == nil {
			t.sub("pagination", func(t *tree) { t.pagination(&a.Pagination) })
		}
		t.text("records", a.Records)
		t.text("count", a.Count)
		t.text("total", a.Total)
		t.text("through", a.Through)
		if r := a.Report; r != nil {
			t.sub("report", func(t *tree) { t.apiReport(r) })
		}
		t.sub("limits", func(t *tree) {
			t.integer("pages", a.Limits.Pages)
			t.integer("rows", a.Limits.Rows)
			t.integer("page_bytes", a.Limits.PageBytes)
			t.integer("bytes", a.Limits.Bytes)
			t.duration("time", a.Limits.Time)
			t.integer("passes", a.Limits.Passes)
		})
		t.web(&a.Web)
	})
}

func (t *tree) apiWindow(w *APIWindow) {
	t.text("from", string(w.From))
	t.text("until", string(w.Until))
	if w.Zone != nil {
		t.text("zone", w.Zone.String())
	}
	t.text("form", w.Form)
	if w.Included {
		t.text("end", "included")
	} else {
		t.text("end", "excluded")
	}
	t.duration("settle", w.Settle)
	t.duration("overlap", w.Overlap)
	t.text("step", w.Step)
}

func (t *tree) pagination(g *APIPages) {
	t.text("style", g.Style)
	t.text("limit", g.Limit)
	t.positive("size", g.Size)
	t.boolean("stable", g.Stable)
	if g.Style == PageNone || g.Style == PageLink {
		return
	}
	t.text("at", g.At)
	if g.Style != PageCursor {
		t.integer("first", g.First)
	}
	t.text("in", g.In)
	t.text("next", g.Next)
	if g.IsURL {
		t.text("next_is", "url")
	}
	t.text("last", g.Last)
	t.text("more", g.More)
	t.text("stop", g.Stop)
}

func (t *tree) apiReport(r *APIReport) {
	t.text("id", r.ID)
	t.text("poll", string(r.Poll))
	t.text("status", r.Status)
	t.texts("done", r.Done)
	t.texts("failed", r.Failed)
	t.duration("every", r.Every)
	t.text("download", r.Download)
	t.text("content", string(r.Content))
	t.text("bytes", r.Bytes)
	t.text("sha256", r.SHA256)
}
