-- Reads   report_exceptions, res_o, res_r. Makes report_cluster_rows: each exception that
--         needs work with its verdict, its money, and every mark by which it may belong to
--         a common cause: c the kind of cause, k the value that is the same, w how it is
--         shown.
CREATE OR REPLACE TABLE report_cluster_rows AS
SELECT row_number() OVER (ORDER BY o_rid NULLS LAST, r_rid NULLS LAST) AS id, * EXCLUDE (marks), list_filter(marks, lambda m: m.k IS NOT NULL) AS marks
FROM (
  SELECT x.o_rid, x.r_rid, CAST(x.class AS VARCHAR) AS class, CAST(x.o_class AS VARCHAR) AS o_class, CAST(x.o_reason AS VARCHAR) AS o_reason,
    CAST(x.r_class AS VARCHAR) AS r_class, CAST(x.r_reason AS VARCHAR) AS r_reason, x.currency,
    greatest(coalesce(abs(x.o_value), abs(x.r_value)), coalesce(abs(x.r_value), abs(x.o_value))) AS value, x.difference,
    [/*$marks*/] AS marks
  FROM (
    SELECT e.*, CASE WHEN /*$by_operation*/ THEN e.o_class ELSE e.r_class END AS class, CASE WHEN /*$by_operation*/ THEN e.o_reason ELSE e.r_reason END AS reason,
      string_split(coalesce(e.fields, ''), ';') AS names
    FROM report_exceptions e WHERE e.needs_work) x
  LEFT JOIN res_o o ON o.rid = x.o_rid
  LEFT JOIN res_r r ON r.rid = x.r_rid)
