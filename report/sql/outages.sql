-- Reads   items, outages. By queue: items that wait for a source which proves nothing.
SELECT queue, count(*) FROM items WHERE item_id IN (SELECT item_id FROM outages) GROUP BY ALL ORDER BY ALL
