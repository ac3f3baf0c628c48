-- Rows of one side under a condition, with their verdicts.
-- In: the side's view, rows view. Out: rid, class, reason; ordered, bounded.
SELECT s.rid, CAST(w.class AS VARCHAR), CAST(w.reason AS VARCHAR)
FROM (SELECT rid FROM /*$side*/ s WHERE /*$condition*/ ORDER BY rid LIMIT 11) s JOIN /*$rows*/ w ON w.rid = s.rid
ORDER BY s.rid
