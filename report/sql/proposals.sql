-- Reads   items_wide. The items of the acting queues by type of operation.
SELECT coalesce(type, ''), queue, count(*), count(*) FILTER (WHERE observe_only)
FROM items_wide WHERE queue <> 'review'
GROUP BY ALL
