-- The items by queue and verdict. Out: queue, class, reason, items, observed, deferred;
-- ordered.
SELECT queue_file, class, reason, count(*), count(*) FILTER (WHERE observe_only), count(*) FILTER (WHERE deferred)
FROM items GROUP BY ALL ORDER BY ALL
