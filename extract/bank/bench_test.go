package bank

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// generated is a proved file of any size, made while it is read.
type generated struct {
	format     Format
	rows       int
	head, tail func(rows int) string
	row        func(i int) string
	at         int
	buf        []byte
}

func (g *generated) Read(p []byte) (int, error) {
	for len(g.buf) == 0 {
		switch {
		case g.at == 0:
			g.buf = []byte(g.head(g.rows))
		case g.at <= g.rows:
			g.buf = []byte(g.row(g.at - 1))
		case g.at == g.rows+1:
			g.buf = []byte(g.tail(g.rows))
		default:
			return 0, io.EOF
		}
		g.at++
	}
	n := copy(p, g.buf)
	g.buf = g.buf[n:]
	return n, nil
}

const benchEntry = `<Ntry><NtryRef>%d</NtryRef><Amt Ccy="EUR">1.25</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-27</Dt></BookgDt><ValDt><Dt>2026-11-27</Dt></ValDt><AcctSvcrRef>BNK%012d</AcctSvcrRef><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls>`

const benchTx = `<TxDtls><Refs><AcctSvcrRef>TX%012d</AcctSvcrRef><EndToEndId>po-%d</EndToEndId><UETR>8a562c67-ca16-48ba-b074-65581be6f001</UETR></Refs><Amt Ccy="EUR">1.25</Amt><CdtDbtInd>DBIT</CdtDbtInd><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd><RltdPties><Cdtr><Pty><Nm>Ana Example %d</Nm></Pty></Cdtr><CdtrAcct><Id><IBAN>AT611904300234573201</IBAN></Id></CdtrAcct></RltdPties><RmtInf><Ustrd>payout of the 27th, order %d</Ustrd></RmtInf></TxDtls>`

func cents(n int) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }

// files makes one generator for each format; camt in two forms: an entry for each
// transaction, and one entry with all of them.
func files() map[string]func(rows int) *generated {
	stmt := func(rows int) string {
		s := camtFile(statement("S", "0", "-"+cents(rows*125), ""))
		return s[:strings.Index(s, "</Stmt>")]
	}
	status := `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt><GrpHdr><MsgId>R</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>M</OrgnlMsgId></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>P</OrgnlPmtInfId>`
	text := func(s string) func(int) string { return func(int) string { return s } }
	return map[string]func(rows int) *generated{
		"camt-entries": func(rows int) *generated {
			return &generated{format: Camt, rows: rows, head: stmt, tail: text(`</Stmt></BkToCstmrStmt></Document>`),
				row: func(i int) string {
					return fmt.Sprintf(benchEntry+benchTx+`</NtryDtls></Ntry>`, i, i, i, i, i, i)
				}}
		},
		"camt-batch": func(rows int) *generated {
			return &generated{format: Camt, rows: rows,
				head: func(rows int) string {
					return stmt(rows) + strings.Replace(fmt.Sprintf(benchEntry, 0, 0), "1.25", cents(rows*125), 1)
				},
				tail: text(`</NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>`),
				row:  func(i int) string { return fmt.Sprintf(benchTx, i, i, i, i) }}
		},
		"pain002": func(rows int) *generated {
			return &generated{format: Pain002, rows: rows, head: text(status), tail: text(`</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`),
				row: func(i int) string {
					return fmt.Sprintf(`<TxInfAndSts><OrgnlInstrId>i-%d</OrgnlInstrId><OrgnlEndToEndId>po-%d</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AC04</Cd></Rsn></StsRsnInf><OrgnlTxRef><Amt><InstdAmt Ccy="EUR">1.25</InstdAmt></Amt></OrgnlTxRef></TxInfAndSts>`, i, i)
				}}
		},
		"mt940": func(rows int) *generated {
			return &generated{format: MT940, rows: rows, head: text(":20:R\n:25:ACC\n:28C:1/1\n:60F:C261127EUR0,\n"),
				tail: func(rows int) string {
					return ":62F:D261127EUR" + strings.Replace(cents(rows*125), ".", ",", 1) + "\n-\n"
				},
				row: func(i int) string {
					return fmt.Sprintf(":61:2611271127DR1,25NTRFNONREF//BNK%012d\n:86:116?00SEPA-UEBERW?20EREF+po-%d?21SVWZ+payout of the 27th?31AT611904300234573201?32ANA EXAMPLE\n", i, i)
				}}
		},
		"bai2": func(rows int) *generated {
			return &generated{format: BAI2, rows: rows,
				head: func(rows int) string {
					return fmt.Sprintf("01,A,B,261128,0600,1,,,2/\n02,A,B,1,261127,,USD,2/\n03,1,,010,0,,,015,-%d,,/\n", rows*125)
				},
				tail: func(rows int) string {
					return fmt.Sprintf("49,0,%d/\n98,0,1,%d/\n99,0,1,%d/\n", 2*rows+2, 2*rows+4, 2*rows+6)
				},
				row: func(i int) string {
					return fmt.Sprintf("16,495,125,,BNK%d,po-%d,outgoing wire\n88,EREF: po-%d\n", i, i, i)
				}}
		},
		"nacha": func(rows int) *generated {
			control := func(rows int) string {
				return fmt.Sprintf("%010d%012d%012d", rows*9100001%hashDigits, 0, rows*125)
			}
			return &generated{format: NACHA, rows: rows,
				head: text("101 091400606 1234567802611280830A094101" + strings.Repeat(" ", 54) + "\n5220ORIGIN CO                           1234567890PPDPAYOUT    261127261127   1091400600000001\n"),
				tail: func(rows int) string {
					return fmt.Sprintf("8220%06d%s1234567890%s091400600000001\n9%06d%06d%08d%s%s\n", rows, control(rows), strings.Repeat(" ", 25), 1, (rows+4+9)/10, rows, control(rows), strings.Repeat(" ", 39))
				},
				row: func(i int) string {
					return fmt.Sprintf("622091000015%-17s%010d%-15s%-22s  0%015d\n", "55667788", 125, fmt.Sprintf("po-%d", i), "ANA EXAMPLE", 91400600000000+i)
				}}
		},
	}
}

