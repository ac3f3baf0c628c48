-- Key fingerprints that more than one row of a side carries; from both sides'
-- lists, which extract cached with the staged files.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT DISTINCT h FROM read_parquet(/*$files*/) WHERE h IS NOT NULL
