-- The requeues with the budget that they count against. Out: item, own next attempt,
-- expiry, for observation only, account ('' the plain budget).
SELECT i.item_id, i.next_attempt_us, i.expiry_us, i.observe_only, /*$account*/
FROM residual_items i JOIN res_o o ON o.rid = i.o_rid
WHERE i.queue = 'requeue'
