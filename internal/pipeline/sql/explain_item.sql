-- The queue items of a row. Out: what explain tells of them; ordered.
SELECT item_id, queue, coalesce(refused, ''), coalesce(rule, ''), next_attempt_us, expiry_us, observe_only, deferred,
  coalesce(because, ''), coalesce(release, ''), coalesce(closing_reason, ''), coalesce(advice, ''), coalesce(approvals, 0)
FROM items_wide WHERE /*$condition*/ ORDER BY item_id
