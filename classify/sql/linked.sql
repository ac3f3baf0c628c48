-- The verdict of each link's two rows (sections C, D, F); the operation's part is
-- NULL where section G decides it.
CREATE OR REPLACE TABLE linked AS
SELECT p.o_rid, p.r_rid, p.pass, p.settled, p.differing, p.link, p.st, p.effects,
  p.effects + p.failed = 1 AS alone,
  NOT (p.st = 'failed' AND p.effects > 0) AS partner,
  p.in_period, p.o_verdict, p.r_verdict,
  p.covered IS NOT DISTINCT FROM true AS once,
  CASE WHEN p.o_verdict IS DISTINCT FROM 'correct/equal' OR p.r_verdict <> 'correct/equal' THEN /*$all_fields*/ END AS all_fields,
  CASE WHEN p.by_content = 'correct/within_tolerance' THEN /*$tolerance_fields*/ END AS tolerance_fields,
  CASE WHEN p.o_verdict = 'divergent/status_conflict' OR p.r_verdict = 'divergent/status_conflict' THEN /*$conflict_fields*/ END AS conflict_fields
FROM (
  SELECT p.*,
    CASE
      WHEN NOT p.in_period THEN 'not_applicable/' || /*$period_reason*/
      WHEN p.scope_reason IS NOT NULL AND p.effects = 0 THEN 'not_applicable/' || p.scope_reason
      WHEN p.scope_reason IS NOT NULL THEN 'divergent/status_conflict'
      WHEN p.effects = 0 AND p.confirmed THEN 'divergent/status_conflict'
      WHEN p.effects = 0 THEN NULL
      WHEN p.effects >= 2 THEN 'divergent/duplicate_effect'
      WHEN p.st = 'failed' THEN NULL
      ELSE coalesce(p.by_status, p.by_content)
    END AS o_verdict,
    CASE
      WHEN NOT p.in_period THEN 'not_applicable/' || /*$period_reason*/
      WHEN p.st = 'failed' AND p.effects = 0 AND p.confirmed AND p.scope_reason IS NULL THEN 'divergent/status_conflict'
      WHEN p.st = 'failed' THEN 'not_applicable/failed_attempt'
      WHEN p.scope_reason IS NOT NULL THEN 'divergent/status_conflict'
      WHEN p.effects >= 2 AND p.r_rid = p.kept THEN 'divergent/duplicate_effect'
      WHEN p.effects >= 2 THEN 'duplicate/surplus_effect'
      ELSE coalesce(p.by_status, p.by_content)
    END AS r_verdict
  FROM (
    -- Section F: what an operation's only effect says, the first that applies.
    SELECT p.*, f.in_period, f.scope_reason, f.confirmed, f.covered, e.effects, e.failed, e.kept,
      CASE
        WHEN NOT p.settled THEN 'divergent/field_differs'
        WHEN p.st = /*$expect*/ THEN NULL
        WHEN p.st = 'unmapped' THEN 'ambiguous/unmapped_status'
        WHEN p.st = 'unknown' THEN 'ambiguous/outcome_unknown'
        WHEN p.st = 'pending' AND f.has_window AND (f.time_missing OR f.due_us IS NULL) THEN 'ambiguous/time_ambiguous'
        WHEN p.st = 'pending' AND f.has_window AND /*$as_of*/ < f.due_us THEN 'not_due/pending_at_provider'
        WHEN p.st = 'pending' THEN 'ambiguous/outcome_unknown'
        ELSE 'divergent/status_conflict'
      END AS by_status,
      CASE
        WHEN /*$unreadable*/ THEN 'divergent/value_unreadable'
        WHEN /*$ambiguous*/ THEN 'ambiguous/time_ambiguous'
        WHEN p.ordered < 0 THEN 'divergent/version_behind'
        WHEN p.ordered > 0 THEN 'divergent/version_ahead'
        WHEN p.same_version AND /*$differs*/ THEN 'divergent/same_version_other_content'
        WHEN /*$differs*/ THEN 'divergent/field_differs'
        WHEN /*$tolerance*/ THEN 'correct/within_tolerance'
        ELSE 'correct/equal'
      END AS by_content
    FROM pairs p
    JOIN facts f ON f.rid = p.o_rid
    JOIN effects e ON e.o_rid = p.o_rid) p) p
