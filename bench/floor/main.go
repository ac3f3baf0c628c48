// Command floor runs what the benchmark measures recon-batch against: plain
// statements of the same engine, with the same limits, on the same files.
//
//	floor differing  OPERATIONS RESULTS DIR   the floor: one FULL JOIN on one key, four
//	                                          fields compared, only differing rows written
//	floor wide       OPERATIONS RESULTS DIR   a hand-written cascade of three passes that
//	                                          writes every pair with all columns
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) != 4 {
		return errors.New("usage: floor differing|wide OPERATIONS.parquet RESULTS.parquet DIR")
	}
	var dirs []string
	for i, a := range args[1:] {
		if args[i+1], err = filepath.Abs(a); err != nil {
			return err
		}
		dirs = append(dirs, filepath.Dir(args[i+1]))
	}
	dirs = append(dirs, args[3])
	db, err := duck.Open(ctx, duck.Options{MemoryBytes: 12 << 30, Threads: 2, SpillDir: args[3], Allowed: dirs})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	o, r := "read_parquet("+duck.Literal(args[1])+")", "read_parquet("+duck.Literal(args[2])+")"
	var statements []string
	switch args[0] {
	case "differing":
		statements = differing(o, r, args[3])
	case "wide":
		statements = wide(o, r, args[3])
	default:
		return fmt.Errorf("%q is none of differing, wide", args[0])
	}
	for _, s := range statements {
		if err := db.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

const differ = "o.amount IS DISTINCT FROM r.amount OR o.currency IS DISTINCT FROM r.currency " +
	"OR r.status IS DISTINCT FROM 'settled' OR o.version IS DISTINCT FROM r.version"

func differing(o, r, dir string) []string {
	return []string{`COPY (
SELECT CASE WHEN r.remote_id IS NULL THEN 'absent' WHEN o.created_at IS NULL THEN 'unexpected' ELSE 'divergent' END AS verdict,
       coalesce(o.operation_id, r.operation_id) AS operation_id, r.remote_id,
       o.amount AS o_amount, r.amount AS r_amount, o.currency AS o_currency, r.currency AS r_currency,
       o.state, r.status, o.version AS o_version, r.version AS r_version
FROM ` + o + ` o FULL JOIN ` + r + ` r ON o.operation_id = r.operation_id
WHERE r.remote_id IS NULL OR o.created_at IS NULL OR ` + differ + `
) TO ` + duck.Literal(filepath.Join(dir, "rows.parquet")) + ` (FORMAT parquet, COMPRESSION zstd)`}
}

// wide joins whole rows. The first pass writes its pairs, which are final, and its
// two residuals to files apart, so that nothing is written twice; what one pass
// leaves over goes to the next.
func wide(o, r, dir string) []string {
	oc := prefixed("o", "operation_id", "idempotency_key", "type", "entity", "state", "version", "amount", "currency", "created_at", "attempts")
	rc := prefixed("r", "operation_id", "idempotency_key", "remote_id", "entity", "status", "version", "amount", "currency", "booked_at", "kind")
	on, rn := aliases(oc), aliases(rc)
	verdict := "CASE WHEN r_remote_id IS NULL THEN 'absent' WHEN o_created_at IS NULL THEN 'unexpected' WHEN " +
		strings.NewReplacer("o.", "o_", "r.", "r_").Replace(differ) + " THEN 'divergent' ELSE 'equal' END AS verdict"
	first := filepath.Join(dir, "pass1")
	part := func(name string) string {
		return "read_parquet(" + duck.Literal(filepath.Join(first, "part="+name, "*.parquet")) + ")"
	}
	return []string{
		"COPY (SELECT 1 AS pass, " + verdict + ", *, CASE WHEN r_remote_id IS NULL THEN 'left' WHEN o_created_at IS NULL THEN 'right' ELSE 'pair' END AS part" +
			" FROM (SELECT " + oc + ", " + rc + " FROM " + o + " o FULL JOIN " + r + " r ON o.operation_id = r.operation_id))" +
			" TO " + duck.Literal(first) + " (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (part))",
		"CREATE TABLE p2 AS SELECT " + on + ", " + rn + " FROM (SELECT " + on + " FROM " + part("left") + ")" +
			" FULL JOIN (SELECT " + rn + " FROM " + part("right") + ") ON o_idempotency_key = r_idempotency_key",
		"CREATE TABLE p3 AS SELECT " + on + ", " + rn + " FROM (SELECT " + on + " FROM p2 WHERE r_remote_id IS NULL)" +
			" FULL JOIN (SELECT " + rn + " FROM p2 WHERE o_created_at IS NULL)" +
			" ON o_entity = r_entity AND o_currency = r_currency AND o_amount = r_amount AND CAST(o_created_at AS DATE) = CAST(r_booked_at AS DATE)",
		"COPY (SELECT 2 AS pass, " + verdict + ", * FROM p2 WHERE o_created_at IS NOT NULL AND r_remote_id IS NOT NULL" +
			" UNION ALL SELECT 3, " + verdict + ", * FROM p3) TO " + duck.Literal(filepath.Join(dir, "rows.parquet")) + " (FORMAT parquet, COMPRESSION zstd)",
	}
}

// aliases keeps the new names of a list of prefixed columns.
func aliases(columns string) string {
	var n []string
	for c := range strings.SplitSeq(columns, ", ") {
		n = append(n, c[strings.LastIndexByte(c, ' ')+1:])
	}
	return strings.Join(n, ", ")
}

// prefixed lists columns of one side under names of their own.
func prefixed(side string, columns ...string) string {
	var n []string
	for _, c := range columns {
		n = append(n, side+"."+c+" AS "+side+"_"+c)
	}
	return strings.Join(n, ", ")
}
