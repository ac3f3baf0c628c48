-- Reads   canaries. The records of each planted operation by verdict, and how many of
--         them lie in the period.
SELECT no, class, reason, count(*), count(*) FILTER (WHERE in_period)
FROM canaries WHERE rid IS NOT NULL
GROUP BY ALL ORDER BY ALL
