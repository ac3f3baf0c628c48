-- V27: how many operations each stray could be the effect of.
CREATE OR REPLACE TABLE stray_candidates AS
SELECT rid, CAST(sum(n) AS BIGINT) AS n FROM (/*$branches*/) GROUP BY rid HAVING sum(n) > 0
