-- Items of rows that are equal in every column and carry no identity. Out: how many
-- ids are of more than one item.
SELECT count(*) FROM (SELECT item_id FROM residual_items GROUP BY item_id HAVING count(*) > 1)
