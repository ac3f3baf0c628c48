package extract

import (
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// The real CSV files, which are not part of the project, are read whole where they are
// at hand. Those of banks have the formats of package bank; OFX is not read.
func TestSamplesCSV(t *testing.T) {
	for _, c := range []struct {
		file     string
		src      *rules.Source
		column   string
		records  int
		sum, why string // why no total ties
		reject   string
	}{
		{"csv-bank/CSV_A_20180414_112204.csv", csvSource(func(c *rules.CSV) { c.Encoding, c.Decimal = "latin-1", ',' }), "Bedrag", 2, "-1087.49",
			"it states balances after each entry, and its author took out entries, and the quote in front of the second record", "reject 2@3: a quote inside an unquoted field"},
		{"paired/system_1741934106.csv", csvSource(), "Amount", 1000, "48912100", "it states no total", ""},
		{"paired/bank_bca_1741934106.csv", csvSource(), "BCAAmount", 178, "-420900", "it states no total", ""},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("../../shared/samples", c.file))
			if err != nil {
				t.Skip("no samples: ", err)
			}
			lines, r := readAll(c.src, textFields(c.column), data, c.file)
			defer r.Close()
			form := decimalForm{mark: byte(c.src.CSV.Decimal)}
			sum, records, rejects := new(big.Rat), 0, ""
			at := -1
			for i, h := range r.Header() {
				if h == c.column {
					at = i
				}
			}
			for _, l := range lines {
				switch {
				case strings.HasPrefix(l, "error "):
					t.Fatal(l)
				case strings.HasPrefix(l, "reject "):
					rejects += l
					continue
				case strings.HasPrefix(l, "control "):
					continue
				}
				records++
				_, cells, _ := strings.Cut(l, " ")
				d, ok := form.parse([]byte(strings.Split(cells, "|")[at]))
				if !ok {
					t.Errorf("record %d: the amount is %q", records, strings.Split(cells, "|")[at])
					continue
				}
				sum.Add(sum, d.rat())
			}
			t.Logf("%d records, sum %s; no total ties, since %s", records, ratText(sum), c.why)
			if rejects != c.reject {
				t.Errorf("rejects %q, want %q", rejects, c.reject)
			}
			if records != c.records || ratText(sum) != c.sum {
				t.Errorf("%d records with the sum %s, want %d with %s", records, ratText(sum), c.records, c.sum)
			}
		})
	}
}

// OFX 2 is XML: its rows are read by their path. The sample states a closing balance
// and no opening one, so that no total can tie.
func TestSampleOFX(t *testing.T) {
	data, err := os.ReadFile("../../shared/samples/ofx/suncorp.ofx")
	if err != nil {
		t.Skip("no samples: ", err)
	}
	const statement = "OFX/BANKMSGSRSV1/STMTTRNRS/STMTRS/"
	src := sourceOf(t, `
format: xml
xml:
  path: `+statement+`BANKTRANLIST/STMTTRN
  carry: {account: `+statement+`BANKACCTFROM/ACCTID, currency: `+statement+`CURDEF}
`)
	got, r := readAll(src, textFields("FITID", "TRNAMT", "DTPOSTED", "account", "currency"), data, "suncorp.ofx")
	defer r.Close()
	if len(got) != 1 || !strings.HasPrefix(got[0], "1@35 1|-16.85|20131215|123456789|AUD|") {
		t.Errorf("got %q", got)
	}
}
