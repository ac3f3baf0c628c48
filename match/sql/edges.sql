-- Pairs of nodes that belong to one unresolved set: rows (operations 2*rid,
-- results 2*rid+1) and keys (negative).
CREATE OR REPLACE TABLE edges (a BIGINT, b BIGINT)
