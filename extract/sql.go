package extract

import (
	"embed"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var (
	countSQL      = duck.MustParse(sqlFiles, "sql/count.sql")
	repeatedSQL   = duck.MustParse(sqlFiles, "sql/repeated.sql")
	overlapSQL    = duck.MustParse(sqlFiles, "sql/pages_overlap.sql")
	distinctSQL   = duck.MustParse(sqlFiles, "sql/distinct_keys.sql")
	otherTimesSQL = duck.MustParse(sqlFiles, "sql/other_times.sql")
	latestSQL     = duck.MustParse(sqlFiles, "sql/latest.sql")
	unreadableSQL = duck.MustParse(sqlFiles, "sql/unreadable.sql")
	identitySQL   = duck.MustParse(sqlFiles, "sql/identity.sql")
	revisedSQL    = duck.MustParse(sqlFiles, "sql/revised.sql")
	rowsSQL       = duck.MustParse(sqlFiles, "sql/rows.sql")
)

// parquetRows renders a table expression over staged files; there must be one at
// least.
func parquetRows(paths []string) string {
	quoted := make([]string, len(paths))
	for i, p := range paths {
		quoted[i] = duck.Literal(p)
	}
	return "read_parquet([" + strings.Join(quoted, ", ") + "])"
}
