package extract

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func checkDigests(t *testing.T, r fileReader, raw, content []byte) {
	t.Helper()
	want := Digests{Raw: sha256.Sum256(raw), Content: sha256.Sum256(content), Size: int64(len(raw))}
	if got := r.Digests(); got != want {
		t.Errorf("digests %x, want %x", got, want)
	}
}

func gzipped(texts ...string) []byte {
	var b bytes.Buffer
	for _, text := range texts {
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
	}
	return b.Bytes()
}

func zstandard(texts ...string) []byte {
	var b []byte
	z, _ := zstd.NewWriter(nil)
	for _, text := range texts {
		b = z.EncodeAll([]byte(text), b)
	}
	return b
}

func TestDecompress(t *testing.T) {
	text := "a,b\n1,2\n3,4\n"
	want := []string{"1@2 1|2", "2@3 3|4", "control 1"}
	for _, test := range []struct {
		name, file string
		raw        []byte
	}{
		{"none", "x.csv", []byte(text)},
		{"gzip", "x.csv.gz", gzipped(text)},
		{"gzip, several members", "x.csv.GZ", gzipped(text[:3], "", text[3:9], text[9:])},
		{"zstd", "x.csv.zst", zstandard(text)},
		{"zstd, several frames", "x.csv.zst", zstandard(text[:5], text[5:])},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines, r := readAll(csvSource(), textFields("a", "b"), test.raw, test.file)
			check(t, lines, want)
			checkDigests(t, r, test.raw, []byte(text))
		})
	}
	t.Run("declared", func(t *testing.T) {
		src := csvSource()
		src.Compression = "gzip"
		lines, _ := readAll(src, textFields("a", "b"), gzipped(text), "x.csv")
		check(t, lines, want)
		src.Compression = "none"
		lines, _ = readAll(src, textFields("a", "b"), []byte(text), "x.csv.gz")
		check(t, lines, want)
	})
	// what is behind the records is read as well
	t.Run("behind the total line", func(t *testing.T) {
		src := csvSource()
		src.CSV.EndsBefore = "Total"
		in := "a,b\n1,2\nTotal\nthe end"
		lines, r := readAll(src, textFields("a"), gzipped(in), "x.csv.gz")
		check(t, lines, []string{"1@2 1|2", "trailer Total", "control 3"})
		checkDigests(t, r, gzipped(in), []byte(in))
	})
}

func TestDecompressRefuses(t *testing.T) {
	text := "a,b\n1,2\n3,4\n"
	flip := func(b []byte, i int) []byte {
		b = bytes.Clone(b)
		b[i] ^= 1
		return b
	}
	g := gzipped(text)
	for _, test := range []struct {
		name, file string
		raw        []byte
		want       string
	}{
		{"empty gzip", "x.gz", nil, "error x.gz: the gzip stream ends after 0 bytes, before its end mark: the file is cut"},
		{"empty zstd", "x.zst", nil, "error x.zst: the file is empty, where a zstd stream was declared: the file is cut"},
		{"no gzip", "x.gz", []byte(text), "error x.gz: the file is no gzip stream"},
		{"no zstd", "x.zst", []byte(text), "error x.zst: the file is no zstd stream"},
		{"gzip, wrong sum", "x.gz", flip(g, len(g)-8), "error x.gz: the gzip checksum does not fit the content: the file is corrupt"},
		{"gzip, wrong length", "x.gz", flip(g, len(g)-1), "error x.gz: the gzip checksum does not fit the content: the file is corrupt"},
		{"zstd, wrong sum", "x.zst", flip(zstandard(text), len(zstandard(text))-1), "error x.zst: the zstd checksum does not fit the content: the file is corrupt"},
		{"gzip, garbage behind", "x.gz", append(bytes.Clone(g), "0123456789abcdef"...), "error x.gz: bytes that are no gzip data follow the gzip stream"},
		{"gzip, zeros behind", "x.gz", append(bytes.Clone(g), make([]byte, 512)...), "error x.gz: bytes that are no gzip data follow the gzip stream"},
		{"gzip, one byte behind", "x.gz", append(bytes.Clone(g), 0), "error x.gz: the gzip stream ends…"},
		{"zstd, garbage behind", "x.zst", append(zstandard(text), "0123456789abcdef"...), "error x.zst: bytes that are no zstd data follow the zstd stream"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines, _ := readAll(csvSource(), textFields("a", "b"), test.raw, test.file)
			check(t, lines[len(lines)-1:], []string{test.want})
		})
	}
}

func TestDecompressLimits(t *testing.T) {
	line := bytes.Repeat([]byte("x,"+strings.Repeat("y", 1000)+"\n"), 40_000)
	raw := gzipped("a,b\n" + string(line))
	last := func(lim Limits, data []byte, name string) []string {
		lines, _ := readAllLimits(csvSource(), textFields("a"), data, name, lim)
		return lines[len(lines)-1:]
	}
	lim := DefaultLimits
	lim.Ratio = 50
	check(t, last(lim, raw, "x.gz"), []string{"error x.gz: more than 50 bytes of content for each compressed byte, which is the limit"})
	check(t, last(DefaultLimits, raw, "x.gz"), []string{"control 1"})
	lim.ContentBytes = 1 << 20
	check(t, last(lim, raw, "x.gz"), []string{"error x.gz: more than 1048576 bytes of content, which is the limit"})
	check(t, last(lim, line, "x.csv"), []string{"error x.csv: there is no column a, which the field a reads"})
	check(t, last(lim, append([]byte("a,b\n"), line...), "x.csv"), []string{"error x.csv: more than 1048576 bytes of content, which is the limit"})
}
