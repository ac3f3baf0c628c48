-- Items of another verdict than the row that they show has: that of a surplus effect
-- is the result's, that of every other one the operation's where there is one.
-- Out: number, an example.
SELECT count(*), min(i.item_id)
FROM items i
LEFT JOIN operations o ON o.source = i.o_source AND o.file = i.o_file AND o.record = i.o_record
LEFT JOIN results r ON r.source = i.r_source AND r.file = i.r_file AND r.record = i.r_record
WHERE (i.o_record IS NULL AND i.r_record IS NULL) OR (i.o_record IS NOT NULL AND o.class IS NULL) OR (i.r_record IS NOT NULL AND r.class IS NULL)
  OR CASE WHEN i.o_record IS NULL OR i.reason = 'surplus_effect'
    THEN r.class IS DISTINCT FROM i.class OR r.reason IS DISTINCT FROM i.reason
    ELSE o.class IS DISTINCT FROM i.class OR o.reason IS DISTINCT FROM i.reason END
