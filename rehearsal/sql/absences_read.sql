-- Reads   the absences of one night. Out: rid, id, what tells operations apart, file,
--         record, verdict, attempts, observe_only, idle; in the order of the rows.
SELECT rid, id, coalesce(/*$key*/, night || ' ' || rid), file, record, verdict, attempts, observe_only, idle
FROM read_parquet(/*$file*/) ORDER BY rid
