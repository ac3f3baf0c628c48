package bank

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// sums adds up the amounts of rows by currency, apart from the package's own sums.
func sums(t testing.TB, rows []Row) string {
	t.Helper()
	by := map[string]*big.Rat{}
	for i := range rows {
		v := &rows[i].Values
		if v[Amount] == "" {
			continue
		}
		d, ok := new(big.Rat).SetString(v[Amount])
		if !ok {
			t.Fatalf("row %d has the amount %q", i, v[Amount])
		}
		if by[v[Currency]] == nil {
			by[v[Currency]] = new(big.Rat)
		}
		by[v[Currency]].Add(by[v[Currency]], d)
	}
	return fmt.Sprint(by)
}

// balanced checks opening + booked rows = closing over all statements that state
// both, apart from the package's own proof; it is true where there was one to check.
func balanced(t testing.TB, rows []Row, facts *Facts) bool {
	t.Helper()
	diff := new(big.Rat)
	for _, s := range facts.Statements {
		o, okO := new(big.Rat).SetString(s.Opening)
		c, okC := new(big.Rat).SetString(s.Closing)
		if !okO || !okC {
			return false
		}
		diff.Add(diff, c.Sub(c, o))
	}
	if len(facts.Statements) == 0 || facts.Skipped > 0 || facts.Provisional != "" {
		return false
	}
	for i := range rows {
		v := &rows[i].Values
		if v[Amount] == "" || v[RawStatus] != "BOOK" && v[Message][:4] == "camt" {
			continue
		}
		d, _ := new(big.Rat).SetString(v[Amount])
		diff.Sub(diff, d)
	}
	if diff.Sign() != 0 {
		t.Errorf("the rows miss the balances by %s", diff.FloatString(5))
	}
	return true
}

// damagedFiles are the fixtures with all statements proved, and the real samples
// that are there.
func damagedFiles(t *testing.T) []fixture {
	out := fixtures(t)
	for _, s := range []struct {
		format Format
		file   string
	}{{MT940, "mt940/sepa_mt9401.sta"}, {NACHA, "nacha/return-WEB.ach"}, {BAI2, "bai2/sample2.txt"}, {Camt, "camt053/camt053.v2.multi.statement.xml"}} {
		t.Run("sample", func(t *testing.T) {
			out = append(out, fixture{s.file, s.format, []byte(sample(t, s.file))})
		})
	}
	return out
}

// A file cut at every 50th byte (and, in the fixtures, at every byte of its last
// 200) is refused, or gives whole statements of the whole file: where formats divide
// statements and nothing counts them, a cut between two of them cannot be seen.
func TestCutEverywhere(t *testing.T) {
	for _, f := range damagedFiles(t) {
		whole, facts := mustRead(t, f.format, string(f.data), Options{})
		accepted := 0
		for n := 0; n < len(f.data); n++ {
			if n%50 != 0 && n < len(f.data)-200 {
				continue
			}
			rows, got, err := read(f.format, f.data[:n], Options{})
			if err != nil {
				wantInput(t, err)
				continue
			}
			if len(bytes.TrimSpace(f.data[n:])) == 0 {
				continue
			}
			accepted++
			switch f.format {
			case MT940:
				if len(got.Statements) > len(facts.Statements) || sums(t, rows) != sums(t, whole[:len(rows)]) {
					t.Errorf("%s cut at byte %d: %d rows, other amounts", f.name, n, len(rows))
				}
				for i, s := range got.Statements {
					if w := facts.Statements[i]; s.Opening != w.Opening || !sameNumber(s.Closing, w.Closing) {
						t.Errorf("%s cut at byte %d: statement %d is %+v, want %+v", f.name, n, i, s, w)
					}
				}
			case MT942: // provisional: nothing is concluded from what is not there
				if got.Provisional == "" || sums(t, rows) != sums(t, whole[:len(rows)]) {
					t.Errorf("%s cut at byte %d: %d rows, other amounts", f.name, n, len(rows))
				}
			case NACHA, BAI2: // padding says nothing, nor does the last slash
				if sums(t, rows) != sums(t, whole) {
					t.Errorf("%s cut at byte %d: other amounts", f.name, n)
				}
			default:
				t.Errorf("%s cut at byte %d of %d is accepted", f.name, n, len(f.data))
			}
		}
		t.Logf("%s: %d cuts accepted", f.name, accepted)
	}
}

func wantInput(t *testing.T, err error) {
	t.Helper()
	if fail.ClassOf(err) != fail.Input {
		t.Errorf("class %d: %v", fail.ClassOf(err), err)
	}
}

// One byte changed at 1,000 places never makes a panic, and never a total that is
// wrong and passes: what has a proof is refused when the proof fails.
func TestFlippedBytes(t *testing.T) {
	for _, f := range damagedFiles(t) {
		whole, facts := mustRead(t, f.format, string(f.data), Options{})
		proved := balanced(t, whole, facts) || f.format == NACHA
		rng := rand.New(rand.NewPCG(5, uint64(len(f.data))))
		accepted := 0
		for range 1000 {
			at := rng.IntN(len(f.data))
			data := bytes.Clone(f.data)
			data[at] ^= byte(1 + rng.IntN(255))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			rows, got, err := read(f.format, data, Options{})
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 128<<20 {
				t.Errorf("%s: byte %d changed to %q: %d MiB allocated for %d bytes", f.name, at, data[at], used>>20, len(data))
			}
			if err != nil {
				wantInput(t, err)
				continue
			}
			accepted++
			balanced(t, rows, got)
			if proved && sums(t, rows) != sums(t, whole) && !sameButCurrency(t, rows, whole) {
				t.Errorf("%s: byte %d changed from %q to %q: other totals pass: %s for %s", f.name, at, f.data[at], data[at], sums(t, rows), sums(t, whole))
			}
		}
		t.Logf("%s: %d of 1000 accepted", f.name, accepted)
	}
}

