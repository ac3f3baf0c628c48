-- Rows of one side that share an identity key with a residual row.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT rid, /*$first*/ AS h FROM /*$side*/ WHERE /*$shares*/
