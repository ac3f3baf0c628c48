-- Rows of one side that share an identity key with a residual row, and are none yet.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT rid, h0 AS h FROM /*$side*/ WHERE (/*$shares*/) AND rid NOT IN (SELECT rid FROM /*$rids*/)
