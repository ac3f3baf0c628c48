-- The type of operation that an item is about, '' where it has none. Out: type.
SELECT coalesce(min(CAST(type AS VARCHAR)), '') FROM items_wide WHERE item_id = /*$item*/
