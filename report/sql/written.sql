-- The verdicts of one narrow file: how many rows have which. Out: one row each. Rows are
-- grouped by what stands there, of which the file has dictionaries, before it is spelled out.
SELECT coalesce(class, ''), coalesce(reason, ''), coalesce(pass, ''), coalesce(once, ''), in_period, CAST(sum(n) AS BIGINT)
FROM (SELECT class, reason, pass, once, in_period, count(*) AS n FROM read_parquet(/*$file*/) GROUP BY ALL)
GROUP BY ALL
