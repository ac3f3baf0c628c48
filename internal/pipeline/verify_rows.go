package pipeline

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// narrowCount counts rows of one side that are alike.
type narrowCount struct {
	inPeriod                  bool
	class, reason, pass, once string // "" where null
	rows                      int64
}

// each calls f for every row of a check's statement.
func (v *checker) each(name string, s duck.Slots, f func(rows *sql.Rows) error) error {
	rows, err := v.db.Query(v.ctx, verifySQL(name).Render(s))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// none runs a statement that counts breaches and gives an example of them.
func (v *checker) none(wrong []string, what, name string, s duck.Slots) ([]string, error) {
	var n int64
	var example sql.NullString
	if err := v.db.Scan(v.ctx, verifySQL(name).Render(s), &n, &example); err != nil || n == 0 {
		return wrong, err
	}
	return append(wrong, fmt.Sprintf("%d %s, such as %s", n, what, example.String)), nil
}

func (v *Verification) has(path string) bool {
	return slices.ContainsFunc(v.Manifest.Outputs, func(o OutputDigest) bool { return o.Path == path })
}

// path is a published file of the run, and whether there is one.
func (v *checker) path(name string) (string, bool) {
	return filepath.Join(v.dir, filepath.FromSlash(name)), v.has(name)
}

// open makes the views over the files of rows.
func (v *checker) open() error {
	for _, f := range []struct {
		view  string
		texts []string
	}{
		{"operations", []string{"source", "file", "class", "reason", "pass", "once"}},
		{"results", []string{"source", "file", "class", "reason", "pass", "once"}},
		{"exceptions", []string{"o_source", "o_file", "o_class", "o_reason", "r_source", "r_file", "r_class", "r_reason"}},
		{"links", []string{"o_source", "o_file", "r_source", "r_file"}},
	} {
		path, ok := v.path(f.view + ".parquet")
		if !ok {
			return fmt.Errorf("%s.parquet was not published, and every run does", f.view)
		}
		var texts []string
		for _, c := range f.texts {
			texts = append(texts, fmt.Sprintf("CAST(%[1]s AS VARCHAR) AS %[1]s", c))
		}
		err := v.db.Exec(v.ctx, verifySQL("rows").Render(duck.Slots{
			"view": f.view, "texts": strings.Join(texts, ", "), "file": duck.Literal(path)}))
		if err != nil {
			return err
		}
	}
	return v.readSummary()
}

// rows counts the narrow files (rule 1 of design §3): every record read has one
// verdict of the closed list or was rejected, and the counts are those of the manifest.
func (v *checker) rows() error {
	rejected, err := v.rejects()
	if err != nil {
		return err
	}
	v.counts = map[rules.Side][]narrowCount{}
	for _, side := range rules.Sides {
		wrong, total, err := v.count(side)
		if err != nil {
			return err
		}
		more, err := v.files(side, rejected)
		if err != nil {
			return err
		}
		v.add(string(side), plural(total, "row", "rows")+", each with one verdict", append(wrong, more...))
	}
	return nil
}

func (v *checker) count(side rules.Side) (wrong []string, total int64, err error) {
	type key struct {
		in            bool
		class, reason string
	}
	want := map[key]int64{}
	for _, c := range v.Manifest.Counts {
		if c.Side == side {
			want[key{c.InPeriod, c.Class, c.Reason}] += c.Rows
		}
	}
	have := map[key]int64{}
	err = v.each("counts", duck.Slots{"rows": string(side)}, func(rows *sql.Rows) error {
		var c narrowCount
		if err := rows.Scan(&c.inPeriod, &c.class, &c.reason, &c.pass, &c.once, &c.rows); err != nil {
			return err
		}
		v.counts[side] = append(v.counts[side], c)
		have[key{c.inPeriod, c.class, c.reason}] += c.rows
		total += c.rows
		if !v.known(side, c.class, c.reason) {
			wrong = append(wrong, fmt.Sprintf("%d rows with the verdict %s/%s, which %s cannot have", c.rows, c.class, c.reason, side))
		}
		if (c.once != "") != (c.class == string(classify.Correct)) {
			wrong = append(wrong, fmt.Sprintf("%d rows of %s/%s where once is %q: proven or not_proven belongs to correct rows, and to them only (V23)", c.rows, c.class, c.reason, c.once))
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	for k, n := range have {
		if want[k] != n {
			wrong = append(wrong, fmt.Sprintf("%s/%s: %d rows %s the period, the manifest counts %d", k.class, k.reason, n, inOrOut(k.in), want[k]))
		}
		delete(want, k)
	}
	for k, n := range want {
		if n != 0 {
			wrong = append(wrong, fmt.Sprintf("%s/%s: no row %s the period, the manifest counts %d", k.class, k.reason, inOrOut(k.in), n))
		}
	}
	slices.Sort(wrong)
	return wrong, total, nil
}

func inOrOut(in bool) string {
	if in {
		return "in"
	}
	return "outside"
}

// known tells whether a verdict is on the closed list of its side. Reasons of
// not_applicable are the job's own as well.
func (v *checker) known(side rules.Side, class, reason string) bool {
	reasons, ok := classify.Reasons[classify.Class(class)]
	switch {
	case !ok, reason == "",
		class == string(classify.Absent) && side == rules.Results,
		class == string(classify.Unexpected) && side == rules.Operations:
		return false
	case slices.Contains(reasons, reason):
		return true
	case class != string(classify.NotApplicable):
		return false
	case v.job == nil:
		return true
	}
	return v.job.Period != nil && v.job.Period.Reason == reason ||
		slices.ContainsFunc(v.job.Scope, func(r rules.ScopeRule) bool { return r.Reason == reason })
}

type fileKey struct {
	side         rules.Side
	source, file string
}

func (v *checker) files(side rules.Side, rejected map[fileKey]int64) (wrong []string, err error) {
	type tally struct{ records, rejected int64 }
	want := map[fileKey]tally{}
	for _, in := range v.Manifest.Inputs {
		if in.Side != side || in.Status != "staged" {
			continue
		}
		k := fileKey{side, in.Source, in.Name}
		t := want[k]
		want[k] = tally{t.records + in.Records, t.rejected + in.Rejected}
	}
	classified := map[fileKey]int64{}
	err = v.each("files", duck.Slots{"rows": string(side)}, func(rows *sql.Rows) error {
		k := fileKey{side: side}
		var n, repeated int64
		if err := rows.Scan(&k.source, &k.file, &n, &repeated); err != nil {
			return err
		}
		classified[k] = n
		if _, ok := want[k]; !ok {
			wrong = append(wrong, fmt.Sprintf("%d rows of %s (%s), which the run did not read", n, k.file, k.source))
		}
		if repeated > 0 {
			wrong = append(wrong, fmt.Sprintf("%s (%s): %d records have several verdicts", k.file, k.source, repeated))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for k, t := range want {
		if t.records != classified[k]+t.rejected {
			wrong = append(wrong, fmt.Sprintf("%s (%s): %d records read, but %d classified + %d rejected", k.file, k.source, t.records, classified[k], t.rejected))
		}
		if rejected[k] != t.rejected {
			wrong = append(wrong, fmt.Sprintf("%s (%s): %d rejects are listed, %d are counted", k.file, k.source, rejected[k], t.rejected))
		}
	}
	slices.Sort(wrong)
	return wrong, nil
}

// rejects counts the listed rejects by file.
func (v *checker) rejects() (map[fileKey]int64, error) {
	path, ok := v.path("rejects.parquet")
	if !ok {
		return nil, fmt.Errorf("rejects.parquet was not published, and every run does")
	}
	out := map[fileKey]int64{}
	err := v.each("rejects", duck.Slots{"file": duck.Literal(path)}, func(rows *sql.Rows) error {
		var k fileKey
		var n int64
		if err := rows.Scan(&k.side, &k.source, &k.file, &n); err != nil {
			return err
		}
		out[k] = n
		return nil
	})
	return out, err
}

// wholeFiles is what rule 2 of design §3 says about files: one that was read in part,
// or refused, has withdrawn the time that its source declares. Nothing else stands
// between such a file and an absence.
func (v *checker) wholeFiles() error {
	var wrong []string
	partial := 0
	for _, in := range v.Manifest.Inputs {
		if in.Status != "refused" && in.Rejected == 0 {
			continue
		}
		partial++
		for _, c := range v.Manifest.Coverage {
			sources := strings.Split(c.Sources, ", ")
			covers := c.Complete || before(c.From, c.Until)
			if c.Side == in.Side && slices.Contains(sources, in.Source) && v.declaresTime(in.Side, in.Source) && covers && len(c.Withdrawn) == 0 {
				wrong = append(wrong, fmt.Sprintf("%s of the source %s was not read whole, and its time counts as covered (V26)", in.Name, in.Source))
			}
		}
	}
	v.add("absence", plural(int64(partial), "file that was not read whole", "files that were not read whole")+", none of them counted as covering", wrong)
	return nil
}

// before compares two instants of the manifest.
func before(a, b string) bool {
	x, errX := time.Parse(time.RFC3339Nano, a)
	y, errY := time.Parse(time.RFC3339Nano, b)
	return errX == nil && errY == nil && x.Before(y)
}

// declaresTime tells whether the job lets a source cover any time.
func (v *checker) declaresTime(side rules.Side, source string) bool {
	if v.job == nil {
		return false
	}
	for _, s := range v.job.Spec(side).Sources {
		if s.Name == source {
			return s.Coverage.Complete || s.Coverage.From != "" && s.Coverage.Until != ""
		}
	}
	return false
}
