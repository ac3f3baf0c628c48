-- The candidates of each other are one unresolved set.
INSERT INTO edges
SELECT 2 * o_rid, 2 * r_rid + 1 FROM candidates
WHERE NOT contradicted AND o_rid NOT IN (SELECT o_rid FROM links)
