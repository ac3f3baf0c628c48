-- Reads   report_sample, items, items_wide, outages. By place of the sample: the item that says what
--         is to be done about the row, as for the rows of the board (board_items.sql).
WITH k AS (
  SELECT item_id, o_rid, r_rid, set_id FROM items WHERE queue <> 'confirm'),
found AS (
  SELECT b.place, 1 AS rank, k.item_id FROM report_sample b JOIN k ON k.set_id = b.set_id
  UNION ALL SELECT b.place, 2, k.item_id FROM report_sample b JOIN k ON k.o_rid = b.o_rid AND k.r_rid = b.r_rid
  UNION ALL SELECT b.place, 3, k.item_id FROM report_sample b JOIN k ON k.o_rid = b.o_rid
  UNION ALL SELECT b.place, 4, k.item_id FROM report_sample b JOIN k ON k.r_rid = b.r_rid AND k.o_rid IS NULL),
chosen AS (
  SELECT place, arg_min(item_id, (rank, item_id)) AS item_id FROM found GROUP BY place)
SELECT c.place, i.item_id, CAST(i.queue AS VARCHAR), /*$owner*/, /*$due*/, CASE WHEN u.item_id IS NULL THEN /*$since*/ END, CAST(i.risk AS VARCHAR)
FROM chosen c
JOIN items_wide i ON i.item_id = c.item_id AND i.queue <> 'confirm'
LEFT JOIN outages u ON u.item_id = c.item_id
ORDER BY c.place
