-- Rule 3 of design §3: proposals to act whose row has another class than their queue
-- allows, or no row at all, or that a check refuses. Out: number, an example.
SELECT count(*), min(i.item_id)
FROM items i
LEFT JOIN operations o ON o.source = i.o_source AND o.file = i.o_file AND o.record = i.o_record
LEFT JOIN results r ON r.source = i.r_source AND r.file = i.r_file AND r.record = i.r_record
WHERE i.queue_file <> 'review' AND (i.refused IS NOT NULL OR CASE i.queue_file
  WHEN 'requeue' THEN o.class IS DISTINCT FROM 'absent'
  WHEN 'confirm' THEN o.class IS DISTINCT FROM 'correct'
  WHEN 'close' THEN o.class IS DISTINCT FROM CASE WHEN i.closing_reason = 'newer_version' THEN 'absent' ELSE 'not_applicable' END
  WHEN 'compensate' THEN CASE WHEN i.o_record IS NULL THEN r.class IS DISTINCT FROM 'unexpected' ELSE r.reason IS DISTINCT FROM 'surplus_effect' END
  ELSE true END)
