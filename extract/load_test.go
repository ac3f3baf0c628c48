package extract

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/secret"
	"github.com/recon-batch/recon-batch/rules"
)

// world is a folder with input files and a job over them, built field by field.
type world struct {
	t     *testing.T
	dir   string
	stage string
	db    *duck.DB
	job   *rules.Bound
}

// scratch is the one engine of the package's tests, which may use scratch.dir.
var scratch struct {
	dir string
	db  *duck.DB
}

func TestMain(m *testing.M) {
	code, err := withScratch(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withScratch(run func() int) (code int, err error) {
	if scratch.dir, err = os.MkdirTemp("", "extract"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch.dir)) }()
	scratch.db, err = duck.Open(context.Background(), duck.Options{SpillDir: scratch.dir, Allowed: []string{scratch.dir}})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, scratch.db.Close()) }()
	return run(), nil
}

// newWorld makes a job with one operation_id pass and no files.
func newWorld(t *testing.T) *world {
	t.Helper()
	stage, err := os.MkdirTemp(scratch.dir, "stage")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: t.TempDir(), stage: stage, db: scratch.db}
	w.job = &rules.Bound{Job: &rules.Job{Name: "test"}, Inputs: map[rules.Side][]rules.Input{}}
	w.job.Operations.Side, w.job.Results.Side = rules.Operations, rules.Results
	w.job.Match = []rules.Pass{{
		Name: "operation_id", Identity: true,
		On: []rules.KeyPart{{Operations: "operation_id", Results: "operation_id"}},
	}}
	return w
}

// write writes an input file.
func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(w.dir, name)), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// fields declares the product fields of a side.
func (w *world) fields(side rules.Side, fields ...rules.Field) {
	for i := range fields {
		if fields[i].Column == "" {
			fields[i].Column = fields[i].Name
		}
		if fields[i].Type == "" {
			fields[i].Type = rules.Text
		}
	}
	w.job.Spec(side).Fields = fields
}

// source adds a CSV source and its input; change adapts both.
func (w *world) source(side rules.Side, path string, change func(*rules.Source, *rules.Input)) {
	src := &rules.Source{
		Name: fmt.Sprintf("source%d", len(w.job.Inputs[side])+1), Path: rules.Template(path),
		Need: rules.Required, OnReject: rules.RejectFail, Format: rules.FormatCSV,
		CSV:      rules.CSV{Delimiter: ',', Quote: '"', Encoding: "utf-8", Decimal: '.'},
		Coverage: rules.Coverage{Complete: true, Proves: rules.FullLifecycle},
	}
	in := rules.Input{Source: src, Path: path}
	if change != nil {
		change(src, &in)
	}
	spec := w.job.Spec(side)
	spec.Sources = append(spec.Sources, *src)
	w.job.Inputs[side] = append(w.job.Inputs[side], in)
}

// secret reads a secret in a file of the world.
func (w *world) secret(s rules.Secret, what string) (string, error) {
	return secret.Text(s, w.dir, what)
}

// load loads a side and reads its rows.
func (w *world) load(side rules.Side) (*Relation, []Row, error) {
	w.t.Helper()
	rel, err := Load(w.t.Context(), w.db, w.job, side, Options{StageDir: w.stage, BaseDir: w.dir, Secret: w.secret})
	if err != nil {
		return nil, nil, err
	}
	rows, err := ReadRows(w.t.Context(), w.db, rel)
	if err != nil {
		w.t.Fatal(err)
	}
	return rel, rows, nil
}

func (w *world) mustLoad(side rules.Side) (*Relation, []Row) {
	w.t.Helper()
	rel, rows, err := w.load(side)
	if err != nil {
		w.t.Fatal(err)
	}
	return rel, rows
}

func decimalField(name string, scale int) rules.Field {
	return rules.Field{Name: name, Type: rules.Decimal, Scale: scale}
}

func TestLoadPlainCSV(t *testing.T) {
	w := newWorld(t)
	w.write("left.csv", "operation_id,amount,currency,created_at\na1,12.30,eur,2031-04-01T10:00:00Z\na2,,EUR,2031-04-01 12:00:00+02:00\na3,x,usd,\n")
	w.fields(rules.Operations,
		rules.Field{Name: "operation_id"},
		decimalField("amount", 2),
		rules.Field{Name: "currency", Type: rules.Currency},
		rules.Field{Name: "created_at", Type: rules.Timestamp})
	w.source(rules.Operations, "left.csv", nil)
	rel, rows := w.mustLoad(rules.Operations)
	if rel.Records != 3 || len(rows) != 3 {
		t.Fatalf("%d records, %d rows", rel.Records, len(rows))
	}
	for _, c := range []struct {
		row    int
		column string
		want   any
	}{
		{0, "f_operation_id", "a1"}, {0, "k0", "a1"}, {0, "kx", "a1"},
		{0, "f_amount", "12.30"}, {0, "f_currency", "EUR"}, {0, "bad", uint64(0)}, {0, "raw_amount", nil},
		{1, "f_amount", nil}, {1, "f_created_at", rows[0].V["f_created_at"]}, {1, "bad", uint64(0)},
		{2, "f_amount", nil}, {2, "bad", uint64(2)}, {2, "raw_amount", "x"}, {2, "f_created_at", nil},
	} {
		got := rows[c.row].V[c.column]
		if d, ok := got.(fmt.Stringer); ok {
			got = d.String()
		}
		if got != c.want {
			t.Errorf("row %d, %s = %v, want %v", c.row+1, c.column, got, c.want)
		}
	}
	if got := rel.Totals; len(got) != 2 || got[0].Sum.FloatString(2) != "12.30" || got[0].Rows != 2 || got[1].Unreadable != 1 {
		t.Errorf("totals %+v", got)
	}
	var unreadable []string
	for _, f := range rel.Findings {
		if f.Code == "value_unreadable" {
			unreadable = append(unreadable, f.Text)
		}
	}
	if want := "1 of 3 records of source source1 have an unreadable amount, which is declared as decimal, first record 3 of left.csv"; len(unreadable) != 1 || !strings.HasPrefix(unreadable[0], want) {
		t.Errorf("findings %q, want %q", unreadable, want)
	}
	again, _ := w.mustLoad(rules.Operations)
	if !again.Files[0].Cached || again.Files[0].Staged != rel.Files[0].Staged || again.Files[0].Records != 3 {
		t.Errorf("second load: %+v", again.Files[0])
	}
}
