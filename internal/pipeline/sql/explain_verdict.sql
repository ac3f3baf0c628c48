-- The verdict of one row, with what only residual rows have.
-- In: rows view, verdict table. Out: one row.
SELECT CAST(w.class AS VARCHAR), CAST(w.reason AS VARCHAR), coalesce(CAST(w.pass AS VARCHAR), ''), coalesce(CAST(w.link AS VARCHAR), ''),
  coalesce(CAST(w.once AS VARCHAR), ''), w.in_period, coalesce(v.fields, ''), coalesce(CAST(v.set_id AS VARCHAR), ''), v.candidates
FROM /*$rows*/ w LEFT JOIN /*$verdicts*/ v ON v.rid = w.rid WHERE w.rid = /*$rid*/
