-- Reads   report_moves. Some items of each kind of change: the largest amounts of each
--         currency take turns. Ranked are only those that reach the last place of theirs.
WITH sized AS (
  SELECT *, CASE WHEN kind = 'gone' THEN f_currency ELSE n_currency END AS currency, CASE WHEN kind = 'gone' THEN f_amount ELSE n_amount END AS amount,
    coalesce(abs(TRY_CAST(CASE WHEN kind = 'gone' THEN f_amount ELSE n_amount END AS /*$type*/)), 0) AS size
  FROM report_moves
), least_size AS (
  SELECT kind, currency, list_last(max(size, /*$limit*/)) AS size FROM sized GROUP BY kind, currency
), ranked AS (
  SELECT s.* EXCLUDE (size), row_number() OVER (PARTITION BY s.kind, s.currency ORDER BY s.size DESC, s.case_id, s.no) AS rank
  FROM sized s JOIN least_size l ON l.kind = s.kind AND l.currency = s.currency AND s.size >= l.size
)
SELECT kind, case_id, coalesce(f_queue, ''), coalesce(f_class, ''), coalesce(f_reason, ''), coalesce(n_queue, ''), coalesce(n_class, ''), coalesce(n_reason, ''),
  since, currency, coalesce(amount, '')
FROM ranked WHERE rank <= /*$limit*/
QUALIFY row_number() OVER (PARTITION BY kind ORDER BY rank, currency, case_id, no) <= /*$limit*/
ORDER BY kind, rank, currency, case_id, no
