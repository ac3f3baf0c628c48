-- One verdict for each residual result.
CREATE OR REPLACE TABLE verdicts_r AS
SELECT x.rid, CAST(split_part(x.verdict, '/', 1) AS verdict_class) AS class, CAST(split_part(x.verdict, '/', 2) AS verdict_reason) AS reason,
  x.pass, x.link, x.once, x.fields, s.set_id, x.candidates, x.in_period
FROM (
  SELECT m.rid, CASE WHEN NOT (/*$in_period*/) AND m.class = 'ambiguous' AND m.reason <> 'counterpart_not_unique'
      THEN 'not_applicable/' || /*$period_reason*/ ELSE m.class || '/' || m.reason END AS verdict,
    CAST(NULL AS INTEGER) AS pass, CAST(NULL AS UBIGINT) AS link, CAST(NULL AS BOOLEAN) AS once, m.fields,
    CAST(NULL AS BIGINT) AS candidates, /*$in_period*/ AS in_period
  FROM marks_r m JOIN res_r r ON r.rid = m.rid
  WHERE m.class <> 'grouped'/*$groups*/
  UNION ALL
  SELECT d.r_rid, d.r_verdict, CASE WHEN d.partner THEN d.pass END, CASE WHEN d.partner THEN d.link END,
    CASE WHEN d.r_verdict LIKE 'correct/%' THEN d.once END,
    CASE WHEN d.r_verdict = 'correct/within_tolerance' THEN d.tolerance_fields
         WHEN d.r_verdict = 'divergent/status_conflict' THEN d.conflict_fields
         WHEN d.r_verdict IN ('divergent/duplicate_effect', 'duplicate/surplus_effect', 'correct/equal') OR d.r_verdict LIKE 'not_applicable/%' THEN NULL
         ELSE d.all_fields END,
    NULL, d.in_period
  FROM linked d
  UNION ALL
  SELECT g.rid, g.verdict, NULL, NULL, NULL, NULL, g.candidates, g.in_period
  FROM open_r g) x
-- Only what is undecided, or conflicts, belongs to a set.
LEFT JOIN set_of s ON s.node = CASE WHEN x.verdict LIKE 'ambiguous/%' OR x.verdict = 'duplicate/conflicting_copies' THEN 2 * x.rid + 1 END
