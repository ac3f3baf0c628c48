-- Rows of one narrow file by input file, and how many of them share their place
-- with another one: a record has one verdict.
-- In: the view of operations.parquet or results.parquet. Out: source, file, rows,
-- repeated; ordered.
SELECT source, file, CAST(sum(n) AS BIGINT), CAST(count(*) FILTER (WHERE n > 1) AS BIGINT)
FROM (SELECT source, file, record, count(*) AS n
      FROM /*$rows*/ GROUP BY ALL)
GROUP BY ALL ORDER BY ALL
