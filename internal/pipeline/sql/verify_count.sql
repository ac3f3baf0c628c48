-- Rows of one Parquet file. Out: one number.
SELECT count(*) FROM read_parquet(/*$file*/)
