-- One verdict for each residual operation.
CREATE OR REPLACE TABLE verdicts_o AS
SELECT x.rid, CAST(split_part(x.verdict, '/', 1) AS verdict_class) AS class, CAST(split_part(x.verdict, '/', 2) AS verdict_reason) AS reason,
  x.pass, x.link, x.once, x.fields, s.set_id, x.candidates, x.in_period
FROM (
  -- Section B stands whatever the period; D and E only inside it.
  SELECT m.rid, CASE WHEN NOT f.in_period AND m.class <> 'duplicate' AND m.reason <> 'counterpart_not_unique'
      THEN 'not_applicable/' || /*$period_reason*/ ELSE m.class || '/' || m.reason END AS verdict,
    CAST(NULL AS INTEGER) AS pass, CAST(NULL AS UBIGINT) AS link, CAST(NULL AS BOOLEAN) AS once, m.fields,
    CAST(NULL AS BIGINT) AS candidates, f.in_period
  FROM marks_o m JOIN facts f ON f.rid = m.rid
  WHERE m.class <> 'grouped'/*$groups*/
  UNION ALL
  SELECT d.o_rid, d.o_verdict, d.pass, d.link, CASE WHEN d.o_verdict LIKE 'correct/%' THEN d.once END,
    CASE WHEN d.o_verdict = 'correct/within_tolerance' THEN d.tolerance_fields
         WHEN d.o_verdict = 'divergent/status_conflict' THEN d.conflict_fields
         WHEN d.o_verdict LIKE 'not_applicable/%' OR d.o_verdict = 'correct/equal' THEN NULL
         ELSE d.all_fields END,
    NULL, d.in_period
  FROM linked d
  WHERE d.alone AND d.partner AND d.o_verdict IS NOT NULL
  UNION ALL
  -- Several results of one operation: it lists what differs on any of them.
  SELECT d.o_rid, min(d.o_verdict), min(d.pass) FILTER (WHERE d.partner), min(d.link),
    CASE WHEN min(d.o_verdict) LIKE 'correct/%' THEN bool_and(d.once) END,
    /*$fields_of_all*/,
    NULL, bool_and(d.in_period)
  FROM (
    SELECT *, string_split(CASE WHEN NOT partner THEN NULL WHEN o_verdict = 'correct/within_tolerance' THEN tolerance_fields
             WHEN o_verdict = 'divergent/status_conflict' THEN conflict_fields
             WHEN o_verdict = 'divergent/duplicate_effect' OR o_verdict LIKE 'not_applicable/%' OR o_verdict = 'correct/equal' THEN NULL
             ELSE all_fields END, ';') AS names
    FROM linked) d
  WHERE NOT (d.alone AND d.partner) AND d.o_verdict IS NOT NULL
  GROUP BY d.o_rid
  UNION ALL
  SELECT g.rid, g.verdict, a.pass, a.link, NULL, NULL, NULL, f.in_period
  FROM open_o g JOIN facts f ON f.rid = g.rid
  LEFT JOIN (SELECT o_rid, min(pass) AS pass, min(link) AS link FROM links GROUP BY o_rid) a ON a.o_rid = g.rid) x
-- Only what is undecided, or conflicts, belongs to a set.
LEFT JOIN set_of s ON s.node = CASE WHEN x.verdict LIKE 'ambiguous/%' OR x.verdict = 'duplicate/conflicting_copies' THEN 2 * x.rid END
