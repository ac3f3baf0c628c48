package extract

import (
	"archive/zip"
	"bytes"
	"testing"

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
