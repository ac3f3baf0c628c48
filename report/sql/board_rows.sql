-- Reads   report_board_wide, report_board, report_board_items, items_wide, outages. The
--         rows of the board from one place to another, in their order: what is to be done,
--         declared personal fields redacted, values of people cut.
SELECT /*$columns*/
FROM (SELECT * FROM report_board_wide WHERE place BETWEEN /*$from*/ AND /*$until*/) w
JOIN report_board b ON b.place = w.place
LEFT JOIN report_board_items j ON j.place = w.place
LEFT JOIN items_wide i ON i.item_id = j.item_id AND i.queue <> 'confirm'
LEFT JOIN outages u ON u.item_id = j.item_id
ORDER BY w.place
