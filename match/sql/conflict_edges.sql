-- Conflicting records of one record id belong to one unresolved set.
INSERT INTO edges
SELECT 2 * m.rid + /*$bit*/, -1 - CAST(hash('record', /*$bit*/, x./*$key*/) >> 2 AS BIGINT)
FROM /*$marks*/ m JOIN /*$contested*/ x ON x.rid = m.rid
WHERE m.reason = 'conflicting_copies' AND x./*$key*/ IS NOT NULL
