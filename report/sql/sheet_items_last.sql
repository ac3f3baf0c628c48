-- Reads   items. The id of the last item of a queue that its sheet shows.
SELECT max(item_id) FROM (SELECT item_id FROM items WHERE queue = /*$queue*/ ORDER BY item_id LIMIT /*$limit*/)
