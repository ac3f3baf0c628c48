-- Reads   the narrow file of the published run, report_files, rows_operations or
--         rows_results, was_items, now_items.
-- Writes  moved: the rows of the side that differ: class, reason and proposal as they
--         were and are now, currency, value, and what explain takes.
CREATE OR REPLACE TABLE moved AS
WITH was AS (
  SELECT (f.file_no << 40) + w.record AS rid, CAST(w.class AS VARCHAR) AS class, CAST(w.reason AS VARCHAR) AS reason
  FROM read_parquet(/*$file*/) w
  JOIN report_files f ON f.side = /*$side*/ AND f.source = CAST(w.source AS VARCHAR) AND f.file = CAST(w.file AS VARCHAR)
), was_on AS (
  SELECT node // 2 AS rid, CASE WHEN min(proposal) = max(proposal) THEN min(proposal) ELSE min(proposal) || ' and ' || max(proposal) END AS proposal FROM was_items WHERE node % 2 = /*$bit*/ AND /*$proposals*/ GROUP BY 1
), now_on AS (
  SELECT node // 2 AS rid, CASE WHEN min(proposal) = max(proposal) THEN min(proposal) ELSE min(proposal) || ' and ' || max(proposal) END AS proposal FROM now_items WHERE node % 2 = /*$bit*/ AND /*$proposals*/ GROUP BY 1
), standings AS (
  SELECT coalesce(w.rid, n.rid) AS rid,
         coalesce(w.class, 'not read') AS was_class, coalesce(w.reason, '') AS was_reason, coalesce(wi.proposal, 'none') AS was_proposal,
         coalesce(CAST(n.class AS VARCHAR), 'not read') AS now_class, coalesce(CAST(n.reason AS VARCHAR), '') AS now_reason, coalesce(ni.proposal, 'none') AS now_proposal
  FROM was w
  FULL JOIN /*$rows*/ n ON n.rid = w.rid
  LEFT JOIN was_on wi ON wi.rid = w.rid
  LEFT JOIN now_on ni ON ni.rid = n.rid
)
SELECT b.*,
       coalesce(/*$currency*/, '') AS currency, /*$amount*/ AS value,
       coalesce(/*$id*/, f.file || ':' || (b.rid & 1099511627775)) AS id
FROM standings b
LEFT JOIN /*$staged*/ s ON s.rid = b.rid
LEFT JOIN report_files f ON f.side = /*$side*/ AND f.file_no = (b.rid >> 40)
WHERE (b.was_class, b.was_reason, b.was_proposal) IS DISTINCT FROM (b.now_class, b.now_reason, b.now_proposal)
