-- The undecided operations that a lookup is asked about, by the keys to ask by: those that
-- were due first come first. What is not due is not asked about.
SELECT /*$names*/
FROM (
  SELECT /*$keys*/, f.due_us
  FROM verdicts_o v JOIN facts f ON f.rid = v.rid JOIN res_o o ON o.rid = v.rid
  WHERE v.in_period AND v.class IN ('ambiguous', 'absent') AND v.reason IN (/*$reasons*/)
    AND (NOT f.has_window OR f.due_us <= /*$as_of*/) AND (/*$knows*/))
WHERE coalesce(/*$names*/) IS NOT NULL
GROUP BY /*$names*/
ORDER BY min(due_us) NULLS LAST, /*$names*/