// sameButCurrency tells whether only the name of a currency differs, which a
// statement of MT940 states once, and which nothing proves.
func sameButCurrency(t *testing.T, a, b []Row) bool {
	one := func(rows []Row) []Row {
		out := append([]Row(nil), rows...)
		for i := range out {
			out[i].Values[Currency] = "X"
		}
		return out
	}
	return sums(t, one(a)) == sums(t, one(b))
}

// However the bytes come, the rows are the same; and a disk that fails is no end.
func TestReadersInPieces(t *testing.T) {
	broken := errors.New("input/output error")
	for _, f := range fixtures(t) {
		want, facts := mustRead(t, f.format, string(f.data), Options{})
		r, err := Open(f.format, iotest.OneByteReader(bytes.NewReader(f.data)), "test", Options{Exponent: exponents})
		if err != nil {
			t.Fatal(err)
		}
		var rows []Row
		for {
			row, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, *row)
		}
		if golden(f.format, rows, r.Facts()) != golden(f.format, want, facts) {
			t.Errorf("%s: other rows, byte by byte", f.name)
		}
		for _, n := range []int{0, len(f.data) / 2, len(f.data)} {
			r, err := Open(f.format, io.MultiReader(bytes.NewReader(f.data[:n]), iotest.ErrReader(broken)), "test", Options{Exponent: exponents})
			for err == nil {
				_, err = r.Next()
			}
			if !errors.Is(err, broken) {
				t.Errorf("%s, broken after %d bytes: %v", f.name, n, err)
			}
		}
	}
}

// Documents made to do harm are refused within the limits.
func TestHarmfulXML(t *testing.T) {
	bomb := `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>` + camtFile("<x>&b;</x>")[38:]
	wantRefused(t, Camt, bomb, Options{}, "document type or entities of its own")
	wantRefused(t, Camt, `<!DOCTYPE d SYSTEM "file:///etc/passwd">`+camtFile()[38:], Options{}, "document type or entities of its own")
	wantRefused(t, Camt, camtFile("<x>&other;</x>"), Options{}, "the reference &other; is not known")
	wantRefused(t, Camt, camtFile(strings.Repeat("<x>", 1000)), Options{}, "more than 64 nested elements, which is the limit")
	wantRefused(t, Pain002, `<Document><CstmrPmtStsRpt>`+strings.Repeat("<x>", 1000), Options{}, "more than 64 nested elements, which is the limit")
	wantRefused(t, Camt, camtFile("<Stmt><Id></Stmt></Id>"), Options{}, "the end of Stmt fits no start")
	wantRefused(t, Camt, camtFile(statement("S", "0", "0", ""))+"<Document/>", Options{}, "a second root element")
	wantRefused(t, Camt, camtFile(statement("S", "0", "0", ""))+"text", Options{}, "text outside the root element")
	wantRefused(t, Camt, strings.Replace(camtFile(statement("S", "0", "0", "")), "</BkToCstmrStmt>", "</BkToCstmrStmt><BkToCstmrStmt/>", 1), Options{}, "BkToCstmrStmt follows the end of the message")
}

// endless gives a head and then the same bytes without end.
type endless struct {
	head string
	fill byte
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.head)
	e.head = e.head[n:]
	for i := n; i < len(p); i++ {
		p[i] = e.fill
	}
	e.read += int64(len(p))
	return len(p), nil
}

// A cell without end is refused after the limit, in memory of that order.
func TestEndlessCell(t *testing.T) {
	for _, c := range []struct {
		format     Format
		head, what string
	}{
		{Camt, `<Document><BkToCstmrStmt><Stmt><Id>`, "in one tag or text"},
		{Camt, `<Document><BkToCstmrStmt><Stmt a="`, "in one tag or text"},
		{Camt, `<!--`, "in one tag or text"},
		{Pain002, `<Document><CstmrPmtStsRpt><GrpHdr><MsgId>`, "in one tag or text"},
		{MT940, ":20:", "in one line"},
		{MT942, ":20:R\n:25:A\n:86:", "in one line"},
		{BAI2, "01,", "in one line"},
		{NACHA, "1", "in one line"},
	} {
		f := &endless{head: c.head, fill: 'x'}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Open(c.format, f, "test", Options{})
		for err == nil {
			_, err = r.Next()
		}
		runtime.ReadMemStats(&after)
		if !strings.Contains(err.Error(), c.what) || !strings.Contains(err.Error(), "which is the limit") {
			t.Errorf("%s: %v", c.format, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 || f.read > 4<<20 {
			t.Errorf("%s: %d bytes read, %d allocated", c.format, f.read, used)
		}
	}
	// many small texts of one row
	long := strings.Repeat("<Ustrd>"+strings.Repeat("x", 1000)+"</Ustrd>", 5000)
	wantRefused(t, Camt, camtFile(statement("S", "0", "1", "", entry("1", "CRDT", details("<TxDtls><RmtInf>"+long+"</RmtInf></TxDtls>")))), Options{}, "bytes of text, which is the limit")
	// many short lines of one field or record
	wantRefused(t, MT940, mt940("1", "C261127EUR0,", "C261127EUR1,", ":61:261127C1,NTRFx", ":86:x"+strings.Repeat("\n"+strings.Repeat("x", 100), 20_000)), Options{}, "field 86 has more than")
	wantRefused(t, BAI2, "01,A,B,261127,1200,1,,,2/\n"+strings.Repeat("88,"+strings.Repeat("x", 100)+"\n", 20_000), Options{}, "record 01 has more than")
}
