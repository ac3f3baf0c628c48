-- Reads   report_board, items. Writes report_board_items: for each place the item that
--         says what is to be done about the row: that of its set, of the very pair, of the
--         operation, or of the result that stands alone.
CREATE OR REPLACE TABLE report_board_items AS
WITH i AS MATERIALIZED (
  SELECT item_id, o_rid, r_rid, set_id FROM items WHERE queue <> 'confirm'),
found AS (
  SELECT b.place, 1 AS rank, i.item_id FROM report_board b JOIN i ON i.set_id = b.set_id
  UNION ALL SELECT b.place, 2, i.item_id FROM report_board b JOIN i ON i.o_rid = b.o_rid AND i.r_rid = b.r_rid
  UNION ALL SELECT b.place, 3, i.item_id FROM report_board b JOIN i ON i.o_rid = b.o_rid
  UNION ALL SELECT b.place, 4, i.item_id FROM report_board b JOIN i ON i.r_rid = b.r_rid AND i.o_rid IS NULL)
SELECT place, arg_min(item_id, (rank, item_id)) AS item_id FROM found GROUP BY place
