-- What holds the rows in the period that the data do not decide, one row each: code is
-- the obstacle without which the row would be decided, several where there is more than
-- one, other where it is none of these. no is the row id of a stray result, or the number
-- of a healing (extract.Healing) of the results or, for a result, of the operations; what
-- is the text of a status, the name of a field or the reason of the verdict.
CREATE OR REPLACE TABLE obstacles AS
SELECT u.o_rid, u.r_rid, split_part(u.found, '/', 1) AS code,
  CASE WHEN u.found = 'stray' THEN u.stray WHEN u.found LIKE '%/%' THEN CAST(split_part(u.found, '/', 2) AS BIGINT) END AS no, u.what
FROM (
  SELECT v.rid AS o_rid, CAST(NULL AS BIGINT) AS r_rid, s.stray,
    CASE v.reason
      WHEN 'unattributed_result' THEN CASE WHEN v.rid IN (SELECT rid FROM set_aside) OR s.n IS DISTINCT FROM 1 THEN 'several' ELSE 'stray' END
      WHEN 'coverage_incomplete' THEN CASE
        WHEN v.rid IN (SELECT rid FROM suspects) OR v.rid IN (SELECT rid FROM set_aside) THEN 'several'
        /*$healed_o*/
        WHEN /*$gap_o*/ THEN 'several'
        ELSE 'not_covered' END
      WHEN 'unmapped_status' THEN 'unmapped_status'
      WHEN 'time_ambiguous' THEN CASE WHEN v.link IS NULL AND v.rid IN (SELECT rid FROM suspects) THEN 'several' ELSE 'unknown_time' END
      ELSE 'other' END AS found,
    CASE v.reason WHEN 'unmapped_status' THEN t.text WHEN 'unattributed_result' THEN NULL WHEN 'coverage_incomplete' THEN NULL
      WHEN 'time_ambiguous' THEN CASE WHEN v.link IS NULL THEN 'created_at' ELSE coalesce(v.fields, 'created_at') END ELSE CAST(v.reason AS VARCHAR) END AS what
  FROM verdicts_o v JOIN res_o o ON o.rid = v.rid
  LEFT JOIN sole_strays s ON s.rid = v.rid
  LEFT JOIN (SELECT p.o_rid, any_value(/*$status_text*/) AS text FROM pairs p JOIN res_r r ON r.rid = p.r_rid WHERE p.st = 'unmapped' GROUP BY ALL) t ON t.o_rid = v.rid
  WHERE v.class = 'ambiguous' AND v.in_period
  UNION ALL
  -- Results that no operation stands for. A stray result is an obstacle itself.
  SELECT NULL, v.rid, NULL,
    CASE v.reason
      WHEN 'coverage_incomplete' THEN CASE
        /*$healed_r*/
        WHEN /*$gap_r*/ THEN 'several'
        ELSE 'not_covered' END
      WHEN 'time_ambiguous' THEN 'unknown_time'
      ELSE 'other' END,
    CASE v.reason WHEN 'coverage_incomplete' THEN NULL WHEN 'time_ambiguous' THEN 'created_at' ELSE CAST(v.reason AS VARCHAR) END
  FROM verdicts_r v JOIN res_r r ON r.rid = v.rid
  WHERE v.class = 'ambiguous' AND v.in_period AND v.link IS NULL AND v.reason <> 'unattributed_result'
    AND NOT (v.set_id IS NOT NULL AND v.set_id IN (SELECT set_id FROM verdicts_o WHERE set_id IS NOT NULL))
  UNION ALL
  SELECT v.rid, NULL, NULL, CASE WHEN len(c.names) = 1 THEN 'unreadable_value' ELSE 'several' END, CASE WHEN len(c.names) = 1 THEN c.names[1] END
  FROM verdicts_o v JOIN (SELECT p.o_rid, list_distinct(flatten(list(list_filter([/*$unreadable*/], lambda x: x IS NOT NULL)))) AS names FROM pairs p GROUP BY ALL) c ON c.o_rid = v.rid
  WHERE v.reason = 'value_unreadable' AND v.in_period) u
