package report

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"
	"testing"
)

type bookFile struct {
	name string
	data []byte
}

func unzippedParts(t *testing.T, data []byte) []bookFile {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	texts := unzipped(t, data)
	var out []bookFile
	for i, f := range z.File {
		out = append(out, bookFile{f.Name, texts[i]})
	}
	return out
}

// checkPackage asserts that every part is well-formed, is declared, and that none of them
// is a program or leads outside.
func checkPackage(t *testing.T, data []byte) {
	t.Helper()
	var types struct {
		Override []struct {
			PartName    string `xml:",attr"`
			ContentType string `xml:",attr"`
		}
	}
	parts := unzippedParts(t, data)
	declared := map[string]bool{}
	for _, p := range parts {
		if p.name == "[Content_Types].xml" {
			if err := xml.Unmarshal(p.data, &types); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, o := range types.Override {
		declared[strings.TrimPrefix(o.PartName, "/")] = true
		if strings.Contains(o.ContentType, "macro") {
			t.Errorf("%s is %s", o.PartName, o.ContentType)
		}
	}
	for _, p := range parts {
		known := regexp.MustCompile(`^(\[Content_Types\]\.xml|_rels/\.rels|docProps/(core|app)\.xml|xl/(workbook|styles|theme/theme1)\.xml|xl/_rels/workbook\.xml\.rels|xl/worksheets/sheet[0-9]+\.xml)$`)
		if !known.MatchString(p.name) {
			t.Errorf("the part %s does not belong here", p.name)
		}
		if path.Ext(p.name) == ".xml" && p.name != "[Content_Types].xml" && !declared[p.name] {
			t.Errorf("%s is not declared", p.name)
		}
		d := xml.NewDecoder(bytes.NewReader(p.data))
		depth := 0
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s is not well-formed: %v", p.name, err)
			}
			switch e := token.(type) {
			case xml.StartElement:
				depth++
				for _, a := range e.Attr {
					if a.Name.Local == "TargetMode" || e.Name.Local == "hyperlink" {
						t.Errorf("%s leads outside", p.name)
					}
				}
			case xml.EndElement:
				depth--
			}
		}
		if depth != 0 {
			t.Errorf("%s ends inside", p.name)
		}
	}
}
