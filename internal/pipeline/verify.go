package pipeline

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var (
	verifyCountsSQL  = duck.MustParse(sqlFiles, "sql/verify_counts.sql")
	verifyFilesSQL   = duck.MustParse(sqlFiles, "sql/verify_files.sql")
	verifyRejectsSQL = duck.MustParse(sqlFiles, "sql/verify_rejects.sql")
	verifyCountSQL   = duck.MustParse(sqlFiles, "sql/verify_count.sql")
)

// Verification is what an offline check of a published run found.
type Verification struct {
	Manifest       *Manifest
	ManifestSHA256 string
	Checks         []Verified
}

// Verified is one check. Wrong lists what does not hold; empty: it holds.
type Verified struct {
	Name  string   `json:"name"`
	Did   string   `json:"did"` // what was looked at, with numbers
	Wrong []string `json:"wrong"`
}

// OK tells whether everything holds.
func (v *Verification) OK() bool {
	return !slices.ContainsFunc(v.Checks, func(c Verified) bool { return len(c.Wrong) > 0 })
}

// NotRecomputed says what Verify takes from the folder as it stands there.
const NotRecomputed = "the verdicts and the content digest, which follow from the input files: " +
	"recon-batch run --dry-run --output json judges them again, and its content_digest must be the one of the run"

// Verify recomputes offline what a run's folder says about itself: the digest of
// every file, the run id, the counts and ties from the rows, and the chain of the
// runs published before and after. It needs nothing but the folder; what cannot be
// had from it alone is NotRecomputed. The narrow files lack the fingerprints that
// the content digest adds up, which would double their size.
//
// What does not hold is in the Verification; an error means that the check itself
// could not be made.
func Verify(ctx context.Context, dir string) (v *Verification, err error) {
	real, err := filepath.Abs(dir) // first: the folder of `.` may itself be reached by a link
	if err != nil {
		return nil, fail.Wrap(fail.Usage, err, "%s cannot be found", dir)
	}
	if real, err = filepath.EvalSymlinks(real); err != nil {
		return nil, fail.Wrap(fail.Usage, err, "%s cannot be read", dir).
			WithHint("name a run's folder, such as out/JOB/DATE/current")
	}
	m, sum, err := ReadManifest(real)
	if err != nil {
		return nil, err
	}
	v = &Verification{Manifest: m, ManifestSHA256: sum}
	v.digests(real)
	v.identity(real)
	db, err := duck.Open(ctx, duck.Options{Allowed: []string{real}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if v.OK() { // files that are not those of the run would only repeat it
		for _, f := range []func(context.Context, *duck.DB, string) error{v.rows, v.queues} {
			if err := f(ctx, db, real); err != nil {
				return nil, err
			}
		}
		if err := v.statement(real); err != nil {
			return nil, err
		}
	}
	return v, v.chain(real)
}

func (v *Verification) add(name, did string, wrong []string) {
	v.Checks = append(v.Checks, Verified{Name: name, Did: did, Wrong: append([]string{}, wrong...)})
}

// digests reads every file of the folder.
func (v *Verification) digests(dir string) {
	var wrong []string
	bytes := int64(0)
	known := map[string]bool{manifestName: true, timingsName: true}
	for _, o := range v.Manifest.Outputs {
		known[o.Path] = true
		if !filepath.IsLocal(o.Path) {
			wrong = append(wrong, fmt.Sprintf("%q leads out of the folder", o.Path))
			continue
		}
		p := filepath.Join(dir, filepath.FromSlash(o.Path))
		if info, err := os.Lstat(p); err == nil && !info.Mode().IsRegular() {
			wrong = append(wrong, o.Path+" is not a plain file")
			continue
		}
		size, sum, err := hashFile(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			wrong = append(wrong, o.Path+" is missing")
		case err != nil:
			wrong = append(wrong, o.Path+" cannot be read: "+err.Error())
		case size != o.Size || sum != o.SHA256:
			wrong = append(wrong, fmt.Sprintf("%s was changed: %d bytes with digest %s, published were %d with %s", o.Path, size, short(sum), o.Size, short(o.SHA256)))
		}
		bytes += size
	}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err == nil && !known[filepath.ToSlash(rel)] {
			wrong = append(wrong, filepath.ToSlash(rel)+" does not belong to the run")
		}
		return err
	})
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	v.add("digests", fmt.Sprintf("%d files, %s", len(v.Manifest.Outputs), sizeText(bytes)), wrong)
}

