package latency

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

func statement(name string) *duck.Template { return duck.MustParse(sqlFiles, "sql/"+name+".sql") }

// Night is a run whose links were read.
type Night struct {
	BusinessDate string `json:"business_date"`
	RunID        string `json:"run_id"`
	Links        int64  `json:"links"` // that count, before operations of several nights are counted once
}

// sample is what the nights left: one Parquet file a night, in a folder of its own.
type sample struct {
	dir    string
	nights []Night
}

// collect reads the links of the last n nights of the job of o.
func collect(ctx context.Context, o pipeline.Options, n int) (_ *sample, err error) {
	if err := measurable(o.Job); err != nil {
		return nil, err
	}
	nights, err := pipeline.Nights(o.OutPath(), pipeline.Series(o.Job), n)
	if err != nil {
		return nil, err
	}
	s := &sample{}
	if s.dir, err = os.MkdirTemp("", "recon-batch-latency-"); err != nil {
		return nil, fail.Wrap(fail.Resources, err, "a temporary folder cannot be made")
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	for _, night := range nights {
		err := pipeline.Reread(ctx, o, night.Folder, func(r *pipeline.Reading) error {
			links, err := s.read(ctx, r)
			s.nights = append(s.nights, Night{BusinessDate: night.BusinessDate, RunID: night.RunID, Links: links})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *sample) close() error { return os.RemoveAll(s.dir) }

// measurable refuses a job without the two times.
func measurable(job *rules.Job) error {
	for _, side := range rules.Sides {
		if f := job.Spec(side).Field("created_at"); f == nil || f.Type != rules.Timestamp {
			return fail.New(fail.Usage, "the %s of %s have no created_at of type timestamp, so that no time to confirmation is known", side, job.Name).
				WithHint("declare it under %s.fields: created_at: {column: …, type: timestamp}", side)
		}
	}
	return nil
}

// read writes the times of one night.
func (s *sample) read(ctx context.Context, r *pipeline.Reading) (links int64, err error) {
	job := r.Bound
	o, res := match.Columns(job.Job, r.Rels[0].Layout, "o"), match.Columns(job.Job, r.Rels[1].Layout, "r")
	offset, err := offsets(ctx, r, o)
	if err != nil {
		return 0, err
	}
	status := "true"
	if r.Rels[1].Layout.HasStatus() {
		status = "r.st = " + duck.Literal(string(match.ExpectedStatus(job.Job)))
	}
	period := "''"
	if job.Period != nil {
		period = duck.Literal(job.Period.Reason)
	}
	window := match.HasWindow(job.Job, o)
	file := filepath.Join(r.Scratch, "links.parquet")
	err = r.DB.Exec(ctx, statement("links").Render(duck.Slots{
		"file": duck.Literal(file), "night": duck.Literal(r.Manifest.BusinessDate),
		"type": typeOf(job.Job, "coalesce("+o.Raw("type", "VARCHAR")+", '')"), "account": account(job, r.Rels[1]), "key": operationKey(job, r.Rels[0]),
		"created": o.Instant("created_at"), "last": o.Instant("last_attempt_at"), "lease": o.Late("lease_until"),
		"result": res.Late("created_at"), "offset": offset,
		"due":    "CASE WHEN " + window + " THEN CAST(" + match.Due(job.Job, o) + " AS BIGINT) END",
		"period": period, "status": status,
	}))
	if err != nil {
		return 0, err
	}
	if err := r.DB.Scan(ctx, statement("count").Render(duck.Slots{"file": duck.Literal(file)}), &links); err != nil {
		return 0, err
	}
	if err := os.Rename(file, filepath.Join(s.dir, r.Manifest.BusinessDate+".parquet")); err != nil {
		return 0, fail.Wrap(fail.Resources, err, "the temporary folder cannot be written")
	}
	return links, nil
}

// operationKey tells the operations of several nights apart: by their id, else by an
// identity key, else by where they stand.
func operationKey(job *rules.Bound, ops *extract.Relation) string {
	keys := []string{}
	if ops.Layout.RecordID() != "" {
		keys = append(keys, "'i' || o.kx")
	}
	for i, p := range job.Match {
		if p.Identity {
			keys = append(keys, fmt.Sprintf("'%d' || o.k%d", i, i))
		}
	}
	return "coalesce(" + strings.Join(append(keys, duck.Literal("r"+job.Date+" ")+" || o.rid"), ", ") + ")"
}

// typeOf is the type of an operation; where types are personal, those that the job does not
// name are "*", as in reports.
func typeOf(job *rules.Job, expr string) string {
	if job.Redact.Fields["type"] == "" {
		return expr
	}
	named := []string{"''"}
	for _, name := range slices.Sorted(maps.Keys(job.Types)) {
		named = append(named, duck.Literal(name))
	}
	return "CASE WHEN " + expr + " IN (" + strings.Join(named, ", ") + ") THEN " + expr + " ELSE '*' END"
}

// account names the provider account of a result: that of its source, else the source.
func account(job *rules.Bound, res *extract.Relation) string {
	var b strings.Builder
	for _, f := range res.Files {
		name := f.Source
		for _, src := range job.Results.Sources {
			if src.Name == f.Source && src.Coverage.Account != "" {
				name = src.Coverage.Account
			}
		}
		fmt.Fprintf(&b, " WHEN %d THEN %s", f.No, duck.Literal(name))
	}
	return "CASE r.file_no" + b.String() + " END"
}

// offsets is the offset of the job's zone at the creation of an operation, in
// microseconds, as a CASE over the clock changes of the times at hand.
func offsets(ctx context.Context, r *pipeline.Reading, o match.ColumnSet) (string, error) {
	var first, last *int64
	if err := r.DB.Scan(ctx, statement("span").Render(duck.Slots{"created": o.Instant("created_at")}), &first, &last); err != nil {
		return "", err
	}
	if first == nil {
		return "CAST(0 AS BIGINT)", nil
	}
	var b strings.Builder
	at := time.UnixMicro(*first).In(r.Bound.Zone)
	for {
		_, seconds := at.Zone()
		_, until := at.ZoneBounds()
		us := int64(seconds) * 1_000_000
		if until.IsZero() || until.UnixMicro() > *last {
			if b.Len() == 0 {
				return fmt.Sprintf("CAST(%d AS BIGINT)", us), nil
			}
			return fmt.Sprintf("CAST(CASE%s ELSE %d END AS BIGINT)", b.String(), us), nil
		}
		fmt.Fprintf(&b, " WHEN %s < %d THEN %d", o.Instant("created_at"), until.UnixMicro(), us)
		at = until.In(r.Bound.Zone)
	}
}
