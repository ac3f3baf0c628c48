package rehearsal

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

func statement(name string) *duck.Template { return duck.MustParse(sqlFiles, "sql/"+name+".sql") }

// ObservedNight is a run that readiness has read.
type ObservedNight struct {
	BusinessDate string     `json:"business_date"`
	RunID        string     `json:"run_id"`
	Mode         rules.Mode `json:"mode"`
	Proposed     int64      `json:"proposed"`     // absences of the type in the requeue queue
	ObserveOnly  int64      `json:"observe_only"` // of those, on which nobody was to act
	Withheld     string     `json:"withheld,omitempty"`
}

// Readiness is what later evidence says of the absences of a type.
type Readiness struct {
	Job          string          `json:"job"`
	Type         string          `json:"type"` // * all operations
	Nights       []ObservedNight `json:"nights"`
	Proposed     int64           `json:"proposed"`     // items, over all nights
	Operations   int64           `json:"operations"`   // different operations among them
	Observed     int64           `json:"observed"`     // contradicted or held
	Contradicted int64           `json:"contradicted"` // operations
	SentAgain    int64           `json:"sent_again"`   // held, and the effect came by a new attempt
	Unclear      int64           `json:"unclear"`
	NotSeen      int64           `json:"not_seen_again"`
	Share        *float64        `json:"share"`       // contradicted of observed; null where none was observed
	UpperBound   float64         `json:"upper_bound"` // exact, one-sided
	Confidence   float64         `json:"confidence"`
	Against      []Contradiction `json:"contradictions"`
}

// Contradiction is an absence that a later night contradicts.
type Contradiction struct {
	BusinessDate  string   `json:"business_date"` // of the absence
	RunID         string   `json:"run_id"`
	Operation     string   `json:"operation_id"` // hidden as the job declares
	File          string   `json:"file"`
	Record        int64    `json:"record"`
	ReferenceTime string   `json:"reference_time"`
	Verdict       string   `json:"verdict"` // of the absence
	ObserveOnly   bool     `json:"observe_only"`
	How           How      `json:"how"`
	Evidence      Evidence `json:"evidence"`
}

// Evidence is a result that a later night found.
type Evidence struct {
	BusinessDate string `json:"business_date"`
	RunID        string `json:"run_id"`
	Source       string `json:"source"`
	File         string `json:"file"`
	Record       int64  `json:"record"`
	Time         string `json:"time"` // "" unknown
	Verdict      string `json:"verdict"`
}

// Ready reads the last nights of the job of o and sets the absences of the type that
// were proposed for requeue against what later nights found. "*" is every type. The
// error has class Usage where the job knows no such type, and Input where a night can
// not be read again: what it might have said would be left out.
func Ready(ctx context.Context, o pipeline.Options, typ string, nights int) (_ *Readiness, err error) {
	if err := knownType(o.Job, typ); err != nil {
		return nil, err
	}
	list, err := pipeline.Nights(o.OutPath(), pipeline.Series(o.Job), nights)
	if err != nil {
		return nil, err
	}
	w := &watch{typ: typ, out: &Readiness{
		Job: o.Job.Name, Type: typ, Nights: []ObservedNight{}, Confidence: Confidence, Against: []Contradiction{},
	}, absences: map[absenceID]*absence{}}
	if w.dir, err = os.MkdirTemp("", "recon-batch-readiness-"); err != nil {
		return nil, fail.Wrap(fail.Resources, err, "a temporary folder cannot be made")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(w.dir)) }()
	for i, night := range list {
		err := pipeline.Reread(ctx, o, night.Folder, func(r *pipeline.Reading) error { return w.night(ctx, r, i) })
		if err != nil {
			return nil, err
		}
	}
	w.conclude(o.Job)
	return w.out, nil
}

// knownType refuses a type that the job does not speak of: a gate must not pass for a
// slip of the pen.
func knownType(job *rules.Job, typ string) error {
	if _, ok := job.Policy(typ); ok || typ == "*" {
		return nil
	}
	var names []string
	for t := range job.Types {
		names = append(names, t)
	}
	slices.Sort(names)
	err := fail.New(fail.Usage, "%s has no policy for a type %q", job.Name, typ)
	if len(names) == 0 {
		return err.WithHint("declare the type under types:, or ask for all with --type '*'")
	}
	return err.WithHint("its types are %s", strings.Join(names, ", "))
}

// absenceID names an item by its night and the row id of its operation.
type absenceID struct {
	night int
	rid   int64
}

// watch follows the absences over the nights.
type watch struct {
	typ      string
	dir      string // one Parquet file of absences for each night that has some
	files    []int  // nights that have one
	out      *Readiness
	absences map[absenceID]*absence
	order    []absenceID
}

