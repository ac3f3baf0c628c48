package pipeline

import (
	"context"
	"embed"
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

func verifySQL(name string) *duck.Template {
	return duck.MustParse(sqlFiles, "sql/verify_"+name+".sql")
}

// Verification is what an offline check of a published run found.
type Verification struct {
	Manifest       *Manifest
	ManifestSHA256 string
	Checks         []Verified
	Missing        int // files of the manifest that are not there
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
const NotRecomputed = "what needs the input files: whether each verdict is the right one, the sums that were read while parsing, the content digest " +
	"(recon-batch run --dry-run --output json judges the day again, and its content_digest must be the one of the run); " +
	"and report.html, report.md, report.xlsx, report.junit.xml, report.sarif, metrics.prom, which print report.json, and people/, which prints the queues"

// Verify recomputes offline what a run's folder says about itself, and trusts none
// of its numbers:
//
//   - the digest of every file, the run id, the digest of the effective job;
//   - rule 1 of design §3: each record has one verdict of the closed list, and files,
//     counts, statement, queues, gates and limits of manifest and report are those of
//     the rows;
//   - what rule 2 says about files that were not read whole;
//   - rules 3 to 5: every item stands on the verdict of its row, acting ones on the one
//     class that the guard allows; a row is linked once; ids are unique; both files of a
//     queue say the same;
//   - the chain of the runs published before and after.
//
// It needs nothing but the folder; what cannot be had from it alone is NotRecomputed.
// The narrow files lack the fingerprints that the content digest adds up, which would
// double their size.
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
	if info, err := os.Stat(real); err == nil && !info.IsDir() {
		return nil, fail.New(fail.Usage, "%s is a file, not the folder of a run", dir).
			WithHint("name a run's folder, such as out/JOB/DATE/current")
	}
	m, sum, err := ReadManifest(real)
	if err != nil {
		return nil, err
	}
	v = &Verification{Manifest: m, ManifestSHA256: sum}
	v.digests(real)
	c := &checker{Verification: v, ctx: ctx, dir: real}
	c.identity()
	if !v.OK() { // files that are not those of the run would only repeat it
		return v, v.chain(real)
	}
	allowed := []string{real}
	if former := c.supersededRun(); former != nil {
		allowed = append(allowed, former.dir)
	}
	allowed = append(allowed, c.askedRuns().dirs()...)
	if c.db, err = duck.Open(ctx, duck.Options{Allowed: allowed}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.db.Close()) }()
	for _, f := range []struct {
		name  string
		check func() error
	}{
		{"files", c.open}, {"rows", c.rows}, {"absence", c.wholeFiles}, {"links", c.links}, {"exceptions", c.exceptions},
		{"queues", c.queues}, {"withdrawn", c.withdrawn}, {"report", c.report}, {"former", c.former}, {"keys", c.keys}, {"canaries", c.canaries}, {"statement", c.statement}, {"open items", c.openItems}, {"outcome", c.outcome},
	} {
		err := f.check()
		if err == nil {
			continue
		}
		if class := fail.ClassOf(err); ctx.Err() != nil || class != fail.Internal && class != fail.Integrity {
			return nil, err
		}
		// The files carry their digests and cannot be read as what they should be.
		v.add(f.name, "cannot be read", []string{err.Error()})
		break
	}
	return v, v.chain(real)
}

// checker is a verification under way.
type checker struct {
	*Verification
	ctx     context.Context
	db      *duck.DB
	dir     string
	job     *rules.Job                   // nil where another version of the program made the run
	summary *report.Summary              // nil where the run published none
	counts  map[rules.Side][]narrowCount // of the rows
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
			v.Missing++
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
	v.add("digests", plural(int64(len(v.Manifest.Outputs)), "file", "files")+", "+sizeText(bytes), wrong)
}

func short(digest string) string {
	if len(digest) > 12 {
		return digest[:12]
	}
	return digest
}

// identity derives the run id again from what the manifest says.
func (v *checker) identity() {
	var wrong []string
	m := v.Manifest
	id, err := identityOf(m).id()
	switch {
	case err != nil:
		wrong = append(wrong, err.Error())
	case id != m.RunID:
		wrong = append(wrong, fmt.Sprintf("job, inputs and reference time give run %s, the manifest says %s", id, m.RunID))
	}
	if name := filepath.Base(v.dir); runIDForm.MatchString(name) && name != m.RunID {
		wrong = append(wrong, fmt.Sprintf("the folder is %s, the manifest says %s", name, m.RunID))
	}
	wrong = append(wrong, v.effectiveJob()...)
	v.add("identity", "run "+m.RunID, wrong)
}

// job derives the job's digest from the effective job in the folder. Another
// version of the rules may read that file in another way, and is not asked.
func (v *checker) effectiveJob() []string {
	if !v.has(effectiveName) || v.Manifest.Versions.Semantics != Semantics {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(v.dir, effectiveName))
	if err != nil {
		return nil // digests has told
	}
	job, err := rules.ParseEffective(text, effectiveName)
	if err != nil {
		return []string{effectiveName + " is no job file: " + err.Error()}
	}
	v.job = job
	if d := job.Digest(); d != v.Manifest.JobDigest {
		return []string{fmt.Sprintf("%s has digest %s, the manifest says %s", effectiveName, short(d), short(v.Manifest.JobDigest))}
	}
	return nil
}

// chain follows the published runs of the job, where the folder still lies where
// it was published.
func (v *Verification) chain(dir string) error {
	m := v.Manifest
	job := filepath.Dir(filepath.Dir(dir))
	if filepath.Base(dir) != m.RunID || filepath.Base(filepath.Dir(dir)) != m.BusinessDate || filepath.Base(job) != folderOf(m.Job, m.Series) {
		v.add("chain", "not followed: the folder was moved out of "+strings.Join([]string{folderOf(m.Job, m.Series), m.BusinessDate}, "/"), nil)
		return nil
	}
	wrong, n, err := checkChain(job)
	if err != nil {
		return err
	}
	v.add("chain", plural(int64(n), "run", "runs")+" of "+folderOf(m.Job, m.Series), wrong)
	return nil
}
