-- Rule 3 of design §3: items that would send again without an idempotency key, or under
-- that of another one. Out: number, an example.
SELECT CAST(coalesce(sum(n), 0) AS BIGINT), min(item) FROM (
  SELECT CAST(count(*) AS BIGINT) AS n, min(item_id) AS item FROM items WHERE queue_file = 'requeue'
  GROUP BY idempotency_key HAVING count(*) > 1 OR idempotency_key IS NULL OR idempotency_key = '')
