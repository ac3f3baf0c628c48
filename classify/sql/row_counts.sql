-- How many rows of each file of one side have which verdict. The plain ones are what a
-- file has beyond the judged ones, so that no row has to be read; that each row was
-- written with its verdict is asserted on the files that were written.
CREATE OR REPLACE VIEW /*$view*/ AS
WITH judged AS (
  SELECT CAST(rid >> 40 AS INTEGER) AS file_no, class, reason, pass, once, in_period, count(*) AS n FROM /*$judged*/ GROUP BY ALL)
SELECT file_no, class, reason, pass, once, in_period, n FROM judged
UNION ALL
SELECT w.file_no, CAST('correct' AS verdict_class), CAST('equal' AS verdict_reason), /*$plain_pass*/, CAST('proven' AS verdict_once), true,
  w.n - coalesce(j.n, 0)
FROM (SELECT file_no, count(*) AS n FROM /*$side*/ GROUP BY file_no) w
LEFT JOIN (SELECT file_no, CAST(sum(n) AS BIGINT) AS n FROM judged GROUP BY file_no) j ON j.file_no = w.file_no
WHERE w.n <> coalesce(j.n, 0)
