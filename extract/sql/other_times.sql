-- How many rows of a file carry a time, and how many of those lie in the time that
-- the file is declared to cover.
SELECT count(f_created_at), count(*) FILTER (WHERE f_created_at >= /*$from*/ AND f_created_at < /*$until*/)
FROM /*$rows*/
