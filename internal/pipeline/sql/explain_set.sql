-- How many rows of one side are in an unresolved set. Out: one number.
SELECT count(*) FROM /*$verdicts*/ WHERE set_id = CAST(/*$set*/ AS BIGINT)
