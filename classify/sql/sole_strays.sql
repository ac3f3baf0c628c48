-- V27: for each operation that strays leave undecided one of them, and whether there is
-- another: n is 1 or more.
CREATE OR REPLACE TABLE sole_strays AS
SELECT rid, min(stray) AS stray, count(DISTINCT stray) AS n FROM (
/*$branches*/) GROUP BY rid
