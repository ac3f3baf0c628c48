-- V9 to V11: for each free result the free operations under its key: how many, and
-- which one if it is one.
CREATE OR REPLACE TABLE hits AS
SELECT o.n, o.rid AS o_rid, r.rid AS r_rid, o.k
FROM free_r r
JOIN (SELECT /*$k*/ AS k, count(*) AS n, min(rid) AS rid FROM free_o WHERE /*$k*/ IS NOT NULL GROUP BY /*$k*/) o
  ON r./*$k*/ = o.k
