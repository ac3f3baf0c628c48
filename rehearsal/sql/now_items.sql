-- Reads   items_wide. Writes now_items as was_items.
CREATE OR REPLACE TABLE now_items AS
SELECT CASE WHEN o_rid IS NOT NULL AND (CAST(reason AS VARCHAR) <> 'surplus_effect' OR r_rid IS NULL) THEN o_rid * 2 ELSE r_rid * 2 + 1 END AS node,
       case_id, CAST(queue AS VARCHAR) AS queue,
       CAST(queue AS VARCHAR) || CASE WHEN observe_only THEN ', observe only' ELSE '' END || CASE WHEN deferred THEN ', deferred' ELSE '' END AS proposal,
       coalesce(CAST(currency AS VARCHAR), '') AS currency, TRY_CAST(CAST(amount AS VARCHAR) AS DECIMAL(38,/*$scale*/)) AS value
FROM items_wide
