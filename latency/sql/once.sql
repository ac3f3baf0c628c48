-- Reads   the files of all nights. Writes links: each operation once, as the latest
--         night saw it. A link that several accounts confirm keeps the latest result.
CREATE OR REPLACE TABLE links AS
SELECT * EXCLUDE (place) FROM (
  SELECT *, row_number() OVER (PARTITION BY type, key ORDER BY night DESC, result_us DESC, account) AS place
  FROM read_parquet(/*$files*/)
) WHERE place = 1
