-- Reads   items and the staged columns. The oldest time of the rows behind the
--         items, by queue, class and reason, in microseconds since the epoch, and how
--         many of these rows are not among those read. An item is as old as its
--         operation, or as its result where it has none.
SELECT i.queue, CAST(i.class AS VARCHAR), CAST(i.reason AS VARCHAR), min(coalesce(/*$o_time*/, /*$r_time*/)),
       count(*) FILTER (WHERE CASE WHEN i.o_rid IS NULL THEN r.rid ELSE o.rid END IS NULL)
FROM items i
LEFT JOIN /*$operations*/ o ON o.rid = i.o_rid
LEFT JOIN /*$results*/ r ON r.rid = i.r_rid
WHERE i.queue <> 'confirm'
GROUP BY ALL
