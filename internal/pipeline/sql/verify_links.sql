-- Rule 4 of design §3: links of more than one operation, or of none, or without a result;
-- by a business key: of more than one result. A link of several passes. A correct
-- operation has one correct result. A group has members on both sides, which have one
-- verdict (V16). Out: number, an example.
SELECT count(*), CAST(min(link) AS VARCHAR) FROM (
  SELECT link,
    count(*) FILTER (WHERE side = 'o') AS o, count(*) FILTER (WHERE side = 'r') AS r,
    count(*) FILTER (WHERE side = 'o' AND class = 'correct') AS correct_o, count(*) FILTER (WHERE side = 'r' AND class = 'correct') AS correct_r,
    coalesce(bool_or(CAST(pass AS VARCHAR) IN (/*$business*/)), false) AS business,
    coalesce(bool_or(CAST(pass AS VARCHAR) IN (/*$groups*/)), false) AS grouped,
    min(class) = max(class) AND min(reason) = max(reason) AS one
  FROM (SELECT 'o' AS side, link, class, reason, pass FROM operations WHERE link IS NOT NULL
        UNION ALL SELECT 'r', link, class, reason, pass FROM results WHERE link IS NOT NULL)
  GROUP BY link)
WHERE CASE WHEN grouped THEN o = 0 OR r = 0 OR NOT one ELSE o <> 1 OR r = 0 OR (business AND r <> 1) OR correct_o <> correct_r END
