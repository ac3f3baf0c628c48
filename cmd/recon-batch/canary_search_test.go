package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// everything is all that the commands wrote and sent, decoded: name → bytes.
func (c *canaryRun) everything() map[string][]byte {
	c.t.Helper()
	all := map[string][]byte{}
	for name, data := range c.sent {
		all[name] = data
	}
	db, err := duck.Open(c.t.Context(), duck.Options{SpillDir: c.t.TempDir(), Allowed: []string{c.dir}})
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	for _, root := range []string{"out", "refused", "text"} {
		err := filepath.WalkDir(filepath.Join(c.dir, root), func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(c.dir, path)
			if err != nil || d.IsDir() {
				if filepath.Base(name) == ".stage" {
					return filepath.SkipDir // the evidence store
				}
				return err
			}
			if d.Type()&fs.ModeSymlink != 0 {
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[name] = data
			switch filepath.Ext(name) {
			case ".parquet":
				all[name+", decoded"] = parquetTexts(c.t, db, path)
			case ".xlsx":
				z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
				if err != nil {
					return err
				}
				for _, f := range z.File {
					r, err := f.Open()
					if err != nil {
						return err
					}
					if all[name+", "+f.Name], err = io.ReadAll(r); err != nil {
						return err
					}
				}
			case ".html":
				for i, text := range packedTexts(data) {
					all[fmt.Sprintf("%s, packed %d", name, i)] = text
				}
			}
			return nil
		})
		if err != nil {
			c.t.Fatal(err)
		}
	}
	return all
}

// parquetTexts is every cell of a file, as JSON.
func parquetTexts(t *testing.T, db *duck.DB, path string) []byte {
	rows, err := db.Query(t.Context(), "SELECT CAST(to_json(x) AS VARCHAR) FROM read_parquet("+duck.Literal(path)+") x")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var b bytes.Buffer
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		b.WriteString(text + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var packed = regexp.MustCompile(`[A-Za-z0-9+/]{200,}={0,2}`)

// packedTexts unpacks what a page carries compressed, in base64.
func packedTexts(page []byte) (out [][]byte) {
	for _, text := range packed.FindAll(page, -1) {
		data, err := base64.StdEncoding.DecodeString(string(text))
		if err != nil {
			continue
		}
		for _, text := range [][]byte{gunzip(data), inflate(data)} {
			if text != nil {
				out = append(out, text)
			}
		}
	}
	return out
}

func gunzip(data []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(r)
	return out
}

func inflate(data []byte) []byte {
	if r, err := zlib.NewReader(bytes.NewReader(data)); err == nil {
		out, _ := io.ReadAll(r)
		return out
	}
	out, _ := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
	return out
}

// forms are the ways in which a text may stand in an output.
func forms(secret string) []string {
	quoted, _ := json.Marshal(secret)
	list := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret), strings.Trim(string(quoted), `"`),
		strings.ToLower(hex.EncodeToString([]byte(secret)))}
	// Base64 of it at each of the three places within a longer text; the ends depend on
	// what stands beside it.
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + secret))
		text = text[(before*8+5)/6:]
		list = append(list, text[:len(text)-2])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// search finds secrets in all that came out, in any letter case, but in what except tells.
func (c *canaryRun) search(secrets map[string]bool, except ...func(name string) bool) {
	c.t.Helper()
	found := map[string][]string{}
	for name, data := range c.everything() {
		if slices.ContainsFunc(except, func(f func(string) bool) bool { return f(name) }) {
			continue
		}
		low := bytes.ToLower(data)
		for s := range secrets {
			for _, f := range forms(s) {
				if at := bytes.Index(low, bytes.ToLower([]byte(f))); at >= 0 {
					found[name] = append(found[name], fmt.Sprintf("%s in …%s…", s, low[max(0, at-80):min(len(low), at+len(f)+20)]))
					break
				}
			}
		}
	}
	for name, list := range found {
		slices.Sort(list)
		c.t.Errorf("%s holds %d secrets, such as\n  %s", name, len(list), strings.Join(list[:min(3, len(list))], "\n  "))
	}
}

// forMachines tells the files that workers and other programs read.
func forMachines(name string) bool {
	name, _, _ = strings.Cut(name, ", ")
	return strings.HasSuffix(name, ".parquet") || strings.HasSuffix(name, ".ndjson") || strings.HasSuffix(name, "/manifest.json")
}
