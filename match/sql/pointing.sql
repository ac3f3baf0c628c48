-- V12 (b): for each free result with a known identity key: how many keys it carries,
-- how many of them point to an operation that stands, and between which operations.
CREATE OR REPLACE TABLE pointing AS
SELECT * FROM (
  SELECT r.rid, /*$keys*/ AS keys, /*$known*/ AS known, /*$standing*/ AS standing, least(/*$lows*/) AS lo, greatest(/*$highs*/) AS hi, /*$first*/ AS pass
  FROM free_r r/*$joins*/)
WHERE known > 0
