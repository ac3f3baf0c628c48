-- Reads   operations, results, verdicts_o, verdicts_r, res_o, res_r, report_days,
--         report_account_files. One row for each account, day, side, class, reason and
--         currency of the rows in the period: how many there are, and their exact sum. As
--         in the relation totals, the plain rows are what the whole side has beyond its
--         residual rows, so that each side is read once, and few of its columns. Times are
--         cut to a grid that each day begins on, then to the days.
WITH residual AS (
  SELECT 'operations' AS side, /*$account*/ AS account, CAST(NULL AS INTEGER) AS file_no, /*$at_o*/ AS instant, v.in_period, v.class, v.reason,
    /*$currency_o*/ AS currency, count(*) AS rows, CAST(sum(/*$amount_o*/) AS /*$type*/) AS amount
  FROM verdicts_o v JOIN res_o s ON s.rid = v.rid GROUP BY ALL
  UNION ALL
  SELECT 'results', CAST(NULL AS VARCHAR), CAST(s.rid >> 40 AS INTEGER), /*$at_r*/, v.in_period, v.class, v.reason,
    /*$currency_r*/, count(*), CAST(sum(/*$amount_r*/) AS /*$type*/)
  FROM verdicts_r v JOIN res_r s ON s.rid = v.rid GROUP BY ALL),
whole AS (
  SELECT 'operations' AS side, /*$account*/ AS account, CAST(NULL AS INTEGER) AS file_no, /*$at_o*/ AS instant, /*$currency_o*/ AS currency,
    count(*) AS rows, CAST(sum(/*$amount_o*/) AS /*$type*/) AS amount
  FROM operations s GROUP BY ALL
  UNION ALL
  SELECT 'results', CAST(NULL AS VARCHAR), s.file_no, /*$at_r*/, /*$currency_r*/, count(*), CAST(sum(/*$amount_r*/) AS /*$type*/)
  FROM results s GROUP BY ALL),
cells AS (
  SELECT side, account, file_no, instant, CAST(class AS VARCHAR) AS class, CAST(reason AS VARCHAR) AS reason, currency, rows, amount
  FROM residual WHERE in_period
  UNION ALL
  SELECT w.side, w.account, w.file_no, w.instant, 'correct', 'equal', w.currency, w.rows - coalesce(r.rows, 0), coalesce(w.amount, 0) - coalesce(r.amount, 0)
  FROM whole w
  LEFT JOIN (SELECT side, account, file_no, instant, currency, CAST(sum(rows) AS BIGINT) AS rows, sum(amount) AS amount FROM residual GROUP BY ALL) r
    ON r.side = w.side AND r.account IS NOT DISTINCT FROM w.account AND r.file_no IS NOT DISTINCT FROM w.file_no
    AND r.instant IS NOT DISTINCT FROM w.instant AND r.currency IS NOT DISTINCT FROM w.currency
  WHERE w.rows <> coalesce(r.rows, 0)),
placed AS (
  SELECT c.*, d.day, d.span FROM (SELECT * FROM cells WHERE instant IS NOT NULL) c ASOF JOIN report_days d ON c.instant >= d.from_at
  UNION ALL
  SELECT c.*, '', 'day' FROM cells c WHERE instant IS NULL)
SELECT coalesce(p.account, f.account, ''), p.day, p.span, coalesce(p.currency, ''), p.side, p.class, p.reason,
  CAST(sum(p.rows) AS BIGINT), CAST(sum(p.amount) AS VARCHAR)
FROM placed p LEFT JOIN report_account_files f ON p.side = 'results' AND f.file_no = p.file_no
GROUP BY ALL
ORDER BY ALL