// night looks for what this night says of former absences, then takes its own.
func (w *watch) night(ctx context.Context, r *pipeline.Reading, no int) error {
	m := r.Manifest
	if len(w.files) > 0 {
		if err := w.later(ctx, r); err != nil {
			return err
		}
	}
	n := ObservedNight{BusinessDate: m.BusinessDate, RunID: m.RunID, Mode: m.Mode, Withheld: m.Outcome.Withheld}
	queue := filepath.Join(r.Dir, "queues", "requeue.parquet")
	if _, err := os.Stat(queue); err == nil {
		if err := w.own(ctx, r, no, queue, &n); err != nil {
			return err
		}
	}
	w.out.Nights = append(w.out.Nights, n)
	return nil
}

// keys are the columns by which an operation is found again: its record id, then the
// key of each identity pass.
func keys(r *pipeline.Reading, side int, alias string) []string {
	id := "CAST(NULL AS VARCHAR)"
	if side == 0 && r.Rels[0].Layout.RecordID() != "" {
		id = alias + ".kx"
	}
	out := []string{id}
	for i, p := range r.Bound.Match {
		if p.Identity {
			out = append(out, fmt.Sprintf("%s.k%d", alias, i))
		}
	}
	return out
}

// own takes the absences of the night.
func (w *watch) own(ctx context.Context, r *pipeline.Reading, no int, queue string, n *ObservedNight) error {
	o := match.Columns(r.Bound.Job, r.Rels[0].Layout, "o")
	var columns, key []string
	for i, k := range keys(r, 0, "o") {
		columns = append(columns, fmt.Sprintf("CAST(%s AS VARCHAR) AS key%d", k, i))
		key = append(key, fmt.Sprintf("'%d ' || key%d", i, i))
	}
	of := "true"
	if w.typ != "*" {
		of = "coalesce(" + o.Raw("type", "VARCHAR") + ", '') = " + duck.Literal(w.typ)
	}
	file := filepath.Join(r.Scratch, "absences.parquet")
	err := r.DB.Exec(ctx, statement("absences").Render(duck.Slots{
		"file": duck.Literal(file), "queue": duck.Literal(queue), "night": fmt.Sprint(no), "keys": strings.Join(columns, ", "), "of": of,
		"id": "CAST(" + o.Raw("operation_id", "VARCHAR") + " AS VARCHAR)", "attempts": "TRY_CAST(" + o.Raw("attempts", "BIGINT") + " AS BIGINT)",
	}))
	if err != nil {
		return err
	}
	rows, err := r.DB.Query(ctx, statement("absences_read").Render(duck.Slots{"file": duck.Literal(file), "key": strings.Join(key, ", ")}))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		a := &absence{night: no, date: r.Manifest.BusinessDate, run: r.Manifest.RunID, reference: r.Bound.AsOfTime.UnixMicro()}
		var rid int64
		if err := rows.Scan(&rid, &a.id, &a.key, &a.file, &a.record, &a.verdict, &a.attempts, &a.observeOnly, &a.idle); err != nil {
			return err
		}
		id := absenceID{no, rid}
		w.absences[id] = a
		w.order = append(w.order, id)
		n.Proposed++
		if a.observeOnly {
			n.ObserveOnly++
		}
	}
	if err := rows.Err(); err != nil || n.Proposed == 0 {
		return err
	}
	w.files = append(w.files, no)
	if err := os.Rename(file, w.file(no)); err != nil {
		return fail.Wrap(fail.Resources, err, "the temporary folder cannot be written")
	}
	return nil
}

func (w *watch) file(no int) string { return filepath.Join(w.dir, fmt.Sprintf("%d.parquet", no)) }

