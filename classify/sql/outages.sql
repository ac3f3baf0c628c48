-- Items that are undecided since a source proves nothing for their time.
CREATE OR REPLACE TABLE outages AS
SELECT i.item_id
FROM residual_items i
LEFT JOIN res_o o ON o.rid = i.o_rid
LEFT JOIN res_r r ON r.rid = i.r_rid
WHERE i.reason = 'coverage_incomplete' AND CASE WHEN i.o_rid IS NOT NULL THEN /*$operation*/ ELSE /*$result*/ END