func short(digest string) string {
	if len(digest) > 12 {
		return digest[:12]
	}
	return digest
}

// identity derives the run id again from what the manifest says.
func (v *Verification) identity(dir string) {
	var wrong []string
	m := v.Manifest
	id, err := identityOf(m).id()
	switch {
	case err != nil:
		wrong = append(wrong, err.Error())
	case id != m.RunID:
		wrong = append(wrong, fmt.Sprintf("job, inputs and reference time give run %s, the manifest says %s", id, m.RunID))
	}
	if name := filepath.Base(dir); runIDForm.MatchString(name) && name != m.RunID {
		wrong = append(wrong, fmt.Sprintf("the folder is %s, the manifest says %s", name, m.RunID))
	}
	wrong = append(wrong, v.job(dir)...)
	v.add("identity", "run "+m.RunID, wrong)
}

// job derives the job's digest from the effective job in the folder. Another
// version of the rules may read that file in another way, and is not asked.
func (v *Verification) job(dir string) []string {
	if !v.has(effectiveName) || v.Manifest.Versions.Semantics != Semantics {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, effectiveName))
	if err != nil {
		return nil // digests has told
	}
	job, err := rules.Parse(text, effectiveName)
	if err != nil {
		return []string{effectiveName + " is no job file: " + err.Error()}
	}
	if d := job.Digest(); d != v.Manifest.JobDigest {
		return []string{fmt.Sprintf("%s has digest %s, the manifest says %s", effectiveName, short(d), short(v.Manifest.JobDigest))}
	}
	return nil
}

// rows counts the narrow files: every record read has one verdict or was
// rejected, and the counts are those of the manifest.
func (v *Verification) rows(ctx context.Context, db *duck.DB, dir string) error {
	rejected, err := v.rejects(ctx, db, dir)
	if err != nil {
		return err
	}
	for _, side := range rules.Sides {
		name := string(side) + ".parquet"
		if !v.has(name) {
			v.add(string(side), "no "+name+" was published", nil)
			continue
		}
		file := duck.Slots{"file": duck.Literal(filepath.Join(dir, name))}
		wrong, total, err := v.counts(ctx, db, side, file)
		if err != nil {
			return err
		}
		more, err := v.files(ctx, db, side, file, rejected)
		if err != nil {
			return err
		}
		v.add(string(side), fmt.Sprintf("%d rows, each with one verdict", total), append(wrong, more...))
	}
	return nil
}

func (v *Verification) has(path string) bool {
	return slices.ContainsFunc(v.Manifest.Outputs, func(o OutputDigest) bool { return o.Path == path })
}

type verdictKey struct{ class, reason string }

func (v *Verification) counts(ctx context.Context, db *duck.DB, side rules.Side, file duck.Slots) (wrong []string, total int64, err error) {
	want := map[verdictKey]int64{}
	for _, c := range v.Manifest.Counts {
		if c.Side == side {
			want[verdictKey{c.Class, c.Reason}] += c.Rows
		}
	}
	rows, err := db.Query(ctx, verifyCountsSQL.Render(file))
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var k verdictKey
		var n int64
		if err := rows.Scan(&k.class, &k.reason, &n); err != nil {
			return nil, 0, err
		}
		total += n
		if want[k] != n {
			wrong = append(wrong, fmt.Sprintf("%s/%s: %d rows, the manifest counts %d", k.class, k.reason, n, want[k]))
		}
		delete(want, k)
	}
	for k, n := range want {
		if n != 0 {
			wrong = append(wrong, fmt.Sprintf("%s/%s: no row, the manifest counts %d", k.class, k.reason, n))
		}
	}
	slices.Sort(wrong)
	return wrong, total, rows.Err()
}

type fileKey struct {
	side         rules.Side
	source, file string
}

