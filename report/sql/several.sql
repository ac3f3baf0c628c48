-- Reads   links, verdicts_o, verdicts_r.
-- Writes  report_several: each link that is an exception and has a row in common with
--         another one, with the smallest partners of both its rows among those.
CREATE OR REPLACE TABLE report_several AS
WITH several AS MATERIALIZED (
  SELECT o_rid, r_rid FROM links
  WHERE o_rid IN (SELECT o_rid FROM links GROUP BY o_rid HAVING count(*) > 1)
     OR r_rid IN (SELECT r_rid FROM links GROUP BY r_rid HAVING count(*) > 1)
)
SELECT s.o_rid, s.r_rid, min(s.r_rid) OVER (PARTITION BY s.o_rid) AS first_r, min(s.o_rid) OVER (PARTITION BY s.r_rid) AS first_o
FROM several s
LEFT JOIN verdicts_o vo ON vo.rid = s.o_rid
LEFT JOIN verdicts_r vr ON vr.rid = s.r_rid
WHERE NOT (coalesce(/*$o_quiet*/, TRUE) AND coalesce(/*$r_quiet*/, TRUE))
