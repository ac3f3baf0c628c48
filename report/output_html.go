package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"time"
)

// The page is made of html/page.tmpl and one template a section. All style sheets and
// all scripts of the folder, in the order of their names, are one of each on the page.
//
//go:embed html
var pageFiles embed.FS

// writeHTML writes the page: one file without a reference, so that it works by mail and
// from a disk.
func writeHTML(_ context.Context, d *Delivery) error {
	page, err := HTML(d.Summary)
	if err != nil {
		return err
	}
	return d.write("report.html", page)
}

// page is what the template prints beside the summary.
type page struct {
	S        *Summary
	Policy   string
	Style    template.CSS
	Script   template.JS // "" none
	Tone     string      // good, warn, bad
	Money    bool
	Unproved []string
	Bars     []bar
	Verdicts []verdictRow
}

// bar is the share of each class of one side, in thousandths of the width.
type bar struct {
	Equation string
	Parts    []barPart
}

type barPart struct {
	Class    string
	X, Width int64
}

// verdictRow is one class and reason over all currencies, in the period.
type verdictRow struct {
	Class, Reason, Meaning string
	Operations, Results    int64
}

// HTML prints the summary as one self-contained page.
func HTML(s *Summary) ([]byte, error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		zone = time.UTC
	}
	local := func(text string) string {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return text
		}
		return t.In(zone).Format("2006-01-02 15:04:05")
	}
	t, err := template.New("report").Funcs(template.FuncMap{
		"shown": shown, "whole": visible, "count": count, "money": grouped, "orNone": orNone, "local": local, "age": oldestText, "lag": ageText, "finding": findingText, "withheld": withheldText, "mode": modeText, "id": idOf,
		"num":       func(n int64) string { return grouped(fmt.Sprint(n)) },
		"settled":   func(class, reason string) bool { return !needsWork(class, reason) },
		"verdict":   func(e Exception) string { c, r := verdictOf(e); return c + "/" + r },
		"orDefault": func(s string) string { return map[bool]string{true: "default", false: s}[s == ""] },
		"value": func(v *string) string {
			switch {
			case v == nil:
				return "nothing"
			case *v == "":
				return "an empty text"
			}
			return shown(*v)
		},
	}).ParseFS(pageFiles, "html/*.tmpl")
	if err != nil {
		return nil, err
	}
	style, err := joined("html/*.css")
	if err != nil {
		return nil, err
	}
	script, err := joined("html/*.js")
	if err != nil {
		return nil, err
	}
	p := page{S: s, Style: template.CSS(style), Script: template.JS(script), Tone: tone(s), Policy: contentPolicy(style, script)}
	for _, t := range s.Statement {
		p.Money = p.Money || t.Operations != ""
	}
	p.Unproved = unproved(s)
	for _, side := range s.Sides {
		p.Bars = append(p.Bars, bar{equation(side), barParts(classesOf(side))})
	}
	p.Verdicts = verdictRows(s)
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "page", p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// joined is the text of all embedded files of a pattern, in the order of their names.
func joined(pattern string) (string, error) {
	names, err := fs.Glob(pageFiles, pattern)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range names {
		data, err := pageFiles.ReadFile(name)
		if err != nil {
			return "", err
		}
		b.Write(data)
	}
	return b.String(), nil
}

// contentPolicy allows the page its own style and script, and nothing else.
func contentPolicy(style, script string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	policy := "default-src 'none'; style-src " + hash(style)
	if script != "" {
		policy += "; script-src " + hash(script)
	}
	return policy + "; base-uri 'none'; form-action 'none'"
}

func tone(s *Summary) string {
	switch {
	case s.Outcome.ExitCode != 0:
		return "bad"
	case s.Outcome.Closes:
		return "good"
	}
	return "warn"
}

// unproved says at the top what could not be read, since proofs of absence fall
// with it.
func unproved(s *Summary) []string {
	var out []string
	for _, side := range s.Sides {
		var files []string
		for _, src := range side.Sources {
			for _, f := range src.Files {
				if f.Status == "missing" || f.Status == "refused" {
					files = append(files, strings.TrimSpace(src.Name+" "+orNone(f.Name)+" ("+f.Status+")"))
				}
			}
		}
		if len(files) > 5 {
			files = append(files[:5], fmt.Sprintf("and %d more", len(files)-5))
		}
		if len(files) > 0 {
			out = append(out, fmt.Sprintf("not read, so it proves nothing: %s", strings.Join(files, ", ")))
		}
		if side.Rejected > 0 {
			out = append(out, fmt.Sprintf("%s of the %s could not be read", count(side.Rejected, "record"), side.Side))
		}
	}
	return out
}

// barParts cuts the width among the classes; what has rows has at least a
// visible sliver, for which the widest one makes room.
func barParts(classes []classRow) []barPart {
	const whole, sliver = 1000, 4
	var all int64
	for _, c := range classes {
		all += c.Rows
	}
	out := make([]barPart, len(classes))
	widest, used := 0, int64(0)
	for i, c := range classes {
		out[i] = barPart{Class: c.Class, Width: max(c.Rows*whole/all, sliver)}
		used += out[i].Width
		if out[i].Width > out[widest].Width {
			widest = i
		}
	}
	if len(out) > 0 {
		out[widest].Width += whole - used
	}
	var x int64
	for i := range out {
		out[i].X = x
		x += out[i].Width
	}
	return out
}

func verdictRows(s *Summary) []verdictRow {
	var out []verdictRow
	for _, class := range classOrder {
		at := map[string]int{}
		first := len(out)
		for i, side := range s.Sides {
			for _, c := range side.Counts {
				if !c.InPeriod || c.Class != class {
					continue
				}
				j, ok := at[c.Reason]
				if !ok {
					j = len(out)
					at[c.Reason] = j
					out = append(out, verdictRow{Class: class, Reason: c.Reason})
				}
				if i == 0 {
					out[j].Operations += c.Rows
				} else {
					out[j].Results += c.Rows
				}
			}
		}
		if len(out) > first {
			out[first].Meaning = classMeaning[class]
		}
	}
	return out
}
