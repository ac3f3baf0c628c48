-- Reads   report_moves. The items that are open now by currency and by the date on which
--         their case was first open.
WITH parts AS (
  SELECT n_currency AS currency, since, since_before, n_amount AS amount FROM report_moves WHERE n_queue IS NOT NULL)
SELECT CASE WHEN since_before THEN 'before' ELSE '' END, currency, since, count(*), count(amount), /*$sum*/, /*$times*/
FROM parts GROUP BY since_before, currency, since/*$group*/ ORDER BY ALL
