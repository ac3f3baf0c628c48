-- The item that is to be acted on. Out: one row, of NULLs where there is none of that id.
SELECT max(item_id), max(o_rid), max(CAST(recheck AS VARCHAR)), max(expiry_us) FROM items_wide WHERE item_id = /*$item*/
