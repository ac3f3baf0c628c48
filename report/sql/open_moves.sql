-- Reads   report_open, report_former. Writes report_moves: one row for each item that is
--         open in either run, with what became of it. Where amounts or currencies are
--         hidden, nothing compares them.
CREATE OR REPLACE TABLE report_moves AS
WITH n AS (
  SELECT case_id, no, queue, class, reason, /*$currency*/ AS currency, /*$amount*/ AS amount FROM report_open),
f AS (
  SELECT case_id, no, queue, class, reason, since, since_before, /*$currency*/ AS currency, /*$amount*/ AS amount FROM report_former)
SELECT case_id, no,
  CASE WHEN f.queue IS NULL THEN 'new' WHEN n.queue IS NULL THEN 'gone'
       WHEN n.queue <> f.queue OR n.class <> f.class OR n.reason <> f.reason THEN 'changed' ELSE 'older' END AS kind,
  f.queue AS f_queue, f.class AS f_class, f.reason AS f_reason, f.currency AS f_currency, f.amount AS f_amount,
  n.queue AS n_queue, n.class AS n_class, n.reason AS n_reason, n.currency AS n_currency, n.amount AS n_amount,
  coalesce(f.since, /*$date*/) AS since, coalesce(f.since_before, false) AS since_before
FROM n FULL JOIN f USING (case_id, no)
