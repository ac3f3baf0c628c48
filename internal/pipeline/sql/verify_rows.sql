-- A published file of rows, as the checks read it: ENUMs as text.
CREATE OR REPLACE VIEW /*$view*/ AS
SELECT * REPLACE (/*$texts*/) FROM read_parquet(/*$file*/)
