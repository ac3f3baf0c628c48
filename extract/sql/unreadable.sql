-- Which fields of the rows of a file cannot be read (bits of bad), in how many rows,
-- and the first record with each set of them.
SELECT bad, count(*), min(rec) FROM /*$rows*/ WHERE bad <> 0 GROUP BY bad ORDER BY bad
