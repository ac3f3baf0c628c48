package extract

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/recon-batch/recon-batch/rules"
)

// zipped is an archive of members: name, content, name, content.
func zipped(t testing.TB, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(members); i += 2 {
		w, err := z.Create(members[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(members[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zipSource is a CSV source whose file is an archive.
func zipSource(member string, ignore ...string) *rules.Source {
	src := csvSource()
	src.Compression = rules.CompressionZip
	src.Zip = &rules.Zip{Member: member, Ignore: ignore}
	return src
}

func TestZip(t *testing.T) {
	one := zipped(t, "data/a.csv", "a,b\n1,2\n3,4\n", "readme.pdf", "%PDF")
	for _, c := range []struct {
		src  *rules.Source
		data []byte
		want []string
	}{
		{zipSource("data/a.csv", "*.pdf"), one, []string{"1@2 1|2", "2@3 3|4", "control 1"}},
		{zipSource("data/*.csv", "readme.pdf"), one, []string{"1@2 1|2", "2@3 3|4", "control 1"}},
		{zipSource("", "*.pdf"), one, []string{"1@2 1|2", "2@3 3|4", "control 1"}},
		{zipSource("*.csv"), zipped(t, "b.csv", "b,a\n2,1\n", "a.csv", "a,b\n7,8\n"), []string{"1@2 7|8", "2@2 1|2", "control 2"}},
	} {
		got, _ := readAll(c.src, textFields("a"), c.data, "x.zip")
		check(t, got, c.want)
	}
}

func TestZipRefusals(t *testing.T) {
	const csv = "a,b\n1,2\n"
	header := func(change func(*zip.FileHeader)) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		h := &zip.FileHeader{Name: "a.csv", Method: zip.Deflate}
		change(h)
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, csv)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	stored := header(func(h *zip.FileHeader) { h.Method = zip.Store })
	encrypted := bytes.Clone(stored)
	for _, mark := range []string{"PK\x03\x04", "PK\x01\x02"} {
		at := bytes.Index(encrypted, []byte(mark)) + 6
		if mark == "PK\x01\x02" {
			at += 2
		}
		encrypted[at] |= 1
	}
	method := bytes.Clone(stored)
	method[bytes.Index(method, []byte("PK\x01\x02"))+10] = 12
	changed := bytes.Replace(stored, []byte("1,2"), []byte("1,3"), 1)
	renamed := bytes.Replace(stored, []byte("a.csv"), []byte("b.csv"), 1) // the one in front of the content
	for _, c := range []struct {
		name string
		src  *rules.Source
		data []byte
		want string
	}{
		{"undeclared", zipSource("a.csv"), zipped(t, "a.csv", csv, "b.csv", csv), "error x.zip: the archive has members that are not declared: b.csv"},
		{"several", zipSource(""), zipped(t, "a.csv", csv, "b.csv", csv), "error x.zip: the archive has 2 members: a.csv, b.csv"},
		{"none", zipSource("c.csv", "*"), zipped(t, "a.csv", csv), "error x.zip: the archive has no member c.csv"},
		{"empty", zipSource(""), zipped(t), "error x.zip: the archive has no member"},
		{"traversal", zipSource("*"), zipped(t, "../a.csv", csv), `error x.zip: the member "../a.csv" leaves the folder that an archive is unpacked to`},
		{"traversal inside", zipSource("*"), zipped(t, "x/../../a.csv", csv), `error x.zip: the member "x/../../a.csv" leaves the folder that an archive is unpacked to`},
		{"rooted", zipSource("*"), zipped(t, "/a.csv", csv), `error x.zip: the member "/a.csv" leaves the folder that an archive is unpacked to`},
		{"backslash", zipSource("*"), zipped(t, `..\a.csv`, csv), `error x.zip: the member "..\\a.csv" leaves the folder that an archive is unpacked to`},
		{"drive", zipSource("*"), zipped(t, "c:a.csv", csv), `error x.zip: the member "c:a.csv" leaves the folder that an archive is unpacked to`},
		{"twice", zipSource("*"), zipped(t, "a.csv", csv, "a.csv", csv), "error x.zip: two members have the name a.csv"},
		{"encrypted", zipSource("*"), encrypted, "error x.zip: the member a.csv is encrypted"},
		{"method", zipSource("*"), method, "error x.zip: the member a.csv is compressed by method 12, which is neither stored nor deflated"},
		{"link", zipSource("*"), header(func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }), "error x.zip: the member a.csv is no regular file"},
		{"changed", zipSource("*"), changed, "error x.zip/a.csv: the CRC-32 does not fit the content: the archive is corrupt"},
		{"renamed", zipSource("*"), renamed, "error x.zip: the directory of the archive has a member a.csv, and what stands in its place has another name"},
		{"no zip", zipSource("*"), []byte(csv), "error x.zip: the file is no whole zip archive: it is cut or corrupt: zip: not a valid zip file"},
		{"nested", zipSource("*"), zipped(t, "a.zip", csv), "error x.zip/a.zip: an archive inside an archive is not read"},
		{"other columns", zipSource("*"), zipped(t, "a.csv", csv, "b.csv", "a,c\n1,2\n"), "error x.zip/b.csv: its columns are others than those of a.csv: a, c"},
		{"bad record", zipSource("*"), zipped(t, "a.csv", csv, "b.csv", "a,b\n1\n"), "reject 2@2: b.csv: 1 field, the header has 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := readAll(c.src, textFields("a"), c.data, "x.zip")
			if got[len(got)-1] == "control 2" {
				got = got[:len(got)-1]
			}
			check(t, got[len(got)-1:], []string{c.want})
		})
	}
	src := zipSource("*")
	src.Controls = &rules.Controls{Count: rules.Position{In: rules.InTrailer, Field: 1}}
	got, _ := readAll(src, textFields("a"), zipped(t, "a.csv", csv, "b.csv", csv), "x.zip")
	check(t, got, []string{"error x.zip: the archive has 2 members with records, and the controls of the source stand in one"})
}

// What would fill memory or disk is refused within the limits: by what the archive
// states, and by what comes out of it.
func TestZipBombs(t *testing.T) {
	big := "a,b\n" + strings.Repeat("1,2\n", 8<<20)
	honest := zipped(t, "a.csv", big)
	got, _ := readAll(zipSource("*"), textFields("a"), honest, "x.zip")
	check(t, got[len(got)-1:], []string{"error x.zip: more than 500 bytes of content for each compressed byte, which is the limit"})
	// the directory states less than there is
	lying := bytes.Clone(honest)
	at := bytes.LastIndex(lying, []byte("PK\x01\x02"))
	copy(lying[at+24:], []byte{100, 0, 0, 0})
	got, _ = readAll(zipSource("*"), textFields("a"), lying, "x.zip")
	if last := got[len(got)-1]; !strings.HasPrefix(last, "error x.zip/a.csv") {
		t.Errorf("%s", last)
	}
	lim := DefaultLimits
	lim.ContentBytes = 1 << 20
	got, _ = readAllLimits(zipSource("*"), textFields("a"), honest, "x.zip", lim)
	check(t, got[len(got)-1:], []string{"error x.zip: more than 1048576 bytes of content, which is the limit"})
	half := strings.Repeat("x,y\n", 150_000)
	got, _ = readAllLimits(zipSource("*"), textFields("x"), zipped(t, "a.csv", half, "b.csv", half), "x.zip", lim)
	check(t, got[len(got)-1:], []string{"error x.zip: more than 1048576 bytes of content, which is the limit"})
	var many []string
	for i := range maxMembers + 1 {
		many = append(many, fmt.Sprintf("m%d", i), "")
	}
	got, _ = readAll(zipSource("*"), textFields("a"), zipped(t, many...), "x.zip")
	check(t, got, []string{"error x.zip: more than 10000 members, which is the limit"})
}

// Any format may lie in an archive.
func TestZipOfFormats(t *testing.T) {
	for name, c := range containers(t) {
		if name == "x.zip" {
			continue
		}
		want, _ := readAll(c.src, textFields("a"), c.data, name)
		src := *c.src
		src.Compression, src.Zip = rules.CompressionZip, &rules.Zip{Member: name}
		got, r := readAll(&src, textFields("a"), zipped(t, name, string(c.data)), "x.zip")
		check(t, got, want)
		r.Close()
	}
	src := *parquetSource
	src.Compression, src.Zip = rules.CompressionZip, nil
	got, _ := readAll(&src, textFields("a"), zipped(t, "x.parquet", string(writeParquet(t, schemaOf("a", arrow.BinaryTypes.String), `[{"a":"1"},{"a":"2"}]`))), "x.zip")
	check(t, got, []string{"1@0 1", "2@0 2"})
	gz := csvSource()
	gz.Compression = rules.CompressionZip
	got, _ = readAll(gz, textFields("a"), zipped(t, "x.csv.gz", string(gzipped("a\n1\n"))), "x.zip")
	check(t, got, []string{"1@2 1", "control 1"})
}
