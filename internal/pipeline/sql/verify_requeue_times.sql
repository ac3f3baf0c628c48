-- V33: a next attempt that does not lie between the reference time and the expiry.
-- Out: number, an example.
SELECT count(*), min(item_id) FROM items
WHERE queue_file = 'requeue' AND NOT coalesce(
  TRY_CAST(next_attempt_at AS TIMESTAMP) > CAST(/*$as_of*/ AS TIMESTAMP)
  AND coalesce(TRY_CAST(expires_at AS TIMESTAMP) > TRY_CAST(next_attempt_at AS TIMESTAMP), expires_at IS NULL), false)
