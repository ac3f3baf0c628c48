-- Section F: what an operation's only effect says, the first that applies.
CREATE OR REPLACE TABLE single AS
SELECT p.o_rid, p.r_rid,
  CASE
    WHEN NOT p.settled THEN 'divergent/field_differs'
    WHEN p.st = /*$expect*/ THEN NULL
    WHEN p.st = 'unmapped' THEN 'ambiguous/unmapped_status'
    WHEN p.st = 'unknown' THEN 'ambiguous/outcome_unknown'
    WHEN p.st = 'pending' AND f.has_window AND f.time_missing THEN 'ambiguous/time_ambiguous'
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
FROM pairs p JOIN facts f ON f.rid = p.o_rid
