-- Rows of one side that carry a repeated key.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT rid/*$keys*/ FROM /*$side*/ WHERE /*$repeated*/
