-- Reads   report_moves. The parts of the roll-forward and of the changes, by currency:
--         items, and their exact sum, or each distinct amount and how often it occurs.
WITH parts AS (
  SELECT 'opening' AS part, f_currency AS currency, f_amount AS amount FROM report_moves WHERE f_queue IS NOT NULL
  UNION ALL SELECT 'closing', n_currency, n_amount FROM report_moves WHERE n_queue IS NOT NULL
  UNION ALL SELECT kind, CASE WHEN kind = 'gone' THEN f_currency ELSE n_currency END, CASE WHEN kind = 'gone' THEN f_amount ELSE n_amount END FROM report_moves
  UNION ALL SELECT unnest(['out', 'in']), unnest([f_currency, n_currency]), unnest([f_amount, n_amount]) FROM report_moves
    WHERE kind IN ('changed', 'older') AND (f_currency <> n_currency OR f_amount IS DISTINCT FROM n_amount)
)
SELECT part, currency, '' AS more, count(*), count(amount), /*$sum*/, /*$times*/ FROM parts GROUP BY part, currency/*$group*/ ORDER BY ALL
