-- Reads   items_wide. The items of all queues by type of operation. Out: type, count.
SELECT coalesce(CAST(type AS VARCHAR), ''), count(*) FROM items_wide GROUP BY ALL
