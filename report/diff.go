package report

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// sampleChanges bounds the rows that a Diff lists.
const sampleChanges = 200

// Diff is what changed between two published runs, a to b.
type Diff struct {
	SchemaVersion int           `json:"schema_version"`
	A             DiffRun       `json:"a"`
	B             DiffRun       `json:"b"`
	Same          bool          `json:"same"` // the content digests are equal: both runs found the same
	Counts        []CountChange `json:"counts"`
	Rows          RowChanges    `json:"rows"`
	NotCompared   []string      `json:"not_compared"` // what the row comparison leaves out, and why
}

// DiffRun names one of the two runs.
type DiffRun struct {
	Job           string `json:"job"`
	BusinessDate  string `json:"business_date"`
	RunID         string `json:"run_id"`
	ContentDigest string `json:"content_digest"`
}

// CountChange is a verdict whose number of rows in the period differs.
type CountChange struct {
	Side   string `json:"side"`
	Class  string `json:"class"`
	Reason string `json:"reason"`
	A      int64  `json:"a"`
	B      int64  `json:"b"`
}

// RowChanges sample, in the order of side, source, file, record.
type RowChanges struct {
	Showing int64       `json:"showing"`
	Of      int64       `json:"of"`
	Items   []RowChange `json:"items"`
}

// RowChange is a record of a file that both runs read, with another verdict.
type RowChange struct {
	Side    string `json:"side"`
	Source  string `json:"source"`
	File    string `json:"file"`
	Record  int64  `json:"record"`
	AClass  string `json:"a_class"`
	AReason string `json:"a_reason"`
	BClass  string `json:"b_class"`
	BReason string `json:"b_reason"`
}

// Compare compares two run folders. Counts come from both report.json. Rows are
// compared one by one only where both runs read a file with the same bytes: then
// a record number means the same record. Every other file is named in
// NotCompared, and the counts are all that is said of it. db may read both
// folders. Errors: class Usage where a folder is no published run.
func Compare(ctx context.Context, db *duck.DB, a, b string) (*Diff, error) {
	sa, err := readReport(a)
	if err != nil {
		return nil, err
	}
	sb, err := readReport(b)
	if err != nil {
		return nil, err
	}
	d := &Diff{SchemaVersion: SchemaVersion, A: diffRun(sa), B: diffRun(sb), Same: sa.ContentDigest == sb.ContentDigest,
		Counts: countChanges(sa, sb), Rows: RowChanges{Items: []RowChange{}}, NotCompared: []string{}}
	for i, side := range rules.Sides {
		common, left := commonFiles(sa.Sides[i], sb.Sides[i])
		d.NotCompared = append(d.NotCompared, left...)
		if len(common) == 0 {
			continue
		}
		if err := rowChanges(ctx, db, side, a, b, common, &d.Rows); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func readReport(dir string) (*Summary, error) {
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return nil, fail.Wrap(fail.Usage, err, "%s is not a published run", dir).WithHint("list the runs with: recon-batch runs list")
	}
	s := new(Summary)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fail.Wrap(fail.Integrity, err, "%s/report.json cannot be read", dir).WithHint("check the run with: recon-batch verify")
	}
	if s.SchemaVersion != SchemaVersion || len(s.Sides) != 2 {
		return nil, fail.New(fail.Usage, "%s/report.json has schema version %d, this program reads %d", dir, s.SchemaVersion, SchemaVersion)
	}
	return s, nil
}

func diffRun(s *Summary) DiffRun {
	return DiffRun{Job: s.Job, BusinessDate: s.BusinessDate, RunID: s.RunID, ContentDigest: s.ContentDigest}
}

