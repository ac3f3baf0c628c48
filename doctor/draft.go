package doctor

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/recon-batch/recon-batch/rules"
)

// draft is a source of a job file under way.
type draft struct {
	path        string
	compression rules.Compression
	format      string
	encoding    string
	csv         pairs // of csv, typed: what differs from RFC 4180
	parts       pairs // zip, xlsx, json, xml, typed, fixed, bank
	decimal     byte
	group       byte
	controlLine string // trailer or total_line, where the file has one that is declared
	controls    pairs
	fields      []field
	preset      *rules.Preset
	provisional bool            // intraday: its silence proves nothing
	sure        map[string]Sure // of what was said, by topic
	notes       []string        // comments at the end
}

// field is one product field of the draft.
type field struct {
	name    string
	value   any // a column, or pairs
	comment string
}

// binary tells that the content is no text.
func (d *draft) binary() bool { return d.format == "parquet" || d.format == "xlsx" }

// endingCompression is what the name of the file says.
func (d *draft) endingCompression() rules.Compression {
	switch strings.ToLower(filepath.Ext(d.path)) {
	case ".gz":
		return rules.CompressionGzip
	case ".zst":
		return rules.CompressionZstd
	case ".zip":
		return rules.CompressionZip
	}
	return ""
}

// line of the fragment.
type line struct{ text, comment string }

// lines are the keys of the source, with what was guessed as comments.
func (d *draft) lines(fields bool) []line {
	var out []line
	add := func(comment, format string, args ...any) {
		out = append(out, line{fmt.Sprintf(format, args...), comment})
	}
	if d.preset != nil {
		add("", "preset: %s", flow(pairs{{"name", d.preset.Name}, {"version", d.preset.Version}}))
	}
	path := strings.NewReplacer("{", "{{", "}", "}}").Replace(filepath.ToSlash(d.path))
	if !utf8.ValidString(path) {
		path = strings.ToValidUTF8(path, "\uFFFD")
	}
	if strings.ContainsAny(path, "*?[") || strings.Contains(path, ":") {
		add("", "path: %s", flow(pairs{{"exact", path}}))
	} else {
		add("put {date} where the day is in the name", "path: %s", scalar(path))
	}
	if d.preset == nil {
		add("", "format: %s", d.format)
	}
	if ending := d.endingCompression(); d.compression != ending && !(ending == "" && d.compression == rules.CompressionNone) {
		add("", "compression: %s", d.compression)
	}
	dialect := append(pairs{}, d.csv...)
	parts := append(pairs{}, d.parts...)
	if d.encoding != "" && d.encoding != "utf-8" {
		switch d.format {
		case "csv", "typed":
			dialect.set("encoding", d.encoding)
		case "fixed":
			fixed, _ := parts.get("fixed")
			parts.set("fixed", append(pairs{{"encoding", d.encoding}}, fixed.(pairs)...))
		}
	}
	if d.format == "csv" || d.format == "typed" {
		if d.decimal == ',' {
			dialect.set("decimal", ",")
		}
		if d.group != 0 {
			dialect.set("group", string(d.group))
		}
	}
	if len(dialect) > 0 {
		add(d.guess("form", "encoding", "quote", "header", "footer", "comments", "numbers"), "csv: %s", flow(dialect))
	}
	for _, p := range parts {
		if d.preset != nil && p.key != "zip" && p.key != "xlsx" {
			continue
		}
		topics := map[string][]string{"zip": {"member"}, "xlsx": {"sheet", "header", "footer"}, "typed": {"kinds"}, "fixed": {"form", "columns"}, "json": {"form"}, "xml": {"form"}}
		add(d.guess(topics[p.key]...), "%s: %s", p.key, flow(p.value))
	}
	switch {
	case d.preset != nil:
		add("GUESS, unsure: say what time the file covers", `coverage: {from: "{date}", until: "{date+1}"}`)
	case d.format == string(rules.FormatPain002):
		add("silence proves nothing, since it may list only what was refused; full-lifecycle with complete: true, if the bank lists every operation", "coverage: {proves: presence-only}")
	case d.provisional:
		add("an intraday file: its silence proves nothing", "coverage: {proves: presence-only}")
	default:
		add("GUESS, unsure: complete means that what is not in the file does not exist", "coverage: complete")
	}
	if len(d.controls) > 0 {
		add("they tie in this file", "controls: %s", flow(d.controls))
	}
	if fields && len(d.fields) > 0 {
		how := "GUESS, likely, by the names of the columns, where nothing else is said"
		if d.preset != nil {
			how = "what the preset leaves to the job"
		}
		if rules.Format(d.format).Bank() {
			how = "the columns are those of the format, in every file"
		}
		add(how, "fields:")
		width := 0
		for _, f := range d.fields {
			width = max(width, len(scalar(f.name)))
		}
		for _, f := range d.fields {
			add(f.comment, "  %-*s %s", width+1, scalar(f.name)+":", flow(f.value))
		}
	}
	for _, n := range d.notes {
		out = append(out, line{"# " + oneLine(n), ""})
	}
	return out
}

// write puts comments behind the lines, aligned where the lines are short.
func write(lines []line, indent string) string {
	width := 0
	for _, l := range lines {
		if n := utf8.RuneCountInString(l.text); l.comment != "" && n <= 64 {
			width = max(width, n)
		}
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(indent + l.text)
		if l.comment != "" {
			b.WriteString(strings.Repeat(" ", max(0, width-utf8.RuneCountInString(l.text))) + "  # " + oneLine(l.comment))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// guess is the comment of a line that follows from what was said about some topics:
// it is as sure as the least sure of them.
func (d *draft) guess(topics ...string) string {
	worst := ""
	for _, t := range topics {
		switch d.sure[t] {
		case Unsure:
			return "GUESS, unsure"
		case Likely:
			worst = "GUESS, likely"
		}
	}
	return worst
}

// side is the draft as one side of a job.
func (d *draft) side(side rules.Side, fields bool) string {
	return string(side) + ":\n" + write(d.lines(fields), "  ")
}

// alone is a job around the draft, so that it can be read. Before its fields are
// known it has one that stands for any.
func (d *draft) alone(side rules.Side, fragment string) string {
	mine := fragment
	if mine == "" {
		mine = d.side(side, d.preset != nil)
		if d.preset == nil {
			mine += "  fields: " + flow(d.stand()) + "\n"
		}
	}
	other := string(side.Other()) + ": {path: other.csv, coverage: complete, fields: {operation_id: id, amount: {type: decimal}, currency: {type: currency}, created_at: {type: timestamp}}}\n"
	return "job: doctor\n" + mine + other + "match: [{pass: operation_id, on: [operation_id]}]\n"
}

// stand are fields that every file of the form has, for as long as no others are known.
func (d *draft) stand() pairs {
	column := "id"
	switch {
	case d.format == "typed":
		column = "record_kind"
	case rules.Format(d.format).Bank():
		column = "message"
	}
	if columns, ok := d.csv.get("columns"); ok {
		column = columns.([]string)[0]
	}
	if fixed, ok := d.parts.get("fixed"); ok {
		columns, _ := fixed.(pairs).get("columns")
		column = columns.(pairs)[0].key
	}
	fields := pairs{{"operation_id", column}}
	if d.provisional {
		fields.set("status", pairs{{"column", "status"}, {"map", bankStatuses}})
	}
	return fields
}
