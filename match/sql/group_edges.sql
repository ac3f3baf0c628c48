-- Rows of one side under one key of the group that disagree are one unresolved set, with
-- those of the other side.
INSERT INTO edges
SELECT 2 * f.rid + /*$bit*/, -1 - CAST(hash('group', /*$pass*/, f.k) >> 2 AS BIGINT)
FROM /*$free*/ f JOIN /*$marks*/ m ON m.rid = f.rid WHERE m.reason = 'keys_disagree'
