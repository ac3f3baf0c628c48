-- The different values of a field of one side whose hash falls into the sample: both
-- sides keep the same values.
SELECT DISTINCT CAST(/*$side*/ AS INTEGER) AS side, CAST(/*$field*/ AS INTEGER) AS field, /*$column*/ AS k
FROM /*$rows*/ WHERE /*$column*/ IS NOT NULL AND hash(/*$column*/) % /*$step*/ = 0
