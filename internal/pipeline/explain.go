package pipeline

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// Explain tells why the rows that id names have their verdicts in a published run
// of the job. id is an operation id, an idempotency key, a remote id, any other
// identity key, or FILE:RECORD. run is a run id, "" the current one.
//
// It judges the day again from the same files, which must still be there, and
// checks that the verdicts are those that were published. What came since is not read.
func Explain(ctx context.Context, o Options, run, id string) (m *Manifest, out []Explanation, err error) {
	dir, m, err := o.publishedRun(run)
	if err != nil {
		return nil, nil, err
	}
	err = o.judgedAgain(ctx, dir, m, nil, func(x *explainer) error {
		out, err = x.explain(id)
		return err
	})
	return m, out, err
}

// judgedAgain judges a published run again from the files that it read, and lets look ask
// what is left. asked, where it is not nil, are the folders of what lookups were asked, by
// source, in place of those of the run.
func (o Options) judgedAgain(ctx context.Context, dir string, m *Manifest, asked map[string]string, look func(*explainer) error) (err error) {
	b, err := o.boundFor(m)
	if err != nil {
		return err
	}
	budget, err := NewBudget(o.Memory)
	if err != nil {
		return err
	}
	stage := o.StageDir
	if stage == "" {
		stage = filepath.Join(o.OutPath(), ".stage")
	}
	if stage, err = filepath.Abs(stage); err != nil {
		return diskError(err, "the stage folder cannot be found")
	}
	files := filepath.Join(stage, "files")
	if err := os.MkdirAll(files, 0o700); err != nil {
		return diskError(err, "the stage folder cannot be made")
	}
	former := knowersOf(outOfRun(dir), b.Job, m)
	db, err := duck.Open(ctx, duck.Options{
		MemoryBytes: budget.DuckDB, Threads: o.threads(), SpillDir: filepath.Join(stage, "spill"), Allowed: append([]string{files, dir}, former.dirs()...),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	x := &explainer{ctx: ctx, db: db, b: b, dir: dir}
	if err := pulledBefore(b, m, outOfRun(dir)); err != nil {
		return err
	}
	earlier, err := knownFiles(outOfRun(dir), m)
	if err != nil {
		return err
	}
	for i, side := range rules.Sides {
		opt := extract.Options{StageDir: files, BaseDir: o.baseDir(), Secret: o.secret, Pinned: asAsked(b, side, asFound(m, side), asked), Earlier: earlier}
		if x.rels[i], err = extract.Load(ctx, db, b, side, opt); err != nil {
			return err
		}
	}
	was := m
	if asked != nil {
		was = nil // what is there now stands in the place of what the run was told
	} else if err := sameInputs(m, inputsOf(o.baseDir(), x.rels[0], x.rels[1])); err != nil {
		return err
	}
	if _, err := lookups(ctx, db, b, x.rels[1], was, outOfRun(dir), nil); err != nil {
		return err
	}
	outcome, err := match.Run(ctx, db, b, x.rels[0], x.rels[1], match.Options{})
	if err != nil {
		return err
	}
	if _, err := classify.Run(ctx, db, b, x.rels[0], x.rels[1], outcome, former.former()...); err != nil {
		return err
	}
	if err := x.claimed(outcome); err != nil {
		return err
	}
	return look(x)
}

// publishedRun finds the folder and manifest of a run of the job and date.
func (o Options) publishedRun(run string) (string, *Manifest, error) {
	if run == "" {
		return CurrentRun(o.OutPath(), Series(o.Job), o.BusinessDate)
	}
	d, err := newOutDir(o.OutPath(), Series(o.Job), o.BusinessDate)
	if err != nil {
		return "", nil, err
	}
	if !runIDForm.MatchString(run) {
		return "", nil, fail.New(fail.Usage, "%q is no run id", run).WithHint("recon-batch runs list prints them: 16 hexadecimal digits")
	}
	m, _, err := ReadManifest(d.run(run))
	return d.run(run), m, err
}

// boundFor binds the job as the run did, and refuses a job that says other things.
func (o Options) boundFor(m *Manifest) (*rules.Bound, error) {
	if o.Job.Digest() != m.JobDigest {
		return nil, fail.New(fail.Usage, "%s is no longer the job of run %s", o.Job.File, m.RunID).
			WithHint("explain with the job file of that day, or run the date again with this one")
	}
	asOf, err := m.asOf()
	if err != nil {
		return nil, err
	}
	return o.Job.Bind(o.BusinessDate, asOf)
}

// sameInputs refuses files other than those that the run read.
func sameInputs(m *Manifest, now []Input) error {
	var changed []string
	for i, in := range m.Inputs {
		if i >= len(now) || now[i].Path != in.Path || now[i].SHA256 != in.SHA256 {
			changed = append(changed, in.Path)
		}
	}
	if len(changed) == 0 && len(now) == len(m.Inputs) {
		return nil
	}
	return fail.New(fail.Input, "the files are no longer those of run %s: %s", m.RunID, strings.Join(changed, ", ")).
		WithHint("put the files of that day back, or run the date again and explain the new run")
}

// explainer asks the relations that match and classify left.
type explainer struct {
	ctx  context.Context
	db   *duck.DB
	b    *rules.Bound
	dir  string
	rels [2]*extract.Relation

	plain int // the pass that links plain pairs, -1 where there are none
}

func sideIndex(side rules.Side) int { return slices.Index(rules.Sides[:], side) }

func (x *explainer) explain(id string) ([]Explanation, error) {
	var out []Explanation
	for _, side := range rules.Sides {
		rids, err := x.find(side, id)
		if err != nil {
			return nil, err
		}
		for _, rid := range rids {
			e, err := x.row(side, rid)
			if err != nil {
				return nil, err
			}
			out = append(out, *e)
		}
	}
	if len(out) == 0 {
		if err := x.noRecord(id); err != nil {
			return nil, err
		}
		return nil, fail.New(fail.Usage, "no row of either side has %q as an identity key", id).
			WithHint("name an operation id, an idempotency key, a remote id, or FILE:RECORD such as %s:1", x.anyFile())
	}
	return out, nil
}

// noRecord says why FILE:RECORD names no row, where id has that form and the file was
// read; nil else.
func (x *explainer) noRecord(id string) error {
	i := strings.LastIndexByte(id, ':')
	if i <= 0 {
		return nil
	}
	rec, err := strconv.ParseInt(id[i+1:], 10, 64)
	if err != nil {
		return nil
	}
	for _, rel := range x.rels {
		for _, f := range rel.Files {
			if f.Status != extract.FileStaged || f.Name != id[:i] && f.Path != id[:i] {
				continue
			}
			for _, r := range rel.Rejects {
				if r.File == f.No && r.Record == rec {
					return fail.New(fail.Usage, "%s: record %d was rejected and has no verdict: %s", f.Name, rec, r.Reason).
						WithHint("rejects.parquet of the run lists the rejected records")
				}
			}
			return fail.New(fail.Usage, "%s has no record %d: it has %d", f.Name, rec, f.Records).
				WithHint("records count from 1, and a header line is none")
		}
	}
	return nil
}

func (x *explainer) anyFile() string {
	for _, rel := range x.rels {
		for _, f := range rel.Files {
			return f.Name
		}
	}
	return "file.csv"
}

// find gives the row ids of one side that a text names.
func (x *explainer) find(side rules.Side, id string) ([]int64, error) {
	if i := strings.LastIndexByte(id, ':'); i > 0 {
		if rec, err := strconv.ParseInt(id[i+1:], 10, 64); err == nil {
			for _, f := range x.rels[sideIndex(side)].Files {
				if f.Status == extract.FileStaged && (f.Name == id[:i] || f.Path == id[:i]) {
					return x.rids(duck.Slots{"side": string(side), "any": fmt.Sprintf("rid = %d", extract.RowID(f.No, rec))})
				}
			}
		}
	}
	fields := x.idFields(side)
	if len(fields) == 0 {
		return nil, nil
	}
	var any []string
	for _, f := range fields {
		any = append(any, "CAST("+duck.Ident("f_"+f)+" AS VARCHAR) = "+duck.Literal(id))
	}
	return x.rids(duck.Slots{"side": string(side), "any": strings.Join(any, " OR ")})
}

func (x *explainer) rids(s duck.Slots) ([]int64, error) {
	rows, err := x.db.Query(x.ctx, explainSQL("find").Render(s))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var rid int64
		if err := rows.Scan(&rid); err != nil {
			return nil, err
		}
		out = append(out, rid)
	}
	return out, rows.Err()
}

// idFields are the fields by which people name a row.
func (x *explainer) idFields(side rules.Side) []string {
	spec := x.b.Spec(side)
	var out []string
	add := func(f string) {
		if spec.Field(f) != nil && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	add("operation_id")
	add("idempotency_key")
	add("remote_id")
	for _, p := range x.b.Match {
		if !p.Identity {
			continue
		}
		for _, k := range p.On {
			if side == rules.Operations {
				add(k.Operations)
			} else {
				add(k.Results)
			}
		}
	}
	return out
}

func explainSQL(name string) *duck.Template {
	return duck.MustParse(sqlFiles, "sql/explain_"+name+".sql")
}

func tables(side rules.Side) (rows, verdicts string) {
	if side == rules.Operations {
		return "rows_operations", "verdicts_o"
	}
	return "rows_results", "verdicts_r"
}

// place names a row by its id.
func (x *explainer) place(side rules.Side, rid int64, class, reason string) Place {
	p := Place{Side: side, Record: rid & (1<<40 - 1), Class: class, Reason: reason, rid: rid}
	for _, f := range x.rels[sideIndex(side)].Files {
		if int64(f.No) == rid>>40 {
			p.Source, p.File, p.SHA256 = f.Source, f.Name, f.SHA256
		}
	}
	return p
}

// row explains one row.
func (x *explainer) row(side rules.Side, rid int64) (*Explanation, error) {
	rowsView, verdicts := tables(side)
	var class, reason, link, fields, set string
	e := &Explanation{Partners: []Partner{}, Window: []string{}, Coverage: []string{}, Proposals: []Proposal{}}
	err := x.db.Scan(x.ctx, explainSQL("verdict").Render(duck.Slots{"rows": rowsView, "verdicts": verdicts, "rid": fmt.Sprint(rid)}),
		&class, &reason, &e.Pass, &link, &e.Once, &e.InPeriod, &fields, &set, &e.Unnamed)
	if err != nil {
		return nil, err
	}
	e.Row = x.place(side, rid, class, reason)
	if err := x.asPublished(e.Row); err != nil {
		return nil, err
	}
	if e.Values, err = x.values(side, rid); err != nil {
		return nil, err
	}
	if e.Passes, err = x.passes(side, rid, e.Values); err != nil {
		return nil, err
	}
	if e.Group, err = x.group(side, rid); err != nil {
		return nil, err
	}
	if link != "" {
		if e.Partners, err = x.partners(side, rid, link, e); err != nil {
			return nil, err
		}
	}
	if set != "" {
		if e.Set, err = x.set(side, rid, set, e.Values); err != nil {
			return nil, err
		}
	}
	for _, p := range append([]Place{e.Row}, partnerRows(e.Partners)...) {
		if p.Side != rules.Operations {
			continue
		}
		if err := x.db.Scan(x.ctx, explainSQL("scope").Render(duck.Slots{"rid": fmt.Sprint(p.rid)}), &e.scope); err != nil {
			return nil, err
		}
	}
	hint := duck.Slots{"side": duck.Literal(string(side)), "rid": fmt.Sprint(rid)}
	if err := x.db.Scan(x.ctx, explainSQL("hint").Render(hint), &e.Hint); err != nil {
		return nil, err
	}
	if e.Meaning, err = x.meaning(e); err != nil {
		return nil, err
	}
	if err := x.proof(e); err != nil {
		return nil, err
	}
	if e.Proposals, err = x.proposals(e); err != nil {
		return nil, err
	}
	if err := x.describe(e.Proposals); err != nil {
		return nil, err
	}
	if err := x.paced(e.Proposals); err != nil {
		return nil, err
	}
	e.Change = x.change(e, fields)
	return e, nil
}

func partnerRows(list []Partner) []Place {
	var out []Place
	for _, p := range list {
		out = append(out, p.Row)
	}
	return out
}

// asPublished compares with the verdict in the run's folder.
func (x *explainer) asPublished(p Place) error {
	file := filepath.Join(x.dir, string(p.Side)+".parquet")
	if !pathExists(file) {
		return nil
	}
	var class, reason string
	err := x.db.Scan(x.ctx, explainSQL("published").Render(duck.Slots{
		"file": duck.Literal(file), "source": duck.Literal(p.Source), "name": duck.Literal(p.File), "record": fmt.Sprint(p.Record),
	}), &class, &reason)
	if err != nil {
		return err
	}
	if class != p.Class || reason != p.Reason {
		return fail.New(fail.Integrity, "%s record %d is published as %s/%s, but is judged %s/%s now", p.File, p.Record, class, reason, p.Class, p.Reason).
			WithHint("check the run with recon-batch verify; was it made by another version of the program?")
	}
	return nil
}

// texts reads every product field of a row, in their order, nothing hidden.
func (x *explainer) texts(side rules.Side, rid int64) ([]sql.NullString, error) {
	spec := x.b.Spec(side)
	var columns []string
	for _, f := range spec.Fields {
		text := "CAST(" + duck.Ident("f_"+f.Name) + " AS VARCHAR)"
		if f.Type != rules.Text {
			text = "coalesce(" + duck.Ident("raw_"+f.Name) + ", " + text + ")"
		}
		columns = append(columns, text)
	}
	texts := make([]sql.NullString, len(columns))
	dest := make([]any, len(columns))
	for i := range texts {
		dest[i] = &texts[i]
	}
	q := explainSQL("values").Render(duck.Slots{"columns": strings.Join(columns, ", "), "side": string(side), "rid": fmt.Sprint(rid)})
	return texts, x.db.Scan(x.ctx, q, dest...)
}

// values reads every product field of a row as people may see it.
func (x *explainer) values(side rules.Side, rid int64) ([]Value, error) {
	texts, err := x.texts(side, rid)
	if err != nil {
		return nil, err
	}
	out := make([]Value, len(texts))
	for i, f := range x.b.Spec(side).Fields {
		out[i] = Value{Field: f.Name, Value: x.visible(f, texts[i])}
	}
	return out, nil
}

// visible is a value as people may see it.
func (x *explainer) visible(f rules.Field, text sql.NullString) *string {
	if !text.Valid {
		return nil
	}
	out := Visible(x.b.Job, f, text.String)
	return &out
}

func valueOf(values []Value, field string) *string {
	for _, v := range values {
		if v.Field == field {
			return v.Value
		}
	}
	return nil
}
