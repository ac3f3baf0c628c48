-- The rows of both sides that have a key.
SELECT /*$columns_o*/, rid AS o_rid, CAST(NULL AS BIGINT) AS r_rid FROM operations WHERE /*$filled_o*/
UNION ALL
SELECT /*$columns_r*/, CAST(NULL AS BIGINT) AS o_rid, rid AS r_rid FROM results WHERE /*$filled_r*/
