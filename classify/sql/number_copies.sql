-- Rows that are equal in every column and carry no identity are different things all
-- the same: the second item and those after it have its number in their ids.
UPDATE residual_items SET item_id = md5(concat_ws('|', item_id, c.n)), case_id = md5(concat_ws('|', case_id, c.n))
FROM (
  SELECT id, n FROM (
    SELECT rowid AS id, row_number() OVER (PARTITION BY item_id ORDER BY o_rid, r_rid) AS n
    FROM residual_items
    WHERE item_id IN (SELECT item_id FROM residual_items GROUP BY item_id HAVING count(*) > 1))
  WHERE n > 1) c
WHERE residual_items.rowid = c.id
