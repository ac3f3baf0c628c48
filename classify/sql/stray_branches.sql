-- V27: how many operations each stray could be the effect of, by pair of patterns;
-- node is the group of rows that agree in what both fill.
CREATE OR REPLACE TABLE stray_branches AS
SELECT rid, CAST(n AS BIGINT) AS n, node FROM (
/*$branches*/) WHERE n > 0
