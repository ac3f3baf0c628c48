-- Reads   report_open. The open items by queue, currency and bucket of age.
WITH parts AS (
  SELECT queue, currency, amount, CASE WHEN waiting THEN 'waiting' WHEN since_us IS NULL THEN 'unknown'/*$buckets*/ END AS bucket FROM report_open)
SELECT queue, currency, bucket, count(*), count(amount), /*$sum*/, /*$times*/ FROM parts GROUP BY queue, currency, bucket/*$group*/ ORDER BY ALL
