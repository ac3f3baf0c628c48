-- V12 (b), (c): rows that are not settled and carry the same key are one set.
INSERT INTO edges
SELECT 2 * o.rid, -1 - CAST(hash('key', /*$pass*/, o./*$k*/) >> 2 AS BIGINT)
FROM contested_o o JOIN marks_o m ON m.rid = o.rid WHERE m.reason = 'keys_disagree' AND o./*$k*/ IS NOT NULL
UNION ALL
SELECT 2 * r.rid + 1, -1 - CAST(hash('key', /*$pass*/, r./*$k*/) >> 2 AS BIGINT)
FROM contested_r r JOIN marks_r m ON m.rid = r.rid WHERE m.reason = 'keys_disagree' AND r./*$k*/ IS NOT NULL