// through reads a generated file to its end; each calls back every 1,000 rows.
func through(tb testing.TB, g *generated, r io.Reader, each func()) int {
	tb.Helper()
	b, err := Open(g.format, r, "x", Options{Exponent: exponents})
	if err != nil {
		tb.Fatal(err)
	}
	n := 0
	for {
		switch _, err := b.Next(); err {
		case nil:
			if n++; each != nil && n%1000 == 0 {
				each()
			}
		case io.EOF:
			return n
		default:
			tb.Fatal(err)
		}
	}
}

// Memory depends neither on the size of a file nor on that of an entry.
func TestMemoryIsFlat(t *testing.T) {
	for name, file := range files() {
		peak := func(rows int) (most uint64) {
			g := file(rows)
			var m runtime.MemStats
			if n := through(t, g, g, func() {
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}); n != rows {
				t.Fatalf("%s: %d rows, want %d", name, n, rows)
			}
			return most
		}
		few, many := peak(1000), peak(30_000)
		if many > few+256<<10 {
			t.Errorf("%s: %d bytes held for 1,000 rows, %d for 30,000", name, few, many)
		}
	}
}

// BenchmarkRead measures MB/s, rows/s and the largest heap of a file of 100,000
// rows in each format. A transaction of camt has some 650 bytes here.
func BenchmarkRead(b *testing.B) {
	for name, file := range files() {
		b.Run(name, func(b *testing.B) {
			const rows = 100_000
			g := file(rows)
			data, err := io.ReadAll(g)
			if err != nil {
				b.Fatal(err)
			}
			length := len(data)
			data = nil
			var base, m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&base)
			var most uint64
			g = file(rows) // made while it is read, so that the heap is that of the reader
			through(b, g, g, func() {
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse)
			})
			if data, err = io.ReadAll(file(rows)); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(length))
			b.ReportAllocs()
			start := time.Now()
			n := 0
			for b.Loop() {
				n += through(b, g, bytes.NewReader(data), nil)
			}
			b.ReportMetric(float64(n)/time.Since(start).Seconds(), "rows/s")
			b.ReportMetric(float64(int64(most)-int64(base.HeapInuse))/(1<<20), "peak-MiB")
		})
	}
}
