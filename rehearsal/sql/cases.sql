-- Reads   was_items, now_items. The cases whose queue is another one, by both queues and
--         currency: their number, and the sum as it stands on the item that there is. The items
--         of one case are about one amount.
WITH was AS (
  SELECT case_id, CASE WHEN min(proposal) = max(proposal) THEN min(proposal) ELSE min(proposal) || ' and ' || max(proposal) END AS proposal, min(currency) AS currency, max(value) AS value FROM was_items GROUP BY case_id
), now AS (
  SELECT case_id, CASE WHEN min(proposal) = max(proposal) THEN min(proposal) ELSE min(proposal) || ' and ' || max(proposal) END AS proposal, min(currency) AS currency, max(value) AS value FROM now_items GROUP BY case_id
)
SELECT coalesce(w.proposal, 'none') AS was, coalesce(n.proposal, 'none') AS now, coalesce(n.currency, w.currency) AS currency,
       count(*), CAST(sum(coalesce(n.value, w.value)) AS VARCHAR)
FROM was w FULL JOIN now n ON n.case_id = w.case_id
WHERE w.proposal IS DISTINCT FROM n.proposal
GROUP BY ALL ORDER BY ALL
