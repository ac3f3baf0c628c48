package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io/fs"
	"strings"
)

// The page is made of html/page.tmpl and one template a section. All style sheets and
// all scripts of the folder, in the order of their names, are one of each on the page.
//
//go:embed html
var pageFiles embed.FS

// writeHTML writes the page: one file without a reference, so that it works by mail and
// from a disk.
func writeHTML(ctx context.Context, d *Delivery) error {
	rows, err := boardPage(ctx, d.DB)
	if err != nil {
		return err
	}
	page, err := htmlPage(d.Summary, rows)
	if err != nil {
		return err
	}
	return d.write("report.html", page)
}

// HTML prints the summary as one self-contained page. Without the rows of the board, which
// are no part of the summary, the page has its table of the largest exceptions.
func HTML(s *Summary) ([]byte, error) { return htmlPage(s, "") }

// htmlPage prints the summary with the JSON of the board's rows.
func htmlPage(s *Summary, rows string) ([]byte, error) {
	style, err := joined("html/*.css")
	if err != nil {
		return nil, err
	}
	script, err := joined("html/*.js")
	if err != nil {
		return nil, err
	}
	p := newPage(s)
	p.Board = template.JS(rows) // escaped by encode, so that no value ends the element
	p.Style, p.Script, p.Policy = template.CSS(style), template.JS(script), contentPolicy(style, script)
	t, err := template.New("report").Funcs(p.funcs()).ParseFS(pageFiles, "html/*.tmpl")
	if err != nil {
		return nil, err
	}
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

// contentPolicy allows the page its own style and script, and nothing else; no text can
// become markup or a script in a browser that knows trusted types.
func contentPolicy(style, script string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	policy := "default-src 'none'; style-src " + hash(style)
	if script != "" {
		policy += "; script-src " + hash(script) + "; require-trusted-types-for 'script'"
	}
	return policy + "; base-uri 'none'; form-action 'none'"
}
