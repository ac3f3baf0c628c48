-- Results without a link that nothing else has decided (V18, V19, V27, V29).
CREATE OR REPLACE TABLE open_r AS
SELECT r.rid, c.n AS candidates, /*$in_period*/ AS in_period,
  CASE
    WHEN NOT (/*$in_period*/) THEN 'not_applicable/' || /*$period_reason*/
    WHEN /*$keyless*/ THEN 'ambiguous/no_usable_key'
    WHEN /*$status*/ = 'failed' THEN 'not_applicable/failed_attempt'
    WHEN c.n > 0 THEN 'ambiguous/unattributed_result'
    WHEN /*$covered*/ THEN 'unexpected/no_operation'
    WHEN (/*$covered*/) IS NULL THEN 'ambiguous/time_ambiguous'
    ELSE 'ambiguous/coverage_incomplete'
  END AS verdict
FROM res_r r LEFT JOIN stray_candidates c ON c.rid = r.rid
WHERE r.rid NOT IN (SELECT rid FROM marks_r) AND r.rid NOT IN (SELECT r_rid FROM links)
