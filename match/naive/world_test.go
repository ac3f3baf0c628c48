package naive_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/fixtures/generate"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match/naive"
	"github.com/recon-batch/recon-batch/rules"
)

// normalSeeds is how many worlds a normal run looks at; RECON_NIGHTLY sets more.
const normalSeeds = 1000

// seeds are the worlds of this run: RECON_SEED picks a single one.
func seeds(t testing.TB) (first, count uint64) {
	t.Helper()
	number := func(name string) (uint64, bool) {
		text, ok := os.LookupEnv(name)
		if !ok {
			return 0, false
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s=%q is no number", name, text)
		}
		return n, true
	}
	if n, ok := number("RECON_SEED"); ok {
		return n, 1
	}
	if n, ok := number("RECON_NIGHTLY"); ok {
		return 0, n
	}
	if testing.Short() {
		return 0, normalSeeds / 20
	}
	return 0, normalSeeds
}

// scratch is one DuckDB for all worlds of a test, with a folder that holds one
// world at a time.
type scratch struct {
	db  *duck.DB
	dir string
}

func newScratch(t testing.TB) *scratch {
	t.Helper()
	dir := t.TempDir()
	db, err := duck.Open(t.Context(), duck.Options{Allowed: []string{dir}, SpillDir: dir, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &scratch{db, dir}
}

// loaded is a world as both engines take it.
type loaded struct {
	world     generate.World
	dir       string // its files, staged ones too
	job       *rules.Bound
	relations [2]*extract.Relation // operations, results
	input     naive.Input
}

// load writes the world of a seed and stages both sides.
func (s *scratch) load(t testing.TB, seed uint64) loaded {
	t.Helper()
	l := loaded{world: generate.Generate(seed, generate.Shape{})}
	dir, err := os.MkdirTemp(s.dir, "world")
	if err != nil {
		t.Fatal(err)
	}
	l.dir = dir
	path, err := l.world.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	job, err := rules.Load(path)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, l.world.Job)
	}
	if l.job, err = job.Bind(l.world.Date, nil); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	var answers []extract.LookupAnswer
	for _, a := range l.world.Answers {
		answers = append(answers, extract.LookupAnswer{Key: a.Key, Found: a.Found, Until: a.Until})
	}
	asked := l.job.Lookups()
	for i := range l.job.Inputs[rules.Results] {
		if in := &l.job.Inputs[rules.Results][i]; in.Source.IsLookup() {
			in.Pulled = &rules.Pulled{Dir: dir, Names: []string{generate.FoundFile}}
		}
	}
	rows := [2][]extract.Row{}
	for i, side := range rules.Sides {
		rel, err := extract.Load(t.Context(), s.db, l.job, side, extract.Options{StageDir: dir + "/stage", BaseDir: dir})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, l.world.Job)
		}
		if rows[i], err = extract.ReadRows(t.Context(), s.db, rel); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, src := range asked {
			if side == rules.Results {
				rel.Lookups = append(rel.Lookups, extract.Lookup{Source: src, Answers: answers})
			}
		}
		l.relations[i] = rel
	}
	l.input = naive.Input{
		Job: l.job, Operations: rows[0], Results: rows[1],
		OperationsCoverage: l.relations[0].Coverage, ResultsCoverage: l.relations[1].Coverage,
		ResultSources: sources(l.job.Job, l.relations[1]), Lookups: l.relations[1].Lookups,
	}
	l.input.FormerKeys = former(l.job, rows[1], seed)
	return l
}

// former are the keys that former runs know: in some worlds nobody has asked, in some
// they know nothing, in some they know the keys of a result or two.
func former(job *rules.Bound, results []extract.Row, seed uint64) map[int][]string {
	if seed%4 == 0 {
		return nil
	}
	out := map[int][]string{}
	for n, r := range results {
		for i := range job.Match {
			if k, ok := r.V[fmt.Sprintf("k%d", i)].(string); ok && seed%4 == 1 && uint64(n)%7 == seed%7 {
				out[i] = append(out[i], k)
			}
		}
	}
	return out
}

// sources finds the source of every file of the results.
func sources(job *rules.Job, rel *extract.Relation) map[int]*rules.Source {
	out := map[int]*rules.Source{}
	for _, f := range rel.Files {
		for i := range job.Results.Sources {
			if job.Results.Sources[i].Name == f.Source {
				out[f.No] = &job.Results.Sources[i]
			}
		}
	}
	return out
}

// text shows a world: job and files with record numbers.
func (l loaded) text() string {
	s := l.world.Job
	for _, f := range l.world.Files {
		s += fmt.Sprintf("\n--- %s\n%s", f.Name, f.Data)
	}
	return s
}
