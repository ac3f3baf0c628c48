package extract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// benchWorld declares ten columns, two of them decimals and two instants, three
// passes and four compared fields: the shape of a provider's transactions.
func benchWorld(t testing.TB, rows int) (*rules.Bound, []byte) {
	job := &rules.Bound{Job: &rules.Job{Name: "bench"}, Inputs: map[rules.Side][]rules.Input{}}
	job.Operations.Side, job.Results.Side = rules.Operations, rules.Results
	fields := []rules.Field{
		{Name: "operation_id", Type: rules.Text},
		{Name: "idempotency_key", Type: rules.Text},
		{Name: "entity", Type: rules.Text},
		{Name: "state", Type: rules.Text},
		{Name: "version", Type: rules.Integer},
		{Name: "amount", Type: rules.Decimal, Scale: 2},
		{Name: "fee", Type: rules.Decimal, Scale: 2},
		{Name: "currency", Type: rules.Currency},
		{Name: "created_at", Type: rules.Timestamp},
		{Name: "last_attempt_at", Type: rules.Timestamp},
	}
	part := func(names ...string) (p []rules.KeyPart) {
		for _, n := range names {
			p = append(p, rules.KeyPart{Operations: n, Results: n})
		}
		return p
	}
	job.Match = []rules.Pass{
		{Name: "operation_id", Identity: true, On: part("operation_id")},
		{Name: "idempotency_key", Identity: true, On: part("idempotency_key")},
		{Name: "business", On: part("entity", "currency", "amount")},
	}
	for _, c := range []struct {
		name string
		as   rules.Comparator
	}{{"amount", rules.AsDecimal}, {"currency", rules.AsCurrency}, {"state", rules.AsText}, {"version", rules.AsVersion}} {
		job.Compare = append(job.Compare, rules.Compare{Name: c.name, Operations: c.name, Results: c.name, As: c.as, Scheme: rules.VersionInteger})
	}
	var b bytes.Buffer
	for i := range fields {
		fields[i].Column = fields[i].Name
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(fields[i].Name)
	}
	b.WriteByte('\n')
	for i := range rows {
		fmt.Fprintf(&b, "op_%016x,idem_%08x-4c55-9e10,order-%07d,settled,%d,%d.%02d,0.%02d,EUR,2031-04-%02dT%02d:%02d:%02dZ,2031-04-%02dT%02d:%02d:%02d.%03dZ\n",
			uint64(i)*0x9E3779B97F4A7C15, uint32(i)*2654435761, i%1000003, i%5, i%5000, i%100, i%100,
			i%28+1, i%24, i%60, i%59, i%28+1, i%24, i%60, i%59, i%1000)
	}
	src := rules.Source{
		Name: "bench", Format: rules.FormatCSV, OnReject: rules.RejectFail,
		CSV:      rules.CSV{Delimiter: ',', Quote: '"', Encoding: "utf-8", Decimal: '.'},
		Coverage: rules.Coverage{Complete: true, Proves: rules.FullLifecycle},
	}
	job.Operations.Fields = fields
	job.Operations.Sources = []rules.Source{src}
	job.Inputs[rules.Operations] = []rules.Input{{Source: &src, Path: "bench.csv"}}
	return job, b.Bytes()
}

const benchRows = 200_000

// cpuSpeed begins to measure, and its result ends to: bytes of one turn by the
// processor time that it took, in all threads. On a machine that is busy with other
// things it tells more than the time on the wall.
func cpuSpeed(b *testing.B, bytes int) func() {
	spent := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	from := spent()
	return func() {
		b.ReportMetric(float64(bytes)*float64(b.N)/1e6/(spent()-from).Seconds(), "MB/cpu-s")
	}
}

// BenchmarkStageCSV is the whole way of a CSV file: read, hash, cut, convert,
// fingerprint, write as Parquet. With -cpu 1 it gives the speed of one core.
func BenchmarkStageCSV(b *testing.B) {
	job, text := benchWorld(b, benchRows)
	benchmarkStage(b, job, text)
}

// BenchmarkStageNDJSON is the same for the same records as lines of JSON.
func BenchmarkStageNDJSON(b *testing.B) {
	job, text := benchWorld(b, benchRows)
	src := job.Inputs[rules.Operations][0].Source
	src.Format = rules.FormatNDJSON
	benchmarkStage(b, job, asNDJSON(text))
}

// asNDJSON turns CSV without quotes into NDJSON of texts.
func asNDJSON(text []byte) []byte {
	var b bytes.Buffer
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	header := bytes.Split(lines[0], []byte(","))
	for _, line := range lines[1:] {
		mark := byte('{')
		for i, cell := range bytes.Split(line, []byte(",")) {
			b.WriteByte(mark)
			fmt.Fprintf(&b, "%q:%q", header[i], cell)
			mark = ','
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

func benchmarkStage(b *testing.B, job *rules.Bound, text []byte) {
	dir, stage, db := b.TempDir(), scratch.dir, scratch.db
	if err := os.WriteFile(filepath.Join(dir, "bench"), text, 0o600); err != nil {
		b.Fatal(err)
	}
	l := NewLayout(job.Job, rules.Operations)
	b.SetBytes(int64(len(text)))
	defer cpuSpeed(b, len(text))()
	turn := 0
	for b.Loop() {
		s := &stager{db: db, dir: stage, layout: l}
		in := &foundFile{source: job.Inputs[rules.Operations][0].Source, dir: dir, rel: "bench"}
		f, err := in.open()
		if err != nil {
			b.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			b.Fatal(err)
		}
		plan := newStagePlan(l, in.source)
		// A digest of its own makes it a file that was not staged before.
		done, err := s.parse(b.Context(), in, f, info, plan, fmt.Sprintf("%032d", turn))
		if err = errors.Join(err, s.keeping.Wait(), f.Close()); err != nil {
			b.Fatal(err)
		}
		if done.Rows != benchRows {
			b.Fatalf("%d rows", done.Rows)
		}
		if err := os.Remove(done.path); err != nil {
			b.Fatal(err)
		}
		turn++
	}
}

// BenchmarkConvert is the conversion alone, without reading and writing.
func BenchmarkConvert(b *testing.B) {
	job, text := benchWorld(b, batchRecords)
	src := job.Inputs[rules.Operations][0].Source
	l := NewLayout(job.Job, rules.Operations)
	r, err := openReader(src, job.Operations.Fields, bytes.NewReader(text), "bench.csv")
	if err != nil {
		b.Fatal(err)
	}
	batch := &rawBatch{}
	batch.reset(len(r.Header()))
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		batch.add(rec)
	}
	c := newConverter(newStagePlan(l, src), r.Header())
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	defer cpuSpeed(b, len(text))()
	for b.Loop() {
		c.batch(batch).Release()
	}
}
