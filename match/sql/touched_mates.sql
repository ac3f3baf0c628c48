-- The plain mates of touched rows: same first identity key, other side or same.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT rid FROM /*$side*/ WHERE /*$first*/ IN (SELECT h FROM touched_o WHERE h IS NOT NULL UNION SELECT h FROM touched_r WHERE h IS NOT NULL)
