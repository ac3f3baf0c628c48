-- Rows of one staged file, from its footer: what the engine will see, against what
-- was counted while reading.
SELECT count(*) FROM read_parquet(/*$file*/)
