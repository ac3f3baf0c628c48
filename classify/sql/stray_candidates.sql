-- V27: how many operations each stray could be the effect of, in all.
CREATE OR REPLACE TABLE stray_candidates AS
SELECT rid, CAST(sum(n) AS BIGINT) AS n FROM stray_branches GROUP BY rid
