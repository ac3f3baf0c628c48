// Package arch keeps the shape of the program: who may import whom.
package arch

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/recon-batch/recon-batch/"

// layers lists the stages from the ground up. A package imports packages of
// lower layers only; the longest prefix that fits a path decides its layer.
var layers = map[string]int{
	"internal/fail":        0, // errors with their exit status
	"internal/scan":        0, // card numbers, IBANs and secrets in texts
	"internal/hole":        0, // by which tests take checks out of the guard
	"internal/xmlstream":   0, // XML in bounded memory
	"internal/testuser":    0, // a user for servers of tests
	"internal/testpg":      1, // a PostgreSQL server for tests
	"internal/testmaria":   1, // a MariaDB server for tests
	"internal/testproxy":   0, // a bad network for tests
	"internal/testversity": 0, // an S3 server for tests
	"internal/testsftp":    1, // an SFTP server for tests
	"internal/testpull":    4, // programs of tests that pull
	"internal/testprom":    0, // promtool and a Pushgateway for tests
	"internal/testchrome":  0, // a browser for tests
	"internal/pages":       0, // Parquet in its plainest form
	"rules":                1,
	"internal/duck":        1,
	"internal/archive":     2, // bytes by their digest
	"internal/folder":      1, // local files by name and pattern
	"internal/secret":      2, // what a job file only refers to
	"extract":              2,
	"fetch":                3, // brings evidence from elsewhere
	"publish":              4, // brings the folder of a run to where readers follow it
	"match/compare":        3,
	"match/naive":          4, // the oracle; see apart
	"match":                4,
	"classify":             5,
	"report":               6,
	"doctor":               3, // looks at files that nobody declared; the one place that guesses
	"notify":               7, // tells the outside world how a run ended
	"internal/pipeline":    8,
	"latency":              9, // how long operations took, against their windows
	"rehearsal":            9, // what other rules, or acting, would have done
	"keys":                 9, // what could link the rows of two sides
	"cmd/recon-batch":      10,
	"fixtures":             1, // test data: only tests and developer tools import it
	"cmd/recon-fixtures":   9,
	"bench":                9,
	"scripts":              9,
	"internal/arch":        9,
	"examples":             9,
	"docs":                 9,
	"deploy":               9,
}

// apart lists what must not be imported although the layers would allow it.
var apart = []struct{ from, to, why string }{
	{"rules", "internal/duck", "a job file is read without an engine"},
	{"internal/duck", "rules", "the engine knows no job"},
	{"match/naive", "match", "the oracle must not share code with the engine that it checks"},
	{"match/naive", "internal/duck", "the oracle runs no SQL"},
	{"match", "match/naive", "the engine must not share code with its oracle"},
	{"classify", "match/naive", "the engine must not share code with its oracle"},
	{"match", "doctor", "a run guesses nothing"},
	{"match/naive", "doctor", "a run guesses nothing"},
	{"classify", "doctor", "a run guesses nothing"},
	{"report", "doctor", "a run guesses nothing"},
	{"internal/pipeline", "doctor", "a run guesses nothing"},
	{"doctor", "internal/duck", "a file is looked at without an engine"},
}

// independent packages import none of ours.
var independent = []string{"fixtures/sim", "fixtures/world"}

// homes of outside libraries that have one place only.
var homes = map[string]string{
	"github.com/duckdb/duckdb-go/v2": "internal/duck",
	"github.com/urfave/cli/v2":       "cmd/recon-batch",
	"go.yaml.in/yaml/v4":             "rules",
	"github.com/xuri/excelize/v2":    "report",
	"github.com/wlynxg/chardet":      "doctor",
	"github.com/moov-io/ach":         "extract/bank",
	"github.com/go-sql-driver/mysql": "fetch/sql",
	"github.com/pkg/sftp":            "fetch/sftp",
}

// layerOf returns the layer of a package of ours, and the entry that named it.
func layerOf(pkg string) (layer int, entry string, ok bool) {
	for name, l := range layers {
		if (pkg == name || strings.HasPrefix(pkg, name+"/")) && len(name) > len(entry) {
			layer, entry, ok = l, name, true
		}
	}
	return layer, entry, ok
}

// broken returns what is wrong with one import, or "".
func broken(from, to string) string {
	for lib, home := range homes {
		if (to == lib || strings.HasPrefix(to, lib+"/")) && from != home && !strings.HasPrefix(from, home+"/") {
			return "only " + home + " imports " + lib
		}
	}
	ours, ok := strings.CutPrefix(to, module)
	if !ok {
		return ""
	}
	fl, fe, ok := layerOf(from)
	if !ok {
		return "the package has no layer in internal/arch"
	}
	tl, te, ok := layerOf(ours)
	switch {
	case !ok:
		return "the imported package has no layer in internal/arch"
	case slices.Contains(independent, from):
		return "a world that checks verdicts shares no code with what gives them"
	case te == "fixtures" && fe != "fixtures" && fe != "cmd/recon-fixtures" && fe != "bench":
		return "test data has no place in the product"
	case fe != te && tl >= fl && te != "internal/duck":
		return "imports run one way: rules, internal/duck, extract, match, classify, report, notify, internal/pipeline, cmd"
	case te == "internal/duck" && fl < 1:
		return "internal/fail imports none of ours"
	}
	for _, a := range apart {
		if fe == a.from && te == a.to {
			return a.why
		}
	}
	return ""
}

func TestImportsRunOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		from := strings.TrimPrefix(f[0], module)
		for _, to := range f[1:] {
			if why := broken(from, to); why != "" {
				t.Errorf("%s imports %s: %s", from, strings.TrimPrefix(to, module), why)
			}
		}
		seen++
	}
	if seen < 8 {
		t.Errorf("go list named %d packages: the rules were not really tested", seen)
	}
}

// TestRulesBite shows that each rule refuses what it is there for.
func TestRulesBite(t *testing.T) {
	for _, c := range []struct {
		from, to string
		bad      bool
	}{
		{"extract", module + "rules", false},
		{"extract", module + "match", true},
		{"report", module + "internal/pipeline", true},
		{"latency", module + "internal/pipeline", false},
		{"latency", module + "rehearsal", true},
		{"internal/pipeline", module + "latency", true},
		{"internal/pipeline", module + "report", false},
		{"internal/pipeline", module + "notify", false},
		{"notify", module + "internal/pipeline", true},
		{"report", module + "notify", true},
		{"match/naive", module + "match", true},
		{"match/naive", module + "match/compare", false},
		{"match", module + "match/naive", true},
		{"rules", module + "internal/duck", true},
		{"classify", module + "internal/duck", false},
		{"internal/fail", module + "rules", true},
		{"report", module + "fixtures/world", true},
		{"fixtures/sim", module + "classify", true},
		{"fixtures/sim", module + "rules", true},
		{"fixtures/sim", "container/heap", false},
		{"cmd/recon-fixtures", module + "fixtures/world", false},
		{"report", "github.com/duckdb/duckdb-go/v2", true},
		{"internal/duck", "github.com/duckdb/duckdb-go/v2", false},
		{"internal/pipeline", "github.com/urfave/cli/v2", true},
		{"report", "go.yaml.in/yaml/v4", true},
		{"internal/pipeline", module + "doctor", true},
		{"doctor", module + "match/compare", true},
		{"cmd/recon-batch", module + "doctor", false},
		{"extract", "github.com/wlynxg/chardet", true},
		{"nowhere", module + "rules", true},
	} {
		if why := broken(c.from, c.to); (why != "") != c.bad {
			t.Errorf("%s imports %s: %q", c.from, c.to, why)
		}
	}
}
