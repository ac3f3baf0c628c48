-- Reads   report_board_wide, report_board, report_board_items, items_wide, outages. Writes
--         report_board_rows, the rows of the board with their number: what is to be done,
--         declared personal fields redacted, values cut as for people.
CREATE OR REPLACE TABLE report_board_rows AS
SELECT b.no, /*$columns*/
FROM report_board b
JOIN report_board_wide w ON w.place = b.place
LEFT JOIN report_board_items j ON j.place = w.place
LEFT JOIN items_wide i ON i.item_id = j.item_id AND i.queue <> 'confirm'
LEFT JOIN outages u ON u.item_id = j.item_id
