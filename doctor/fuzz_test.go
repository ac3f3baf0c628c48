package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/extract"
)

// FuzzLook: whatever a file holds, there is a report that shows nothing harmful, and
// its fragment is valid and reads as many records as the report says.
func FuzzLook(f *testing.F) {
	for _, s := range []struct{ name, content string }{
		{"a.csv", "id;amount;currency;created\na;1.234,50;EUR;29.11.2026\nb;-3,00;USD;30.11.2026\nTotal;1.231,50;;\n"},
		{"a.csv", "sep=,\nid,amount\n'a',1\n\"b\"\"\",2\n"},
		{"a.csv", "H,1\nD,a,1.00\nD,b,2.00\nT,2,3.00\n"},
		{"a.csv", "RH,1\nCH,id,amt\nSB,a,1\nSB,b,2\nSF,3\nRF,2\n"},
		{"a.txt", "0001ALICE     00001099EUR\n0002BOB       00000500USD\n0003CHARLIE   00123456EUR\n"},
		{"a.json", `{"data":[{"id":"a","amount":1.5,"on":{"null":1,"2":2}},{"id":"b","amount":2}]}`},
		{"a.json", "{\"id\":\"a\",\"no\":1}\n{\"id\":\"b\",\"no\":2}\n"},
		{"a.xml", "<r><t><id>a</id></t><t><id>b</id></t></r>"},
		{"a.sta", ":20:T1\r\n:25:1/2\r\n:28C:1/1\r\n:60F:C261127EUR100,00\r\n:61:2611271127C20,00NTRFop-1//B1\r\n:62F:C261127EUR120,00\r\n-\r\n"},
		{"a.csv", "true,null,no,~\n1,2,3,4\n5,6,7,8\n"},
		{"{x}*.csv", "a\t\"b\"\n1\t2\n"},
	} {
		f.Add(s.name, []byte(s.content))
	}
	limits := extract.DefaultLimits
	limits.ContentBytes = 4 << 20
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		if len(content) > 1<<16 || len(name) > 60 || strings.Contains(name, "\x00") { // no file has such a name
			return
		}
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r := mustLook(t, path, Options{Limits: limits, Name: name, NoPreset: len(content)%8 > 0})
		checkShown(t, shownText(t, r))
		checkShown(t, r.Fragment)
		if r.Fragment == "" || name == "" {
			return
		}
		if _, rows, rejected := readBack(t, r); int64(len(rows)+rejected) != r.Records {
			t.Errorf("%d records read back, the report says %d\n%s", len(rows)+rejected, r.Records, r.Fragment)
		}
	})
}