func countChanges(a, b *Summary) []CountChange {
	type key struct{ side, class, reason string }
	counts := map[key]*CountChange{}
	at := func(side string, c Count) *CountChange {
		k := key{side, c.Class, c.Reason}
		if counts[k] == nil {
			counts[k] = &CountChange{Side: side, Class: c.Class, Reason: c.Reason}
		}
		return counts[k]
	}
	for i := range a.Sides {
		for _, c := range a.Sides[i].Counts {
			if c.InPeriod {
				at(a.Sides[i].Side, c).A += c.Rows
			}
		}
		for _, c := range b.Sides[i].Counts {
			if c.InPeriod {
				at(b.Sides[i].Side, c).B += c.Rows
			}
		}
	}
	out := []CountChange{}
	for _, c := range counts {
		if c.A != c.B {
			out = append(out, *c)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		x, y := out[i], out[j]
		return strings.Join([]string{x.Side, x.Class, x.Reason}, "\x00") < strings.Join([]string{y.Side, y.Class, y.Reason}, "\x00")
	})
	return out
}

// filePair is a file that both runs read with the same bytes. Its name and
// source may differ.
type filePair struct{ aSource, aFile, bSource, bFile string }

// commonFiles pairs files by digest, and says what has no partner. A digest that
// a run read twice pairs nothing.
func commonFiles(a, b Side) (common []filePair, left []string) {
	type place struct{ source, file string }
	index := func(s Side) map[string][]place {
		m := map[string][]place{}
		for _, src := range s.Sources {
			for _, f := range src.Files {
				if f.Status == "staged" {
					m[f.SHA256] = append(m[f.SHA256], place{src.Name, f.Name})
				}
			}
		}
		return m
	}
	ia, ib := index(a), index(b)
	say := func(run string, m, other map[string][]place) {
		for digest, list := range m {
			if len(list) == 1 && len(other[digest]) == 1 {
				continue
			}
			for _, p := range list {
				left = append(left, fmt.Sprintf("%s, source %s, file %s: only run %s read these bytes, or a run read them twice", a.Side, p.source, p.file, run))
			}
		}
	}
	for digest, list := range ia {
		if len(list) == 1 && len(ib[digest]) == 1 {
			common = append(common, filePair{list[0].source, list[0].file, ib[digest][0].source, ib[digest][0].file})
		}
	}
	say("a", ia, ib)
	say("b", ib, ia)
	sort.Strings(left)
	sort.Slice(common, func(i, j int) bool {
		return common[i].aSource+"\x00"+common[i].aFile < common[j].aSource+"\x00"+common[j].aFile
	})
	return common, left
}

var sqlRowChanges = parseSQL("row_changes")

func rowChanges(ctx context.Context, db *duck.DB, side rules.Side, a, b string, common []filePair, out *RowChanges) error {
	values := make([]string, len(common))
	for i, p := range common {
		values[i] = fmt.Sprintf("(%s, %s, %s, %s)", duck.Literal(p.aSource), duck.Literal(p.aFile), duck.Literal(p.bSource), duck.Literal(p.bFile))
	}
	q := sqlRowChanges.Render(duck.Slots{
		"pairs": strings.Join(values, ", "),
		"a":     duck.Literal(filepath.Join(a, string(side)+".parquet")),
		"b":     duck.Literal(filepath.Join(b, string(side)+".parquet")),
	})
	if err := db.Exec(ctx, "CREATE OR REPLACE TABLE report_changes AS "+q); err != nil {
		return err
	}
	var n int64
	if err := db.Scan(ctx, "SELECT count(*) FROM report_changes", &n); err != nil {
		return err
	}
	out.Of += n
	q = fmt.Sprintf("SELECT * FROM report_changes ORDER BY source, file, record LIMIT %d", sampleChanges-out.Showing)
	return each(ctx, db, q, func(rows *sql.Rows) error {
		c := RowChange{Side: string(side)}
		if err := rows.Scan(&c.Source, &c.File, &c.Record, &c.AClass, &c.AReason, &c.BClass, &c.BReason); err != nil {
			return err
		}
		out.Items = append(out.Items, c)
		out.Showing++
		return nil
	})
}
