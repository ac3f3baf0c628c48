-- V12 (a): the rows of a dissolved link are one set.
INSERT INTO edges
SELECT 2 * o_rid, 2 * r_rid + 1 FROM judged
WHERE (o_rid, r_rid) NOT IN (SELECT (o_rid, r_rid) FROM links)
  AND o_rid NOT IN (SELECT o_rid FROM links)
