-- The rows of one side that nothing links and no other row explains. What has several
-- candidates, or contradicts one by a key, has its rows of the other side named already.
CREATE OR REPLACE TABLE /*$left_over*/ AS
SELECT v.rid, v.set_id FROM /*$verdicts*/ v
WHERE (v.class IN ('absent', 'unexpected') OR (v.class = 'ambiguous' AND v.reason NOT IN ('several_candidates', 'keys_disagree', 'counterpart_not_unique')))
  AND v.rid NOT IN (SELECT /*$link_rid*/ FROM links)
