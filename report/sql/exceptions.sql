-- Reads   links, verdicts_o, verdicts_r, res_o, res_r.
-- Writes  report_exceptions: one row for each residual link and each residual row
--         without one, unless it is plainly correct or lies outside the period (another
--         run totals it); row ids, verdicts, exact amounts. Narrow: the wide columns are
--         joined only where they are written.
-- An operation or a result that stands in several links counts once in the
-- differences: on the link with the smallest partner.
CREATE OR REPLACE TABLE report_exceptions AS
WITH seen AS (
  SELECT o_rid, r_rid, pass, link FROM links
  UNION ALL
  SELECT v.rid, CAST(NULL AS BIGINT), CAST(NULL AS INTEGER), CAST(NULL AS UBIGINT)
  FROM verdicts_o v ANTI JOIN links l ON l.o_rid = v.rid
  UNION ALL
  SELECT CAST(NULL AS BIGINT), v.rid, CAST(NULL AS INTEGER), CAST(NULL AS UBIGINT)
  FROM verdicts_r v ANTI JOIN links l ON l.r_rid = v.rid
), judged AS MATERIALIZED (
  SELECT s.o_rid, s.r_rid, s.pass, s.link,
         coalesce(vo.set_id, vr.set_id) AS set_id,
         coalesce(vo.candidates, vr.candidates) AS candidates,
         coalesce(vo.in_period, vr.in_period) AS in_period,
         CAST(vo.class AS VARCHAR) AS o_class, CAST(vo.reason AS VARCHAR) AS o_reason,
         CAST(vr.class AS VARCHAR) AS r_class, CAST(vr.reason AS VARCHAR) AS r_reason,
         coalesce(nullif(vo.fields, ''), nullif(vr.fields, '')) AS fields,
         /*$o_currency*/ AS o_currency, /*$r_currency*/ AS r_currency,
         /*$o_value*/ AS o_value, /*$r_value*/ AS r_value
  FROM seen s
  LEFT JOIN verdicts_o vo ON vo.rid = s.o_rid
  LEFT JOIN verdicts_r vr ON vr.rid = s.r_rid
  LEFT JOIN res_o o ON o.rid = s.o_rid
  LEFT JOIN res_r r ON r.rid = s.r_rid
  WHERE NOT (coalesce(/*$o_quiet*/, TRUE) AND coalesce(/*$r_quiet*/, TRUE))
), several_o AS (
  SELECT o_rid, min(r_rid) AS first_r FROM judged WHERE o_rid IS NOT NULL GROUP BY o_rid HAVING count(*) > 1
), several_r AS (
  SELECT r_rid, min(o_rid) AS first_o FROM judged WHERE r_rid IS NOT NULL GROUP BY r_rid HAVING count(*) > 1
)
SELECT j.*,
       coalesce(j.o_currency, j.r_currency) AS currency,
       CASE WHEN j.o_rid IS NOT NULL AND j.r_rid IS NOT NULL
             AND (j.o_currency IS DISTINCT FROM j.r_currency OR j.o_value IS NULL OR j.r_value IS NULL) THEN NULL
            ELSE TRY(CASE WHEN j.r_rid IS NULL OR j.r_value IS NULL OR (sr.first_o IS NOT NULL AND sr.first_o <> j.o_rid) THEN 0 ELSE j.r_value END
                   - CASE WHEN j.o_rid IS NULL OR j.o_value IS NULL OR (so.first_r IS NOT NULL AND so.first_r <> j.r_rid) THEN 0 ELSE j.o_value END)
       END AS difference,
       (coalesce(j.in_period, TRUE) AND (/*$o_work*/ OR /*$r_work*/)) AS needs_work
FROM judged j
LEFT JOIN several_o so ON so.o_rid = j.o_rid
LEFT JOIN several_r sr ON sr.r_rid = j.r_rid
