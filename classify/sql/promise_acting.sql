-- Rule 3 of design §3: acting items whose row has another class than their queue
-- allows, or which a check refuses. A plain pair has no row among the verdicts and is
-- correct. Out: one number.
SELECT count(*)
FROM items i
LEFT JOIN verdicts_o o ON o.rid = i.o_rid
LEFT JOIN verdicts_r r ON r.rid = i.r_rid
WHERE CASE i.queue
  WHEN 'requeue' THEN o.class IS DISTINCT FROM 'absent' OR i.class <> 'absent'
  WHEN 'confirm' THEN i.o_rid IS NULL OR coalesce(o.class, 'correct') <> 'correct' OR i.class <> 'correct'
  WHEN 'compensate' THEN CASE WHEN i.o_rid IS NULL THEN r.class IS DISTINCT FROM 'unexpected' OR i.class <> 'unexpected'
    ELSE CAST(r.reason AS VARCHAR) IS DISTINCT FROM 'surplus_effect' OR i.class <> 'duplicate' END
  WHEN 'close' THEN CASE WHEN i.closing_reason = 'newer_version' THEN o.class IS DISTINCT FROM 'absent' ELSE o.class IS DISTINCT FROM 'not_applicable' END OR i.class IS DISTINCT FROM o.class
  ELSE false END
  OR (i.queue <> 'review' AND (i.refused_bits <> 0 OR i.refused IS NOT NULL))
