-- When an item could go that the retry budget lets go later (V34). Out: microseconds; null.
SELECT min(own_us) FROM budget_turns WHERE item_id = /*$item*/ AND NOT late AND turn_us > own_us
