-- Rule 5 of design §3: items that share their id. Out: one number.
SELECT count(*) - count(DISTINCT item_id) FROM items
