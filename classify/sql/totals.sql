-- Counts and amounts of both sides by class, reason and currency. The plain rows
-- are what the whole side has beyond its residual rows. Sums are cast to the common
-- scale, not the values: a cast of every row costs more than its addition.
CREATE OR REPLACE TABLE totals AS
WITH residual AS (
  SELECT 'operations' AS side, v.in_period, v.class, v.reason, /*$currency_o*/ AS currency, count(*) AS rows, CAST(sum(/*$amount_o*/) AS /*$type*/) AS amount
  FROM verdicts_o v JOIN res_o s ON s.rid = v.rid GROUP BY ALL
  UNION ALL
  SELECT 'results', v.in_period, v.class, v.reason, /*$currency_r*/, count(*), CAST(sum(/*$amount_r*/) AS /*$type*/)
  FROM verdicts_r v JOIN res_r s ON s.rid = v.rid GROUP BY ALL),
whole AS (
  SELECT 'operations' AS side, /*$currency_o*/ AS currency, count(*) AS rows, CAST(sum(/*$amount_o*/) AS /*$type*/) AS amount FROM operations s GROUP BY ALL
  UNION ALL
  SELECT 'results', /*$currency_r*/, count(*), CAST(sum(/*$amount_r*/) AS /*$type*/) FROM results s GROUP BY ALL),
plain AS (
  SELECT w.side, true AS in_period, CAST('correct' AS verdict_class) AS class, CAST('equal' AS verdict_reason) AS reason, w.currency,
    w.rows - coalesce(r.rows, 0) AS rows, coalesce(w.amount, 0) - coalesce(r.amount, 0) AS amount
  FROM whole w LEFT JOIN (SELECT side, currency, sum(rows) AS rows, sum(amount) AS amount FROM residual GROUP BY ALL) r
    ON r.side = w.side AND r.currency IS NOT DISTINCT FROM w.currency)
SELECT side, in_period, class, reason, coalesce(currency, '') AS currency, CAST(sum(rows) AS BIGINT) AS rows, sum(amount) AS amount
FROM (SELECT * FROM residual UNION ALL SELECT * FROM plain WHERE rows <> 0)
GROUP BY ALL
