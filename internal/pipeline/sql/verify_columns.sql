-- The columns of a published file. Out: name.
SELECT column_name FROM (DESCRIBE SELECT * FROM read_parquet(/*$file*/))
