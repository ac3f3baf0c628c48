-- Rows of one staged file, from its footer: what was written, against what was counted.
SELECT count(*) FROM read_parquet(/*$file*/)
