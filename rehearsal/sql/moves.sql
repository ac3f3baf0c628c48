-- Reads   moved. Out: for each way that rows went and each currency, how many there are
--         and their sum (place 0); then the first rows of each way as examples.
WITH ways AS (
  SELECT was_class, was_reason, was_proposal, now_class, now_reason, now_proposal, currency, rid, value, id FROM moved
)
SELECT was_class, was_reason, was_proposal, now_class, now_reason, now_proposal, currency, count(*) AS n, CAST(sum(value) AS VARCHAR) AS amount,
       CAST(NULL AS VARCHAR) AS id, 0 AS place
FROM ways GROUP BY ALL
UNION ALL
SELECT was_class, was_reason, was_proposal, now_class, now_reason, now_proposal, '', 0, NULL, id, place
FROM (
  SELECT *, row_number() OVER (PARTITION BY was_class, was_reason, was_proposal, now_class, now_reason, now_proposal ORDER BY rid) AS place FROM ways
) WHERE place <= 3
ORDER BY 1, 2, 3, 4, 5, 6, place, currency
