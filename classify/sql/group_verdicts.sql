-- V16: the verdict of each group, which every member takes. A group that is not closed may
-- still get members where none of its rows states their number, or where the stated number
-- says so: results while a window is open or what they could be in is not covered (V24 to
-- V26), operations where the export need not show them (V29). Whole is one whose stated
-- numbers are those that were found: nothing excuses its sum.
CREATE OR REPLACE TABLE group_verdicts AS
SELECT *, CASE
    WHEN verdict = 'correct/within_tolerance' OR verdict = 'divergent/amount_group_differs' THEN CASE pass/*$summed*/ END
    WHEN verdict = 'divergent/value_unreadable' THEN CASE pass/*$unreadable*/ END
    WHEN by_status THEN /*$status_field*/ END AS fields
FROM (
  SELECT *, (unmapped OR unsure OR pending OR conflicting) AND in_period AS by_status, CASE
      WHEN NOT in_period THEN 'not_applicable/' || /*$period_reason*/
      WHEN unmapped THEN 'ambiguous/unmapped_status'
      WHEN unsure THEN 'ambiguous/outcome_unknown'
      WHEN pending AND undated THEN 'ambiguous/time_ambiguous'
      WHEN pending AND waiting THEN 'not_due/pending_at_provider'
      WHEN pending THEN 'ambiguous/outcome_unknown'
      WHEN conflicting THEN 'divergent/status_conflict'
      WHEN o_bad <> 0 OR r_bad <> 0 THEN 'divergent/value_unreadable'
      WHEN counted AND equal THEN 'correct/equal'
      WHEN counted AND within THEN 'correct/within_tolerance'
      WHEN results_lack AND leased THEN 'not_due/in_progress'
      WHEN results_lack AND undated THEN 'ambiguous/time_ambiguous'
      WHEN results_lack AND waiting THEN 'not_due/within_window'
      WHEN results_lack AND unknown OR operations_lack AND r_unknown THEN 'ambiguous/time_ambiguous'
      WHEN results_lack AND uncovered OR operations_lack AND r_uncovered THEN 'ambiguous/coverage_incomplete'
      WHEN NOT counted THEN 'divergent/incomplete_group'
      ELSE 'divergent/amount_group_differs'
    END AS verdict
  FROM (
    SELECT *, coalesce(o_total = r_total, false) AS equal, coalesce(CASE pass/*$within*/ END, false) AS within,
      coalesce(stated_operations = operations, true) AND coalesce(stated_results = results, true) AS counted,
      (stated_operations IS NULL AND stated_results IS NULL) OR coalesce(stated_results > results, false) OR coalesce(stated_operations < operations, false) AS results_lack,
      (stated_operations IS NULL AND stated_results IS NULL) OR coalesce(stated_operations > operations, false) OR coalesce(stated_results < results, false) AS operations_lack
    FROM group_facts))
