-- How many rows of a side satisfy a condition. Out: one number.
SELECT count(*) FROM /*$side*/ s WHERE /*$condition*/
