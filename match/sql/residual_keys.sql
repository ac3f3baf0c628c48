-- Fingerprints of one identity key on all residual rows.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT DISTINCT h FROM (/*$parts*/) WHERE h IS NOT NULL
