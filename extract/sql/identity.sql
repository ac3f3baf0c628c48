-- The one value of a field that all records of a file have in common.
SELECT count(DISTINCT /*$field*/) + count(DISTINCT CASE WHEN /*$field*/ IS NULL THEN 1 END), CAST(min(/*$field*/) AS VARCHAR)
FROM /*$rows*/
