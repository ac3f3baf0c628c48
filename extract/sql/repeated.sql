-- Fingerprint halves that more than one row of the side carries: UBIGINT h, in
-- order, so that the same set of files gives the same bytes.
COPY (
  SELECT h FROM (SELECT /*$column*/ AS h FROM /*$rows*/ WHERE /*$column*/ IS NOT NULL)
  GROUP BY h HAVING count(*) > 1 ORDER BY h
) TO /*$file*/ (FORMAT parquet, COMPRESSION lz4_raw)
