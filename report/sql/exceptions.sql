-- Reads   links, verdicts_o, verdicts_r, res_o, res_r, report_several.
-- Writes  report_exceptions: one row for each residual link and each residual row
--         without one, unless it is plainly correct or lies outside the period (another
--         run totals it); row ids, verdicts, exact amounts. Narrow: the wide columns are
--         joined only where they are written.
-- An operation or a result that stands in several links counts once in the
-- differences: on the link with the smallest partner.
CREATE OR REPLACE TABLE report_exceptions AS
WITH judged AS (
  -- Each residual row has one verdict (tied before), so that these joins are all links
  -- and all rows without one.
  SELECT vo.rid AS o_rid, vr.rid AS r_rid, l.pass, l.link,
         coalesce(vo.set_id, vr.set_id) AS set_id,
         coalesce(vo.candidates, vr.candidates) AS candidates,
         coalesce(vo.in_period, vr.in_period) AS in_period,
         vo.class AS o_class, vo.reason AS o_reason, vr.class AS r_class, vr.reason AS r_reason,
         coalesce(nullif(vo.fields, ''), nullif(vr.fields, '')) AS fields,
         /*$o_currency*/ AS o_currency, /*$r_currency*/ AS r_currency,
         /*$o_value*/ AS o_value, /*$r_value*/ AS r_value
  FROM links l
  FULL JOIN verdicts_o vo ON vo.rid = l.o_rid
  FULL JOIN verdicts_r vr ON vr.rid = l.r_rid
  LEFT JOIN res_o o ON o.rid = vo.rid
  LEFT JOIN res_r r ON r.rid = vr.rid
  WHERE NOT (coalesce(/*$o_quiet*/, TRUE) AND coalesce(/*$r_quiet*/, TRUE))
)
SELECT j.* EXCLUDE (o_currency, r_currency),
       coalesce(j.o_currency, j.r_currency) AS currency,
       CASE WHEN j.o_rid IS NOT NULL AND j.r_rid IS NOT NULL
             AND (j.o_currency IS DISTINCT FROM j.r_currency OR j.o_value IS NULL OR j.r_value IS NULL) THEN NULL
            ELSE TRY(CASE WHEN j.r_rid IS NULL OR j.r_value IS NULL OR coalesce(s.first_o <> j.o_rid, FALSE) THEN 0 ELSE j.r_value END
                   - CASE WHEN j.o_rid IS NULL OR j.o_value IS NULL OR coalesce(s.first_r <> j.r_rid, FALSE) THEN 0 ELSE j.o_value END)
       END AS difference,
       (coalesce(j.in_period, TRUE) AND (/*$o_work*/ OR /*$r_work*/)) AS needs_work
FROM judged j
LEFT JOIN report_several s ON s.o_rid = j.o_rid AND s.r_rid = j.r_rid