func (v *Verification) files(ctx context.Context, db *duck.DB, side rules.Side, file duck.Slots, rejected map[fileKey]int64) (wrong []string, err error) {
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
	rows, err := db.Query(ctx, verifyFilesSQL.Render(file))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	classified := map[fileKey]int64{}
	for rows.Next() {
		k := fileKey{side: side}
		var n, repeated int64
		if err := rows.Scan(&k.source, &k.file, &n, &repeated); err != nil {
			return nil, err
		}
		classified[k] = n
		if _, ok := want[k]; !ok {
			wrong = append(wrong, fmt.Sprintf("%d rows of %s (%s), which the run did not read", n, k.file, k.source))
		}
		if repeated > 0 {
			wrong = append(wrong, fmt.Sprintf("%s (%s): %d records have several verdicts", k.file, k.source, repeated))
		}
	}
	for k, t := range want {
		if t.records != classified[k]+t.rejected {
			wrong = append(wrong, fmt.Sprintf("%s (%s): %d records read, but %d classified + %d rejected", k.file, k.source, t.records, classified[k], t.rejected))
		}
		if rejected != nil && rejected[k] != t.rejected {
			wrong = append(wrong, fmt.Sprintf("%s (%s): %d rejects are listed, %d are counted", k.file, k.source, rejected[k], t.rejected))
		}
	}
	slices.Sort(wrong)
	return wrong, rows.Err()
}

// rejects counts the listed rejects by file; nil where the run published no list.
func (v *Verification) rejects(ctx context.Context, db *duck.DB, dir string) (map[fileKey]int64, error) {
	if !v.has("rejects.parquet") {
		return nil, nil
	}
	rows, err := db.Query(ctx, verifyRejectsSQL.Render(duck.Slots{"file": duck.Literal(filepath.Join(dir, "rejects.parquet"))}))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[fileKey]int64{}
	for rows.Next() {
		var k fileKey
		var n int64
		if err := rows.Scan(&k.side, &k.source, &k.file, &n); err != nil {
			return nil, err
		}
		out[k] = n
	}
	return out, rows.Err()
}

// summary reads report.json, nil where the run published none.
func (v *Verification) summary(dir string) (*report.Summary, error) {
	if !v.has("report.json") {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return nil, fail.Wrap(fail.Integrity, err, "report.json cannot be read")
	}
	s := new(report.Summary)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fail.Wrap(fail.Integrity, err, "report.json is damaged")
	}
	return s, nil
}

// queues counts the items of every queue file, and that withheld ones are absent.
func (v *Verification) queues(ctx context.Context, db *duck.DB, dir string) error {
	s, err := v.summary(dir)
	if s == nil || err != nil {
		return err
	}
	var wrong []string
	items := int64(0)
	for _, q := range s.Queues {
		for _, ext := range []string{".parquet", ".ndjson"} {
			path := "queues/" + q.Queue + ext
			if !v.has(path) {
				continue
			}
			if !q.Written {
				wrong = append(wrong, path+" was published although the queue was withheld")
				continue
			}
			n, err := countItems(ctx, db, filepath.Join(dir, filepath.FromSlash(path)))
			if err != nil {
				return err
			}
			if n != q.Items {
				wrong = append(wrong, fmt.Sprintf("%s has %d items, the report counts %d", path, n, q.Items))
			}
		}
		if q.Written {
			items += q.Items
		}
	}
	v.add("queues", fmt.Sprintf("%d items", items), wrong)
	return nil
}

// countItems counts the rows of a Parquet file, or the lines of an NDJSON file.
func countItems(ctx context.Context, db *duck.DB, path string) (int64, error) {
	if filepath.Ext(path) == ".parquet" {
		var n int64
		err := db.Scan(ctx, verifyCountSQL.Render(duck.Slots{"file": duck.Literal(path)}), &n)
		return n, err
	}
	return countLines(path)
}

// chain follows the published runs of the job, where the folder still lies where
// it was published.
func (v *Verification) chain(dir string) error {
	m := v.Manifest
	job := filepath.Dir(filepath.Dir(dir))
	if filepath.Base(dir) != m.RunID || filepath.Base(filepath.Dir(dir)) != m.BusinessDate || filepath.Base(job) != m.Job {
		v.add("chain", "not followed: the folder was moved out of "+strings.Join([]string{m.Job, m.BusinessDate}, "/"), nil)
		return nil
	}
	wrong, n, err := checkChain(job)
	if err != nil {
		return err
	}
	v.add("chain", fmt.Sprintf("%d runs of %s", n, m.Job), wrong)
	return nil
}
