-- Section G: operations without an effect that nothing else has decided.
CREATE OR REPLACE TABLE open_o AS
SELECT f.rid, (f.rid IN (SELECT o_rid FROM effects)) AS attempted,
  CASE
    WHEN NOT f.in_period THEN 'not_applicable/' || /*$period_reason*/
    WHEN f.scope_reason IS NOT NULL THEN 'not_applicable/' || f.scope_reason
    WHEN f.rid IN (SELECT rid FROM known_elsewhere) THEN 'ambiguous/keys_disagree'
    WHEN f.keyless THEN 'ambiguous/no_usable_key'
    WHEN f.leased THEN 'not_due/in_progress'
    WHEN f.has_window AND (f.time_missing OR f.due_us IS NULL) THEN 'ambiguous/time_ambiguous'
    WHEN f.has_window AND /*$as_of*/ < f.due_us THEN 'not_due/within_window'
    WHEN f.proved IS NULL THEN 'ambiguous/time_ambiguous'
    WHEN NOT f.proved THEN 'ambiguous/coverage_incomplete'
    WHEN f.rid IN (SELECT rid FROM suspects) THEN 'ambiguous/unattributed_result'
    WHEN f.rid IN (SELECT rid FROM set_aside) THEN 'ambiguous/outcome_unknown'
    WHEN f.rid IN (SELECT o_rid FROM effects) THEN 'absent/failed_at_provider'
    ELSE 'absent/no_result'
  END AS verdict
FROM facts f
WHERE f.rid NOT IN (SELECT rid FROM marks_o)
  AND f.rid NOT IN (SELECT o_rid FROM linked WHERE o_verdict IS NOT NULL)
