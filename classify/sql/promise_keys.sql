-- Rule 3 of design §3: items that would send again without a key that makes a second
-- call harmless, or under the key of another one. Out: one number.
SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM (
  SELECT CAST(count(*) AS BIGINT) AS n FROM items_wide WHERE queue = 'requeue' GROUP BY idempotency_key
  HAVING count(*) > 1 OR idempotency_key IS NULL OR idempotency_key = '')
