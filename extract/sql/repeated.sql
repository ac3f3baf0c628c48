-- Fingerprint halves that more than one row of the side carries: UBIGINT h, in
-- order, so that the same set of files gives the same bytes.
COPY (SELECT h FROM (/*$values*/) ORDER BY h) TO /*$file*/ (FORMAT parquet, COMPRESSION lz4_raw)