// later asks the night for former absences: the operation itself, and results under
// its identity keys or linked with it.
func (w *watch) later(ctx context.Context, r *pipeline.Reading) error {
	var files []string
	for _, no := range w.files {
		to := filepath.Join(r.Scratch, fmt.Sprintf("former-%d.parquet", no))
		if err := os.Link(w.file(no), to); err != nil {
			return fail.Wrap(fail.Resources, err, "the temporary folder cannot be written")
		}
		files = append(files, duck.Literal(to))
	}
	if err := r.DB.Exec(ctx, statement("former").Render(duck.Slots{"files": "[" + strings.Join(files, ", ") + "]"})); err != nil {
		return err
	}
	o, res := match.Columns(r.Bound.Job, r.Rels[0].Layout, "o"), match.Columns(r.Bound.Job, r.Rels[1].Layout, "r")
	var same, found []string
	for i, k := range keys(r, 0, "o") {
		same = append(same, statement("again_key").Render(duck.Slots{"former": fmt.Sprintf("f.key%d", i), "key": k}))
	}
	for i, k := range keys(r, 1, "r") {
		if i > 0 {
			found = append(found, statement("found_key").Render(duck.Slots{"former": fmt.Sprintf("f.key%d", i), "key": k}))
		}
	}
	err := r.DB.Exec(ctx, statement("again").Render(duck.Slots{
		"same": strings.Join(same, "\nUNION\n"), "attempts": "TRY_CAST(" + o.Raw("attempts", "BIGINT") + " AS BIGINT)", "last": o.Late("last_attempt_at"),
	}))
	if err != nil {
		return err
	}
	if err := w.seen(ctx, r); err != nil {
		return err
	}
	status := "'succeeded'"
	if r.Rels[1].Layout.HasStatus() {
		status = "coalesce(r.st, '')"
	}
	effect := "''" // without a record id, the verdict alone tells of several effects
	if r.Rels[1].Layout.RecordID() != "" {
		effect = "coalesce(CAST(r.kx AS VARCHAR), '')"
	}
	period := "''"
	if r.Bound.Period != nil {
		period = duck.Literal(r.Bound.Period.Reason)
	}
	q := statement("found").Render(duck.Slots{
		"found": strings.Join(append(found, statement("found_link").Render(duck.Slots{})), "\nUNION\n"),
		"at":    res.Instant("created_at"), "status": status, "effect": effect, "period": period,
	})
	rows, err := r.DB.Query(ctx, q)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id absenceID
		e := effectOf{night: r.Manifest.BusinessDate, run: r.Manifest.RunID}
		if err := rows.Scan(&id.night, &id.rid, &e.source, &e.file, &e.record, &e.verdict, &e.status, &e.at, &e.key); err != nil {
			return err
		}
		w.absences[id].effects = append(w.absences[id].effects, e)
	}
	return rows.Err()
}

// seen notes which former absences the night has as operations again.
func (w *watch) seen(ctx context.Context, r *pipeline.Reading) error {
	rows, err := r.DB.Query(ctx, statement("seen").Render(duck.Slots{}))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id absenceID
		var s sighting
		if err := rows.Scan(&id.night, &id.rid, &s.attempts, &s.last); err != nil {
			return err
		}
		w.absences[id].seen = append(w.absences[id].seen, s)
	}
	return rows.Err()
}

// conclude judges every absence and counts operations.
func (w *watch) conclude(job *rules.Job) {
	type worst struct {
		j  judgement
		id absenceID
	}
	byKey := map[string]*worst{}
	var keys []string
	for _, id := range w.order {
		a := w.absences[id]
		j := a.judge(job.ClockSkew)
		w.out.Proposed++
		if j.fate == contradicted {
			w.out.Against = append(w.out.Against, a.against(job, j))
		}
		switch b := byKey[a.key]; {
		case b == nil:
			byKey[a.key] = &worst{j, id}
			keys = append(keys, a.key)
		case j.fate > b.j.fate:
			b.j, b.id = j, id
		}
	}
	out := w.out
	out.Operations = int64(len(keys))
	for _, k := range keys {
		switch byKey[k].j.fate {
		case contradicted:
			out.Contradicted++
		case unclear:
			out.Unclear++
		case sentAgain:
			out.SentAgain++
			out.Observed++
		case held:
			out.Observed++
		default:
			out.NotSeen++
		}
	}
	out.Observed += out.Contradicted
	out.UpperBound = UpperBound(out.Contradicted, out.Observed)
	if out.Observed > 0 {
		share := float64(out.Contradicted) / float64(out.Observed)
		out.Share = &share
	}
}

func (a *absence) against(job *rules.Job, j judgement) Contradiction {
	id := a.id.String
	if how := job.Redact.Fields["operation_id"]; how != "" {
		id = "(hidden: " + how + ")"
	} else if job.Redact.LooksThrough("operation_id") {
		id = scan.Text(id)
	}
	return Contradiction{
		BusinessDate: a.date, RunID: a.run, Operation: id, File: a.file, Record: a.record, ReferenceTime: instant(a.reference),
		Verdict: a.verdict, ObserveOnly: a.observeOnly, How: j.how, Evidence: Evidence{
			BusinessDate: j.by.night, RunID: j.by.run, Source: j.by.source, File: j.by.file, Record: j.by.record,
			Time: j.by.time(), Verdict: j.by.verdict,
		},
	}
}

// instant writes microseconds since 1970 in UTC.
func instant(us int64) string { return time.UnixMicro(us).UTC().Format(time.RFC3339Nano) }
