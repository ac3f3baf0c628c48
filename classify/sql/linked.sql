-- The verdict of each link's two rows (sections C, D, F); the operation's part is
-- NULL where section G decides it.
CREATE OR REPLACE TABLE linked AS
SELECT p.o_rid, p.r_rid, p.pass, p.settled, p.differing, p.link, p.st, e.effects, e.effects + e.failed = 1 AS alone,
  NOT (p.st = 'failed' AND e.effects > 0) AS partner,
  f.in_period,
  CASE
    WHEN NOT f.in_period THEN 'not_applicable/' || /*$period_reason*/
    WHEN f.scope_reason IS NOT NULL AND e.effects = 0 THEN 'not_applicable/' || f.scope_reason
    WHEN f.scope_reason IS NOT NULL THEN 'divergent/status_conflict'
    WHEN e.effects = 0 AND f.confirmed THEN 'divergent/status_conflict'
    WHEN e.effects = 0 THEN NULL
    WHEN e.effects >= 2 THEN 'divergent/duplicate_effect'
    WHEN p.st = 'failed' THEN NULL
    ELSE coalesce(s.by_status, s.by_content)
  END AS o_verdict,
  CASE
    WHEN NOT f.in_period THEN 'not_applicable/' || /*$period_reason*/
    WHEN p.st = 'failed' AND e.effects = 0 AND f.confirmed AND f.scope_reason IS NULL THEN 'divergent/status_conflict'
    WHEN p.st = 'failed' THEN 'not_applicable/failed_attempt'
    WHEN f.scope_reason IS NOT NULL THEN 'divergent/status_conflict'
    WHEN e.effects >= 2 AND p.r_rid = e.kept THEN 'divergent/duplicate_effect'
    WHEN e.effects >= 2 THEN 'duplicate/surplus_effect'
    ELSE coalesce(s.by_status, s.by_content)
  END AS r_verdict,
  f.covered IS NOT DISTINCT FROM true AS once,
  /*$all_fields*/ AS all_fields,
  /*$tolerance_fields*/ AS tolerance_fields,
  /*$conflict_fields*/ AS conflict_fields
FROM pairs p
JOIN facts f ON f.rid = p.o_rid
JOIN effects e ON e.o_rid = p.o_rid
JOIN single s ON s.r_rid = p.r_rid AND s.o_rid = p.o_rid
