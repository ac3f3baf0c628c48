-- The first rows of one side under a condition, with their verdicts, and the pass that
-- claimed each (999: none; see explain_candidates).
-- In: the side's view, rows view. Out: rid, class, reason, since; ordered, bounded.
SELECT s.rid, CAST(w.class AS VARCHAR), CAST(w.reason AS VARCHAR), coalesce(c.since, CASE WHEN x.rid IS NULL THEN /*$plain*/ ELSE 999 END)
FROM (SELECT rid FROM /*$side*/ s WHERE /*$condition*/ ORDER BY rid LIMIT /*$limit*/) s
JOIN /*$rows*/ w ON w.rid = s.rid
LEFT JOIN /*$claimed*/ c ON c.rid = s.rid
LEFT JOIN /*$residual*/ x ON x.rid = s.rid
ORDER BY s.rid
