package report

import (
	"archive/zip"
	"bytes"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// inLibreOffice opens a workbook in LibreOffice, which computes its formulas, and saves it
// as another one. It is looked for in the nightly target only (scripts/install-libreoffice).
func inLibreOffice(t *testing.T, data []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "report.xlsx"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(dir, "profile", "user")
	if err := os.MkdirAll(profile, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(profile, "registrymodifications.xcu"), []byte(alwaysRecalculate), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // it may ask somebody who is not there
	defer cancel()
	cmd := exec.CommandContext(ctx, "soffice", "-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--headless", "--convert-to", "xlsx", "--outdir", filepath.Join(dir, "out"), filepath.Join(dir, "report.xlsx"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("soffice: %v\n%s", err, out)
	}
	out, err := os.ReadFile(filepath.Join(dir, "out", "report.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// alwaysRecalculate is a profile in which nothing that stands beside a formula is believed.
const alwaysRecalculate = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>`

// forgotten is the workbook with other values beside its formulas than they give.
func forgotten(t *testing.T, data []byte) []byte {
	t.Helper()
	value, text := regexp.MustCompile(`(</f><v>)-?[0-9][^<]*(</v>)`), regexp.MustCompile(`(</f><v>)`+agrees+`(</v>)`)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range unzippedParts(t, data) {
		w, err := z.Create(p.name)
		if err != nil {
			t.Fatal(err)
		}
		changed := text.ReplaceAll(value.ReplaceAll(p.data, []byte("${1}987654321${2}")), []byte("${1}unknown${2}"))
		if _, err := w.Write(changed); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// LibreOffice opens the workbook, computes every sum anew and gets what is written, and
// shows every other cell as it is.
func TestWorkbookInLibreOffice(t *testing.T) {
	if os.Getenv("RECON_NIGHTLY") == "" {
		t.Skip("NOT TESTED: the workbook in LibreOffice is part of make nightly (RECON_NIGHTLY)")
	}
	if _, err := exec.LookPath("soffice"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("soffice is missing: run scripts/install-libreoffice, as root on Debian")
		}
		t.Skip("NOT TESTED: soffice is missing: run scripts/install-libreoffice, as root on Debian")
	}
	for name, make := range map[string]func() *world{
		"a day":    func() *world { return newWorld(t).load() },
		"hostile":  func() *world { return strangeWorld(t) },
		"long":     func() *world { return longWorld(t) },
		"no money": func() *world { return hiddenWorld(t) },
	} {
		t.Run(name, func(t *testing.T) {
			data := make().workbook()
			ours, theirs := openBook(t, data), openBook(t, inLibreOffice(t, forgotten(t, data)))
			if !slices.Equal(ours.names, theirs.names) {
				t.Fatalf("sheets %q, LibreOffice has %q", ours.names, theirs.names)
			}
			formulas := 0
			for _, sheet := range ours.names {
				for i, r := range ours.rows[sheet] {
					for j, value := range r {
						formula, err := ours.f.GetCellFormula(sheet, at(t, j, i+1))
						if err != nil {
							t.Fatal(err)
						}
						if formula != "" {
							formulas++
						}
						got := theirs.cell(sheet, j, i+1)
						if got == value || sameDigits(got, value) && ours.number(sheet, j, i+1) == theirs.number(sheet, j, i+1) {
							continue
						}
						t.Errorf("%s %s (%s) is %q, LibreOffice has %q", sheet, at(t, j, i+1), formula, value, got)
					}
				}
			}
			if formulas < 15 {
				t.Errorf("%d formulas", formulas)
			}
			t.Logf("%d formulas computed", formulas)
		})
	}
}

// sameDigits compares numbers by the 15 digits that a spreadsheet keeps: half a unit of the
// last one may be rounded either way.
func sameDigits(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && math.Abs(x-y) <= math.Abs(x)*5e-15
}

// longWorld has an amount of more digits than a number has.
func longWorld(t *testing.T) *world {
	w := newWorld(t)
	w.rows[rules.Operations][5].amount = "12345678901234567.89"
	w.item[1] = strings.Replace(w.item[1], "99.90", "12345678901234567.89", 1)
	return w.load()
}

// hiddenWorld is a job that hides its amounts.
func hiddenWorld(t *testing.T) *world {
	w := newWorld(t)
	w.in.Bound.Redact = rules.Redact{Fields: map[string]string{"amount": "mask"}}
	return w.load()
}
