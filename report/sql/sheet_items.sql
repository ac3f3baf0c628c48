-- Reads   report_items or report_items_confirm; items, where the amounts have declared
--         decimals. The items of a queue as its sheet shows them, in the order of their
--         ids, and whether the amount of each is readable.
SELECT /*$columns*/,
       /*$readable*/ AS readable
FROM (SELECT * FROM /*$view*/ WHERE /*$where*/) v
/*$join*/
ORDER BY v.item_id
