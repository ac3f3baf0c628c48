-- When each residual row of one side stopped being free: the index of the pass that
-- claimed it, -1 before the first one. What V12 decides, further effects of a linked
-- operation too, counts for the last identity pass, after which it is asked.
-- In: marks, links, judged, plain_links. Out: rid, since.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT rid, min(since) AS since FROM (
  SELECT rid, CASE WHEN class NOT IN ('ambiguous', 'grouped') OR reason = 'counterpart_not_unique' THEN -1 ELSE coalesce(pass, /*$settle*/) END AS since FROM /*$marks*/
  UNION ALL
  SELECT /*$link_rid*/, pass FROM judged
  UNION ALL
  SELECT /*$link_rid*/, CASE WHEN pass IN (/*$identity*/) AND o_rid IN (SELECT o_rid FROM judged) THEN /*$settle*/ ELSE pass END FROM links
  UNION ALL
  SELECT /*$link_rid*/, pass FROM plain_links)
GROUP BY rid
